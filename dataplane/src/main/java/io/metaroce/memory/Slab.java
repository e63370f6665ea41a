// SPDX-License-Identifier: Apache-2.0
package io.metaroce.memory;

import io.metaroce.bindings.libc.Pages;
import io.metaroce.bindings.libc.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * One bounded, zeroed block of off-heap memory that holds all fixed-size records of an endpoint.
 *
 * <p>A record is named by its address; 0 stands for "none". That an address lies in the slab is asserted, so tests, which run
 * with assertions on, catch a wrong one; otherwise accesses are unchecked. Native byte order, one thread. Memory is carved at
 * set-up and never grows.
 */
public final class Slab {
    /** Records start on cache lines. */
    public static final int ALIGNMENT = 64;
    private static final int SMALLEST_PAGE = 4096;

    private final MemorySegment memory;
    private final long start;
    private final long end;
    private long top;

    public Slab(long bytes) {
        this(bytes, (size, alignment) -> Pages.allocate(Arena.ofAuto(), size));
        // Whoever takes a record for the first time does not wait for the kernel to find memory for it.
        for (long at = start; at < end; at += SMALLEST_PAGE) {
            RawMemory.putByte(at, (byte) 0);
        }
    }

    /** @param from gives zeroed memory that stays as long as the slab */
    public Slab(long bytes, SegmentAllocator from) {
        memory = from.allocate(bytes, ALIGNMENT);
        start = memory.address();
        end = start + bytes;
        top = start;
    }

    /** Set-up only: takes {@code bytes}, rounded up to cache lines, and returns the address of the first. */
    public long carve(long bytes) {
        long at = top;
        top += roundUp(bytes);
        if (top > end) {
            throw new IllegalStateException("slab of " + memory.byteSize() + " B is too small for " + (top - start) + " B");
        }
        return at;
    }

    public static long roundUp(long bytes) {
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }

    private boolean owns(long at, long bytes) {
        return at >= start && at + bytes <= end;
    }

    /** Whether the address lies in the slab. */
    public boolean holds(long at) {
        return owns(at, 1);
    }

    public long byteSize() {
        return memory.byteSize();
    }

    public int getByte(long at) {
        assert owns(at, 1);
        return RawMemory.getByte(at) & 0xff;
    }

    public void putByte(long at, int value) {
        assert owns(at, 1);
        RawMemory.putByte(at, (byte) value);
    }

    public int getInt(long at) {
        assert owns(at, 4);
        return RawMemory.getInt(at);
    }

    public void putInt(long at, int value) {
        assert owns(at, 4);
        RawMemory.putInt(at, value);
    }

    public int addInt(long at, int delta) {
        assert owns(at, 4);
        int value = RawMemory.getInt(at) + delta;
        RawMemory.putInt(at, value);
        return value;
    }

    public long getLong(long at) {
        assert owns(at, 8);
        return RawMemory.getLong(at);
    }

    public void putLong(long at, long value) {
        assert owns(at, 8);
        RawMemory.putLong(at, value);
    }

    public void addLong(long at, long delta) {
        assert owns(at, 8);
        RawMemory.putLong(at, RawMemory.getLong(at) + delta);
    }

    public float getFloat(long at) {
        assert owns(at, 4);
        return RawMemory.getFloat(at);
    }

    public void putFloat(long at, float value) {
        assert owns(at, 4);
        RawMemory.putFloat(at, value);
    }

    /** Zeroes whole 64-bit words: {@code bytes} is a multiple of eight. Word by word, as a record is short. */
    public void zero(long at, long bytes) {
        assert owns(at, bytes) && bytes % Long.BYTES == 0;
        for (long end = at + bytes; at < end; at += Long.BYTES) {
            RawMemory.putLong(at, 0);
        }
    }
}
