// SPDX-License-Identifier: Apache-2.0
package io.metaroce.memory;

/**
 * A fixed number of equal records in a {@link Slab}, taken and given back in last-in first-out order. The free list runs
 * through the first eight bytes of each free record. One thread, no allocation after construction.
 */
public final class RecordPool {
    private final Slab slab;
    private final long base;
    private final long recordBytes;
    private final int capacity;
    private long free;
    private int used;

    public RecordPool(Slab slab, long recordBytes, int capacity) {
        if (recordBytes < Long.BYTES || recordBytes % Long.BYTES != 0) {
            throw new IllegalArgumentException("a record of " + recordBytes + " B cannot hold a free-list link");
        }
        this.slab = slab;
        this.recordBytes = recordBytes;
        this.capacity = capacity;
        base = slab.carve(recordBytes * capacity);
        for (int i = capacity - 1; i >= 0; i--) {
            long record = base + i * recordBytes;
            slab.putLong(record, free);
            free = record;
        }
    }

    /** A record whose first eight bytes are zero and whose rest is as it was given back, or 0 when none is left. */
    public long take() {
        long record = free;
        if (record != 0) {
            free = slab.getLong(record);
            slab.putLong(record, 0);
            used++;
        }
        return record;
    }

    public void give(long record) {
        slab.putLong(record, free);
        free = record;
        used--;
    }

    /** Number of the record within the pool, 0 to capacity - 1. */
    public int indexOf(long record) {
        return (int) ((record - base) / recordBytes);
    }

    /** Whether this is the address of one of the pool's records. */
    public boolean holds(long record) {
        return record >= base && record < base + capacity * recordBytes;
    }

    public long at(int index) {
        return base + index * recordBytes;
    }

    public int used() {
        return used;
    }

    public int capacity() {
        return capacity;
    }

    /** Slab bytes that a pool of this shape takes. */
    public static long bytes(long recordBytes, int capacity) {
        return Slab.roundUp(recordBytes * capacity);
    }
}
