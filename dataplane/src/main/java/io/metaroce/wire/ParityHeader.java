// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * Header of a Parity packet; its entries follow it, then the exclusive or of its packets' payloads. Spec: section "Parity packet".
 *
 * <p>From {@link #STREAM} on it has the fields of its first packet's {@link DataHeader}, at the same places.
 * Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class ParityHeader {
    /** WRITE or WRITE_IMM. */
    public static final int OPCODE = DataHeader.OPCODE;
    /** Packets that it covers, {@link #MIN_PACKETS} to {@link #MAX_PACKETS}. */
    public static final int COUNT = 7;
    public static final int STREAM = DataHeader.STREAM;
    /** SSN of the first packet; the others follow it. */
    public static final int SSN = DataHeader.SSN;
    /** Payload of the last packet, bytes. */
    public static final int LAST_BYTES = 36;
    /** Payload of every other packet, and of this one, bytes. */
    public static final int PACKET_BYTES = DataHeader.PAYLOAD_LENGTH;
    public static final int LENGTH = 64;

    public static final int MIN_PACKETS = 2;
    public static final int MAX_PACKETS = 16;

    /** Most bytes of entries, and of entries and payload. */
    public static final int MAX_ENTRIES = MAX_PACKETS * ParityEntry.LENGTH;
    public static final int MAX_CONTENT = DataHeader.MAX_PAYLOAD;

    static {
        Layout.checkPacket("ParityHeader", LENGTH, OPCODE, 1, COUNT, 1, Prefix.DESTINATION_CID, 4, 12, 12, STREAM, 4, SSN, 4, DataHeader.MSN, 4,
                LAST_BYTES, 2, PACKET_BYTES, 2, DataHeader.REMOTE_ADDRESS, 8, DataHeader.REMOTE_KEY, 4, DataHeader.OFFSET, 4,
                DataHeader.MESSAGE_LENGTH, 4, DataHeader.IMMEDIATE, 4);
    }

    private ParityHeader() {
    }

    public static int count(long at) {
        return Bytes.getU8(at + COUNT);
    }

    public static void count(long at, int value) {
        Bytes.putByte(at + COUNT, value);
    }

    public static int lastBytes(long at) {
        return Bytes.getU16(at + LAST_BYTES);
    }

    public static void lastBytes(long at, int value) {
        Bytes.putShort(at + LAST_BYTES, value);
    }

    public static int packetBytes(long at) {
        return Bytes.getU16(at + PACKET_BYTES);
    }

    public static void packetBytes(long at, int value) {
        Bytes.putShort(at + PACKET_BYTES, value);
    }

    /** Payload of packet {@code i}, bytes. */
    public static int bytesOf(long at, int i) {
        return i + 1 == count(at) ? lastBytes(at) : packetBytes(at);
    }

    /** Length of header and entries. */
    public static int length(long at) {
        return LENGTH + count(at) * ParityEntry.LENGTH;
    }

    /**
     * Turns the header of a Parity packet into that of its packet {@code i}, as far as its receiver needs it: of the timestamp, the floor
     * and the demand nothing is known.
     */
    public static void toData(long at, long entry, int i) {
        int bytes = packetBytes(at);
        int length = bytesOf(at, i);
        Bytes.putByte(at + Prefix.VERSION_TYPE, Prefix.versionTypeOf(Type.DATA));
        Prefix.flags(at, ParityEntry.flags(entry));
        DataHeader.floorDistance(at, 0);
        Bytes.putInt(at + DataHeader.PATH, ParityEntry.path(entry) << 16 | ParityEntry.epoch(entry) << 8);
        DataHeader.psn(at, ParityEntry.psn(entry));
        DataHeader.timestamp(at, 0);
        DataHeader.ssn(at, DataHeader.ssn(at) + i);
        DataHeader.demand(at, 0);
        DataHeader.payloadLength(at, length);
        DataHeader.remoteAddress(at, DataHeader.remoteAddress(at) + (long) i * bytes);
        if (DataHeader.opcode(at) == Opcode.WRITE) {
            DataHeader.offset(at, DataHeader.offset(at) + i * bytes);
        }
    }
}
