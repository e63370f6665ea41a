// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * PARK and PARK_ACK. Spec: section "Park".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class ParkHeader {
    public static final int CHECKSUM = 0;
    /** See {@link Prefix#versionType}. */
    public static final int VERSION_TYPE = 4;
    /** None defined. */
    public static final int FLAGS = 5;
    /** The receiver's connection ID. */
    public static final int DESTINATION_CID = 8;
    /** The sender's own connection ID. */
    public static final int SENDER_CID = 12;
    /** By which the sender will know the parked connection. */
    public static final int NAME = 16;
    public static final int LENGTH = 20;

    static {
        Layout.check("ParkHeader", LENGTH, CHECKSUM, 4, VERSION_TYPE, 1, FLAGS, 1, 6, 1, 7, 1, DESTINATION_CID, 4,
                SENDER_CID, 4, NAME, 4);
    }

    private ParkHeader() {
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

    public static int senderCid(long at) {
        return Bytes.getInt(at + SENDER_CID);
    }

    public static void senderCid(long at, int value) {
        Bytes.putInt(at + SENDER_CID, value);
    }

    public static int name(long at) {
        return Bytes.getInt(at + NAME);
    }

    public static void name(long at, int value) {
        Bytes.putInt(at + NAME, value);
    }
}
