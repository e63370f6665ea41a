// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

import java.util.ArrayDeque;

/** Go-back-N: packets in order on one path; told that one is missing, or told nothing for long, it sends all from there on again. */
final class RoceSender implements PeerSender {
    private final PeerHost host;
    private final int peer;
    private final int channel;
    private final int plane;
    private final int port;
    private final Control control;
    private final long timeoutPs;
    private final Timer timeout;
    private final Timer pace;
    private final ArrayDeque<Part> parts = new ArrayDeque<>();
    /** First packet not acknowledged, next to send, end of those sent once, end of those posted. */
    private long first;
    private long next;
    private long sentOnce;
    private long posted;

    RoceSender(PeerHost host, int peer, int channel, Control control, long timeoutPs) {
        this.host = host;
        this.peer = peer;
        this.channel = channel;
        this.control = control;
        this.timeoutPs = timeoutPs;
        plane = (peer + channel) % host.planes;
        port = host.randomPort();
        timeout = host.timer(this::timedOut);
        pace = host.timer(host::pump);
    }

    @Override
    public void post(int flow, int bytes) {
        Part part = new Part(flow, bytes, posted, host.config.payloadMtu);
        parts.add(part);
        posted = part.endPsn();
    }

    @Override
    public boolean sendOne(int busyPlanes) {
        if (next == posted || (busyPlanes >> plane & 1) != 0) {
            return false;
        }
        long earliest = control.earliestPs();
        if (earliest > host.nowPs()) {
            pace.at(earliest);
            return false;
        }
        Part part = partOf(next);
        int packet = host.begin(Frame.DATA, peer, channel, next, plane, port);
        host.packets.payloadLength(packet, part.payload(next, host.config.payloadMtu));
        long header = host.packets.header(packet);
        Frame.flow(header, part.flow, host.toldPackets(part.flow));
        if (next == part.endPsn() - 1) {
            Frame.flag(header, Frame.ACK_NOW);
        }
        host.counters.packets++;
        boolean repeat = next < sentOnce;
        if (repeat) {
            host.counters.resent++;
        }
        control.sent(host.packets.payloadLength(packet), repeat);
        host.send(packet);
        next++;
        sentOnce = Math.max(sentOnce, next);
        timeout.atMost(host.nowPs() + timeoutPs);
        return true;
    }

    private Part partOf(long psn) {
        for (Part part : parts) {
            if (psn < part.endPsn()) {
                return part;
            }
        }
        throw new IllegalStateException("no part has packet " + psn);
    }

    @Override
    public void onControl(int packet, long header) {
        if (Frame.type(header) == Frame.CNP) {
            control.notified();
            return;
        }
        long cumulative = Frame.cumulative(header);
        if (cumulative > first) {
            first = cumulative;
            next = Math.max(next, first);
            if (first == sentOnce) {
                timeout.stop();
            } else {
                timeout.at(host.nowPs() + timeoutPs);
            }
            while (!parts.isEmpty() && parts.peek().endPsn() <= first) {
                host.partSent(parts.poll().flow);
            }
        }
        if (Frame.type(header) == Frame.NAK && cumulative == first) {
            next = first;
        }
    }

    private void timedOut() {
        host.counters.timeouts++;
        next = first;
        timeout.at(host.nowPs() + timeoutPs);
        host.pump();
    }

    @Override
    public double windowBytes() {
        return control instanceof Dcqcn d ? d.rate() * host.baseRttPs / 8e12 : host.planeRate / 8e12 * host.baseRttPs;
    }

    @Override
    public double share() {
        return control instanceof Dcqcn d ? d.rate() / host.planeRate : Double.NaN;
    }

    @Override
    public String describe() {
        return "QP %d: %d acknowledged, next %d of %d".formatted(channel, first, next, posted);
    }
}
