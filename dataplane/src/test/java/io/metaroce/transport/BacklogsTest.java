// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is left of a line for each of the connections that send over it, against sums formed anew each time. */
class BacklogsTest {
    private static final long LINE = 100_000_000;

    @Test
    @Requirement("MR-SHARE-002")
    void whatOthersWereGivenIsNotAskedForNorWhatIsLeftOfThemLost() {
        EndpointConfig config = Peers.config(1);
        config.maxConnections = 5;
        EndpointState state = Inside.state(new Peers(2201, config, Peers.config(2)).a.endpoint);
        Backlogs all = state.backlogs;
        Random random = new Random(5);
        long[] c = new long[5];
        long[] waiting = new long[5];
        long[][] given = new long[5][2];
        for (int i = 0; i < 5; i++) {
            c[i] = state.takeConnection();
            state.slab.putInt(c[i] + ConnectionRecord.PLANES, 2);
        }
        int checked = 0;
        for (int round = 0; round < 20_000; round++) {
            int i = random.nextInt(5);
            int packets = random.nextInt(3) == 0 ? (int) -waiting[i] : random.nextInt(4);
            all.add(c[i], packets);
            if (packets > 0 && waiting[i] == 0) {
                all.begin(c[i]);
            } else if (packets < 0) {
                all.end(c[i]);
            }
            waiting[i] += packets;
            if (waiting[i] == 0) {
                given[i] = new long[2];
                continue;
            }
            long senders = java.util.Arrays.stream(waiting).filter(w -> w > 0).count();
            assertEquals(senders > 1, all.areSeveral());
            int plane = random.nextInt(2);
            float share = random.nextFloat();
            long usable = all.usable(c[i], plane, share, LINE);
            if (senders == 1) {
                assertEquals(LINE, usable, "alone");
                continue;
            }
            given[i][plane] = (long) (share * LINE);
            long others = 0;
            for (int k = 0; k < 5; k++) {
                others += k == i ? 0 : given[k][plane];
            }
            assertEquals(Math.max(LINE / senders, LINE - others), usable);
            checked++;
        }
        assertTrue(checked > 5_000);
        // A connection that ends takes nothing with it.
        for (int i = 0; i < 5; i++) {
            state.giveConnection(c[i]);
        }
        assertTrue(all.isEmpty());
        long again = state.takeConnection();
        state.slab.putInt(again + ConnectionRecord.PLANES, 2);
        all.add(again, 1);
        assertEquals(LINE, all.usable(again, 0, 0.1f, LINE));
    }
}
