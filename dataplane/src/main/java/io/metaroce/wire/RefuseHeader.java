// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * REFUSE: no connection, and why; a text follows it. Spec: section "REFUSE".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class RefuseHeader {
    /** See {@link Reason}. */
    public static final int REASON = 6;
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
        Layout.checkPacket("RefuseHeader", LENGTH, REASON, 1, 7, 1, Prefix.DESTINATION_CID, 4,
                RETRY_AFTER_MS, 4, INITIATOR_NONCE, 8, TEXT_BYTES, 2, 26, 2);
    }

    private RefuseHeader() {
    }

    public static int reason(long at) {
        return Bytes.getU8(at + REASON);
    }

    public static void reason(long at, int value) {
        Bytes.putByte(at + REASON, value);
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
