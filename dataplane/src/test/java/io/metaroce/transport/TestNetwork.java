// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;

/**
 * Endpoints joined by a seeded network in virtual time: delay per source port, loss, duplication, corruption, marks, and planes or
 * source ports that are blocked. Packets of one source port keep their order, as on a real path.
 */
final class TestNetwork {
    private record Frame(long atNs, long order, byte[] bytes, Host to, int plane, NetAddress from, int ecn) { }

    static final class Host {
        final Endpoint endpoint;
        final EndpointConfig config;
        /** Has its turn between receiving and transmitting. */
        Runnable application = () -> { };
        private final TxBurst tx;
        private final RxBurst rx = new RxBurst(256);

        Host(EndpointConfig config, Endpoint endpoint, TxBurst tx) {
            this.config = config;
            this.endpoint = endpoint;
            this.tx = tx;
        }
    }

    /** Memory of bursts, which know it by its address only. */
    private final List<MemorySegment> keep = new ArrayList<>();

    /** Sees each datagram as it is sent, before anything is done to it. */
    interface Observer {
        void sent(Host from, byte[] datagram, int plane, int sourcePort, NetAddress to);
    }

    interface Queue {
        long waitNs(Host to, int plane);
    }

    /** Decides on each packet sent; return false to drop the datagram that it is in. */
    interface Filter {
        boolean pass(byte[] packet, int plane, int sourcePort);
    }

    final List<Host> hosts = new ArrayList<>();
    private final Map<String, Host> byAddress = new HashMap<>();
    private final Map<String, Integer> planeOf = new HashMap<>();
    private final PriorityQueue<Frame> wire = new PriorityQueue<>((a, b) ->
            a.atNs != b.atNs ? Long.compare(a.atNs, b.atNs) : Long.compare(a.order, b.order));
    private final Random random;
    private final MemorySegment rxMemory = Arena.ofAuto().allocate(256L * 20_000, 64);
    private long order;
    long nowNs = 1_000_000_000L;
    double loss;
    double duplicate;
    double corrupt;
    double mark;
    /** Routes that mark. */
    Routes marks = (plane, port) -> true;
    long delayNs = 4_000;
    /** What waits longer than that. */
    Queue queue = (to, plane) -> 0;
    long jitterPerPortNs = 3_000;
    Observer observer = (from, d, p, s, to) -> { };
    /** What becomes of each datagram that passed the filter, on its way. */
    UnaryOperator<byte[]> change = d -> d;
    Filter filter = (d, p, s) -> true;
    /** ECN bits of what is not marked CE: ECT(0), or 0 where hosts cannot set them. */
    int ecn = 2;
    /** Source port that receivers see instead of the true one. */
    IntUnaryOperator seenPort = s -> s;
    int receivePort = 14791;
    boolean[] blockedPlane = new boolean[8];
    /** Rate of a link, kbit/s, 0: no limit; what waits longer than these is marked, or dropped. */
    LinkRate rate = (plane, port) -> 0;
    long markNs = 20_000;
    long dropNs = 200_000;
    private final Map<Long, Long> linkFreeNs = new HashMap<>();

    /** Some of the ways of a plane, by source port. */
    interface Routes {
        boolean has(int plane, int sourcePort);
    }

    /** The slowest link on the way of a source port. */
    interface LinkRate {
        long kbps(int plane, int sourcePort);
    }

    long datagrams;

    TestNetwork(long seed) {
        random = new Random(seed);
    }

    /** A burst with buffers like a port's in use: nothing may rely on zeros. They live as long as the network. */
    TxBurst burst(int capacity) {
        TxBurst burst = new TxBurst(capacity);
        MemorySegment headers = Arena.ofAuto().allocate((long) capacity * TxBurst.HEADER_ROOM, 64);
        headers.fill((byte) 0xa5);
        for (int i = 0; i < capacity; i++) {
            burst.header[i] = headers.address() + (long) i * TxBurst.HEADER_ROOM;
        }
        keep.add(headers);
        return burst;
    }

    Host add(EndpointConfig config, io.metaroce.memory.RegionTable regions) {
        return add(config, regions, Limits.MAX_PLANES);
    }

    /** A host of which only the first {@code present} planes are there yet. */
    Host add(EndpointConfig config, io.metaroce.memory.RegionTable regions, int present) {
        int n = hosts.size() + 1;
        int slots = config.localAddresses == null ? 2 : config.localAddresses.length;
        int planes = Math.min(slots, present);
        config.localAddresses = new NetAddress[slots];
        config.sourcePorts = new int[slots][32];
        for (int p = 0; p < planes; p++) {
            config.localAddresses[p] = new NetAddress(0, address(n, p).low(), receivePort);
            for (int i = 0; i < 32; i++) {
                config.sourcePorts[p][i] = 50_000 + i;
            }
        }
        Host host = new Host(config, new Endpoint(config, regions), burst(64));
        hosts.add(host);
        for (int p = 0; p < planes; p++) {
            byAddress.put(config.localAddresses[p].toString(), host);
            planeOf.put(config.localAddresses[p].toString(), p);
        }
        return host;
    }

    /** Gives the host's plane an address, at once and for all to see, and tells its endpoint. */
    void setPlane(Host host, int plane, NetAddress address) {
        unplug(host, plane);
        host.config.localAddresses[plane] = address;
        for (int i = 0; i < 32; i++) {
            host.config.sourcePorts[plane][i] = 50_000 + i;
        }
        byAddress.put(address.toString(), host);
        host.endpoint.setPlane(nowNs, plane, address, host.config.sourcePorts[plane]);
    }

    void removePlane(Host host, int plane) {
        unplug(host, plane);
        host.endpoint.removePlane(nowNs, plane);
    }

