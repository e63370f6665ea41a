// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * How a packet was sent that a Parity packet covers: an entry behind its {@link ParityHeader}. Spec: section "Parity packet".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class ParityEntry {
    /** As {@link DataHeader#PATH}. */
    public static final int PATH = 0;
    public static final int EPOCH = 2;
    /** Flags of the Data packet. */
    public static final int FLAGS = 3;
    public static final int PSN = 4;
    /** CRC32C of its payload. */
    public static final int CHECKSUM = 8;
    public static final int LENGTH = 12;

    static {
        Layout.check("ParityEntry", LENGTH, PATH, 2, EPOCH, 1, FLAGS, 1, PSN, 4, CHECKSUM, 4);
    }

    private ParityEntry() {
    }

    public static int path(long at) {
        return Bytes.getU16(at + PATH);
    }

    public static void path(long at, int value) {
        Bytes.putShort(at + PATH, value);
    }

    public static int epoch(long at) {
        return Bytes.getU8(at + EPOCH);
    }

    public static void epoch(long at, int value) {
        Bytes.putByte(at + EPOCH, value);
    }

    public static int flags(long at) {
        return Bytes.getU8(at + FLAGS);
    }

    public static void flags(long at, int value) {
        Bytes.putByte(at + FLAGS, value);
    }

    public static int psn(long at) {
        return Bytes.getInt(at + PSN);
    }

    public static void psn(long at, int value) {
        Bytes.putInt(at + PSN, value);
    }

    public static int checksum(long at) {
        return Bytes.getInt(at + CHECKSUM);
    }

    public static void checksum(long at, int value) {
        Bytes.putInt(at + CHECKSUM, value);
    }

    /** The entry of packet {@code i}, from the first entry's address. */
    public static long at(long entries, int i) {
        return entries + (long) i * LENGTH;
    }

    /** Writes the entry of the Data packet whose header is at {@code data}. */
    public static void write(long at, long data, int checksum) {
        path(at, DataHeader.path(data));
        epoch(at, DataHeader.epoch(data));
        flags(at, Prefix.flags(data));
        psn(at, DataHeader.psn(data));
        checksum(at, checksum);
    }
}
