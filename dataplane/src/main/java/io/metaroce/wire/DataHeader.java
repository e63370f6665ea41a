// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * Header of a Data packet; the payload follows it. Spec: section "Data packet".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class DataHeader {
    /** See {@link Opcode}. */
    public static final int OPCODE = 6;
    /** PSN minus floor: how far back on this path the sender still waits. */
    public static final int FLOOR_DISTANCE = 7;
    /** Plane in the high byte, index within the plane in the low byte. */
    public static final int PATH = 12;
    /** Serial, modulo 256. */
    public static final int EPOCH = 14;
    /** Packet sequence number of the path; serial, never reused. */
    public static final int PSN = 16;
    /** Sender's clock, ns modulo 2^32. */
    public static final int TIMESTAMP = 20;
    public static final int STREAM = 24;
    /** Packet sequence number of the stream in this direction; serial from 0. */
    public static final int SSN = 28;
    /** Message number of the stream in this direction; serial from 0. */
    public static final int MSN = 32;
    /** Sender's demand on this plane, see {@link Rate16}. */
    public static final int DEMAND = 36;
    /** Bytes behind the header. */
    public static final int PAYLOAD_LENGTH = 38;
    /** WRITE, WRITE_IMM: where this packet's payload goes. READ_REQUEST and atomics: where to read, or change. */
    public static final int REMOTE_ADDRESS = 40;
    /** SEND, SEND_IMM, SEND_INVALIDATE: which receive of the stream the message meets; serial from 0. */
    public static final int RECEIVE_INDEX = 40;
    /** READ_RESPONSE, ATOMIC_RESPONSE: the request ID, echoed. */
    public static final int REQUEST_ID = 40;
    /** WRITE, WRITE_IMM, READ_REQUEST, atomics: key of the remote memory region. SEND_INVALIDATE: the key to invalidate. */
    public static final int REMOTE_KEY = 48;
    /** All but WRITE_IMM: offset of the payload in its message, bytes. */
    public static final int OFFSET = 52;
    /** WRITE_IMM: which receive of the stream the message completes; serial from 0. */
    public static final int IMM_RECEIVE_INDEX = 52;
    /** Bytes of the whole message, 0 to {@link #MAX_MESSAGE}. */
    public static final int MESSAGE_LENGTH = 56;
    /** WRITE_IMM, SEND_IMM: the immediate, in every packet of the message. */
    public static final int IMMEDIATE = 60;
    /** READ_REQUEST, atomics: number of this Read or atomic on its stream, counted from 0. */
    public static final int READ_INDEX = 60;
    public static final int LENGTH = 64;

    /** Flag: acknowledge this packet at once. */
    public static final int ACK_REQUEST = 1;
    /** Flag: last packet of its message. */
    public static final int LAST = 2;
    /** Flag, informative: the payload was sent before under another PSN. */
    public static final int RETRANSMISSION = 4;
    /** Flag: the message asks for a solicited event at the receiver. */
    public static final int SOLICITED = 8;
    /** Flag: all earlier Reads and atomics of the stream are complete at the sender. */
    public static final int ANSWERED = 16;

    /** Longest message in bytes. */
    public static final int MAX_MESSAGE = 1 << 30;
    /** Longest payload in bytes. */
    public static final int MAX_PAYLOAD = 16384;
    /* In the payload of READ_REQUEST, COMPARE_SWAP, FETCH_ADD, and ATOMIC_RESPONSE, see Opcode.fixedPayload. */
    public static final int OWN_REQUEST_ID = LENGTH;
    public static final int OPERAND = LENGTH + 8;
    public static final int COMPARE = LENGTH + 16;
    public static final int ORIGINAL = LENGTH;

    static {
        Layout.checkPacket("DataHeader", LENGTH, OPCODE, 1, FLOOR_DISTANCE, 1,
                Prefix.DESTINATION_CID, 4, PATH, 2, EPOCH, 1, 15, 1, PSN, 4, TIMESTAMP, 4, STREAM, 4, SSN, 4, MSN, 4, DEMAND, 2,
                PAYLOAD_LENGTH, 2, REMOTE_ADDRESS, 8, REMOTE_KEY, 4, OFFSET, 4, MESSAGE_LENGTH, 4, IMMEDIATE, 4);
    }

    private DataHeader() {
    }

    public static int opcode(long at) {
        return Bytes.getU8(at + OPCODE);
    }

    public static void opcode(long at, int value) {
        Bytes.putByte(at + OPCODE, value);
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

    public static int psn(long at) {
        return Bytes.getInt(at + PSN);
    }

    public static void psn(long at, int value) {
        Bytes.putInt(at + PSN, value);
    }

    public static int timestamp(long at) {
        return Bytes.getInt(at + TIMESTAMP);
    }

    public static void timestamp(long at, int value) {
        Bytes.putInt(at + TIMESTAMP, value);
    }

    public static int stream(long at) {
        return Bytes.getInt(at + STREAM);
    }

    public static void stream(long at, int value) {
        Bytes.putInt(at + STREAM, value);
    }

    public static int ssn(long at) {
        return Bytes.getInt(at + SSN);
    }

    public static void ssn(long at, int value) {
        Bytes.putInt(at + SSN, value);
    }

    public static int msn(long at) {
        return Bytes.getInt(at + MSN);
    }

    public static void msn(long at, int value) {
        Bytes.putInt(at + MSN, value);
    }

    public static int demand(long at) {
        return Bytes.getU16(at + DEMAND);
    }

    public static void demand(long at, int value) {
        Bytes.putShort(at + DEMAND, value);
    }

    public static int payloadLength(long at) {
        return Bytes.getU16(at + PAYLOAD_LENGTH);
    }

    public static void payloadLength(long at, int value) {
        Bytes.putShort(at + PAYLOAD_LENGTH, value);
    }

    public static long remoteAddress(long at) {
        return Bytes.getLong(at + REMOTE_ADDRESS);
    }

    public static void remoteAddress(long at, long value) {
        Bytes.putLong(at + REMOTE_ADDRESS, value);
    }

    public static int receiveIndex(long at) {
        return Bytes.getInt(at + RECEIVE_INDEX);
    }

    public static void receiveIndex(long at, int value) {
        Bytes.putInt(at + RECEIVE_INDEX, value);
    }

    public static long requestId(long at) {
        return Bytes.getLong(at + REQUEST_ID);
    }

    public static void requestId(long at, long value) {
        Bytes.putLong(at + REQUEST_ID, value);
    }

    public static int remoteKey(long at) {
        return Bytes.getInt(at + REMOTE_KEY);
    }

    public static void remoteKey(long at, int value) {
        Bytes.putInt(at + REMOTE_KEY, value);
    }

    public static int offset(long at) {
        return Bytes.getInt(at + OFFSET);
    }

    public static void offset(long at, int value) {
        Bytes.putInt(at + OFFSET, value);
    }

    public static int immReceiveIndex(long at) {
        return Bytes.getInt(at + IMM_RECEIVE_INDEX);
    }

    public static void immReceiveIndex(long at, int value) {
        Bytes.putInt(at + IMM_RECEIVE_INDEX, value);
    }

    public static int messageLength(long at) {
        return Bytes.getInt(at + MESSAGE_LENGTH);
    }

    public static void messageLength(long at, int value) {
        Bytes.putInt(at + MESSAGE_LENGTH, value);
    }

    public static int immediate(long at) {
        return Bytes.getInt(at + IMMEDIATE);
    }

    public static void immediate(long at, int value) {
        Bytes.putInt(at + IMMEDIATE, value);
    }

    public static int readIndex(long at) {
        return Bytes.getInt(at + READ_INDEX);
    }

    public static void readIndex(long at, int value) {
        Bytes.putInt(at + READ_INDEX, value);
    }

    /** Plane of a path number. */
    public static int planeOf(int path) {
        return path >>> 8;
    }

    /** Index within its plane of a path number. */
    public static int indexOf(int path) {
        return path & 0xff;
    }

    public static int pathOf(int plane, int index) {
        return plane << 8 | index;
    }

    /** Request ID in the payload of a READ_REQUEST, COMPARE_SWAP or FETCH_ADD. */
    public static long ownRequestId(long at) {
        return Bytes.getLong(at + OWN_REQUEST_ID);
    }

    /** New value of a COMPARE_SWAP, addend of a FETCH_ADD. */
    public static long operand(long at) {
        return Bytes.getLong(at + OPERAND);
    }

    /** What a COMPARE_SWAP compares with. */
    public static long compare(long at) {
        return Bytes.getLong(at + COMPARE);
    }

    /** Original value in the payload of an ATOMIC_RESPONSE. */
    public static long original(long at) {
        return Bytes.getLong(at + ORIGINAL);
    }
}
