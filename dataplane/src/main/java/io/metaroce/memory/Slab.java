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
 * <p>A record is named by its byte offset here; offset 0 is never a record and stands for "none". A wrong offset throws
 * instead of touching foreign memory. Native byte order, one thread. Memory is carved at set-up and never grows.
 */
public final class Slab {
    /** Records start on cache lines. */
    public static final int ALIGNMENT = 64;

    private final MemorySegment memory;
    private long top = ALIGNMENT;

    public Slab(long bytes) {
        memory = Arena.ofAuto().allocate(bytes + ALIGNMENT, ALIGNMENT);
    }

    /** Set-up only: takes {@code bytes}, rounded up to cache lines, and returns the offset of the first. */
    public long carve(long bytes) {
        long at = top;
        top += roundUp(bytes);
        if (top > memory.byteSize()) {
            throw new IllegalStateException("slab of " + memory.byteSize() + " B is too small for " + top + " B");
        }
        return at;
    }

    public static long roundUp(long bytes) {
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }

    public long byteSize() {
        return memory.byteSize();
    }

    public int getByte(long at) {
        return memory.get(JAVA_BYTE, at) & 0xff;
    }

    public void putByte(long at, int value) {
        memory.set(JAVA_BYTE, at, (byte) value);
    }

    public int getInt(long at) {
        return memory.get(JAVA_INT, at);
    }

    public void putInt(long at, int value) {
        memory.set(JAVA_INT, at, value);
    }

    public int addInt(long at, int delta) {
        int value = memory.get(JAVA_INT, at) + delta;
        memory.set(JAVA_INT, at, value);
        return value;
    }

    public long getLong(long at) {
        return memory.get(JAVA_LONG, at);
    }

    public void putLong(long at, long value) {
        memory.set(JAVA_LONG, at, value);
    }

    public void addLong(long at, long delta) {
        memory.set(JAVA_LONG, at, memory.get(JAVA_LONG, at) + delta);
    }

    public float getFloat(long at) {
        return memory.get(JAVA_FLOAT, at);
    }

    public void putFloat(long at, float value) {
        memory.set(JAVA_FLOAT, at, value);
    }

    public void zero(long at, long bytes) {
        memory.asSlice(at, bytes).fill((byte) 0);
    }
}
