// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.bindings.dpdk.generated.PmdShim;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.MemorySegment;

/**
 * Writes Ethernet, IP and UDP headers in front of a datagram. Immutable.
 *
 * <p>Checksums are the device's work where it offers to. Otherwise the IPv4 header's is computed here, over 20 bytes; UDP's is left 0 over
 * IPv4, which RFC 768 allows: the transport's CRC32C protects what its receiver acts on better, and a second pass over 4 KiB would cost
 * more than all else. Over IPv6 a checksum is required (RFC 8200, 8.1), so the shim computes it over the finished frame.
 */
final class UdpOutput {
    /** ECT(0), as the transport needs marks; DSCP 0. */
    private static final int TOS = 2;
    private static final int HOPS = 64;
    private static final int DONT_FRAGMENT = 0x4000;

    private final boolean v4;
    private final long sourceMac;
    private final int vlan;
    private final long high;
    private final long low;
    private final boolean ipChecksum;
    /** Sum of the IPv4 header's constant words. */
    private final long constantSum;
    /** Bytes written in front of a datagram. */
    final int length;
    /** Flags for the shim. */
    final int flags;

    UdpOutput(Device device, PlaneConfig config, NetAddress local) {
        v4 = config.isIpv4();
        sourceMac = device.mac;
        vlan = config.vlan();
        high = local.high();
        low = local.low();
        int l2 = Frame.ETHERNET_LENGTH + (vlan == 0 ? 0 : Frame.VLAN_LENGTH);
        int l3 = v4 ? Frame.V4_LENGTH : Frame.V6_LENGTH;
        length = l2 + l3 + Frame.UDP_LENGTH;
        boolean ipOffload = v4 && device.gives(PmdShim.MRPMD_OFFLOAD_TX_IPV4());
        boolean udpOffload = device.gives(PmdShim.MRPMD_OFFLOAD_TX_UDP());
        ipChecksum = v4 && !ipOffload;
        int f = v4 ? PmdShim.MRPMD_TX_IPV4() : PmdShim.MRPMD_TX_IPV6();
        f |= ipOffload ? PmdShim.MRPMD_TX_OFFLOAD_IP() : 0;
        f |= udpOffload ? PmdShim.MRPMD_TX_OFFLOAD_UDP() : v4 ? 0 : PmdShim.MRPMD_TX_SOFTWARE_UDP();
        flags = f | l2 << PmdShim.MRPMD_TX_L2_SHIFT() | l3 << PmdShim.MRPMD_TX_L3_SHIFT();
        constantSum = (0x4500 | TOS) + DONT_FRAGMENT + (HOPS << 8 | Frame.PROTOCOL_UDP) + InternetChecksum.words((int) low);
    }

    boolean isIpv4() {
        return v4;
    }

    /**
     * Writes the headers for a datagram of {@code datagram} bytes that starts at {@code at + length}.
     *
     * @param mac  next hop's link-layer address
     * @param toHigh destination, as {@code toLow}; of this plane's family
     */
    void write(long at, long mac, int sourcePort, long toHigh, long toLow, int toPort, int datagram) {
        MemorySegment f = Frame.view(at, Frame.HEADERS_MAX);
        int l3 = Frame.putEthernet(f, mac, sourceMac, vlan, v4 ? Frame.TYPE_IPV4 : Frame.TYPE_IPV6);
        int udp = datagram + Frame.UDP_LENGTH;
        int l4 = v4 ? writeV4(f, l3, (int) toLow, udp) : writeV6(f, l3, toHigh, toLow, udp);
        Frame.putI32(f, l4, sourcePort << 16 | toPort);
        Frame.putI32(f, l4 + Frame.UDP_LENGTH_FIELD, udp << 16);
    }

    private int writeV4(MemorySegment f, int l3, int to, int udp) {
        int total = udp + Frame.V4_LENGTH;
        int checksum = ipChecksum ? InternetChecksum.field(constantSum + total + InternetChecksum.words(to)) : 0;
        Frame.putI32(f, l3, (0x4500 | TOS) << 16 | total);
        // Identification 0: never fragmented (RFC 6864).
        Frame.putI32(f, l3 + 4, DONT_FRAGMENT);
        Frame.putI32(f, l3 + Frame.V4_TTL, (HOPS << 8 | Frame.PROTOCOL_UDP) << 16 | checksum);
        Frame.putI32(f, l3 + Frame.V4_SOURCE, (int) low);
        Frame.putI32(f, l3 + Frame.V4_DESTINATION, to);
        return l3 + Frame.V4_LENGTH;
    }

    private int writeV6(MemorySegment f, int l3, long toHigh, long toLow, int udp) {
        Frame.putI32(f, l3, 6 << 28 | TOS << 20);
        Frame.putI32(f, l3 + Frame.V6_PAYLOAD, udp << 16 | Frame.PROTOCOL_UDP << 8 | HOPS);
        Frame.putI64(f, l3 + Frame.V6_SOURCE, high);
        Frame.putI64(f, l3 + Frame.V6_SOURCE + 8, low);
        Frame.putI64(f, l3 + Frame.V6_DESTINATION, toHigh);
        Frame.putI64(f, l3 + Frame.V6_DESTINATION + 8, toLow);
        return l3 + Frame.V6_LENGTH;
    }
}
