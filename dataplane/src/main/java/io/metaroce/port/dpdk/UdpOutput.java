// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.bindings.dpdk.generated.PmdShim;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.NetAddress;

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
        long l3 = writeEthernet(at, mac);
        int udp = datagram + Frame.UDP_LENGTH;
        long l4 = v4 ? writeV4(l3, (int) toLow, udp) : writeV6(l3, toHigh, toLow, udp);
        Bytes.putInt(l4, sourcePort << 16 | toPort);
        Bytes.putInt(l4 + Frame.UDP_LENGTH_FIELD, udp << 16);
    }

    private long writeEthernet(long at, long mac) {
        Bytes.putLong(at, mac << 16 | sourceMac >>> 32);
        Bytes.putInt(at + 8, (int) sourceMac);
        long type = at + Frame.ETHER_TYPE;
        if (vlan != 0) {
            Bytes.putInt(type, Frame.TYPE_VLAN << 16 | vlan);
            type += Frame.VLAN_LENGTH;
        }
        Bytes.putShort(type, v4 ? Frame.TYPE_IPV4 : Frame.TYPE_IPV6);
        return type + 2;
    }

    private long writeV4(long l3, int to, int udp) {
        int total = udp + Frame.V4_LENGTH;
        int checksum = ipChecksum ? InternetChecksum.field(constantSum + total + InternetChecksum.words(to)) : 0;
        Bytes.putInt(l3, (0x4500 | TOS) << 16 | total);
        // Identification 0: never fragmented (RFC 6864).
        Bytes.putInt(l3 + 4, DONT_FRAGMENT);
        Bytes.putInt(l3 + Frame.V4_TTL, (HOPS << 8 | Frame.PROTOCOL_UDP) << 16 | checksum);
        Bytes.putInt(l3 + Frame.V4_SOURCE, (int) low);
        Bytes.putInt(l3 + Frame.V4_DESTINATION, to);
        return l3 + Frame.V4_LENGTH;
    }

    private long writeV6(long l3, long toHigh, long toLow, int udp) {
        Bytes.putInt(l3, 6 << 28 | TOS << 20);
        Bytes.putInt(l3 + Frame.V6_PAYLOAD, udp << 16 | Frame.PROTOCOL_UDP << 8 | HOPS);
        Bytes.putLong(l3 + Frame.V6_SOURCE, high);
        Bytes.putLong(l3 + Frame.V6_SOURCE + 8, low);
        Bytes.putLong(l3 + Frame.V6_DESTINATION, toHigh);
        Bytes.putLong(l3 + Frame.V6_DESTINATION + 8, toLow);
        return l3 + Frame.V6_LENGTH;
    }
}
