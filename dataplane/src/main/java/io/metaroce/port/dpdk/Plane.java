// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.bindings.dpdk.Mbuf;
import io.metaroce.bindings.dpdk.Pmd;
import io.metaroce.bindings.dpdk.PmdCalls;
import io.metaroce.bindings.dpdk.generated.PmdShim;
import io.metaroce.bindings.dpdk.generated.mrpmd_rx;
import io.metaroce.port.PortCounters;
import io.metaroce.transport.RxBurst;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** One plane: its device, what comes in on it, and the host protocols beside UDP. One thread. */
final class Plane implements Neighbours.Requests, HostProtocol.Resolved {
    /** Below this a frame has no IP header; above, two words of MAC addresses can be read. */
    private static final int SHORTEST = Frame.ETHERNET_LENGTH + Frame.V4_LENGTH;
    /** What is asked of a plane under a flood: by then a few hundred nanoseconds a turn are spent on it. */
    private static final int LEAST_QUOTA = 8;
    private static final long MAPPED = 0x0000_ffff_0000_0000L;

    final Device device;
    final NetAddress local;
    final int maxDatagram;
    final Neighbours neighbours;
    final Parked parked = new Parked();
    private final byte index;
    private final boolean v4;
    private final int vlan;
    private final PortCounters counters;
    private final ControlSender control;
    private final HostProtocol host;
    /** As long as the plane: a port's planes may come and go. */
    private final MemorySegment rx = mrpmd_rx.allocate(Arena.ofAuto());
    private final Parked.Visitor drop;
    private long nowNs;
    private boolean announced;
    /** Frames to ask for at most, those that came with the last call, and how many of them were dropped here. */
    private int quota = PmdShim.MRPMD_MAX_BURST();
    private int taken;
    private int dropped;

    Plane(int index, Device device, PlaneConfig config, NetAddress local, DpdkConfig port, TxBuffers buffers, int room, PortCounters counters, long nowNs) {
        this.index = (byte) index;
        this.device = device;
        this.local = local;
        this.counters = counters;
        this.nowNs = nowNs;
        v4 = config.isIpv4();
        vlan = config.vlan();
        maxDatagram = port.mtu() - (v4 ? Frame.V4_LENGTH : Frame.V6_LENGTH) - Frame.UDP_LENGTH;
        neighbours = new Neighbours(port.neighbours());
        control = new ControlSender(device, buffers, room);
        host = v4 ? new Ipv4Host(device, (int) local.low(), vlan, control, neighbours, this) : new Ipv6Host(device, local, vlan, control, neighbours, this);
        drop = (mbuf, frame, length, flags) -> {
            buffers.free(mbuf);
            counters.txErrors++;
            counters.lastErrno = PlaneOutput.EHOSTUNREACH;
        };
        rx.fill((byte) 0);
    }

    /** Begins: looks at the link, and tells it our address. */
    void open(long now) {
        tick(now);
        if (!announced && device.up()) {
            host.announce();
        }
    }

    long nowNs() {
        return nowNs;
    }

    /** Appends received datagrams to {@code out}; what the last call gave becomes invalid. */
    void receive(RxBurst out) {
        adapt(out);
        int n = device.receive(rx.address(), Math.min(Math.min(out.capacity - out.count, quota), PmdShim.MRPMD_MAX_BURST()));
        taken = n;
        dropped = 0;
        for (int i = 0; i < n; i++) {
            long mbuf = Mbuf.of(rx.address(), i);
            int length = Mbuf.length(mbuf);
            if (length < SHORTEST || Mbuf.isChained(mbuf) || !frame(out, Mbuf.frame(mbuf), length, Mbuf.flags(mbuf))) {
                dropped++;
            }
        }
        counters.rxDropped += dropped;
    }

    /**
     * A plane that brings almost nothing but what is dropped is asked for little in a turn, so that a flood on it leaves the core to the
     * other planes. Where they are silent turns are short, and it loses little.
     */
    private void adapt(RxBurst last) {
        if (taken > 0) {
            int useless = dropped + last.useless[index];
            int least = Math.min(LEAST_QUOTA, last.capacity);
            quota = Math.min(last.capacity, 8 * useless > 7 * taken ? Math.max(Math.min(quota, last.capacity) / 2, least) : 2 * quota);
        }
        last.useless[index] = 0;
    }

