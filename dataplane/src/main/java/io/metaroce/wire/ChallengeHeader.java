// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * CHALLENGE: hands the initiator a cookie; the responder keeps no state. Spec: section "CHALLENGE".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class ChallengeHeader {
    public static final int CHECKSUM = 0;
    /** See {@link Prefix#versionType}. */
    public static final int VERSION_TYPE = 4;
    /** None defined. */
    public static final int FLAGS = 5;
    /** The receiver's connection ID. */
    public static final int DESTINATION_CID = 8;
    /** Echoed. */
    public static final int INITIATOR_NONCE = 16;
    /** The cookie to repeat in INIT. */
    public static final int COOKIE_HIGH = 24;
    public static final int COOKIE_LOW = 32;
    public static final int LENGTH = 40;

    static {
        Layout.check("ChallengeHeader", LENGTH, CHECKSUM, 4, VERSION_TYPE, 1, FLAGS, 1, 6, 1, 7, 1, DESTINATION_CID, 4, 12, 4,
                INITIATOR_NONCE, 8, COOKIE_HIGH, 8, COOKIE_LOW, 8);
    }

    private ChallengeHeader() {
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

    public static long initiatorNonce(long at) {
        return Bytes.getLong(at + INITIATOR_NONCE);
    }

    public static void initiatorNonce(long at, long value) {
        Bytes.putLong(at + INITIATOR_NONCE, value);
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
