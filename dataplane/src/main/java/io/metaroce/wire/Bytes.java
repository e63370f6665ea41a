// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Big-endian access to memory by absolute address.
 *
 * <p>Nothing is checked: an address outside live native memory crashes the process. Callers pass addresses of frames whose length
 * {@link Validate} has checked, or of memory they own. No alignment is needed. Stateless, any thread.
 */
public final class Bytes {
    /** All of memory. */
    static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private Bytes() {
    }

    /** Returns 0 to 255. */
    public static int getU8(long address) {
        return ALL.get(ValueLayout.JAVA_BYTE, address) & 0xff;
    }

    /** Returns 0 to 65535. */
    public static int getU16(long address) {
        return ALL.get(SHORT, address) & 0xffff;
    }

    /** Returns the 32 bits as they are: serial numbers, keys and identifiers. */
    public static int getInt(long address) {
        return ALL.get(INT, address);
    }

    /** Returns 0 to 2^32 - 1: quantities. */
    public static long getU32(long address) {
        return ALL.get(INT, address) & 0xffff_ffffL;
    }

    public static long getLong(long address) {
        return ALL.get(LONG, address);
    }

    /** Writes the low 8 bits of {@code value}. */
    public static void putByte(long address, int value) {
        ALL.set(ValueLayout.JAVA_BYTE, address, (byte) value);
    }

    /** Writes the low 16 bits of {@code value}. */
    public static void putShort(long address, int value) {
        ALL.set(SHORT, address, (short) value);
    }

    public static void putInt(long address, int value) {
        ALL.set(INT, address, value);
    }

    public static void putLong(long address, long value) {
        ALL.set(LONG, address, value);
    }

    /** Copies {@code length} bytes. The ranges may overlap. */
    public static void copy(long from, long to, long length) {
        MemorySegment.copy(ALL, from, ALL, to, length);
    }

    /** Sets {@code length} bytes to zero. */
    public static void zero(long at, long length) {
        ALL.asSlice(at, length).fill((byte) 0);
    }
}
