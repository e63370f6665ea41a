// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * ACCEPT: the connection exists; TLVs follow it. Spec: section "ACCEPT".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class AcceptHeader {
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
        Layout.checkPacket("AcceptHeader", LENGTH, 6, 1, 7, 1, Prefix.DESTINATION_CID, 4,
                RESPONDER_CID, 4, INITIATOR_NONCE, 8, RESPONDER_TAG, 4, TLV_BYTES, 2, 30, 2);
    }

    private AcceptHeader() {
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
