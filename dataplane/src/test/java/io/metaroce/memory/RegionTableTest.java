// SPDX-License-Identifier: Apache-2.0
package io.metaroce.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Registrations, and what becomes of their keys. */
class RegionTableTest {
    private final RegionTable table = new RegionTable();
    private final MemorySegment memory = Arena.ofAuto().allocate(1_000);

    @Test
    @Requirement("MR-MEM-001")
    void keysAreUniqueAndFresh() {
        Set<Integer> keys = new HashSet<>();
        for (int i = 0; i < RegionTable.MAX_REGIONS; i++) {
            keys.add(table.register(0, memory, Access.REMOTE_READ).key());
        }
        assertEquals(RegionTable.MAX_REGIONS, keys.size());
        assertThrows(IllegalStateException.class, () -> table.register(0, memory, 0));
        // One place over and over: that 200 draws of 20 bits meet an earlier one is rare, five times it is not chance.
        MemoryRegion region = table.find(keys.iterator().next());
        int slot = region.key() & (RegionTable.MAX_REGIONS - 1);
        Set<Integer> used = new HashSet<>();
        for (int i = 0; i < 200; i++) {
            table.deregister(region);
            region = table.register(0, memory, 0);
            assertEquals(slot, region.key() & (RegionTable.MAX_REGIONS - 1));
            used.add(region.key());
        }
        assertTrue(used.size() > 195);
    }

    @Test
    @Requirement({"MR-MEM-002", "MR-MEM-003"})
    void aChangeOfRightsKeepsTheKeyAnyOtherDoesNot() {
        MemoryRegion first = table.register(3, memory, Access.REMOTE_READ | Access.REMOTE_WRITE);
        MemoryRegion second = table.reregister(first, 3, memory, Access.REMOTE_READ);
        assertEquals(first.key(), second.key());
        assertEquals(RegionTable.ACCESS_DENIED, table.check(first.key(), 3, memory.address(), 10, Access.REMOTE_WRITE));
        assertEquals(RegionTable.OK, table.check(first.key(), 3, memory.address(), 10, Access.REMOTE_READ));
        MemorySegment[] memories = {memory.asSlice(0, 999), memory.asSlice(1), memory};
        int[] domains = {3, 3, 4};
        MemoryRegion before = second;
        for (int i = 0; i < 3; i++) {
            MemoryRegion now = table.reregister(before, domains[i], memories[i], Access.REMOTE_READ);
            assertNotEquals(before.key(), now.key(), "change " + i);
            assertNull(table.find(before.key()));
            assertSame(now, table.find(now.key()));
            assertEquals(RegionTable.BAD_KEY, table.check(before.key(), 3, memory.address() + 1, 10, 0));
            before = now;
        }
        assertEquals(1, table.count());
        assertEquals(RegionTable.WRONG_DOMAIN, table.check(before.key(), 3, memory.address(), 10, 0));
    }

    @Test
    @Requirement("MR-MEM-004")
    void coversIsAboutWholeRanges() {
        MemoryRegion region = table.register(0, memory.asSlice(100, 50), 0);
        long at = region.address();
        assertTrue(table.covers(at, 50) && table.covers(at + 49, 1));
        assertTrue(!table.covers(at - 1, 2) && !table.covers(at, 51) && !table.covers(at + 50, 1) && !table.covers(at + 10, Long.MAX_VALUE));
        table.deregister(region);
        assertTrue(!table.covers(at, 1));
    }

    @Test
    @Requirement("MR-MEM-003")
    void whatIsNotRegisteredCannotBeRegisteredAnew() {
        MemoryRegion first = table.register(0, memory, 0);
        MemoryRegion second = table.reregister(first, 0, memory.asSlice(0, 10), 0);
        assertThrows(IllegalArgumentException.class, () -> table.reregister(first, 0, memory, 0));
        assertThrows(IllegalArgumentException.class, () -> table.reregister(second, 0, MemorySegment.ofArray(new byte[10]), 0));
        assertThrows(IllegalArgumentException.class, () -> table.reregister(second, 0, memory, 1 << 20));
        assertSame(second, table.find(second.key()));
        table.deregister(first);
        assertSame(second, table.find(second.key()), "a region that is void ends nothing");
        table.deregister(second);
        assertThrows(IllegalArgumentException.class, () -> table.reregister(second, 0, memory, 0));
    }
}
