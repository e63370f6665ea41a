// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * INIT: opens the handshake; TLVs follow it. Spec: section "INIT".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class InitHeader {
    /** Connection ID that the responder shall send to; not 0. */
    public static final int INITIATOR_CID = 12;
    /** Random; the answers echo it. */
    public static final int INITIATOR_NONCE = 16;
    /** Tag for packets to the initiator. */
    public static final int INITIATOR_TAG = 24;
    /** Bytes of TLVs behind the header. */
    public static final int TLV_BYTES = 28;
    /** The initiator's receive port on the plane that this goes over, 0 meaning {@link NetAddress#DEFAULT_PORT}. */
    public static final int RECEIVE_PORT = 30;
    /** Cookie from the challenge; 0 in the first INIT. */
    public static final int COOKIE_HIGH = 32;
    public static final int COOKIE_LOW = 40;
    /** Length without TLVs. */
    public static final int LENGTH = 48;

    public static final int COOKIE_LENGTH = 16;
    /** Shortest INIT in bytes, TLVs included: no answer is longer, so a forged source address gains nothing. */
    public static final int MIN_DATAGRAM = 512;
    /** Longest INIT or ACCEPT in bytes, TLVs included. */
    public static final int MAX_DATAGRAM = 1024;

    static {
        Layout.checkPacket("InitHeader", LENGTH, 6, 1, 7, 1, Prefix.DESTINATION_CID, 4,
                INITIATOR_CID, 4, INITIATOR_NONCE, 8, INITIATOR_TAG, 4, TLV_BYTES, 2, RECEIVE_PORT, 2, COOKIE_HIGH, 8, COOKIE_LOW, 8);
    }

    private InitHeader() {
    }

    public static int initiatorCid(long at) {
        return Bytes.getInt(at + INITIATOR_CID);
    }

    public static void initiatorCid(long at, int value) {
        Bytes.putInt(at + INITIATOR_CID, value);
    }

    public static long initiatorNonce(long at) {
        return Bytes.getLong(at + INITIATOR_NONCE);
    }

    public static void initiatorNonce(long at, long value) {
        Bytes.putLong(at + INITIATOR_NONCE, value);
    }

    public static int initiatorTag(long at) {
        return Bytes.getInt(at + INITIATOR_TAG);
    }

    public static void initiatorTag(long at, int value) {
        Bytes.putInt(at + INITIATOR_TAG, value);
    }

    public static int tlvBytes(long at) {
        return Bytes.getU16(at + TLV_BYTES);
    }

    public static void tlvBytes(long at, int value) {
        Bytes.putShort(at + TLV_BYTES, value);
    }

    public static int receivePort(long at) {
        return Bytes.getU16(at + RECEIVE_PORT);
    }

    public static void receivePort(long at, int value) {
        Bytes.putShort(at + RECEIVE_PORT, value);
    }

    public static long cookieHigh(long at) {
        return Bytes.getLong(at + COOKIE_HIGH);
    }

    public static void cookieHigh(long at, long value) {
        Bytes.putLong(at + COOKIE_HIGH, value);
    }

    public static long cookieLow(long at) {
        return Bytes.getLong(at + COOKIE_LOW);
    }

    public static void cookieLow(long at, long value) {
        Bytes.putLong(at + COOKIE_LOW, value);
    }
}