    /** Returns false if the frame is to be dropped. */
    private boolean frame(RxBurst out, long f, int length, int flags) {
        int type = Bytes.getU16(f + Frame.ETHER_TYPE);
        int l3 = Frame.ETHERNET_LENGTH;
        if (type == Frame.TYPE_VLAN || vlan != 0) {
            // Priority tags (VLAN 0) count as untagged.
            if (type != Frame.TYPE_VLAN || (Bytes.getU16(f + l3) & 0xfff) != vlan) {
                return foreign();
            }
            type = Bytes.getU16(f + l3 + 2);
            l3 += Frame.VLAN_LENGTH;
        }
        if (Bytes.getLong(f) >>> 16 != device.mac) {
            return multicast(f, length, l3, type, flags);
        }
        long datagram = type == Frame.TYPE_IPV4 && v4 ? UdpInput.ipv4(f, length, l3, flags, (int) local.low(), local.port())
                : type == Frame.TYPE_IPV6 && !v4 ? UdpInput.ipv6(f, length, l3, flags, local.high(), local.low(), local.port())
                : type == Frame.TYPE_ARP ? UdpInput.OTHER : UdpInput.FOREIGN;
        if (datagram < 0) {
            return datagram == UdpInput.FOREIGN ? foreign() : datagram == UdpInput.OTHER && host.input(Frame.view(f, length), l3, type, nowNs);
        }
        add(out, f, l3, UdpInput.offset(datagram), UdpInput.length(datagram));
        return true;
    }

    /** Broadcast and multicast frames: questions for addresses, nothing else. */
    private boolean multicast(long f, int length, int l3, int type, int flags) {
        boolean group = (Bytes.getU8(f) & 1) != 0;
        boolean question = type == Frame.TYPE_ARP || type == Frame.TYPE_IPV6 && !v4
                && UdpInput.ipv6(f, length, l3, flags, local.high(), local.low(), local.port()) == UdpInput.OTHER;
        return group && question ? host.input(Frame.view(f, length), l3, type, nowNs) : foreign();
    }

    private boolean foreign() {
        counters.rxForeign++;
        return false;
    }

    private void add(RxBurst out, long f, int l3, int offset, int length) {
        int k = out.count++;
        out.address[k] = f + offset;
        out.length[k] = length;
        out.plane[k] = index;
        if (v4) {
            out.ecn[k] = (byte) (Bytes.getU8(f + l3 + Frame.V4_TOS) & 3);
            out.sourceHigh[k] = 0;
            out.sourceLow[k] = MAPPED | Bytes.getU32(f + l3 + Frame.V4_SOURCE);
        } else {
            // Traffic class: bits 20 to 27 of the first word; its low two are ECN.
            out.ecn[k] = (byte) (Bytes.getInt(f + l3) >>> 20 & 3);
            out.sourceHigh[k] = Bytes.getLong(f + l3 + Frame.V6_SOURCE);
            out.sourceLow[k] = Bytes.getLong(f + l3 + Frame.V6_SOURCE + 8);
        }
        out.sourcePort[k] = Bytes.getU16(f + offset - Frame.UDP_LENGTH + Frame.UDP_SOURCE);
        counters.rxDatagrams++;
        counters.rxBytes += length;
    }

    /** Link state and neighbours; called every few milliseconds. */
    void tick(long now) {
        nowNs = now;
        if (device.poll(now)) {
            neighbours.clear(this);
            if (device.up()) {
                host.announce();
                announced = true;
            }
        }
        if (device.up()) {
            neighbours.tick(now, this);
        }
    }

    @Override
    public void ask(long high, long low, long mac) {
        host.ask(high, low, mac);
    }

    @Override
    public void givenUp(long high, long low) {
        parked.take(high, low, drop);
    }

    @Override
    public void resolved(long high, long low, long mac) {
        parked.take(high, low, (mbuf, frame, length, flags) -> {
            MemorySegment f = Frame.view(frame, Frame.ETHERNET_LENGTH);
            Frame.putMac(f, Frame.MAC_DESTINATION, mac);
            counters.txDatagrams++;
            counters.txBytes += length - headersOf(flags);
            control.frame(mbuf, frame, length, flags);
        });
    }

    private static int headersOf(int flags) {
        return (flags >>> PmdShim.MRPMD_TX_L2_SHIFT() & 0xff) + (flags >>> PmdShim.MRPMD_TX_L3_SHIFT()) + Frame.UDP_LENGTH;
    }

    Pmd.Stats stats() {
        return Pmd.stats(device.port);
    }

    /** Ends, and leaves the device as it is. */
    void leave() {
        parked.takeAll(drop);
        PmdCalls.release(rx.address());
    }

    void close() {
        leave();
        device.close();
    }
}
