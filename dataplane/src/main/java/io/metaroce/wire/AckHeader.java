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
    /** Plane of all path blocks and of the share. */
    public static final int PLANE = 12;
    /** Bit i: path block i is long, see {@link PathBlock}. */
    public static final int LONG_BLOCKS = 13;
    /** Time from receipt until the share ages out, microseconds. */
    public static final int SHARE_VALIDITY_US = 14;
    /** Part of the receiver's inbound bandwidth on the plane that is the peer's, {@link Rate16}. */
    public static final int SHARE = 16;
    /** What the peer may start with on the plane when no share is in force, {@link Rate16}; 0: not told. */
    public static final int START_SHARE = 18;
    public static final int LENGTH = 20;

    /** Flag: share, validity and start share are meaningful. */
    public static final int HAS_SHARE = 1;
    /** Flag: a Data packet of the same connection stands behind the last block. */
    public static final int DATA_FOLLOWS = 2;

    public static final int MAX_PATH_BLOCKS = 8;
    public static final int MAX_CONTROL_BLOCKS = 32;
    /** Longest acknowledgement in bytes. */
    public static final int MAX_LENGTH = LENGTH + MAX_PATH_BLOCKS * PathBlock.MAX_LENGTH + MAX_CONTROL_BLOCKS * ControlBlock.LENGTH;

    static {
        Layout.checkPacket("AckHeader", LENGTH, PATH_BLOCKS, 1, CONTROL_BLOCKS, 1,
                Prefix.DESTINATION_CID, 4, PLANE, 1, LONG_BLOCKS, 1, SHARE_VALIDITY_US, 2, SHARE, 2, START_SHARE, 2);
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
        int count = pathBlocks(at);
        for (int i = 0; i < count; i++) {
            bytes += PathBlock.length(at + bytes, isLong(at, i));
        }
        return bytes + controlBlocks(at) * ControlBlock.LENGTH;
    }

    /** Whether path block {@code i} is long. */
    public static boolean isLong(long at, int i) {
        return (longBlocks(at) >>> i & 1) != 0;
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

    public static int longBlocks(long at) {
        return Bytes.getU8(at + LONG_BLOCKS);
    }

    public static void longBlocks(long at, int bits) {
        Bytes.putByte(at + LONG_BLOCKS, bits);
    }

    public static int shareValidityUs(long at) {
        return Bytes.getU16(at + SHARE_VALIDITY_US);
    }

    public static void shareValidityUs(long at, int value) {
        Bytes.putShort(at + SHARE_VALIDITY_US, value);
    }

    public static int share(long at) {
        return Bytes.getU16(at + SHARE);
    }

    public static void share(long at, int rate16) {
        Bytes.putShort(at + SHARE, rate16);
    }

    public static int startShare(long at) {
        return Bytes.getU16(at + START_SHARE);
    }

    public static void startShare(long at, int rate16) {
        Bytes.putShort(at + START_SHARE, rate16);
    }
}