    private void unplug(Host host, int plane) {
        if (host.config.localAddresses[plane] != null) {
            byAddress.remove(host.config.localAddresses[plane].toString());
        }
    }

    /** Takes a host off the network, as if its process were killed; its address may be used again. */
    void kill(Host host) {
        hosts.remove(host);
        byAddress.values().removeIf(h -> h == host);
    }

    Host replace(Host old, EndpointConfig config, io.metaroce.memory.RegionTable regions) {
        kill(old);
        config.localAddresses = old.config.localAddresses;
        config.sourcePorts = old.config.sourcePorts;
        Host host = new Host(config, new Endpoint(config, regions), burst(64));
        hosts.add(host);
        for (NetAddress a : config.localAddresses) {
            byAddress.put(a.toString(), host);
        }
        return host;
    }

    static NetAddress address(int host, int plane) {
        return new NetAddress(0, 0xffff_0a00_0000L | (long) plane << 8 | host, 14791);
    }

    /** Runs for this long in virtual time, or until {@code done}; returns whether {@code done} became true. */
    boolean run(long forNs, java.util.function.BooleanSupplier done) {
        long end = nowNs + forNs;
        while (true) {
            boolean busy = true;
            while (busy) {
                busy = false;
                for (Host h : List.copyOf(hosts)) {
                    busy |= transmit(h);
                }
            }
            if (done.getAsBoolean()) {
                return true;
            }
            long next = wire.isEmpty() ? Long.MAX_VALUE : wire.peek().atNs;
            for (Host h : hosts) {
                next = Math.min(next, Math.max(h.endpoint.nextDeadlineNs(), nowNs + 1));
            }
            if (next > end) {
                nowNs = end;
                return false;
            }
            nowNs = next;
            deliver();
        }
    }

    private boolean transmit(Host host) {
        host.tx.count = 0;
        host.application.run();
        boolean more = host.endpoint.transmit(nowNs, host.tx);
        for (int i = 0; i < host.tx.count; i++) {
            byte[] bytes = new byte[host.tx.headerLength[i] + host.tx.payloadLength[i]];
            MemorySegment all = MemorySegment.ofArray(bytes);
            MemorySegment.copy(MemorySegment.ofAddress(host.tx.header[i]).reinterpret(host.tx.headerLength[i]), 0, all, 0, host.tx.headerLength[i]);
            if (host.tx.payloadLength[i] > 0) {
                MemorySegment.copy(MemorySegment.ofAddress(host.tx.payload[i]).reinterpret(host.tx.payloadLength[i]), 0, all,
                        host.tx.headerLength[i], host.tx.payloadLength[i]);
            }
            send(host, host.tx.plane[i], host.tx.sourcePort[i],
                    new NetAddress(host.tx.destinationHigh[i], host.tx.destinationLow[i], host.tx.destinationPort[i]), bytes);
        }
        return more && host.tx.count > 0;
    }

    private void send(Host from, int plane, int sourcePort, NetAddress to, byte[] bytes) {
        datagrams++;
        observer.sent(from, bytes, plane, sourcePort, to);
        Host target = byAddress.get(to.toString());
        boolean passes = true;
        for (byte[] packet : Tap.packets(bytes)) {
            passes &= filter.pass(packet, plane, sourcePort);
        }
        if (target == null || blockedPlane[plane] || !passes || random.nextDouble() < loss) {
            return;
        }
        NetAddress source = new NetAddress(from.config.localAddresses[plane].high(), from.config.localAddresses[plane].low(),
                seenPort.applyAsInt(sourcePort));
        bytes = change.apply(bytes);
        long at = nowNs + delayNs + queue.waitNs(target, plane) + jitterPerPortNs * ((sourcePort * 31 + plane * 7) % 16) / 16;
        if (random.nextDouble() < corrupt) {
            bytes = bytes.clone();
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
        long kbps = rate.kbps(plane, sourcePort);
        boolean queued = false;
        if (kbps > 0) {
            // One queue for each rate of a plane and direction.
            long link = (kbps << 8 | plane) * 31 + hosts.indexOf(target);
            long start = Math.max(at, linkFreeNs.getOrDefault(link, 0L));
            if (start - at > dropNs) {
                return;
            }
            queued = start - at > markNs;
            at = start + (bytes.length + 66) * 8_000_000L / kbps;
            linkFreeNs.put(link, at);
        }
        int seen = queued || random.nextDouble() < mark && marks.has(plane, sourcePort) ? 3 : ecn;
        wire.add(new Frame(at, order++, bytes, target, plane, source, seen));
        if (random.nextDouble() < duplicate) {
            wire.add(new Frame(at + 500, order++, bytes, target, plane, source, seen));
        }
    }

    private void deliver() {
        while (!wire.isEmpty() && wire.peek().atNs <= nowNs) {
            Frame f = wire.poll();
            if (!hosts.contains(f.to)) {
                continue;
            }
            inject(f.to, f.plane, f.from, f.ecn, f.bytes);
        }
    }

    /** Hands one datagram to a host, as if it came from {@code from}. */
    void inject(Host to, int plane, NetAddress from, int ecn, byte[] bytes) {
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, rxMemory, 0, bytes.length);
        RxBurst rx = to.rx;
        rx.count = 1;
        rx.address[0] = rxMemory.address();
        rx.length[0] = bytes.length;
        rx.plane[0] = (byte) plane;
        rx.ecn[0] = (byte) ecn;
        rx.sourceHigh[0] = from.high();
        rx.sourceLow[0] = from.low();
        rx.sourcePort[0] = from.port();
        to.endpoint.receive(nowNs, rx);
    }
}
