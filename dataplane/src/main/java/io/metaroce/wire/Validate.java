// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * Checks a datagram by itself: lengths and the range of every field that needs no state. Spec: section "Malformed datagrams".
 *
 * <p>After a result of 0 the accessors of its type are safe on the datagram. The checksum is checked apart: it needs the tag.
 * Nothing is allocated, nothing thrown, nothing read beyond the length. Stateless, any thread.
 */
public final class Validate {
    private Validate() {
    }

    /**
     * @param at address of the UDP payload
     * @param length its length in bytes, 0 and more
     * @return 0, or a code of {@link Malformation}
     */
    public static int check(long at, int length) {
        if (length < Prefix.LENGTH) {
            return Malformation.TOO_SHORT;
        }
        if (Prefix.version(at) != Prefix.VERSION) {
            return Malformation.BAD_VERSION;
        }
        return switch (Prefix.type(at)) {
            case Type.DATA -> data(at, length);
            case Type.ACK -> ack(at, length);
            case Type.PROBE -> probe(at, length);
            case Type.PARITY -> parity(at, length);
            case Type.CLOSE, Type.CLOSE_ACK -> close(at, length);
            case Type.SEALED -> sealed(at, length);
            case Type.PARK, Type.PARK_ACK -> park(at, length);
            case Type.PLANE -> plane(at, length);
            case Type.INIT, Type.CHALLENGE, Type.ACCEPT, Type.REFUSE, Type.RESET -> ValidateHandshake.check(at, length);
            default -> Malformation.BAD_TYPE;
        };
    }

    private static int data(long at, int length) {
        if (length < DataHeader.LENGTH) {
            return Malformation.TOO_SHORT;
        }
        int payload = DataHeader.payloadLength(at);
        if (payload != length - DataHeader.LENGTH) {
            return Malformation.LENGTH_MISMATCH;
        }
        if (Prefix.destinationCid(at) == 0) {
            return Malformation.BAD_CID;
        }
        if (DataHeader.planeOf(DataHeader.path(at)) >= Tlv.MAX_PLANES) {
            return Malformation.BAD_PATH;
        }
        return operation(at, DataHeader.opcode(at), payload);
    }

    private static int operation(long at, int opcode, int payload) {
        if (!Opcode.isDefined(opcode)) {
            return Malformation.BAD_OPCODE;
        }
        long message = Bytes.getU32(at + DataHeader.MESSAGE_LENGTH);
        if (message > DataHeader.MAX_MESSAGE) {
            return Malformation.BAD_MESSAGE_LENGTH;
        }
        boolean last = (Prefix.flags(at) & DataHeader.LAST) != 0;
        long offset = Bytes.getU32(at + DataHeader.OFFSET);
        int fixed = Opcode.fixedPayload(opcode);
        if (fixed != 0) {
            if (payload != fixed) {
                return Malformation.BAD_PAYLOAD_LENGTH;
            }
            boolean wrong = offset != 0 || opcode != Opcode.READ_REQUEST && message != Long.BYTES;
            return wrong ? Malformation.BAD_MESSAGE_LENGTH : last ? 0 : Malformation.BAD_LAST;
        }
        if (payload > DataHeader.MAX_PAYLOAD || payload == 0 && message != 0) {
            return Malformation.BAD_PAYLOAD_LENGTH;
        }
        if (opcode == Opcode.WRITE_IMM) {
            // No offset is told: the receiver needs only the address and, for completion, the receive.
            if (payload > message) {
                return Malformation.BAD_MESSAGE_LENGTH;
            }
            return payload == message && !last ? Malformation.BAD_LAST : 0;
        }
        if (offset + payload > message) {
            return Malformation.BAD_MESSAGE_LENGTH;
        }
        return last == (offset + payload == message) ? 0 : Malformation.BAD_LAST;
    }

