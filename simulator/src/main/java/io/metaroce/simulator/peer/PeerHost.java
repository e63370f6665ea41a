// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

import io.metaroce.simulator.core.Mix;
import io.metaroce.simulator.core.EventQueue;
import io.metaroce.simulator.fabric.Fabric;
import io.metaroce.simulator.fabric.Packets;
import io.metaroce.simulator.fabric.Topology;
import io.metaroce.simulator.host.HostConfig;
import io.metaroce.simulator.host.HostPlan;
import io.metaroce.simulator.host.HostTransport;
import io.metaroce.simulator.host.PortQueues;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A host of one of the transports that MetaRoCE is compared with: its channels take turns, packet by packet, at a port with the same short
 * queue as a MetaRoCE host's. Connections stand from the beginning; hosts need no time to think.
 */
final class PeerHost implements HostTransport {
    private static final int FIRST_PORT = 49_152;
    private static final int PORTS = 16_384;

    final int number;
    final EventQueue events;
    final Fabric fabric;
    final Packets packets;
    final HostConfig config;
    final SplittableRandom random;
    /** Planes, bit/s of one, and the packets of one that a round trip through an empty fabric holds. */
    final int planes;
    final long planeRate;
    final long baseRttPs;
    /** Bytes that all planes bring in a round trip. */
    final double bdpBytes;
    final Counters counters = new Counters();

    private final Model model;
    private final HostPlan plan;
    private final PortQueues ports;
    private final Map<Integer, PeerSender[]> senders = new HashMap<>();
    private final Map<Integer, PeerReceiver[]> receivers = new HashMap<>();
    private final Map<Integer, long[]> bytesFrom = new HashMap<>();
    /** Channels with something to send, in turn; and flows with open parts. */
    private final List<PeerSender> turn = new ArrayList<>();
    private int next;
    private final Map<Integer, Integer> openParts = new HashMap<>();
    /** Flows that their receivers are told of: packets in all. */
    private final Map<Integer, Integer> told = new HashMap<>();
    /** Flows of others that this host is told of: packets that have not come. */
    private final Map<Integer, Integer> missing = new HashMap<>();
    private final List<Timer> timers = new ArrayList<>();
    private final Timer portTimer;
    private boolean pumping;
    private final Puller puller;

    PeerHost(int number, HostPlan plan, Model model) {
        this.number = number;
        this.plan = plan;
        this.model = model;
        events = plan.events();
        fabric = plan.fabric();
        packets = fabric.packets;
        config = plan.config();
        random = new SplittableRandom(Mix.of(plan.seed() * 0x1_0000_0001L + number));
        Topology t = fabric.topology();
        planes = t.planes();
        planeRate = t.hostRate(number);
        baseRttPs = t.baseRttPs(config.payloadMtu + Frame.HEADER_BYTES + fabric.config().frameOverhead);
        bdpBytes = baseRttPs / 8e12 * planeRate * planes;
        ports = new PortQueues(fabric, number, planes, Math.round(config.portBytes * 8e12 / planeRate));
        portTimer = timer(this::pump);
        puller = model.puller(this);
    }

    // ---- for channels ----

    long nowPs() {
        return events.nowPs();
    }

    Puller puller() {
        return puller;
    }

    Timer timer(Runnable task) {
        if (timers.size() >= 1 << TIMER_BITS) {
            throw new IllegalStateException("host " + number + " has too many timers");
        }
        Timer timer = new Timer(events, plan.wakeKind() | (long) number << TIMER_BITS | timers.size(), task);
        timers.add(timer);
        return timer;
    }

    int randomPort() {
        return FIRST_PORT + random.nextInt(PORTS);
    }

    /** Time that so many bytes of payload and headers take at a plane's port, ps. */
    long wirePs(int payload) {
        return Math.round((payload + Frame.HEADER_BYTES + fabric.config().frameOverhead) * 8e12 / planeRate);
    }

    /** A packet to fill in and {@link #send}. */
    int begin(int type, int peer, int channel, long psn, int plane, int port) {
        int packet = packets.take();
        packets.source(packet, number);
        packets.destination(packet, peer);
        packets.plane(packet, plane);
        packets.sourcePort(packet, port);
        packets.headerLength(packet, Frame.HEADER_BYTES);
        packets.payloadLength(packet, 0);
        packets.urgent(packet, type != Frame.DATA);
        Frame.begin(packets.header(packet), type, channel, psn);
        return packet;
    }

    void send(int packet) {
        fabric.send(packet);
    }

