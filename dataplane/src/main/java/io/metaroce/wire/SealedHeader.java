// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * SEALED: a packet of a connection, encrypted. The ciphertext follows the header, the tag ends the datagram. Spec: section "SEALED".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class SealedHeader {
    /** Packet number of the lane, where other packets have the checksum; serial, never used twice with one key. */
    public static final int NUMBER = 0;
    /** Key generation of this packet in the low four bits, newest generation opened of the peer's in the high four. */
    public static final int GENERATIONS = 5;
    /** Named like a path: {@link DataHeader#pathOf}. */
    public static final int LANE = 6;
    /** Length of the clear part. */
    public static final int LENGTH = 12;

    public static final int TAG_LENGTH = 16;
    /** Bytes of the packet inside that are not sealed: checksum and destination CID, both of which the outside has. */
    public static final int UNSEALED = 8;
    /** What sealing adds to a packet. */
    public static final int OVERHEAD = LENGTH + TAG_LENGTH - UNSEALED;
    public static final int MIN_DATAGRAM = Prefix.LENGTH + OVERHEAD;
    public static final int MAX_DATAGRAM = DataHeader.LENGTH + DataHeader.MAX_PAYLOAD + OVERHEAD;
    /** Generations are told modulo this. */
    public static final int GENERATIONS_TOLD = 16;

    static {
        Layout.check("SealedHeader", LENGTH, NUMBER, 4, Prefix.VERSION_TYPE, 1, GENERATIONS, 1, LANE, 2, Prefix.DESTINATION_CID, 4);
    }

    private SealedHeader() {
    }

    public static int number(long at) {
        return Bytes.getInt(at + NUMBER);
    }

    /** Generation of the packet's own key, 0 to 15. */
    public static int generation(long at) {
        return Bytes.getU8(at + GENERATIONS) & 0xf;
    }

    /** Newest generation that the sender has opened, 0 to 15. */
    public static int opened(long at) {
        return Bytes.getU8(at + GENERATIONS) >>> 4;
    }

    public static int lane(long at) {
        return Bytes.getU16(at + LANE);
    }

    /** Writes the whole header. Generations are taken modulo 16. */
    public static void write(long at, int number, int generation, int opened, int lane, int destinationCid) {
        Bytes.putInt(at + NUMBER, number);
        Bytes.putInt(at + Prefix.VERSION_TYPE, Prefix.versionTypeOf(Type.SEALED) << 24 | (opened & 0xf) << 20 | (generation & 0xf) << 16 | lane);
        Bytes.putInt(at + Prefix.DESTINATION_CID, destinationCid);
    }
}