    private static int ack(long at, int length) {
        if (length < AckHeader.LENGTH) {
            return Malformation.TOO_SHORT;
        }
        if (Prefix.destinationCid(at) == 0) {
            return Malformation.BAD_CID;
        }
        if (AckHeader.plane(at) >= Tlv.MAX_PLANES) {
            return Malformation.BAD_PATH;
        }
        int paths = AckHeader.pathBlocks(at);
        int controls = AckHeader.controlBlocks(at);
        if (paths > AckHeader.MAX_PATH_BLOCKS || controls > AckHeader.MAX_CONTROL_BLOCKS) {
            return Malformation.TOO_MANY_BLOCKS;
        }
        int used = AckHeader.LENGTH;
        for (int i = 0; i < paths; i++) {
            int left = length - used;
            boolean isLong = AckHeader.isLong(at, i);
            if (left < (isLong ? PathBlock.LENGTH : PathBlock.SHORT_LENGTH)) {
                return Malformation.LENGTH_MISMATCH;
            }
            if (!isLong) {
                used += PathBlock.SHORT_LENGTH;
                continue;
            }
            long block = at + used;
            int words = PathBlock.words(block);
            if (words > PathBlock.MAX_WORDS) {
                return Malformation.BAD_BITMAP;
            }
            if (left < PathBlock.length(words)) {
                return Malformation.LENGTH_MISMATCH;
            }
            int bad = pathBlock(block, words);
            if (bad != 0) {
                return bad;
            }
            used += PathBlock.length(words);
        }
        int end = used + controls * ControlBlock.LENGTH;
        boolean followed = AckHeader.isFollowed(at);
        if (followed ? length < end + Prefix.LENGTH : length != end) {
            return Malformation.LENGTH_MISMATCH;
        }
        for (; used < end; used += ControlBlock.LENGTH) {
            int kind = ControlBlock.kind(at + used);
            if ((kind == ControlBlock.NAK || kind == ControlBlock.STREAM_RESET) && ControlBlock.cause(at + used) == 0) {
                return Malformation.BAD_CAUSE;
            }
        }
        return followed ? follower(at, at + end, length - end) : 0;
    }

    /** The Data packet behind an acknowledgement. */
    private static int follower(long ack, long at, int length) {
        if (Prefix.version(at) != Prefix.VERSION) {
            return Malformation.BAD_VERSION;
        }
        if (Prefix.type(at) != Type.DATA) {
            return Malformation.BAD_TYPE;
        }
        return Prefix.destinationCid(at) == Prefix.destinationCid(ack) ? data(at, length) : Malformation.BAD_CID;
    }

    private static int pathBlock(long block, int words) {
        int span = PathBlock.span(block);
        if (span > PathBlock.MAX_SPAN) {
            return Malformation.BAD_SPAN;
        }
        if (words == 0) {
            return 0;
        }
        int beyond = words * Long.SIZE - span;
        // The first PSN not received cannot be marked received, and nothing beyond the span can.
        if (beyond >= Long.SIZE || (PathBlock.word(block, 0) & 1) != 0) {
            return Malformation.BAD_BITMAP;
        }
        return beyond > 0 && PathBlock.word(block, words - 1) >>> (Long.SIZE - beyond) != 0 ? Malformation.BAD_BITMAP : 0;
    }

    private static int probe(long at, int length) {
        if (length < ProbeHeader.LENGTH || length > ProbeHeader.MAX_DATAGRAM) {
            return length < ProbeHeader.LENGTH ? Malformation.TOO_SHORT : Malformation.LENGTH_MISMATCH;
        }
        if (Prefix.destinationCid(at) == 0) {
            return Malformation.BAD_CID;
        }
        if (DataHeader.planeOf(ProbeHeader.path(at)) >= Tlv.MAX_PLANES) {
            return Malformation.BAD_PATH;
        }
        int distance = Serial.diff(ProbeHeader.nextPsn(at), ProbeHeader.floor(at));
        return distance >= 0 && distance <= ProbeHeader.MAX_FLOOR_DISTANCE && Math.min(distance, 255) == ProbeHeader.floorDistance(at)
                ? 0 : Malformation.BAD_FLOOR;
    }

