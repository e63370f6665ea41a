// SPDX-License-Identifier: Apache-2.0
package io.metaroce.memory;

/**
 * A map from non-zero {@code long} keys to non-zero {@code long} values in a {@link Slab}: open addressing, linear probing,
 * deletion by shifting back. Bounded; never more than half full. One thread, no allocation after construction.
 */
public final class LongMap {
    public static final int ENTRY_BYTES = 16;

    private final Slab slab;
    private final long base;
    private final int mask;
    private final int limit;
    private int size;

    public LongMap(Slab slab, int maxEntries) {
        this.slab = slab;
        int slots = slots(maxEntries);
        mask = slots - 1;
        limit = maxEntries;
        base = slab.carve((long) slots * ENTRY_BYTES);
    }

    private static int slots(int maxEntries) {
        return Integer.highestOneBit(Math.max(4, maxEntries) * 2 - 1) * 2;
    }

    /** Places in the table; at most half of them are taken. */
    public int slots() {
        return mask + 1;
    }

    public static long bytes(int maxEntries) {
        return Slab.roundUp((long) slots(maxEntries) * ENTRY_BYTES);
    }

    public long get(long key) {
        for (int i = home(key); ; i = (i + 1) & mask) {
            long k = slab.getLong(entry(i));
            if (k == key) {
                return slab.getLong(entry(i) + 8);
            }
            if (k == 0) {
                return 0;
            }
        }
    }

    /** Adds an absent key; false when the map is full. */
    public boolean put(long key, long value) {
        if (size == limit) {
            return false;
        }
        int i = home(key);
        while (slab.getLong(entry(i)) != 0) {
            i = (i + 1) & mask;
        }
        slab.putLong(entry(i), key);
        slab.putLong(entry(i) + 8, value);
        size++;
        return true;
    }

    public void remove(long key) {
        int i = home(key);
        while (slab.getLong(entry(i)) != key) {
            if (slab.getLong(entry(i)) == 0) {
                return;
            }
            i = (i + 1) & mask;
        }
        size--;
        int hole = i;
        for (int j = (i + 1) & mask; ; j = (j + 1) & mask) {
            long k = slab.getLong(entry(j));
            if (k == 0) {
                break;
            }
            // An entry may fill the hole unless its home lies cyclically after the hole and not after the entry itself.
            if (((j - home(k)) & mask) >= ((j - hole) & mask)) {
                slab.putLong(entry(hole), k);
                slab.putLong(entry(hole) + 8, slab.getLong(entry(j) + 8));
                hole = j;
            }
        }
        slab.putLong(entry(hole), 0);
    }

    public int size() {
        return size;
    }

    private long entry(int i) {
        return base + (long) i * ENTRY_BYTES;
    }

    private int home(long key) {
        long h = key * 0x9e3779b97f4a7c15L;
        return (int) (h >>> 32) & mask;
    }
}
