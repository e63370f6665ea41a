// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * REFUSE: no connection, and why; a text follows it. Spec: section "REFUSE".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class RefuseHeader {
    public static final int CHECKSUM = 0;
    /** See {@link Prefix#versionType}. */
    public static final int VERSION_TYPE = 4;
    /** None defined. */
    public static final int FLAGS = 5;
    /** See {@link Reason}. */
    public static final int REASON = 6;
    /** The receiver's connection ID. */
    public static final int DESTINATION_CID = 8;
    /** Milliseconds until a new try makes sense; 0: not told. */
    public static final int RETRY_AFTER_MS = 12;
    /** Echoed. */
    public static final int INITIATOR_NONCE = 16;
    /** Bytes of UTF-8 text behind the header, 0 to {@link #MAX_TEXT}. */
    public static final int TEXT_BYTES = 24;
    /** Length without text. */
    public static final int LENGTH = 28;

    public static final int MAX_TEXT = 200;

    static {
        Layout.check("RefuseHeader", LENGTH, CHECKSUM, 4, VERSION_TYPE, 1, FLAGS, 1, REASON, 1, 7, 1, DESTINATION_CID, 4,
                RETRY_AFTER_MS, 4, INITIATOR_NONCE, 8, TEXT_BYTES, 2, 26, 2);
    }

    private RefuseHeader() {
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

    public static int reason(long at) {
        return Bytes.getU8(at + REASON);
    }

    public static void reason(long at, int value) {
        Bytes.putByte(at + REASON, value);
    }

    public static int destinationCid(long at) {
        return Bytes.getInt(at + DESTINATION_CID);
    }

    public static void destinationCid(long at, int value) {
        Bytes.putInt(at + DESTINATION_CID, value);
    }

    public static long retryAfterMs(long at) {
        return Bytes.getU32(at + RETRY_AFTER_MS);
    }

    public static void retryAfterMs(long at, long value) {
        Bytes.putInt(at + RETRY_AFTER_MS, (int) value);
    }

    public static long initiatorNonce(long at) {
        return Bytes.getLong(at + INITIATOR_NONCE);
    }

    public static void initiatorNonce(long at, long value) {
        Bytes.putLong(at + INITIATOR_NONCE, value);
    }

    public static int textBytes(long at) {
        return Bytes.getU16(at + TEXT_BYTES);
    }

    public static void textBytes(long at, int value) {
        Bytes.putShort(at + TEXT_BYTES, value);
    }
}
