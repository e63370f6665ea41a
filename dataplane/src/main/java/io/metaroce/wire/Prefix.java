// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * The first 12 bytes of every datagram. Spec: section "Common prefix".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class Prefix {
    /** CRC32C of the covered bytes, XORed with the tag; in SEALED the packet number. */
    public static final int CHECKSUM = 0;
    /** Version in the high four bits, {@link Type} in the low four. */
    public static final int VERSION_TYPE = 4;
    /** Meaning depends on the type. */
    public static final int FLAGS = 5;
    /** The receiver's connection ID; 0 in INIT and RESET. */
    public static final int DESTINATION_CID = 8;
    public static final int LENGTH = 12;

    /** The version of the wire format in this package. */
    public static final int VERSION = 1;

    static {
        Layout.check("Prefix", LENGTH, CHECKSUM, 4, VERSION_TYPE, 1, FLAGS, 1, 6, 1, 7, 1, DESTINATION_CID, 4);
    }

    private Prefix() {
    }

    public static int checksum(long at) {
        return Bytes.getInt(at + CHECKSUM);
    }

    public static void checksum(long at, int value) {
        Bytes.putInt(at + CHECKSUM, value);
    }

    public static int versionType(long at) {
        return Bytes.getU8(at + VERSION_TYPE);
    }

    public static void versionType(long at, int value) {
        Bytes.putByte(at + VERSION_TYPE, value);
    }

    public static int flags(long at) {
        return Bytes.getU8(at + FLAGS);
    }

    public static void flags(long at, int value) {
        Bytes.putByte(at + FLAGS, value);
    }

    public static int destinationCid(long at) {
        return Bytes.getInt(at + DESTINATION_CID);
    }

    public static void destinationCid(long at, int value) {
        Bytes.putInt(at + DESTINATION_CID, value);
    }

    /** Byte 4 for a packet of this version. */
    public static int versionTypeOf(int type) {
        return VERSION << 4 | type;
    }

    public static int version(long at) {
        return versionType(at) >>> 4;
    }

    public static int type(long at) {
        return versionType(at) & 0xf;
    }

    /** Writes version, type and destination, and zero into all else of the prefix. The checksum comes last, by the caller. */
    public static void write(long at, int type, int destinationCid) {
        Bytes.putInt(at + CHECKSUM, 0);
        Bytes.putInt(at + VERSION_TYPE, versionTypeOf(type) << 24);
        Bytes.putInt(at + DESTINATION_CID, destinationCid);
    }
}
