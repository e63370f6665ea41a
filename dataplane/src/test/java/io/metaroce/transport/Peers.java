// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Two connected endpoints on a {@link TestNetwork}, each with one region of memory: the stage of most transport tests. */
final class Peers {
    static final int REGION_BYTES = 8 << 20;
    static final int ALL = Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ | Access.REMOTE_ATOMIC;

    final TestNetwork net;
    final RegionTable regionsA = new RegionTable();
    final RegionTable regionsB = new RegionTable();
    final MemoryRegion memoryA;
    final MemoryRegion memoryB;
    final TestNetwork.Host a;
    TestNetwork.Host b;
    int ab;
    int ba;
    final List<Completion> completionsA = new ArrayList<>();
    final List<Completion> completionsB = new ArrayList<>();
    final List<Event> eventsA = new ArrayList<>();
    final List<Event> eventsB = new ArrayList<>();
    final long seed;

    Peers(long seed) {
        this(seed, config(seed), config(seed + 1));
    }

    Peers(long seed, EndpointConfig configA, EndpointConfig configB) {
        this(seed, configA, configB, Limits.MAX_PLANES, Limits.MAX_PLANES);
    }

    /** Of the planes that each side may have, only the first few are there. */
    Peers(long seed, EndpointConfig configA, EndpointConfig configB, int planesA, int planesB) {
        this.seed = seed;
        net = new TestNetwork(seed);
        memoryA = regionsA.register(0, Arena.ofAuto().allocate(REGION_BYTES, 64), ALL);
        memoryB = regionsB.register(0, Arena.ofAuto().allocate(REGION_BYTES, 64), ALL);
        fill(memoryA.segment(), seed);
        a = net.add(configA, regionsA, planesA);
        b = net.add(configB, regionsB, planesB);
    }

    static EndpointConfig config(long seed) {
        EndpointConfig c = new EndpointConfig();
        c.maxConnections = 8;
        c.seed = seed;
        c.secret = seed * 77;
        c.maxWorkRequests = 1024;
        c.maxPacketsOut = 4096;
        c.streamPool = 64;
        c.receiveQueueDepth = 64;
        c.streamWindowPackets = 1024;
        c.payloadMtu = 1024;
        c.safePayload = Limits.MAX_PAYLOAD_MTU;
        c.ackEvery = 4;
        return c;
    }

    Peers connect() {
        ab = a.endpoint.connect(net.nowNs, b.config.localAddresses[0], 0);
        assertTrue(ab > 0);
        assertTrue(until(1_000_000_000L, () -> has(eventsA, Event.CONNECTED) && has(eventsB, Event.ACCEPTED)), "seed " + seed + ": not connected");
        ba = eventsB.getLast().connection;
        return this;
    }

    static boolean has(List<Event> events, int kind) {
        return events.stream().anyMatch(e -> e.kind == kind);
    }

    boolean until(long ns, java.util.function.BooleanSupplier done) {
        return net.run(ns, () -> {
            poll();
            return done.getAsBoolean();
        });
    }

    void run(long ns) {
        until(ns, () -> false);
    }

    void poll() {
        drain(a, completionsA, eventsA);
        if (net.hosts.contains(b)) {
            drain(b, completionsB, eventsB);
        }
    }

    private static void drain(TestNetwork.Host host, List<Completion> completions, List<Event> events) {
        for (Completion c = new Completion(); host.endpoint.pollCompletion(c); c = new Completion()) {
            completions.add(c);
        }
        for (Event e = new Event(); host.endpoint.pollEvent(e); e = new Event()) {
            events.add(e);
        }
    }

    WorkRequest request(int opcode, int stream, long from, int length, long to, long wrId) {
        WorkRequest wr = new WorkRequest();
        wr.opcode = opcode;
        wr.stream = stream;
        wr.localAddress = memoryA.address() + from;
        wr.localKey = memoryA.key();
        wr.length = length;
        wr.remoteAddress = memoryB.address() + to;
        wr.remoteKey = memoryB.key();
        wr.wrId = wrId;
        return wr;
    }

    /** The other way: B reads its memory at {@code from}, and A's is the target. */
    WorkRequest requestFromB(int opcode, int stream, long from, int length, long to, long wrId) {
        WorkRequest wr = request(opcode, stream, 0, length, 0, wrId);
        wr.localAddress = memoryB.address() + from;
        wr.localKey = memoryB.key();
        wr.remoteAddress = memoryA.address() + to;
        wr.remoteKey = memoryA.key();
        return wr;
    }

    void post(WorkRequest wr) {
        assertEquals(Endpoint.OK, a.endpoint.post(ab, wr), "seed " + seed);
    }

    void postReceiveB(int stream, long at, int length, long wrId) {
        assertEquals(Endpoint.OK, b.endpoint.postReceive(ba, stream, memoryB.address() + at, length, memoryB.key(), wrId));
    }

    void assertCopied(long fromA, long toB, long length) {
        assertEquals(-1, memoryA.segment().asSlice(fromA, length).mismatch(memoryB.segment().asSlice(toB, length)), "seed " + seed);
    }

    /** Nothing of the connection is left on either side but what both keep open. */
    void assertIdle() {
        for (TestNetwork.Host h : List.of(a, b)) {
            assertEquals(0, h.endpoint.liveWorkRequests(), "seed " + seed);
            assertEquals(0, h.endpoint.livePackets(), "seed " + seed);
        }
    }

    ConnectionStats statsA() {
        ConnectionStats s = new ConnectionStats();
        a.endpoint.readStats(ab, s);
        return s;
    }

    ConnectionStats statsB() {
        ConnectionStats s = new ConnectionStats();
        b.endpoint.readStats(ba, s);
        return s;
    }

    static void fill(MemorySegment segment, long seed) {
        Random r = new Random(seed);
        for (long i = 0; i + 8 <= segment.byteSize(); i += 8) {
            segment.set(ValueLayout.JAVA_LONG, i, r.nextLong());
        }
    }
}
