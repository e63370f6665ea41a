// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Arbitrary and mutated datagrams into endpoints in all states: nothing escapes, nothing grows, nothing outside regions changes. */
class FuzzTest {
    private static final int DATAGRAMS = 1_000_000;

    @Test
    void wrongDatagramsChangeNothing() {
        run(1, false);
    }

    /** With right checksums, tags included: what a peer gone mad could send. Then regions may be written, but nothing else. */
    @Test
    void datagramsOfAMadPeerStayWithinBounds() {
        run(2, true);
    }

    private static void run(long seed, boolean sealed) {
        SplittableRandom r = new SplittableRandom(seed);
        long sent = 0;
        long seeds = 0;
        while (sent < DATAGRAMS) {
            long own = r.nextLong();
            Fuzzer fuzzer = new Fuzzer(own, sealed);
            try {
                sent += fuzzer.run();
            } catch (Throwable t) {
                throw new AssertionError("fuzz seed " + own + (sealed ? ", sealed" : "") + ": " + t, t);
            }
            seeds++;
        }
        System.out.println(sent + " datagrams in " + seeds + " worlds" + (sealed ? ", with right checksums" : ""));
    }
}
