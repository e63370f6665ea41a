// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;

/**
 * A port whose planes can be cut while it runs, in both directions at once: what a dead switch looks like. For demonstrations
 * and tests. One thread, that of the port.
 */
public final class PlaneGate implements PacketPort {
    private final PacketPort port;
    private boolean anyShut;
    private final boolean[] shut;
    private long dropped;

    public PlaneGate(PacketPort port) {
        this.port = port;
        shut = new boolean[port.planes()];
    }

    /** Cuts a plane, or heals it. */
    public void shut(int plane, boolean isShut) {
        shut[plane] = isShut;
        anyShut = false;
        for (boolean s : shut) {
            anyShut |= s;
        }
    }

    /** Datagrams lost here, both directions. */
    public long dropped() {
        return dropped;
    }

    @Override
    public void receive(RxBurst burst) {
        port.receive(burst);
        if (!anyShut) {
            return;
        }
        int kept = 0;
        for (int i = 0; i < burst.count; i++) {
            if (!shut[burst.plane[i]]) {
                move(burst, i, kept++);
            }
        }
        dropped += burst.count - kept;
        burst.count = kept;
    }

    private static void move(RxBurst burst, int from, int to) {
        burst.address[to] = burst.address[from];
        burst.length[to] = burst.length[from];
        burst.plane[to] = burst.plane[from];
        burst.ecn[to] = burst.ecn[from];
        burst.sourceHigh[to] = burst.sourceHigh[from];
        burst.sourceLow[to] = burst.sourceLow[from];
        burst.sourcePort[to] = burst.sourcePort[from];
    }

    @Override
    public void send(TxBurst burst) {
        if (anyShut) {
            // Swapping forward keeps the order of what stays: a path must not see its packets overtake each other.
            int kept = 0;
            for (int i = 0; i < burst.count; i++) {
                if (!shut[burst.plane[i]]) {
                    burst.swap(i, kept++);
                }
            }
            dropped += burst.count - kept;
            burst.count = kept;
        }
        port.send(burst);
    }

    @Override
    public void prepare(TxBurst burst) {
        port.prepare(burst);
    }

    @Override
    public int planes() {
        return port.planes();
    }

    @Override
    public NetAddress localAddress(int plane) {
        return port.localAddress(plane);
    }

    @Override
    public int[] sourcePorts(int plane) {
        return port.sourcePorts(plane);
    }

    @Override
    public int maxDatagram(int plane) {
        return port.maxDatagram(plane);
    }

    @Override
    public void setPlane(int plane, NetAddress address) {
        port.setPlane(plane, address);
    }

    @Override
    public void removePlane(int plane) {
        port.removePlane(plane);
    }

    @Override
    public void expectCids(int bits, int common) {
        port.expectCids(bits, common);
    }

    @Override
    public int preferredRun() {
        return port.preferredRun();
    }

    @Override
    public long timingNoiseNs() {
        return port.timingNoiseNs();
    }

    @Override
    public boolean sendsUdpChecksum() {
        return port.sendsUdpChecksum();
    }

    @Override
    public int receiveBuffer(int datagramBytes) {
        return port.receiveBuffer(datagramBytes);
    }

    @Override
    public PortCounters counters() {
        return port.counters();
    }

    @Override
    public void close() {
        port.close();
    }
}
