// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * PARK and PARK_ACK. Spec: section "Park".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class ParkHeader {
    /** The sender's own connection ID. */
    public static final int SENDER_CID = 12;
    /** By which the sender will know the parked connection. */
    public static final int NAME = 16;
    public static final int LENGTH = 20;

    static {
        Layout.checkPacket("ParkHeader", LENGTH, 6, 1, 7, 1, Prefix.DESTINATION_CID, 4,
                SENDER_CID, 4, NAME, 4);
    }

    private ParkHeader() {
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
