// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * ACCEPT: the connection exists; TLVs follow it. Spec: section "ACCEPT".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class AcceptHeader {
    public static final int CHECKSUM = 0;
    /** See {@link Prefix#versionType}. */
    public static final int VERSION_TYPE = 4;
    /** None defined. */
    public static final int FLAGS = 5;
    /** The receiver's connection ID. */
    public static final int DESTINATION_CID = 8;
    /** Connection ID that the initiator shall send to; not 0. */
    public static final int RESPONDER_CID = 12;
    /** Echoed. */
    public static final int INITIATOR_NONCE = 16;
    /** Tag for packets to the responder. */
    public static final int RESPONDER_TAG = 24;
    /** Bytes of TLVs behind the header. */
    public static final int TLV_BYTES = 28;
    /** Length without TLVs. */
    public static final int LENGTH = 32;

    static {
        Layout.check("AcceptHeader", LENGTH, CHECKSUM, 4, VERSION_TYPE, 1, FLAGS, 1, 6, 1, 7, 1, DESTINATION_CID, 4,
                RESPONDER_CID, 4, INITIATOR_NONCE, 8, RESPONDER_TAG, 4, TLV_BYTES, 2, 30, 2);
    }

    private AcceptHeader() {
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

    public static int responderCid(long at) {
        return Bytes.getInt(at + RESPONDER_CID);
    }

    public static void responderCid(long at, int value) {
        Bytes.putInt(at + RESPONDER_CID, value);
    }

    public static long initiatorNonce(long at) {
        return Bytes.getLong(at + INITIATOR_NONCE);
    }

    public static void initiatorNonce(long at, long value) {
        Bytes.putLong(at + INITIATOR_NONCE, value);
    }

    public static int responderTag(long at) {
        return Bytes.getInt(at + RESPONDER_TAG);
    }

    public static void responderTag(long at, int value) {
        Bytes.putInt(at + RESPONDER_TAG, value);
    }

    public static int tlvBytes(long at) {
        return Bytes.getU16(at + TLV_BYTES);
    }

    public static void tlvBytes(long at, int value) {
        Bytes.putShort(at + TLV_BYTES, value);
    }
}
