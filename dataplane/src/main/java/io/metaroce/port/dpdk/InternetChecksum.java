// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.bindings.dpdk.PmdCalls;
import io.metaroce.wire.Bytes;

/** The ones' complement checksum of IPv4, UDP and ICMP (RFC 1071). Sums are kept unfolded in a long until the end. */
final class InternetChecksum {
    private InternetChecksum() {
    }

    /** Folds a sum of 16-bit words to 16 bits. */
    static int fold(long sum) {
        sum = (sum & 0xffff_ffffL) + (sum >>> 32);
        sum = (sum & 0xffff) + (sum >>> 16);
        sum = (sum & 0xffff) + (sum >>> 16);
        return (int) ((sum & 0xffff) + (sum >>> 16));
    }

    /** The checksum field for a sum over everything else. */
    static int field(long sum) {
        return ~fold(sum) & 0xffff;
    }

    /** A checksum field of UDP, where 0 means "none" and its equal 0xffff is sent instead. */
    static int udpField(long sum) {
        int field = field(sum);
        return field == 0 ? 0xffff : field;
    }

    /** Whether a sum over everything including the checksum field is right. */
    static boolean holds(long sum) {
        return fold(sum) == 0xffff;
    }

    /** Sum of a 32-bit value as two words. */
    static long words(int v) {
        return (v >>> 16) + (v & 0xffff);
    }

    /** Sum of a 64-bit value as four words. */
    static long words(long v) {
        return (v >>> 32) + (v & 0xffff_ffffL);
    }

    /** Sum of an IPv4 header of {@code length} bytes, a multiple of 4. */
    static long ipv4Header(long address, int length) {
        long sum = 0;
        for (int i = 0; i < length; i += 4) {
            sum += Bytes.getU32(address + i);
        }
        return sum;
    }

    /** Sum of any bytes, by native code. */
    static long bytes(long address, int length) {
        return PmdCalls.sum16(address, length);
    }

    static long pseudoV4(int source, int destination, int protocol, int length) {
        return (source & 0xffff_ffffL) + (destination & 0xffff_ffffL) + protocol + length;
    }

    /** Pseudo-header of the IPv6 header at {@code l3}, an address. */
    static long pseudoV6(long l3, int protocol, int length) {
        long addresses = l3 + Frame.V6_SOURCE;
        return words(Bytes.getLong(addresses)) + words(Bytes.getLong(addresses + 8)) + words(Bytes.getLong(addresses + 16))
                + words(Bytes.getLong(addresses + 24)) + protocol + length;
    }
}
