// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/** The part of {@link Validate} for datagrams outside a connection: INIT, CHALLENGE, ACCEPT, REFUSE and RESET. */
final class ValidateHandshake {
    private ValidateHandshake() {
    }

    /** @param length at least {@link Prefix#LENGTH} */
    static int check(long at, int length) {
        return switch (Prefix.type(at)) {
            case Type.INIT -> init(at, length);
            case Type.CHALLENGE -> challenge(at, length);
            case Type.ACCEPT -> accept(at, length);
            case Type.REFUSE -> refuse(at, length);
            default -> reset(at, length);
        };
    }

    private static int init(long at, int length) {
        if (length < InitHeader.MIN_DATAGRAM) {
            return Malformation.TOO_SHORT;
        }
        if (length > InitHeader.MAX_DATAGRAM || InitHeader.tlvBytes(at) != length - InitHeader.LENGTH) {
            return Malformation.LENGTH_MISMATCH;
        }
        if (Prefix.destinationCid(at) != 0 || InitHeader.initiatorCid(at) == 0) {
            return Malformation.BAD_CID;
        }
        return parameters(at + InitHeader.LENGTH, length - InitHeader.LENGTH);
    }

    private static int accept(long at, int length) {
        if (length < AcceptHeader.LENGTH) {
            return Malformation.TOO_SHORT;
        }
        if (length > InitHeader.MAX_DATAGRAM || AcceptHeader.tlvBytes(at) != length - AcceptHeader.LENGTH) {
            return Malformation.LENGTH_MISMATCH;
        }
        if (Prefix.destinationCid(at) == 0 || AcceptHeader.responderCid(at) == 0) {
            return Malformation.BAD_CID;
        }
        return parameters(at + AcceptHeader.LENGTH, length - AcceptHeader.LENGTH);
    }

    private static int challenge(long at, int length) {
        if (length != ChallengeHeader.LENGTH) {
            return length < ChallengeHeader.LENGTH ? Malformation.TOO_SHORT : Malformation.LENGTH_MISMATCH;
        }
        return Prefix.destinationCid(at) == 0 ? Malformation.BAD_CID : 0;
    }

    private static int refuse(long at, int length) {
        if (length < RefuseHeader.LENGTH) {
            return Malformation.TOO_SHORT;
        }
        int text = RefuseHeader.textBytes(at);
        if (text > RefuseHeader.MAX_TEXT) {
            return Malformation.BAD_TEXT;
        }
        if (text != length - RefuseHeader.LENGTH) {
            return Malformation.LENGTH_MISMATCH;
        }
        return Prefix.destinationCid(at) == 0 ? Malformation.BAD_CID : 0;
    }

    private static int reset(long at, int length) {
        if (length != ResetHeader.LENGTH) {
            return length < ResetHeader.LENGTH ? Malformation.TOO_SHORT : Malformation.LENGTH_MISMATCH;
        }
        if (Prefix.destinationCid(at) != 0 || ResetHeader.echoedDestinationCid(at) == 0) {
            return Malformation.BAD_CID;
        }
        int echoed = ResetHeader.echoedVersionType(at);
        return echoed == Prefix.versionTypeOf(Type.DATA) || echoed == Prefix.versionTypeOf(Type.PROBE) ? 0 : Malformation.BAD_ECHO;
    }

    /** Walks the TLVs like {@link Tlv.Reader}, but without an object: this class is stateless. */
    private static int parameters(long at, int bytes) {
        int seen = 0;
        int used = 0;
        while (used < bytes) {
            if (bytes - used < Tlv.HEADER_LENGTH) {
                return Malformation.BAD_TLV;
            }
            int type = Bytes.getU8(at + used);
            int valueLength = Bytes.getU16(at + used + 2);
            if (Tlv.sizeOf(valueLength) > bytes - used) {
                return Malformation.BAD_TLV;
            }
            if (type != Tlv.PAD && type <= Tlv.LAST_DEFINED) {
                if ((seen & 1 << type) != 0 || !inRange(type, at + used + Tlv.HEADER_LENGTH, valueLength)) {
                    return Malformation.BAD_PARAMETER;
                }
                seen |= 1 << type;
            }
            used += Tlv.sizeOf(valueLength);
        }
        return (seen & 1 << Tlv.PLANES) == 0 ? Malformation.MISSING_PARAMETER : 0;
    }

    private static boolean inRange(int type, long value, int length) {
        return switch (type) {
            case Tlv.PAYLOAD_MTU -> u32(value, length, 256, DataHeader.MAX_PAYLOAD);
            case Tlv.PLANES -> planes(value, length);
            case Tlv.PATHS_PER_PLANE -> u32(value, length, 1, 256);
            case Tlv.MAX_STREAMS -> u32(value, length, 1, 0xffff_ffffL);
            case Tlv.STREAM_WINDOW -> u32(value, length, 64, 65536) && Long.bitCount(Bytes.getU32(value)) == 1;
            case Tlv.INTEGRITY -> u32(value, length, Tlv.INTEGRITY_HEADER, Tlv.INTEGRITY_FULL);
            case Tlv.ACK_EVERY -> u32(value, length, 1, 255);
            case Tlv.RECEIVE_RATE -> length == Long.BYTES && Bytes.getLong(value) >= 1_000;
            case Tlv.RECEIVE_BUFFER -> u32(value, length, 1, 0xffff_ffffL);
            case Tlv.IMPLEMENTATION -> length <= Tlv.MAX_TEXT;
            case Tlv.MAX_READS, Tlv.START_SHARE, Tlv.SERVICE -> u32(value, length, 0, 0xffff_ffffL);
            case Tlv.SECURITY -> length >= Short.BYTES
                    && (Bytes.getU16(value) != Tlv.SUITE_PSK_X25519_AES256GCM || length == Tlv.SECURITY_LENGTH);
            case Tlv.RESUME -> length == Tlv.RESUME_LENGTH && Bytes.getInt(value) != 0;
            default -> true;
        };
    }

    private static boolean u32(long value, int length, long min, long max) {
        return length == Integer.BYTES && Bytes.getU32(value) >= min && Bytes.getU32(value) <= max;
    }

    private static boolean planes(long value, int length) {
        if (length == 0 || length % Tlv.PLANE_LENGTH != 0 || length > Tlv.MAX_PLANES * Tlv.PLANE_LENGTH) {
            return false;
        }
        boolean any = false;
        for (int i = 0; i < length; i += Tlv.PLANE_LENGTH) {
            boolean absent = Bytes.getLong(value + i) == 0 && Bytes.getLong(value + i + 8) == 0;
            if (Bytes.getU16(value + i + 16) != 0) {
                any = true;
            } else if (!absent) {
                return false;
            }
        }
        return any;
    }
}
