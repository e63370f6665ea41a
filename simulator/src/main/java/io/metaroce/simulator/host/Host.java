// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.host;

import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.simulator.core.EventQueue;
import io.metaroce.simulator.core.Memory;
import io.metaroce.simulator.core.Mix;
import io.metaroce.simulator.fabric.Fabric;
import io.metaroce.simulator.fabric.Packets;
import io.metaroce.transport.Completion;
import io.metaroce.transport.ConnectionStats;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Event;
import io.metaroce.transport.PathStats;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.ParityHeader;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * A host: the production endpoint, driven in virtual time, behind a port with a short queue on each plane.
 *
 * <p>Payload is not carried: all hosts share one region of memory as source and destination of everything, and endpoints do all but
 * move the bytes there ({@link EndpointConfig#placesPayload}).
 */
public final class Host implements HostTransport {
    private static final long MAPPED = 0x0000_ffff_0a00_0000L;
    private static final int UDP_PORT = 14791;
    private static final long REGION = 1L << 40;
    private static final long PS_PER_NS = 1_000;
    private static final long NEVER = Long.MAX_VALUE;
    private static final byte ECT0 = 2;
    private static final byte CE = 3;
    /** Wait before another try where the endpoint has more to send and no record to send it with. */
    private static final long RETRY_PS = 100_000;

    /** Source ports that paths choose from. */
    private static final int FIRST_PORT = 49_152;
    private static final int PORTS = 8_192;

    /** What all hosts of a simulation share. */
    private record Shared(HostPlan plan, MemorySegment memory, Memory records, int[] sourcePorts, Host[] hosts, RxBurst rx, TxBurst tx,
            int[] slots) { }

    /** Makes all hosts of a run. */
    public static HostTransport[] make(HostPlan plan) {
        int[] ports = new int[PORTS];
        Arrays.setAll(ports, i -> FIRST_PORT + i);
        int burst = plan.fabric().topology().planes() + 1;
        Host[] hosts = new Host[plan.connections().length];
        // An address range of the messages' length, of which nothing is ever touched.
        Shared shared = new Shared(plan, MemorySegment.ofAddress(REGION).reinterpret(plan.longest()), new Memory(), ports, hosts,
                new RxBurst(1), new TxBurst(burst), new int[burst]);
        for (int h = 0; h < hosts.length; h++) {
            hosts[h] = new Host(h, plan.config(), shared, plan.connections()[h], plan.flows()[h], plan.told()[h], plan.seed());
        }
        return hosts;
    }

    private final int number;
    private final Shared shared;
    private final EventQueue events;
    private final Fabric fabric;
    private final Packets packets;
    private final Endpoint endpoint;
    private final MemoryRegion region;
    private final RxBurst rx;
    private final TxBurst tx;
    /** The packets whose header memory the burst writes to. */
    private final int[] slots;
    private final int planes;
    private final PortQueues ports;
    private final Completion completion = new Completion();
    private final Event event = new Event();
    private final WorkRequest work = new WorkRequest();
    private final Map<Integer, Integer> connections = new HashMap<>();
    private long wakePs = NEVER;

    /**
     * @param most connections that it may have
     * @param flows messages that it may send
     * @param receives messages of one peer that it is told of
     */
    private Host(int number, HostConfig config, Shared shared, int most, int flows, int receives, long seed) {
        this.number = number;
        this.shared = shared;
        events = shared.plan.events();
        fabric = shared.plan.fabric();
        packets = fabric.packets;
        // One for all: nothing stays in a burst, and it stays in the caches.
        rx = shared.rx;
        tx = shared.tx;
        slots = shared.slots;
        planes = fabric.topology().planes();
        RegionTable regions = new RegionTable();
        region = regions.register(0, shared.memory, Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ);
        long rate = fabric.topology().hostRate(number);
        EndpointConfig c = new EndpointConfig();
        c.localAddresses = new NetAddress[planes];
        c.sourcePorts = new int[planes][];
        for (int p = 0; p < planes; p++) {
            c.localAddresses[p] = address(number, p);
            c.sourcePorts[p] = shared.sourcePorts;
        }
        c.payloadMtu = config.payloadMtu;
        // Every route of the fabric carries it, and what Parity packets have beside.
        c.safePayload = Math.min(config.payloadMtu + ParityHeader.MAX_ENTRIES, ParityHeader.MAX_CONTENT);
        c.pathsPerPlane = config.pathsPerPlane;
        c.ackEvery = config.ackEvery;
        c.ackDelayNs = config.ackDelayNs;
        c.streamWindowPackets = config.streamWindowPackets;
        c.receiveBufferPackets = config.receiveBufferPackets;
        c.lineRateKbps = rate / 1_000;
        c.integrity = EndpointConfig.INTEGRITY_HEADER;
        c.placesPayload = false;
        c.memory = shared.records;
        c.maxConnections = Math.max(1, most);
        c.maxStreams = 1;
        c.streamPool = Math.max(1, most);
        c.receiveQueueDepth = Math.max(1, Integer.highestOneBit(Math.max(1, receives) * 2 - 1));
        c.maxWorkRequests = flows + 64;
        double packetsPerRtt = fabric.topology().baseRttPs(config.payloadMtu) / 8e12 * rate / config.payloadMtu;
        c.maxPacketsOut = (int) Math.clamp(planes * (8 * packetsPerRtt + 64.0 * most), 256, 1 << 20);
        c.seed = Mix.of(seed * 0x1_0000_0001L + number);
        c.secret = Mix.of(c.seed);
        endpoint = new Endpoint(c, regions);
        ports = new PortQueues(fabric, number, planes, Math.round(config.portBytes * 8e12 / rate));
    }

    private static NetAddress address(int host, int plane) {
        return new NetAddress(0, MAPPED | (long) plane << 16 | host, UDP_PORT);
    }

    private long nowNs() {
        return events.nowPs() / PS_PER_NS;
    }

    // ---- network ----

    @Override
    public void receive(int packet) {
        if (packets.trimmed(packet)) {
            // A checksum that does not fit the rest: the port drops it.
            packets.give(packet);
            return;
        }
        rx.count = 1;
        rx.address[0] = packets.header(packet);
        rx.length[0] = packets.headerLength(packet) + packets.payloadLength(packet);
        rx.plane[0] = (byte) packets.plane(packet);
        rx.ecn[0] = packets.marked(packet) ? CE : ECT0;
        rx.sourceHigh[0] = 0;
        rx.sourceLow[0] = MAPPED | (long) packets.plane(packet) << 16 | packets.source(packet);
        rx.sourcePort[0] = packets.sourcePort(packet);
        endpoint.receive(nowNs(), rx);
        packets.give(packet);
        listen();
        pump();
    }

    @Override
    public void wake(int timer) {
        if (events.nowPs() == wakePs) {
            wakePs = NEVER;
            pump();
        }
    }

    private void listen() {
        // First what tells why a connection ended: then come its requests.
        while (endpoint.pollEvent(event)) {
            switch (event.kind) {
                case Event.CONNECTED -> { }
                case Event.ACCEPTED -> connections.put(hostOf(endpoint.describePeer(event.connection)), event.connection);
                default -> throw new IllegalStateException("host " + number + ": " + event.text());
            }
        }
        while (endpoint.pollCompletion(completion)) {
            if (completion.status != Completion.OK) {
                throw new IllegalStateException("a flow of host " + number + " ended with status " + completion.status);
            }
            if (completion.isReceive) {
                shared.plan.application().received(number, completion.immediate);
            } else {
                shared.plan.application().sent(number, (int) completion.wrId);
            }
        }
    }

    private static int hostOf(String peer) {
        String[] parts = peer.substring(0, peer.indexOf(':')).split("\\.");
        return Integer.parseInt(parts[2]) << 8 | Integer.parseInt(parts[3]);
    }

    /** Lets the endpoint send while the port takes anything, and sees to the next wake. */
    private void pump() {
        for (;;) {
            ports.look();
            if (ports.allBusy()) {
                // Nothing that is sent now would leave earlier than if it is sent then.
                wakeAt(events.nowPs() + ports.freePs());
                return;
            }
            boolean more = transmit();
            if (!more) {
                long deadline = endpoint.nextDeadlineNs();
                if (deadline != Long.MAX_VALUE) {
                    wakeAt(Math.max(deadline * PS_PER_NS, events.nowPs()));
                }
                return;
            }
            if (tx.count == 0) {
                wakeAt(events.nowPs() + (ports.busy() == 0 ? RETRY_PS : ports.freePs()));
                return;
            }
        }
    }

    private void wakeAt(long atPs) {
        if (atPs < wakePs) {
            wakePs = atPs;
            events.at(atPs, shared.plan.wakeKind() | (long) number << TIMER_BITS);
        }
    }

    /** Sends what the endpoint has, as far as a burst goes; whether it would have more. */
    private boolean transmit() {
        tx.count = 0;
        for (int p = 0; p < planes; p++) {
            tx.room[p] = ports.takes(p) ? 1 : 0;
        }
        for (int i = 0; i < tx.capacity; i++) {
            slots[i] = packets.take();
            tx.header[i] = packets.header(slots[i]);
        }
        boolean more = endpoint.transmit(nowNs(), tx);
        for (int i = tx.capacity - 1; i >= tx.count; i--) {
            packets.give(slots[i]);
        }
        for (int i = 0; i < tx.count; i++) {
            send(i, slots[i]);
        }
        return more;
    }

    private void send(int i, int packet) {
        packets.source(packet, number);
        packets.destination(packet, (int) tx.destinationLow[i] & 0xffff);
        packets.plane(packet, tx.plane[i]);
        // Probes may not overtake the Data before them.
        packets.urgent(packet, false);
        packets.sourcePort(packet, tx.sourcePort[i]);
        packets.headerLength(packet, tx.headerLength[i]);
        packets.payloadLength(packet, tx.payloadLength[i]);
        fabric.send(packet);
    }

    // ---- application ----

    @Override
    public void connect(int peer) {
        connections.put(peer, endpoint.connect(nowNs(), address(peer, 0), 0));
        pump();
    }

    @Override
    public void expect(int peer, int messages) {
        for (int i = 0; i < messages; i++) {
            check(peer, endpoint.postReceive(connection(peer), 0, region.address(), 0, region.key(), i));
        }
        pump();
    }

    @Override
    public void write(int peer, int bytes, int flow, boolean tellPeer) {
        MemoryRegion target = shared.hosts[peer].region;
        work.opcode = tellPeer ? Opcode.WRITE_IMM : Opcode.WRITE;
        work.stream = 0;
        work.localAddress = region.address();
        work.localKey = region.key();
        work.length = bytes;
        work.remoteAddress = target.address();
        work.remoteKey = target.key();
        work.immediate = flow;
        work.wrId = flow;
        check(peer, endpoint.post(connection(peer), work));
        pump();
    }

    private int connection(int peer) {
        Integer connection = connections.get(peer);
        if (connection == null) {
            throw new IllegalStateException("host " + number + " has no connection with host " + peer);
        }
        return connection;
    }

    private void check(int peer, int result) {
        if (result != Endpoint.OK) {
            throw new IllegalStateException("host " + number + " cannot post to host " + peer + ": result " + result + " of Endpoint.post");
        }
    }

    // ---- observation ----

    @Override
    public void count(Counters into) {
        ConnectionStats s = new ConnectionStats();
        for (int connection : connections.values()) {
            endpoint.readStats(connection, s);
            into.packets += s.packetsSent;
            into.resent += s.retransmissions;
            into.spurious += s.spuriousRetransmissions;
            into.timeouts += s.timeouts;
            into.deadPaths += s.deadPaths;
            into.planeFailures += s.planeFailures;
            into.parities += s.parities;
            into.rebuilt += s.rebuilt;
            into.probes += s.probes;
            into.acks += s.acksSent;
            into.violations += s.violations;
        }
    }

    @Override
    public long bytesFrom(int peer) {
        return statsWith(peer).bytesReceived;
    }

    @Override
    public long acksFrom(int peer) {
        return statsWith(peer).acksReceived;
    }

    @Override
    public long stateBytes() {
        return endpoint.stateBytes();
    }

    @Override
    public double windowBytes(int peer) {
        int connection = connection(peer);
        PathStats path = new PathStats();
        double packets = 0;
        for (int i = 0; i < endpoint.pathCount(connection); i++) {
            endpoint.readPath(connection, i, path);
            packets += path.window;
        }
        return packets * shared.plan.config().payloadMtu;
    }

    @Override
    public double share(int peer) {
        int connection = connection(peer);
        PathStats path = new PathStats();
        int count = endpoint.pathCount(connection);
        double sum = 0;
        for (int i = 0; i < count; i++) {
            endpoint.readPath(connection, i, path);
            sum += path.planeShare;
        }
        return sum / count;
    }

    @Override
    public String describe(int peer) {
        StringBuilder b = new StringBuilder();
        ConnectionStats s = statsWith(peer);
        b.append("%d packets sent, %d again, %d probes, %d acks received;".formatted(s.packetsSent, s.retransmissions, s.probes, s.acksReceived));
        int connection = connection(peer);
        PathStats path = new PathStats();
        for (int i = 0; i < endpoint.pathCount(connection); i++) {
            endpoint.readPath(connection, i, path);
            if (path.state != 0 || path.inflight > 0) {
                b.append(" path %d/%d state %d, %d out, window %.2f, RTT %.2f us;".formatted(path.plane, path.index, path.state, path.inflight, path.window,
                        path.rttUs));
            }
        }
        return b.toString();
    }

    private ConnectionStats statsWith(int peer) {
        ConnectionStats s = new ConnectionStats();
        endpoint.readStats(connection(peer), s);
        return s;
    }
}
