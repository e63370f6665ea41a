// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * A probe: asks for the state of one path at once and consumes no PSN. Spec: section "Probe".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class ProbeHeader {
    /** Next PSN minus floor, at most 255. */
    public static final int FLOOR_DISTANCE = 7;
    /** Plane in the high byte, index within the plane in the low byte. */
    public static final int PATH = 12;
    /** Serial, modulo 256. */
    public static final int EPOCH = 14;
    /** The PSN the next Data packet of the path will have: all before it were sent. */
    public static final int NEXT_PSN = 16;
    /** Sender's clock, ns modulo 2^32. */
    public static final int TIMESTAMP = 20;
    /** Sender's demand on this plane, see {@link Rate16}. */
    public static final int DEMAND = 24;
    /** The sender's UDP receive port on this plane; 0: the default port. */
    public static final int RECEIVE_PORT = 26;
    /** Lowest PSN of the path that the sender still waits for. */
    public static final int FLOOR = 28;
    public static final int LENGTH = 32;
    /** With padding a probe is as long as the longest Data packet, at the most. */
    public static final int MAX_DATAGRAM = DataHeader.LENGTH + DataHeader.MAX_PAYLOAD;

    /** Most that next PSN and floor can be apart. */
    public static final int MAX_FLOOR_DISTANCE = 256;

    static {
        Layout.checkPacket("ProbeHeader", LENGTH, 6, 1, FLOOR_DISTANCE, 1, Prefix.DESTINATION_CID, 4,
                PATH, 2, EPOCH, 1, 15, 1, NEXT_PSN, 4, TIMESTAMP, 4, DEMAND, 2, RECEIVE_PORT, 2, FLOOR, 4);
    }

    private ProbeHeader() {
    }

    public static int floorDistance(long at) {
        return Bytes.getU8(at + FLOOR_DISTANCE);
    }

    public static void floorDistance(long at, int value) {
        Bytes.putByte(at + FLOOR_DISTANCE, value);
    }

    public static int path(long at) {
        return Bytes.getU16(at + PATH);
    }

    public static void path(long at, int value) {
        Bytes.putShort(at + PATH, value);
    }

    public static int epoch(long at) {
        return Bytes.getU8(at + EPOCH);
    }

    public static void epoch(long at, int value) {
        Bytes.putByte(at + EPOCH, value);
    }

    public static int nextPsn(long at) {
        return Bytes.getInt(at + NEXT_PSN);
    }

    public static void nextPsn(long at, int value) {
        Bytes.putInt(at + NEXT_PSN, value);
    }

    public static int timestamp(long at) {
        return Bytes.getInt(at + TIMESTAMP);
    }

    public static void timestamp(long at, int value) {
        Bytes.putInt(at + TIMESTAMP, value);
    }

    public static int demand(long at) {
        return Bytes.getU16(at + DEMAND);
    }

    public static void demand(long at, int value) {
        Bytes.putShort(at + DEMAND, value);
    }

    public static int receivePort(long at) {
        return Bytes.getU16(at + RECEIVE_PORT);
    }

    public static void receivePort(long at, int value) {
        Bytes.putShort(at + RECEIVE_PORT, value);
    }

    public static int floor(long at) {
        return Bytes.getInt(at + FLOOR);
    }

    public static void floor(long at, int value) {
        Bytes.putInt(at + FLOOR, value);
    }
}
