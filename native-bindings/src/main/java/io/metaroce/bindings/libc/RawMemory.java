// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.libc;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import sun.misc.Unsafe;

/**
 * Memory by absolute address, in native byte order and at any alignment. Nothing is checked: an address outside memory owned by the
 * caller corrupts the process. The one place where the project touches memory without bounds: headers of the wire
 * ({@code io.metaroce.wire.Bytes}), records of the transport ({@code io.metaroce.memory.Slab}, which asserts its bounds), C structures.
 *
 * <p>Through {@link Unsafe} where the JVM has it and allows it ({@code --sun-misc-unsafe-memory-access=allow}), else through one segment
 * over all of memory. Both do the same; but an access through a segment is a dozen nested calls to the compiler, which then runs out of
 * budget in a handler that touches a hundred fields: a datagram through two endpoints took 160 to 260 ns this way and 280 to 390 ns
 * that way. {@code -Dmetaroce.unsafe=false} chooses the segment.
 */
@SuppressWarnings("removal")
public final class RawMemory {
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final Unsafe U = find();
    private static final boolean FAST = U != null;

    private RawMemory() {
    }

    private static Unsafe find() {
        if (!Boolean.parseBoolean(System.getProperty("metaroce.unsafe", "true"))) {
            return null;
        }
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            Unsafe unsafe = (Unsafe) field.get(null);
            // Throws where the JVM was told to deny it.
            unsafe.freeMemory(unsafe.allocateMemory(Long.BYTES));
            return unsafe;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return null;
        }
    }

    /** Whether accesses go the fast way. */
    public static boolean isFast() {
        return FAST;
    }

    public static byte getByte(long address) {
        return FAST ? U.getByte(address) : ALL.get(ValueLayout.JAVA_BYTE, address);
    }

    public static void putByte(long address, byte value) {
        if (FAST) {
            U.putByte(address, value);
        } else {
            ALL.set(ValueLayout.JAVA_BYTE, address, value);
        }
    }

    public static short getShort(long address) {
        return FAST ? U.getShort(address) : ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, address);
    }

    public static void putShort(long address, short value) {
        if (FAST) {
            U.putShort(address, value);
        } else {
            ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, value);
        }
    }

    public static int getInt(long address) {
        return FAST ? U.getInt(address) : ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
    }

    public static void putInt(long address, int value) {
        if (FAST) {
            U.putInt(address, value);
        } else {
            ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
        }
    }

    public static long getLong(long address) {
        return FAST ? U.getLong(address) : ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
    }

    public static void putLong(long address, long value) {
        if (FAST) {
            U.putLong(address, value);
        } else {
            ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
        }
    }

    public static float getFloat(long address) {
        return Float.intBitsToFloat(getInt(address));
    }

    public static void putFloat(long address, float value) {
        putInt(address, Float.floatToRawIntBits(value));
    }

    /** Copies {@code bytes} bytes; the ranges may overlap. */
    public static void copy(long from, long to, long bytes) {
        MemorySegment.copy(ALL, from, ALL, to, bytes);
    }

    /** Copies memory into an array. */
    public static void get(long from, byte[] to, int offset, int bytes) {
        MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, from, to, offset, bytes);
    }

    /** Copies from an array into memory. */
    public static void put(byte[] from, int offset, long to, int bytes) {
        MemorySegment.copy(from, offset, ALL, ValueLayout.JAVA_BYTE, to, bytes);
    }

    /** Sets {@code bytes} bytes to zero. */
    public static void zero(long at, long bytes) {
        ALL.asSlice(at, bytes).fill((byte) 0);
    }
}
