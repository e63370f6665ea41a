// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * CHALLENGE: hands the initiator a cookie; the responder keeps no state. Spec: section "CHALLENGE".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class ChallengeHeader {
    /** Echoed. */
    public static final int INITIATOR_NONCE = 16;
    /** The cookie to repeat in INIT. */
    public static final int COOKIE_HIGH = 24;
    public static final int COOKIE_LOW = 32;
    public static final int LENGTH = 40;

    static {
        Layout.checkPacket("ChallengeHeader", LENGTH, 6, 1, 7, 1, Prefix.DESTINATION_CID, 4, 12, 4,
                INITIATOR_NONCE, 8, COOKIE_HIGH, 8, COOKIE_LOW, 8);
    }

    private ChallengeHeader() {
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
