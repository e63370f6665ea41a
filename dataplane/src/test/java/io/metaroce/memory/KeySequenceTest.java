// SPDX-License-Identifier: Apache-2.0
package io.metaroce.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import java.lang.foreign.Arena;
import java.security.SecureRandom;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Keys of memory regions do not come back and cannot be told in advance. */
class KeySequenceTest {
    @Test
    @Requirement("MR-SEC-002")
    void noKeyOfASlotComesBackBeforeAllWereUsed() {
        KeySequence keys = new KeySequence(new SecureRandom());
        for (int slot : new int[] {0, 77, RegionTable.MAX_REGIONS - 1}) {
            BitSet seen = new BitSet(1 << 20);
            int first = 0;
            for (int i = 0; i < 1 << 20; i++) {
                int key = keys.next(slot);
                first = i == 0 ? key : first;
                assertEquals(slot, key & RegionTable.MAX_REGIONS - 1);
                assertFalse(seen.get(key >>> RegionTable.SLOT_BITS), "key " + i);
                seen.set(key >>> RegionTable.SLOT_BITS);
            }
            assertEquals(first, keys.next(slot), "then the order begins again");
        }
    }

    @Test
    @Requirement("MR-SEC-001")
    void tablesAndSlotsHaveOrdersOfTheirOwn() {
        Set<Integer> firsts = new HashSet<>();
        Set<Integer> steps = new HashSet<>();
        int n = 0;
        for (int table = 0; table < 20; table++) {
            KeySequence keys = new KeySequence(new SecureRandom());
            for (int slot = 0; slot < 50; slot++, n++) {
                int a = keys.next(slot) >>> RegionTable.SLOT_BITS;
                int b = keys.next(slot) >>> RegionTable.SLOT_BITS;
                firsts.add(a);
                steps.add(a ^ b);
            }
        }
        // Of a thousand draws out of a million hardly any two are the same.
        assertTrue(firsts.size() > n - 10 && steps.size() > n - 10, firsts.size() + " and " + steps.size() + " of " + n);
    }

    @Test
    @Requirement({"MR-SEC-002", "MR-ERR-001"})
    void theKeyOfARegionThatWasDeregisteredNamesNoOther() {
        RegionTable table = new RegionTable();
        Set<Integer> old = new HashSet<>();
        try (Arena arena = Arena.ofConfined()) {
            for (int i = 0; i < 3 * RegionTable.MAX_REGIONS; i++) {
                MemoryRegion region = table.register(0, arena.allocate(1), 0);
                assertTrue(old.add(region.key()), "region " + i);
                table.deregister(region);
                assertNull(table.find(region.key()));
            }
        }
    }
}
