// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Event;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;

/**
 * Two endpoints in one thread that hand each other bursts in memory, with any number of connections, streams and paths between them, all of
 * them in use: what the amount of work costs the transport. Packets are short and payload does not travel, so that copying costs little; every connection
 * has as many Writes under way as it needs for {@link #IN_FLIGHT} bytes in all, and takes its streams in turn. One thread.
 */
public final class CostPair {
    private static final int SLOT = 768;
    private static final int PAYLOAD = 256;
    private static final int IN_FLIGHT = 256 << 10;
    private static final int MOST_IN_FLIGHT = 256;
    /** Handshakes under way at a time. */
    private static final int CONNECTING = 64;
    private static final int PATIENCE_TURNS = 2_000_000;
    private static final long LINE_RATE_KBPS = 4_000_000_000L;
    private static final long TURN_NS = 1_000;
    /** What DPDK between two processes has: without it, paths are probed between two turns. */
    private static final long TIMER_FLOOR_NS = 50_000;

    /**
     * What there is to do.
     *
     * @param connections 1 to 4,000
     * @param streams of all connections together
     * @param paths of a connection, 1 to 256
     * @param message bytes, 1 to 16 MiB
     * @param lossOneIn one datagram in so many is lost, 0 for none
     */
    public record Work(int connections, int streams, int paths, int message, int lossOneIn) {
        /** Sixteen packets a message on one connection, stream by stream, over 16 paths. */
        public static final Work USUAL = new Work(1, 16, 16, 16 * PAYLOAD, 0);

        int streamsOfEach() {
            return Math.max(1, streams / connections);
        }

        int inFlightOfEach() {
            return Math.max(1, Math.clamp(IN_FLIGHT / message, 2, MOST_IN_FLIGHT) / connections);
        }
    }

    private final Work work;
    private final Endpoint a;
    private final Endpoint b;
    private final Hop hop;
    private final WorkRequest request = new WorkRequest();
    private final Completion completion = new Completion();
    private final Event event = new Event();
    private long clockNs = 1_000_000_000L;
    private int stream;
    /** Data packets sent, messages completed, and nanoseconds in the sending and the receiving endpoint, so far. */
    public long packets;
    public long messages;
    public long sendNs;
    public long receiveNs;

    /** Connects all, and posts the first messages. */
    public CostPair(Work work) {
        this.work = work;
        hop = new Hop(SLOT, false, work.lossOneIn);
        RegionTable regionsA = new RegionTable();
        RegionTable regionsB = new RegionTable();
        long bytes = Math.max(1 << 16, work.message);
        MemoryRegion from = regionsA.register(0, Arena.ofAuto().allocate(bytes, 4096), Access.LOCAL_WRITE);
        MemoryRegion to = regionsB.register(0, Arena.ofAuto().allocate(bytes, 4096), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
        a = new Endpoint(config(1), regionsA);
        b = new Endpoint(config(2), regionsB);
        request.opcode = Opcode.WRITE;
        request.localAddress = from.address();
        request.localKey = from.key();
        request.length = work.message;
        request.remoteAddress = to.address();
        request.remoteKey = to.key();
        for (int handle : connect()) {
            for (int i = 0; i < work.inFlightOfEach(); i++) {
                post(handle);
            }
        }
    }

    private EndpointConfig config(int host) {
        EndpointConfig c = new EndpointConfig();
        c.localAddresses = new NetAddress[] {Hop.address(host)};
        c.sourcePorts = new int[][] {new int[] {50_000, 50_001, 50_002, 50_003, 50_004, 50_005, 50_006, 50_007}};
        c.payloadMtu = PAYLOAD;
        c.safePayload = PAYLOAD;
        c.pathsPerPlane = work.paths;
        c.maxConnections = work.connections;
        c.maxStreams = work.streamsOfEach();
        c.streamPool = work.connections * work.streamsOfEach();
        c.maxWorkRequests = Math.max(1024, 2 * work.connections * work.inFlightOfEach());
        c.lineRateKbps = LINE_RATE_KBPS;
        c.integrity = EndpointConfig.INTEGRITY_HEADER;
        c.minWindowPackets = Math.max(2, 256 / work.connections);
        c.timerFloorNs = TIMER_FLOOR_NS;
        c.seed = host;
        return c;
    }

    private int[] connect() {
        int[] handles = new int[work.connections];
        int asked = 0;
        int opened = 0;
        for (int turns = 0; opened < handles.length; turns++) {
            while (asked < handles.length && asked - opened < CONNECTING) {
                a.connect(clockNs, Hop.address(2), 0);
                asked++;
            }
            turn();
            while (b.pollEvent(event)) {
                // Accepted.
            }
            while (a.pollEvent(event)) {
                if (event.kind != Event.CONNECTED) {
                    throw new IllegalStateException(event.text());
                }
                handles[opened++] = event.connection;
            }
            if (turns == PATIENCE_TURNS) {
                throw new IllegalStateException(opened + " of " + handles.length + " connections");
            }
        }
        return handles;
    }

    private void post(int handle) {
        request.stream = stream;
        stream = stream + 1 == work.streamsOfEach() ? 0 : stream + 1;
        int result = a.post(handle, request);
        if (result != Endpoint.OK) {
            throw new IllegalStateException("post: " + result);
        }
    }

    private void turn() {
        clockNs += TURN_NS;
        long start = System.nanoTime();
        hop.tx.count = 0;
        a.transmit(clockNs, hop.tx);
        packets += hop.tx.count;
        sendNs += System.nanoTime() - start;
        hop.travel();
        start = System.nanoTime();
        b.receive(clockNs, hop.rx);
        hop.tx.count = 0;
        b.transmit(clockNs, hop.tx);
        receiveNs += System.nanoTime() - start;
        hop.travel();
        start = System.nanoTime();
        a.receive(clockNs, hop.rx);
        sendNs += System.nanoTime() - start;
    }

    /** Goes on until so many more data packets were sent. A message that completes is followed by another one at once. */
    public void run(long more) {
        long goal = packets + more;
        for (int turns = 0; packets < goal; turns++) {
            turn();
            long start = System.nanoTime();
            while (a.pollCompletion(completion)) {
                if (completion.status != Completion.OK) {
                    throw new IllegalStateException("completion status " + completion.status);
                }
                messages++;
                post(completion.connection);
            }
            sendNs += System.nanoTime() - start;
            if (turns == PATIENCE_TURNS) {
                throw new IllegalStateException("nothing moves");
            }
        }
    }
}
