// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import io.metaroce.bindings.libc.RawMemory;
import java.nio.ByteOrder;

/**
 * Big-endian access to memory by absolute address.
 *
 * <p>Nothing is checked: an address outside live native memory crashes the process. Callers pass addresses of frames whose length
 * {@link Validate} has checked, or of memory they own. No alignment is needed. Stateless, any thread.
 */
public final class Bytes {
    private static final boolean LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private Bytes() {
    }

    private static short big(short value) {
        return LITTLE ? Short.reverseBytes(value) : value;
    }

    private static int big(int value) {
        return LITTLE ? Integer.reverseBytes(value) : value;
    }

    private static long big(long value) {
        return LITTLE ? Long.reverseBytes(value) : value;
    }

    /** Returns 0 to 255. */
    public static int getU8(long address) {
        return RawMemory.getByte(address) & 0xff;
    }

    /** Returns 0 to 65535. */
    public static int getU16(long address) {
        return big(RawMemory.getShort(address)) & 0xffff;
    }

    /** Returns the 32 bits as they are: serial numbers, keys and identifiers. */
    public static int getInt(long address) {
        return big(RawMemory.getInt(address));
    }

    /** Returns 0 to 2^32 - 1: quantities. */
    public static long getU32(long address) {
        return big(RawMemory.getInt(address)) & 0xffff_ffffL;
    }

    public static long getLong(long address) {
        return big(RawMemory.getLong(address));
    }

    /** Writes the low 8 bits of {@code value}. */
    public static void putByte(long address, int value) {
        RawMemory.putByte(address, (byte) value);
    }

    /** Writes the low 16 bits of {@code value}. */
    public static void putShort(long address, int value) {
        RawMemory.putShort(address, big((short) value));
    }

    public static void putInt(long address, int value) {
        RawMemory.putInt(address, big(value));
    }

    public static void putLong(long address, long value) {
        RawMemory.putLong(address, big(value));
    }

    /** Copies {@code length} bytes. The ranges may overlap. */
    public static void copy(long from, long to, long length) {
        RawMemory.copy(from, to, length);
    }

    /** Copies {@code length} bytes of memory into an array. */
    public static void get(long from, byte[] to, int offset, int length) {
        RawMemory.get(from, to, offset, length);
    }

    /** Copies {@code length} bytes of an array into memory. */
    public static void put(byte[] from, int offset, long to, int length) {
        RawMemory.put(from, offset, to, length);
    }

    /** Changes {@code length} bytes at {@code to} by exclusive or with as many at {@code from}. The ranges do not overlap. */
    public static void xor(long from, long to, int length) {
        int i = 0;
        for (; i <= length - Long.BYTES; i += Long.BYTES) {
            RawMemory.putLong(to + i, RawMemory.getLong(to + i) ^ RawMemory.getLong(from + i));
        }
        for (; i < length; i++) {
            RawMemory.putByte(to + i, (byte) (RawMemory.getByte(to + i) ^ RawMemory.getByte(from + i)));
        }
    }

    /** Sets {@code length} bytes to zero. */
    public static void zero(long at, long length) {
        RawMemory.zero(at, length);
    }
}
