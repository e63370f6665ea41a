// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * CLOSE and CLOSE_ACK. Spec: section "Close".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class CloseHeader {
    /** See {@link Reason}. */
    public static final int REASON = 6;
    /** The sender's own connection ID. */
    public static final int SENDER_CID = 12;
    public static final int LENGTH = 20;

    static {
        Layout.checkPacket("CloseHeader", LENGTH, REASON, 1, 7, 1, Prefix.DESTINATION_CID, 4,
                SENDER_CID, 4, 16, 4);
    }

    private CloseHeader() {
    }

    public static int reason(long at) {
        return Bytes.getU8(at + REASON);
    }

    public static void reason(long at, int value) {
        Bytes.putByte(at + REASON, value);
    }

    public static int senderCid(long at) {
        return Bytes.getInt(at + SENDER_CID);
    }

    public static void senderCid(long at, int value) {
        Bytes.putInt(at + SENDER_CID, value);
    }
}