    private static int parity(long at, int length) {
        if (length < ParityHeader.LENGTH) {
            return Malformation.TOO_SHORT;
        }
        int count = ParityHeader.count(at);
        int bytes = ParityHeader.packetBytes(at);
        if (count < ParityHeader.MIN_PACKETS || count > ParityHeader.MAX_PACKETS) {
            return Malformation.TOO_MANY_BLOCKS;
        }
        if (length != ParityHeader.length(at) + bytes) {
            return Malformation.LENGTH_MISMATCH;
        }
        if (Prefix.destinationCid(at) == 0) {
            return Malformation.BAD_CID;
        }
        int last = ParityHeader.lastBytes(at);
        if (last == 0 || last > bytes || bytes + count * ParityEntry.LENGTH > ParityHeader.MAX_CONTENT) {
            return Malformation.BAD_PAYLOAD_LENGTH;
        }
        int opcode = DataHeader.opcode(at);
        if (opcode != Opcode.WRITE && opcode != Opcode.WRITE_IMM) {
            return Malformation.BAD_OPCODE;
        }
        long message = Bytes.getU32(at + DataHeader.MESSAGE_LENGTH);
        long end = (long) (count - 1) * bytes + last + (opcode == Opcode.WRITE ? Bytes.getU32(at + DataHeader.OFFSET) : 0);
        if (message > DataHeader.MAX_MESSAGE || end > message) {
            return Malformation.BAD_MESSAGE_LENGTH;
        }
        for (int i = 0; i < count; i++) {
            long entry = ParityEntry.at(at + ParityHeader.LENGTH, i);
            if (DataHeader.planeOf(ParityEntry.path(entry)) >= Tlv.MAX_PLANES) {
                return Malformation.BAD_PATH;
            }
            boolean mayEnd = i + 1 == count;
            boolean ends = (ParityEntry.flags(entry) & DataHeader.LAST) != 0;
            if (ends ? !mayEnd || opcode == Opcode.WRITE && end != message : mayEnd && (last < bytes || end == message)) {
                return Malformation.BAD_LAST;
            }
        }
        return 0;
    }

    private static int close(long at, int length) {
        if (length != CloseHeader.LENGTH) {
            return length < CloseHeader.LENGTH ? Malformation.TOO_SHORT : Malformation.LENGTH_MISMATCH;
        }
        return Prefix.destinationCid(at) == 0 || CloseHeader.senderCid(at) == 0 ? Malformation.BAD_CID : 0;
    }

    private static int sealed(long at, int length) {
        if (length < SealedHeader.MIN_DATAGRAM) {
            return Malformation.TOO_SHORT;
        }
        if (length > SealedHeader.MAX_DATAGRAM) {
            return Malformation.LENGTH_MISMATCH;
        }
        if (Prefix.destinationCid(at) == 0) {
            return Malformation.BAD_CID;
        }
        return DataHeader.planeOf(SealedHeader.lane(at)) >= Tlv.MAX_PLANES ? Malformation.BAD_PATH : 0;
    }

    private static int park(long at, int length) {
        if (length != ParkHeader.LENGTH) {
            return length < ParkHeader.LENGTH ? Malformation.TOO_SHORT : Malformation.LENGTH_MISMATCH;
        }
        return Prefix.destinationCid(at) == 0 || ParkHeader.senderCid(at) == 0 || ParkHeader.name(at) == 0 ? Malformation.BAD_CID : 0;
    }

    private static int plane(long at, int length) {
        if (length != PlaneHeader.LENGTH) {
            return length < PlaneHeader.LENGTH ? Malformation.TOO_SHORT : Malformation.LENGTH_MISMATCH;
        }
        if (Prefix.destinationCid(at) == 0 || PlaneHeader.senderCid(at) == 0) {
            return Malformation.BAD_CID;
        }
        return PlaneHeader.plane(at) >= Tlv.MAX_PLANES ? Malformation.BAD_PATH : 0;
    }
}
