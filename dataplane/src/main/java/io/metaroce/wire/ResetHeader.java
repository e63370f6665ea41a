// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * RESET: the receiver of a Data packet or probe knows no such connection. Spec: section "RESET".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class ResetHeader {
    /** The first {@link #ECHO_LENGTH} bytes of the offending packet start here. */
    public static final int ECHO = 12;
    /** Byte 4 of the offending packet. */
    public static final int ECHOED_VERSION_TYPE = 16;
    public static final int ECHOED_DESTINATION_CID = 20;
    public static final int ECHOED_PATH = 24;
    public static final int ECHOED_EPOCH = 26;
    /** PSN of a Data packet, next PSN of a probe. */
    public static final int ECHOED_PSN = 28;
    public static final int ECHOED_TIMESTAMP = 32;
    public static final int LENGTH = 36;

    public static final int ECHO_LENGTH = 24;

    static {
        Layout.checkPacket("ResetHeader", LENGTH, 6, 1, 7, 1, Prefix.DESTINATION_CID, 4, ECHO, 4,
                ECHOED_VERSION_TYPE, 1, 17, 3, ECHOED_DESTINATION_CID, 4, ECHOED_PATH, 2, ECHOED_EPOCH, 1, 27, 1, ECHOED_PSN, 4,
                ECHOED_TIMESTAMP, 4);
    }

    private ResetHeader() {
    }

    public static int echo(long at) {
        return Bytes.getInt(at + ECHO);
    }

    public static void echo(long at, int value) {
        Bytes.putInt(at + ECHO, value);
    }

    public static int echoedVersionType(long at) {
        return Bytes.getU8(at + ECHOED_VERSION_TYPE);
    }

    public static void echoedVersionType(long at, int value) {
        Bytes.putByte(at + ECHOED_VERSION_TYPE, value);
    }

    public static int echoedDestinationCid(long at) {
        return Bytes.getInt(at + ECHOED_DESTINATION_CID);
    }

    public static void echoedDestinationCid(long at, int value) {
        Bytes.putInt(at + ECHOED_DESTINATION_CID, value);
    }

    public static int echoedPath(long at) {
        return Bytes.getU16(at + ECHOED_PATH);
    }

    public static void echoedPath(long at, int value) {
        Bytes.putShort(at + ECHOED_PATH, value);
    }

    public static int echoedEpoch(long at) {
        return Bytes.getU8(at + ECHOED_EPOCH);
    }

    public static void echoedEpoch(long at, int value) {
        Bytes.putByte(at + ECHOED_EPOCH, value);
    }

    public static int echoedPsn(long at) {
        return Bytes.getInt(at + ECHOED_PSN);
    }

    public static void echoedPsn(long at, int value) {
        Bytes.putInt(at + ECHOED_PSN, value);
    }

    public static int echoedTimestamp(long at) {
        return Bytes.getInt(at + ECHOED_TIMESTAMP);
    }

    public static void echoedTimestamp(long at, int value) {
        Bytes.putInt(at + ECHOED_TIMESTAMP, value);
    }
}
