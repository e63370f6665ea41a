// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Offsets in the headers below UDP's payload, and big-endian access for frames that are rare: through views, whose bounds are checked.
 * Datagrams go through {@link io.metaroce.wire.Bytes} instead, which allocates nothing wherever it is compiled.
 */
final class Frame {
    static final int MAC_DESTINATION = 0;
    static final int MAC_SOURCE = 6;
    static final int ETHER_TYPE = 12;
    static final int ETHERNET_LENGTH = 14;
    static final int VLAN_LENGTH = 4;

    static final int TYPE_IPV4 = 0x0800;
    static final int TYPE_ARP = 0x0806;
    static final int TYPE_VLAN = 0x8100;
    static final int TYPE_IPV6 = 0x86dd;

    /** From the start of the IPv4 header. */
    static final int V4_VERSION = 0;
    static final int V4_TOS = 1;
    static final int V4_TOTAL = 2;
    static final int V4_FRAGMENT = 6;
    static final int V4_TTL = 8;
    static final int V4_PROTOCOL = 9;
    static final int V4_CHECKSUM = 10;
    static final int V4_SOURCE = 12;
    static final int V4_DESTINATION = 16;
    static final int V4_LENGTH = 20;

    /** From the start of the IPv6 header. */
    static final int V6_VERSION = 0;
    static final int V6_PAYLOAD = 4;
    static final int V6_NEXT = 6;
    static final int V6_HOPS = 7;
    static final int V6_SOURCE = 8;
    static final int V6_DESTINATION = 24;
    static final int V6_LENGTH = 40;

    /** From the start of the UDP header. */
    static final int UDP_SOURCE = 0;
    static final int UDP_DESTINATION = 2;
    static final int UDP_LENGTH_FIELD = 4;
    static final int UDP_CHECKSUM = 6;
    static final int UDP_LENGTH = 8;

    static final int PROTOCOL_ICMP = 1;
    static final int PROTOCOL_UDP = 17;
    static final int PROTOCOL_ICMPV6 = 58;

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private Frame() {
    }

    static MemorySegment view(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(length);
    }

    static int u8(MemorySegment f, long at) {
        return f.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    static int u16(MemorySegment f, long at) {
        return f.get(SHORT, at) & 0xffff;
    }

    static int i32(MemorySegment f, long at) {
        return f.get(INT, at);
    }

    static long i64(MemorySegment f, long at) {
        return f.get(LONG, at);
    }

    /** 48 bits; reads the two bytes before or after them too. */
    static long mac(MemorySegment f, long at) {
        return at == 0 ? i64(f, 0) >>> 16 : i64(f, at - 2) & 0xffff_ffff_ffffL;
    }

    static void putU8(MemorySegment f, long at, int v) {
        f.set(ValueLayout.JAVA_BYTE, at, (byte) v);
    }

    static void putU16(MemorySegment f, long at, int v) {
        f.set(SHORT, at, (short) v);
    }

    static void putI32(MemorySegment f, long at, int v) {
        f.set(INT, at, v);
    }

    static void putI64(MemorySegment f, long at, long v) {
        f.set(LONG, at, v);
    }

    static void putMac(MemorySegment f, long at, long mac) {
        f.set(SHORT, at, (short) (mac >>> 32));
        f.set(INT, at + 2, (int) mac);
    }

    /** Writes an Ethernet header, tagged if {@code vlan} is not 0; returns its length. */
    static int putEthernet(MemorySegment f, long destination, long source, int vlan, int type) {
        putI64(f, 0, destination << 16 | source >>> 32);
        putI32(f, 8, (int) source);
        if (vlan == 0) {
            putU16(f, ETHER_TYPE, type);
            return ETHERNET_LENGTH;
        }
        putI32(f, ETHER_TYPE, TYPE_VLAN << 16 | vlan);
        putU16(f, ETHER_TYPE + VLAN_LENGTH, type);
        return ETHERNET_LENGTH + VLAN_LENGTH;
    }
}
