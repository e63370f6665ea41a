// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * Header of an acknowledgement; path blocks follow it, then control blocks. Spec: section "Acknowledgement".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class AckHeader {
    /** Number of path blocks, 0 to {@link #MAX_PATH_BLOCKS}. */
    public static final int PATH_BLOCKS = 6;
    /** Number of control blocks, 0 to {@link #MAX_CONTROL_BLOCKS}. */
    public static final int CONTROL_BLOCKS = 7;
    /** Plane the share is for; 0 without a share. */
    public static final int PLANE = 12;
    /** Time from receipt until the share ages out, microseconds. */
    public static final int SHARE_VALIDITY_US = 14;
    /** Part of the receiver's inbound bandwidth on the plane that is the peer's, kbit/s. */
    public static final int SHARE_KBPS = 16;
    /** Data packets received twice on this connection; cumulative modulo 2^32. */
    public static final int DUPLICATES = 20;
    /** What the peer may start with on the plane when no share is in force, kbit/s; 0: not told. */
    public static final int START_SHARE_KBPS = 24;
    public static final int LENGTH = 32;

    /** Flag: plane, share and validity are meaningful. */
    public static final int SHARE = 1;
    /** Flag: a Data packet of the same connection stands behind the last block. */
    public static final int DATA_FOLLOWS = 2;

    public static final int MAX_PATH_BLOCKS = 8;
    public static final int MAX_CONTROL_BLOCKS = 32;
    /** Longest acknowledgement in bytes. */
    public static final int MAX_LENGTH = LENGTH + MAX_PATH_BLOCKS * PathBlock.MAX_LENGTH + MAX_CONTROL_BLOCKS * ControlBlock.LENGTH;

    static {
        Layout.checkPacket("AckHeader", LENGTH, PATH_BLOCKS, 1, CONTROL_BLOCKS, 1,
                Prefix.DESTINATION_CID, 4, PLANE, 1, 13, 1, SHARE_VALIDITY_US, 2, SHARE_KBPS, 4, DUPLICATES, 4, START_SHARE_KBPS, 4, 28, 4);
    }

    private AckHeader() {
    }

    /** Whether a Data packet stands behind this packet in its datagram; of any type. */
    public static boolean isFollowed(long at) {
        return Prefix.type(at) == Type.ACK && (Prefix.flags(at) & DATA_FOLLOWS) != 0;
    }

    /** Bytes of the acknowledgement itself, blocks included. */
    public static int length(long at) {
        int bytes = LENGTH;
        for (int i = pathBlocks(at); i > 0; i--) {
            bytes += PathBlock.length(PathBlock.words(at + bytes));
        }
        return bytes + controlBlocks(at) * ControlBlock.LENGTH;
    }

    public static int pathBlocks(long at) {
        return Bytes.getU8(at + PATH_BLOCKS);
    }

    public static void pathBlocks(long at, int value) {
        Bytes.putByte(at + PATH_BLOCKS, value);
    }

    public static int controlBlocks(long at) {
        return Bytes.getU8(at + CONTROL_BLOCKS);
    }

    public static void controlBlocks(long at, int value) {
        Bytes.putByte(at + CONTROL_BLOCKS, value);
    }

    public static int plane(long at) {
        return Bytes.getU8(at + PLANE);
    }

    public static void plane(long at, int value) {
        Bytes.putByte(at + PLANE, value);
    }

    public static int shareValidityUs(long at) {
        return Bytes.getU16(at + SHARE_VALIDITY_US);
    }

    public static void shareValidityUs(long at, int value) {
        Bytes.putShort(at + SHARE_VALIDITY_US, value);
    }

    public static long shareKbps(long at) {
        return Bytes.getU32(at + SHARE_KBPS);
    }

    public static void shareKbps(long at, long value) {
        Bytes.putInt(at + SHARE_KBPS, (int) value);
    }

    public static long startShareKbps(long at) {
        return Bytes.getU32(at + START_SHARE_KBPS);
    }

    public static void startShareKbps(long at, long value) {
        Bytes.putInt(at + START_SHARE_KBPS, (int) value);
    }

    public static int duplicates(long at) {
        return Bytes.getInt(at + DUPLICATES);
    }

    public static void duplicates(long at, int value) {
        Bytes.putInt(at + DUPLICATES, value);
    }
}
