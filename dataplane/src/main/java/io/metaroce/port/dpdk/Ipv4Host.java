// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import java.lang.foreign.MemorySegment;

/** What one plane does as an IPv4 host besides UDP: answers ARP and ping, asks for and announces addresses. One thread. */
final class Ipv4Host implements HostProtocol {
    private static final long BROADCAST = 0xffff_ffff_ffffL;
    private static final long MAPPED = 0x0000_ffff_0000_0000L;
    private static final int ECHO_REQUEST = 8;
    private static final int ICMP_HEADER = 8;
    private static final int HOPS = 64;

    private final long mac;
    private final int local;
    private final int vlan;
    private final ControlSender out;
    private final Neighbours neighbours;
    private final Resolved resolved;

    Ipv4Host(Device device, int local, int vlan, ControlSender out, Neighbours neighbours, Resolved resolved) {
        this.mac = device.mac;
        this.local = local;
        this.vlan = vlan;
        this.out = out;
        this.neighbours = neighbours;
        this.resolved = resolved;
    }

    @Override
    public boolean input(MemorySegment f, int l3, int type, long nowNs) {
        if (type == Frame.TYPE_ARP) {
            return arp(f, l3, nowNs);
        }
        return type == Frame.TYPE_IPV4 && echo(f, l3);
    }

    private boolean arp(MemorySegment f, int l3, long nowNs) {
        if (!Arp.isValid(f, l3)) {
            return false;
        }
        int sender = Frame.i32(f, l3 + Arp.SENDER_IP);
        long senderMac = Frame.mac(f, l3 + Arp.SENDER_MAC);
        boolean forUs = Frame.i32(f, l3 + Arp.TARGET_IP) == local;
        boolean request = Frame.u16(f, l3 + Arp.OPERATION) == Arp.REQUEST;
        // RFC 826: known senders are refreshed by any packet, unknown ones added when they ask for us. A probe has no sender.
        if (sender != 0 && neighbours.learn(0, MAPPED | sender & 0xffff_ffffL, senderMac, forUs && request, nowNs)) {
            resolved.resolved(0, MAPPED | sender & 0xffff_ffffL, senderMac);
        }
        if (forUs && request) {
            send(senderMac, Arp.REPLY, senderMac, sender);
        }
        return true;
    }

    private boolean echo(MemorySegment f, int l3) {
        int header = (Frame.u8(f, l3) & 0xf) << 2;
        int icmp = l3 + header;
        int length = Frame.u16(f, l3 + Frame.V4_TOTAL) - header;
        int to = Frame.i32(f, l3 + Frame.V4_SOURCE);
        long toMac = Frame.mac(f, Frame.MAC_SOURCE);
        if (Frame.u8(f, l3 + Frame.V4_PROTOCOL) != Frame.PROTOCOL_ICMP || length < ICMP_HEADER || Frame.u16(f, icmp) != ECHO_REQUEST << 8
                || to >>> 28 == 0xe || to == -1 || !Arp.isUnicast(toMac)
                || !InternetChecksum.holds(InternetChecksum.bytes(f.address() + icmp, length))) {
            return false;
        }
        MemorySegment r = out.begin();
        if (r == null) {
            return true;
        }
        int at = Frame.putEthernet(r, toMac, mac, vlan, Frame.TYPE_IPV4);
        int end = at + Frame.V4_LENGTH + length;
        if (end > out.room()) {
            out.discard();
            return false;
        }
        Frame.putI32(r, at, 0x4500 << 16 | Frame.V4_LENGTH + length);
        Frame.putI32(r, at + 4, 0x4000);
        Frame.putI32(r, at + Frame.V4_TTL, (HOPS << 8 | Frame.PROTOCOL_ICMP) << 16);
        Frame.putI32(r, at + Frame.V4_SOURCE, local);
        Frame.putI32(r, at + Frame.V4_DESTINATION, to);
        Frame.putU16(r, at + Frame.V4_CHECKSUM, InternetChecksum.field(InternetChecksum.ipv4Header(r.address() + at, Frame.V4_LENGTH)));
        int reply = at + Frame.V4_LENGTH;
        MemorySegment.copy(f, icmp, r, reply, length);
        Frame.putI32(r, reply, 0);
        Frame.putU16(r, reply + 2, InternetChecksum.field(InternetChecksum.bytes(out.address() + reply, length)));
        out.finish(end);
        return true;
    }

    @Override
    public void ask(long high, long low, long known) {
        send(known >= 0 ? known : BROADCAST, Arp.REQUEST, 0, (int) low);
    }

    /** Tells everyone where we are: whoever kept the address of a predecessor learns the new one. */
    @Override
    public void announce() {
        send(BROADCAST, Arp.REQUEST, 0, local);
    }

    private void send(long toMac, int operation, long targetMac, int targetIp) {
        MemorySegment r = out.begin();
        if (r != null) {
            int at = Frame.putEthernet(r, toMac, mac, vlan, Frame.TYPE_ARP);
            Arp.write(r, at, operation, mac, local, targetMac, targetIp);
            out.finish(at + Arp.LENGTH);
        }
    }
}
