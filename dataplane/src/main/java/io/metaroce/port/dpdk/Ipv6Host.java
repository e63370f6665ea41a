// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.wire.NetAddress;
import java.lang.foreign.MemorySegment;

/**
 * What one plane does as an IPv6 host besides UDP: neighbour discovery (RFC 4861) and ping. One thread.
 *
 * <p>No router discovery, no address configuration, no duplicate detection: addresses and the gateway are given.
 */
final class Ipv6Host implements HostProtocol {
    private static final int ECHO_REQUEST = 128;
    private static final int ECHO_REPLY = 129;
    private static final int SOLICITATION = 135;
    private static final int ADVERTISEMENT = 136;
    private static final int ICMP_HEADER = 8;
    /** Solicitation and advertisement: header, then the target. */
    private static final int TARGET = 8;
    private static final int OPTIONS = 24;
    private static final int OPTION_LENGTH = 8;
    private static final int OPTION_SOURCE = 1;
    private static final int OPTION_TARGET = 2;
    private static final int SOLICITED = 0x4000_0000;
    private static final int OVERRIDE = 0x2000_0000;
    /** Neighbour discovery is only believed from this link: no router forwards 255. */
    private static final int LINK_HOPS = 255;
    private static final int HOPS = 64;

    private static final long MULTICAST_HIGH = 0xff02_0000_0000_0000L;
    private static final long SOLICITED_NODE_LOW = 0x0000_0001_ff00_0000L;
    private static final long ALL_NODES_LOW = 1;

    private final long mac;
    private final long high;
    private final long low;
    private final int vlan;
    private final ControlSender out;
    private final Neighbours neighbours;
    private final Resolved resolved;

    Ipv6Host(Device device, NetAddress local, int vlan, ControlSender out, Neighbours neighbours, Resolved resolved) {
        this.mac = device.mac;
        this.high = local.high();
        this.low = local.low();
        this.vlan = vlan;
        this.out = out;
        this.neighbours = neighbours;
        this.resolved = resolved;
    }

    @Override
    public boolean input(MemorySegment f, int l3, int type, long nowNs) {
        if (type != Frame.TYPE_IPV6) {
            return false;
        }
        int icmp = l3 + Frame.V6_LENGTH;
        int length = Frame.u16(f, l3 + Frame.V6_PAYLOAD);
        if (length < ICMP_HEADER || !InternetChecksum.holds(InternetChecksum.pseudoV6(f.address() + l3, Frame.PROTOCOL_ICMPV6, length)
                + InternetChecksum.bytes(f.address() + icmp, length))) {
            return false;
        }
        return switch (Frame.u8(f, icmp)) {
            case ECHO_REQUEST -> echo(f, l3, icmp, length);
            case SOLICITATION -> isDiscovery(f, l3, icmp, length) && solicitation(f, l3, icmp, length, nowNs);
            case ADVERTISEMENT -> isDiscovery(f, l3, icmp, length) && advertisement(f, icmp, length, nowNs);
            default -> false;
        };
    }

    private static boolean isDiscovery(MemorySegment f, int l3, int icmp, int length) {
        return Frame.u8(f, l3 + Frame.V6_HOPS) == LINK_HOPS && Frame.u8(f, icmp + 1) == 0 && length >= OPTIONS;
    }

    private boolean solicitation(MemorySegment f, int l3, int icmp, int length, long nowNs) {
        if (Frame.i64(f, icmp + TARGET) != high || Frame.i64(f, icmp + TARGET + 8) != low) {
            return false;
        }
        long fromHigh = Frame.i64(f, l3 + Frame.V6_SOURCE);
        long fromLow = Frame.i64(f, l3 + Frame.V6_SOURCE + 8);
        if (fromHigh == 0 && fromLow == 0) {
            // Somebody wants our address: say to all that it is taken.
            advertise(multicastMac(ALL_NODES_LOW), MULTICAST_HIGH, ALL_NODES_LOW, OVERRIDE);
            return true;
        }
        long option = option(f, icmp, length, OPTION_SOURCE);
        long senderMac = option >= 0 ? option : Frame.mac(f, Frame.MAC_SOURCE);
        if (!Arp.isUnicast(senderMac)) {
            return false;
        }
        learn(fromHigh, fromLow, senderMac, true, nowNs);
        advertise(senderMac, fromHigh, fromLow, SOLICITED | OVERRIDE);
        return true;
    }

    private boolean advertisement(MemorySegment f, int icmp, int length, long nowNs) {
        long option = option(f, icmp, length, OPTION_TARGET);
        long senderMac = option >= 0 ? option : Frame.mac(f, Frame.MAC_SOURCE);
        if (!Arp.isUnicast(senderMac)) {
            return false;
        }
        learn(Frame.i64(f, icmp + TARGET), Frame.i64(f, icmp + TARGET + 8), senderMac, false, nowNs);
        return true;
    }

