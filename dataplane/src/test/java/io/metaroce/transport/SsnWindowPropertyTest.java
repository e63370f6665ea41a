// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.metaroce.Requirement;
import io.metaroce.memory.Slab;
import java.util.BitSet;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The ring of bits by SSN that a stream's window is, against a set of all SSNs, while it is used as streams use it. */
class SsnWindowPropertyTest {
    /** How far ahead of the expected SSN one arrives. */
    @Provide
    static Arbitrary<List<Integer>> arrivals() {
        return Arbitraries.oneOf(Arbitraries.integers().between(-3, 3), Arbitraries.integers().between(-70, 600)).list().ofMaxSize(600);
    }

    @Provide
    static Arbitrary<Integer> sizes() {
        return Arbitraries.of(64, 128, 512);
    }

    @Property(seed = "1", tries = 300, edgeCases = EdgeCasesMode.NONE)
    @Requirement({"MR-STR-011", "MR-STR-012", "MR-STR-013"})
    void knowsEveryArrivalWithinTheWindow(@ForAll("arrivals") List<Integer> arrivals, @ForAll("sizes") int size, @ForAll int first) {
        Slab slab = new Slab(1_024);
        long window = slab.carve(size / 8);
        int mask = size - 1;
        BitSet seen = new BitSet();
        int expected = 0;
        for (int ahead : arrivals) {
            int at = expected + Math.min(ahead, size - 1);
            if (at < expected) {
                continue;
            }
            int ssn = first + at;
            assertEquals(seen.get(at), SsnWindow.get(slab, window, mask, ssn), "SSN " + at);
            SsnWindow.set(slab, window, mask, ssn);
            seen.set(at);
            while (SsnWindow.clear(slab, window, mask, first + expected)) {
                expected++;
            }
            assertEquals(seen.nextClearBit(0), expected, "expected SSN");
        }
        for (int i = 0; i < size; i++) {
            assertEquals(seen.get(expected + i), SsnWindow.get(slab, window, mask, first + expected + i), "SSN " + (expected + i));
        }
        SsnWindow.wipe(slab, window, size / 8);
        for (int i = 0; i < size; i++) {
            assertFalse(SsnWindow.get(slab, window, mask, i));
        }
    }
}
