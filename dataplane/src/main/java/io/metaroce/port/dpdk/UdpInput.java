// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static io.metaroce.wire.Bytes.getInt;
import static io.metaroce.wire.Bytes.getLong;
import static io.metaroce.wire.Bytes.getU16;
import static io.metaroce.wire.Bytes.getU8;

import io.metaroce.bindings.dpdk.generated.PmdShim;

/**
 * Checks an IP packet with a UDP datagram: lengths, addresses, fragments, checksums. Stateless.
 *
 * <p>Works on addresses: a view of each frame would be allocated wherever the compiler does not inline. Every length is checked before
 * what it covers is used.
 */
final class UdpInput {
    /** Not UDP, but for this host: perhaps something to answer. */
    static final long OTHER = -1;
    /** Malformed, corrupt or a fragment. */
    static final long DROP = -2;
    /** For another address or UDP port. */
    static final long FOREIGN = -3;

    /* With GOOD, what the checksum covers is right, whatever BAD says of the field itself: a neighbour on this machine may leave it undone. */
    private static final int IP_GOOD = PmdShim.MRPMD_RX_IP_GOOD();
    private static final int IP_CHECKED = IP_GOOD | PmdShim.MRPMD_RX_IP_BAD();
    private static final int IP_BAD = PmdShim.MRPMD_RX_IP_BAD();
    private static final int L4_GOOD = PmdShim.MRPMD_RX_L4_GOOD();
    private static final int L4_CHECKED = L4_GOOD | PmdShim.MRPMD_RX_L4_BAD();
    private static final int L4_BAD = PmdShim.MRPMD_RX_L4_BAD();

    /** More-fragments bit and fragment offset. */
    private static final int FRAGMENT_MASK = 0x3fff;

    private UdpInput() {
    }

    /** Offset of the UDP payload from the frame's start in a result. */
    static int offset(long packed) {
        return (int) (packed >>> 32);
    }

    /** Length of the UDP payload in a result. */
    static int length(long packed) {
        return (int) packed;
    }

    /**
     * Checks an IPv4 packet at {@code l3} of a frame of {@code length} bytes at {@code f}.
     *
     * @return offset and length of the UDP payload, or {@link #OTHER}, {@link #DROP} or {@link #FOREIGN}
     */
    static long ipv4(long f, int length, int l3, int flags, int local, int port) {
        if (length < l3 + Frame.V4_LENGTH || getU8(f + l3 + Frame.V4_VERSION) >>> 4 != 4) {
            return DROP;
        }
        if (getInt(f + l3 + Frame.V4_DESTINATION) != local) {
            return FOREIGN;
        }
        int header = (getU8(f + l3 + Frame.V4_VERSION) & 0xf) << 2;
        int total = getU16(f + l3 + Frame.V4_TOTAL);
        if (header < Frame.V4_LENGTH || total < header || l3 + total > length
                || (getU16(f + l3 + Frame.V4_FRAGMENT) & FRAGMENT_MASK) != 0 || (flags & IP_CHECKED) == IP_BAD) {
            return DROP;
        }
        int l4 = l3 + header;
        int udpLength = total - header;
        int protocol = getU8(f + l3 + Frame.V4_PROTOCOL);
        // What is cheap to see goes before what is not.
        if (protocol == Frame.PROTOCOL_UDP) {
            if (udpLength < Frame.UDP_LENGTH) {
                return DROP;
            }
            if (getU16(f + l4 + Frame.UDP_DESTINATION) != port) {
                return FOREIGN;
            }
        } else if (protocol != Frame.PROTOCOL_ICMP) {
            return FOREIGN;
        }
        if ((flags & IP_GOOD) == 0 && !InternetChecksum.holds(InternetChecksum.ipv4Header(f + l3, header))) {
            return DROP;
        }
        if (protocol == Frame.PROTOCOL_ICMP) {
            return OTHER;
        }
        // RFC 768 lets the UDP length be shorter than what IP carries: the rest is padding.
        int said = getU16(f + l4 + Frame.UDP_LENGTH_FIELD);
        if (said < Frame.UDP_LENGTH || said > udpLength) {
            return DROP;
        }
        // A zero checksum is "none" over IPv4: the transport's own CRC covers what it acts on.
        if (getU16(f + l4 + Frame.UDP_CHECKSUM) != 0 && (flags & L4_GOOD) == 0) {
            long sum = InternetChecksum.pseudoV4(getInt(f + l3 + Frame.V4_SOURCE), local, Frame.PROTOCOL_UDP, said);
            if ((flags & L4_CHECKED) == L4_BAD || !InternetChecksum.holds(sum + InternetChecksum.bytes(f + l4, said))) {
                return DROP;
            }
        }
        return pack(l4, said);
    }

    /** As {@link #ipv4} for IPv6 without extension headers. Multicast destinations give {@link #OTHER} at most. */
    static long ipv6(long f, int length, int l3, int flags, long localHigh, long localLow, int port) {
        if (length < l3 + Frame.V6_LENGTH || getU8(f + l3 + Frame.V6_VERSION) >>> 4 != 6) {
            return DROP;
        }
        int payload = getU16(f + l3 + Frame.V6_PAYLOAD);
        if (l3 + Frame.V6_LENGTH + payload > length) {
            return DROP;
        }
        int next = getU8(f + l3 + Frame.V6_NEXT);
        boolean mine = getLong(f + l3 + Frame.V6_DESTINATION) == localHigh && getLong(f + l3 + Frame.V6_DESTINATION + 8) == localLow;
        if (next != Frame.PROTOCOL_UDP) {
            boolean multicast = getU8(f + l3 + Frame.V6_DESTINATION) == 0xff;
            return next == Frame.PROTOCOL_ICMPV6 && (mine || multicast) ? OTHER : FOREIGN;
        }
        int l4 = l3 + Frame.V6_LENGTH;
        if (mine && payload < Frame.UDP_LENGTH) {
            return DROP;
        }
        if (!mine || getU16(f + l4 + Frame.UDP_DESTINATION) != port) {
            return FOREIGN;
        }
        int said = getU16(f + l4 + Frame.UDP_LENGTH_FIELD);
        // RFC 8200, section 8.1: no zero checksum over IPv6.
        if (said < Frame.UDP_LENGTH || said > payload || getU16(f + l4 + Frame.UDP_CHECKSUM) == 0 || (flags & L4_CHECKED) == L4_BAD) {
            return DROP;
        }
        if ((flags & L4_GOOD) == 0) {
            long sum = InternetChecksum.pseudoV6(f + l3, Frame.PROTOCOL_UDP, said);
            if (!InternetChecksum.holds(sum + InternetChecksum.bytes(f + l4, said))) {
                return DROP;
            }
        }
        return pack(l4, said);
    }

    private static long pack(int l4, int udpLength) {
        return (long) (l4 + Frame.UDP_LENGTH) << 32 | udpLength - Frame.UDP_LENGTH;
    }
}
