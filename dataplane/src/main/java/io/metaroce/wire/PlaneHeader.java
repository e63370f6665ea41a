// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * PLANE: where the sender is reached on one of its planes, and the exchange that proves it. Spec: section "Plane".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class PlaneHeader {
    /* Kinds. */
    /** The plane of the sender is at this address from now on; port 0: it is gone. */
    public static final int STATE = 0;
    /** Sent to an address that was stated: whoever is there is to return the token. */
    public static final int CHALLENGE = 1;
    /** The token of a challenge. */
    public static final int RESPONSE = 2;
    /** What was stated is in force. */
    public static final int TAKEN = 3;

    public static final int KIND = 6;
    /** 0 to 7: the plane that is spoken of. */
    public static final int PLANE = 7;
    /** The sender's own connection ID. */
    public static final int SENDER_CID = 12;
    /** Serial number of what the plane's owner stated. */
    public static final int SEQUENCE = 16;
    /** UDP receive port; only in STATE. */
    public static final int PORT = 20;
    /** In CHALLENGE and RESPONSE; in TAKEN the serial number of what its sender last stated of its own end of the plane. */
    public static final int TOKEN = 24;
    /** IPv6 address, or IPv4 as IPv4-mapped IPv6; only in STATE. */
    public static final int ADDRESS_HIGH = 32;
    public static final int ADDRESS_LOW = 40;
    public static final int LENGTH = 48;

    static {
        Layout.checkPacket("PlaneHeader", LENGTH, KIND, 1, PLANE, 1, Prefix.DESTINATION_CID, 4,
                SENDER_CID, 4, SEQUENCE, 4, PORT, 2, 22, 2, TOKEN, 8, ADDRESS_HIGH, 8, ADDRESS_LOW, 8);
    }

    private PlaneHeader() {
    }

    public static int kind(long at) {
        return Bytes.getU8(at + KIND);
    }

    public static void kind(long at, int value) {
        Bytes.putByte(at + KIND, value);
    }

    public static int plane(long at) {
        return Bytes.getU8(at + PLANE);
    }

    public static void plane(long at, int value) {
        Bytes.putByte(at + PLANE, value);
    }

    public static int senderCid(long at) {
        return Bytes.getInt(at + SENDER_CID);
    }

    public static void senderCid(long at, int value) {
        Bytes.putInt(at + SENDER_CID, value);
    }

    public static int sequence(long at) {
        return Bytes.getInt(at + SEQUENCE);
    }

    public static void sequence(long at, int value) {
        Bytes.putInt(at + SEQUENCE, value);
    }

    public static int port(long at) {
        return Bytes.getU16(at + PORT);
    }

    public static void port(long at, int value) {
        Bytes.putShort(at + PORT, value);
    }

    public static long token(long at) {
        return Bytes.getLong(at + TOKEN);
    }

    public static void token(long at, long value) {
        Bytes.putLong(at + TOKEN, value);
    }

    public static long addressHigh(long at) {
        return Bytes.getLong(at + ADDRESS_HIGH);
    }

    public static void addressHigh(long at, long value) {
        Bytes.putLong(at + ADDRESS_HIGH, value);
    }

    public static long addressLow(long at) {
        return Bytes.getLong(at + ADDRESS_LOW);
    }

    public static void addressLow(long at, long value) {
        Bytes.putLong(at + ADDRESS_LOW, value);
    }
}
