// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.core.Clock;
import io.metaroce.core.CoreLoop;
import io.metaroce.core.PortFit;
import io.metaroce.core.Task;
import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.port.PacketPort;
import io.metaroce.transport.Completion;
import io.metaroce.transport.ConnectionStats;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Event;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;

/**
 * A running transfer over two ports whose loops take turns in one thread: Writes, some in flight at any time, from one end to the other.
 * The time of the receiving loop is taken apart. One thread.
 */
final class LoopPair {
    private static final int REGION = 8 << 20;
    private static final int DEPTH = 8;
    private static final long PATIENCE_NS = 10_000_000_000L;
    private static final Task NOTHING = (now, endpoint) -> false;

    final CoreLoop sender;
    final CoreLoop receiver;
    private final Completion completion = new Completion();
    private final Event event = new Event();
    private final ConnectionStats stats = new ConnectionStats();
    private final WorkRequest request = new WorkRequest();
    private int connection = -1;
    private int accepted = -1;
    private int outstanding;
    /** Messages completed, and nanoseconds in the receiving loop, so far. */
    long messages;
    long receiverNs;

    /**
     * Connects.
     *
     * @param from owned from now on, as {@code to} is
     * @param payload of a packet
     */
    LoopPair(PacketPort from, PacketPort to, int payload, int message) {
        RegionTable regionsFrom = new RegionTable();
        RegionTable regionsTo = new RegionTable();
        sender = new CoreLoop(from, PortFit.fit(from, config(payload, 1)), regionsFrom);
        EndpointConfig accepting = config(payload, 2);
        accepting.acceptConnections = true;
        receiver = new CoreLoop(to, PortFit.fit(to, accepting), regionsTo);
        MemoryRegion source = regionsFrom.register(0, Arena.global().allocate(REGION, 4096), Access.LOCAL_WRITE);
        MemoryRegion target = regionsTo.register(0, Arena.global().allocate(REGION, 4096), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
        request.opcode = Opcode.WRITE;
        request.localAddress = source.address();
        request.localKey = source.key();
        request.length = message;
        request.remoteAddress = target.address();
        request.remoteKey = target.key();
        connect(to.localAddress(0));
    }

    private static EndpointConfig config(int payload, int seed) {
        EndpointConfig c = new EndpointConfig();
        c.payloadMtu = payload;
        c.pathsPerPlane = 4;
        c.seed = seed;
        return c;
    }

    private void connect(NetAddress to) {
        long end = Clock.nowNs() + PATIENCE_NS;
        connection = sender.endpoint().connect(Clock.nowNs(), to, 0);
        boolean connected = false;
        while (!connected || accepted < 0) {
            sender.runOnce(NOTHING);
            receiver.runOnce(NOTHING);
            if (sender.endpoint().pollEvent(event)) {
                if (event.kind != Event.CONNECTED) {
                    throw new IllegalStateException(event.text());
                }
                connected = true;
            }
            if (receiver.endpoint().pollEvent(event)) {
                accepted = event.connection;
            }
            if (Clock.nowNs() - end > 0) {
                throw new IllegalStateException("no connection");
            }
        }
    }

    /** One turn of both loops. */
    void turn() {
        sender.runOnce(this::post);
        long before = System.nanoTime();
        receiver.runOnce(NOTHING);
        receiverNs += System.nanoTime() - before;
    }

    private boolean post(long nowNs, Endpoint endpoint) {
        while (endpoint.pollCompletion(completion)) {
            if (completion.status != Completion.OK) {
                throw new IllegalStateException("completion status " + completion.status);
            }
            outstanding--;
            messages++;
        }
        boolean posted = false;
        while (outstanding < DEPTH && endpoint.post(connection, request) == Endpoint.OK) {
            outstanding++;
            posted = true;
        }
        return posted;
    }

    /** Data packets that the receiver took, so far. */
    long packets() {
        receiver.endpoint().readStats(accepted, stats);
        return stats.packetsReceived;
    }

    /** Packets sent again, so far. */
    long retransmissions() {
        sender.endpoint().readStats(connection, stats);
        return stats.retransmissions;
    }
}
