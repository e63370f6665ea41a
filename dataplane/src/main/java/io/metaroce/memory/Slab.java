// SPDX-License-Identifier: Apache-2.0
package io.metaroce.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * One bounded, zeroed block of off-heap memory that holds all fixed-size records of an endpoint.
 *
 * <p>A record is named by its address; 0 stands for "none". Accesses go through one static segment over all memory, whose bounds
 * the compiler knows, which saves a third of the time of checking against a segment in a field; that an address lies in the slab
 * is asserted, so tests, which run with assertions on, catch a wrong one. Native byte order, one thread. Memory is carved at
 * set-up and never grows.
 */
public final class Slab {
    /** Records start on cache lines. */
    public static final int ALIGNMENT = 64;

    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private final MemorySegment memory;
    private final long start;
    private final long end;
    private long top;

    public Slab(long bytes) {
        memory = Arena.ofAuto().allocate(bytes, ALIGNMENT);
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

    public long byteSize() {
        return memory.byteSize();
    }

    public int getByte(long at) {
        assert owns(at, 1);
        return ALL.get(JAVA_BYTE, at) & 0xff;
    }

    public void putByte(long at, int value) {
        assert owns(at, 1);
        ALL.set(JAVA_BYTE, at, (byte) value);
    }

    public int getInt(long at) {
        assert owns(at, 4);
        return ALL.get(JAVA_INT, at);
    }

    public void putInt(long at, int value) {
        assert owns(at, 4);
        ALL.set(JAVA_INT, at, value);
    }

    public int addInt(long at, int delta) {
        assert owns(at, 4);
        int value = ALL.get(JAVA_INT, at) + delta;
        ALL.set(JAVA_INT, at, value);
        return value;
    }

    public long getLong(long at) {
        assert owns(at, 8);
        return ALL.get(JAVA_LONG, at);
    }

    public void putLong(long at, long value) {
        assert owns(at, 8);
        ALL.set(JAVA_LONG, at, value);
    }

    public void addLong(long at, long delta) {
        assert owns(at, 8);
        ALL.set(JAVA_LONG, at, ALL.get(JAVA_LONG, at) + delta);
    }

    public float getFloat(long at) {
        assert owns(at, 4);
        return ALL.get(JAVA_FLOAT, at);
    }

    public void putFloat(long at, float value) {
        assert owns(at, 4);
        ALL.set(JAVA_FLOAT, at, value);
    }

    /** Zeroes whole 64-bit words: {@code bytes} is a multiple of eight. Word by word, as a slice to fill would be an object. */
    public void zero(long at, long bytes) {
        assert owns(at, bytes) && bytes % Long.BYTES == 0;
        for (long end = at + bytes; at < end; at += Long.BYTES) {
            ALL.set(JAVA_LONG, at, 0);
        }
    }
}
