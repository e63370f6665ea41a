// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/**
 * CRC32C (Castagnoli) of memory, and the checksum field made from it. Spec: section "Checksum".
 *
 * <p>Allocation-free once compiled: the buffer views do not escape. One instance per thread.
 */
public final class Checksum {
    /** The checksum field itself is not covered: coverage starts here. */
    public static final int COVERAGE_START = 4;

    private final CRC32C crc = new CRC32C();

    /** CRC32C of {@code length} bytes. */
    public int of(long address, int length) {
        crc.reset();
        crc.update(MemorySegment.ofAddress(address).reinterpret(length).asByteBuffer());
        return (int) crc.getValue();
    }

    /** CRC32C of two pieces as if they lay one behind the other. Either may be empty; then its address is not used. */
    public int of(long header, int headerLength, long payload, int payloadLength) {
        crc.reset();
        if (headerLength > 0) {
            crc.update(MemorySegment.ofAddress(header).reinterpret(headerLength).asByteBuffer());
        }
        if (payloadLength > 0) {
            crc.update(MemorySegment.ofAddress(payload).reinterpret(payloadLength).asByteBuffer());
        }
        return (int) crc.getValue();
    }

    /**
     * The value of the checksum field of a datagram that lies in one piece.
     *
     * @param covered bytes from the start of the datagram up to which the checksum reaches, see {@link #coveredLength}
     * @param tag the receiver's tag; 0 for handshake packets and resets
     */
    public int field(long datagram, int covered, int tag) {
        return of(datagram + COVERAGE_START, covered - COVERAGE_START) ^ tag;
    }

    /** The value of the checksum field of a datagram in two pieces; {@code coveredPayload} is 0 where the payload is not covered. */
    public int field(long header, int headerLength, long payload, int coveredPayload, int tag) {
        return of(header + COVERAGE_START, headerLength - COVERAGE_START, payload, coveredPayload) ^ tag;
    }

    /**
     * How far the checksum of a validated datagram reaches.
     *
     * <p>Integrity HEADER leaves out the payload of Data packets, except where the opcode fixes it: the receiver acts on it.
     */
    public static int coveredLength(long datagram, int length, boolean full) {
        if (full || Prefix.type(datagram) != Type.DATA || Opcode.fixedPayload(DataHeader.opcode(datagram)) != 0) {
            return length;
        }
        return DataHeader.LENGTH;
    }
}