    /** All of a part has arrived, as its sender knows it. */
    void partSent(int flow) {
        if (openParts.merge(flow, -1, Integer::sum) == 0) {
            openParts.remove(flow);
            told.remove(flow);
            plan.application().sent(number, flow);
        }
    }

    /** A data packet has arrived for the first time. */
    void arrived(int packet, long header, int peer) {
        bytesFrom.computeIfAbsent(peer, p -> new long[1])[0] += packets.payloadLength(packet);
        int all = Frame.flowPackets(header);
        if (all > 0) {
            int flow = Frame.flow(header);
            int left = missing.getOrDefault(flow, all) - 1;
            if (left > 0) {
                missing.put(flow, left);
            } else {
                missing.remove(flow);
                plan.application().received(number, flow);
            }
        }
    }

    /** Packets of the flow in all its parts; 0: its receiver is not to be told. */
    int toldPackets(int flow) {
        return told.getOrDefault(flow, 0);
    }

    /** Lets channels send, in turn, while a port takes anything. */
    void pump() {
        if (pumping || turn.isEmpty()) {
            return;
        }
        pumping = true;
        int idle = 0;
        while (idle < turn.size()) {
            ports.look();
            if (ports.allBusy()) {
                break;
            }
            next = next >= turn.size() ? 0 : next;
            idle = turn.get(next++).sendOne(ports.busy()) ? 0 : idle + 1;
        }
        if (ports.freePs() != Long.MAX_VALUE) {
            portTimer.at(events.nowPs() + ports.freePs());
        }
        pumping = false;
    }

    // ---- HostTransport ----

    @Override
    public void write(int peer, int bytes, int flow, boolean tellPeer) {
        PeerSender[] channels = senders.computeIfAbsent(peer, this::open);
        int n = Math.min(channels.length, bytes);
        openParts.put(flow, n);
        if (tellPeer) {
            int all = 0;
            for (int i = 0; i < n; i++) {
                all += (share(bytes, n, i) + config.payloadMtu - 1) / config.payloadMtu;
            }
            told.put(flow, all);
        }
        for (int i = 0; i < n; i++) {
            channels[i].post(flow, share(bytes, n, i));
        }
        pump();
    }

    private static int share(int bytes, int n, int i) {
        return bytes / n + (i < bytes % n ? 1 : 0);
    }

    private PeerSender[] open(int peer) {
        PeerSender[] channels = new PeerSender[model.channels()];
        for (int i = 0; i < channels.length; i++) {
            channels[i] = model.sender(this, peer, i);
            turn.add(channels[i]);
        }
        return channels;
    }

    @Override
    public void receive(int packet) {
        long header = packets.header(packet);
        int peer = packets.source(packet);
        int type = Frame.type(header);
        if (type == Frame.DATA || type == Frame.PROBE) {
            PeerReceiver[] channels = receivers.computeIfAbsent(peer, p -> new PeerReceiver[model.channels()]);
            int channel = Frame.channel(header);
            if (channels[channel] == null) {
                channels[channel] = model.receiver(this, peer, channel);
            }
            channels[channel].onData(packet, header);
        } else {
            senders.get(peer)[Frame.channel(header)].onControl(packet, header);
        }
        packets.give(packet);
        pump();
    }

    @Override
    public void wake(int timer) {
        timers.get(timer).fire();
    }

    @Override
    public void count(Counters into) {
        into.packets += counters.packets;
        into.resent += counters.resent;
        into.spurious += counters.spurious;
        into.timeouts += counters.timeouts;
        into.deadPaths += counters.deadPaths;
        into.probes += counters.probes;
        into.acks += counters.acks;
        into.reorderBytes = Math.max(into.reorderBytes, counters.reorderBytes);
    }

    @Override
    public long bytesFrom(int peer) {
        long[] bytes = bytesFrom.get(peer);
        return bytes == null ? 0 : bytes[0];
    }

    @Override
    public double windowBytes(int peer) {
        double sum = 0;
        for (PeerSender s : senders.getOrDefault(peer, new PeerSender[0])) {
            sum += s.windowBytes();
        }
        return sum;
    }

    @Override
    public double share(int peer) {
        return Arrays.stream(senders.getOrDefault(peer, new PeerSender[0])).mapToDouble(PeerSender::share).average().orElse(Double.NaN);
    }

    @Override
    public String describe(int peer) {
        StringBuilder b = new StringBuilder();
        for (PeerSender s : senders.getOrDefault(peer, new PeerSender[0])) {
            b.append(s.describe()).append("; ");
        }
        return b.toString();
    }
}