    private void learn(long h, long l, long address, boolean create, long nowNs) {
        if (neighbours.learn(h, l, address, create, nowNs)) {
            resolved.resolved(h, l, address);
        }
    }

    /** The link-layer address in an option of this type, or -1. */
    private static long option(MemorySegment f, int icmp, int length, int type) {
        int at = OPTIONS;
        while (at + OPTION_LENGTH <= length) {
            int size = Frame.u8(f, icmp + at + 1) << 3;
            if (size == 0) {
                return -1;
            }
            if (Frame.u8(f, icmp + at) == type && size == OPTION_LENGTH) {
                return Frame.mac(f, icmp + at + 2);
            }
            at += size;
        }
        return -1;
    }

    private boolean echo(MemorySegment f, int l3, int icmp, int length) {
        long toMac = Frame.mac(f, Frame.MAC_SOURCE);
        if (Frame.u8(f, l3 + Frame.V6_SOURCE) == 0xff || Frame.u8(f, icmp + 1) != 0 || !Arp.isUnicast(toMac)) {
            return false;
        }
        MemorySegment r = out.begin();
        if (r == null) {
            return true;
        }
        int at = header(r, toMac, Frame.i64(f, l3 + Frame.V6_SOURCE), Frame.i64(f, l3 + Frame.V6_SOURCE + 8), length, HOPS);
        int end = at + Frame.V6_LENGTH + length;
        if (end > out.room()) {
            out.discard();
            return false;
        }
        int reply = at + Frame.V6_LENGTH;
        MemorySegment.copy(f, icmp, r, reply, length);
        Frame.putI32(r, reply, ECHO_REPLY << 24);
        finish(r, at, length);
        return true;
    }

    @Override
    public void ask(long h, long l, long known) {
        MemorySegment r = out.begin();
        if (r == null) {
            return;
        }
        long group = SOLICITED_NODE_LOW | l & 0xff_ffff;
        boolean everyone = known < 0;
        int at = header(r, everyone ? multicastMac(group) : known, everyone ? MULTICAST_HIGH : h, everyone ? group : l, OPTIONS + OPTION_LENGTH, LINK_HOPS);
        discovery(r, at, SOLICITATION, 0, h, l, OPTION_SOURCE);
    }

    @Override
    public void announce() {
        advertise(multicastMac(ALL_NODES_LOW), MULTICAST_HIGH, ALL_NODES_LOW, OVERRIDE);
    }

    private void advertise(long toMac, long toHigh, long toLow, int flags) {
        MemorySegment r = out.begin();
        if (r != null) {
            int at = header(r, toMac, toHigh, toLow, OPTIONS + OPTION_LENGTH, LINK_HOPS);
            discovery(r, at, ADVERTISEMENT, flags, high, low, OPTION_TARGET);
        }
    }

    /** RFC 2464: 33:33 and the group's last four bytes. */
    private static long multicastMac(long groupLow) {
        return 0x3333_0000_0000L | groupLow & 0xffff_ffffL;
    }

    /** Writes Ethernet and IPv6 headers; returns where the latter starts. */
    private int header(MemorySegment r, long toMac, long toHigh, long toLow, int payload, int hops) {
        int at = Frame.putEthernet(r, toMac, mac, vlan, Frame.TYPE_IPV6);
        Frame.putI32(r, at, 6 << 28);
        Frame.putI32(r, at + Frame.V6_PAYLOAD, payload << 16 | Frame.PROTOCOL_ICMPV6 << 8 | hops);
        Frame.putI64(r, at + Frame.V6_SOURCE, high);
        Frame.putI64(r, at + Frame.V6_SOURCE + 8, low);
        Frame.putI64(r, at + Frame.V6_DESTINATION, toHigh);
        Frame.putI64(r, at + Frame.V6_DESTINATION + 8, toLow);
        return at;
    }

    private void discovery(MemorySegment r, int l3, int type, int flags, long targetHigh, long targetLow, int option) {
        int icmp = l3 + Frame.V6_LENGTH;
        Frame.putI32(r, icmp, type << 24);
        Frame.putI32(r, icmp + 4, flags);
        Frame.putI64(r, icmp + TARGET, targetHigh);
        Frame.putI64(r, icmp + TARGET + 8, targetLow);
        Frame.putU16(r, icmp + OPTIONS, option << 8 | 1);
        Frame.putMac(r, icmp + OPTIONS + 2, mac);
        finish(r, l3, OPTIONS + OPTION_LENGTH);
    }

    /** Writes the ICMPv6 checksum, whose field is 0 so far, and sends. */
    private void finish(MemorySegment r, int l3, int length) {
        int icmp = l3 + Frame.V6_LENGTH;
        long sum = InternetChecksum.pseudoV6(r.address() + l3, Frame.PROTOCOL_ICMPV6, length) + InternetChecksum.bytes(out.address() + icmp, length);
        Frame.putU16(r, icmp + 2, InternetChecksum.field(sum));
        out.finish(icmp + length);
    }
}
