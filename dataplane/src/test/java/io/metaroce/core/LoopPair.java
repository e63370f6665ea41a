// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.port.PacketPort;
import io.metaroce.transport.Completion;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Event;
import io.metaroce.transport.PathStats;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;

/** Two loops in one thread that exchange data while their planes change. */
final class LoopPair implements AutoCloseable {
    private static final int BYTES = 4 << 20;

    private final RegionTable regions = new RegionTable();
    private final MemoryRegion from = regions.register(0, Arena.ofAuto().allocate(BYTES, 64), Access.LOCAL_WRITE);
    private final MemoryRegion to = regions.register(0, Arena.ofAuto().allocate(BYTES, 64), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
    final CoreLoop a;
    final CoreLoop b;
    private int connection;
    private int accepted;

    LoopPair(PacketPort portOfA, PacketPort portOfB) {
        a = loop(portOfA);
        b = loop(portOfB);
    }

    private CoreLoop loop(PacketPort port) {
        EndpointConfig config = PortFit.fit(port, new EndpointConfig());
        config.maxConnections = 4;
        config.pathsPerPlane = 2;
        return new CoreLoop(port, config, regions);
    }

    @Override
    public void close() {
        a.close();
        b.close();
    }

    void turn() {
        a.runOnce((now, endpoint) -> false);
        b.runOnce((now, endpoint) -> false);
    }

    /** Connects a to b's plane 0. */
    void connect() {
        connection = a.endpoint().connect(Clock.nowNs(), b.port().localAddress(0), 0);
        Event event = new Event();
        boolean connected = false;
        while (!connected || accepted == 0) {
            turn();
            connected |= a.endpoint().pollEvent(event) && event.kind == Event.CONNECTED;
            accepted = b.endpoint().pollEvent(event) ? event.connection : accepted;
        }
    }

    /** Writes from a to b, checked; {@code meanwhile} happens under way. */
    void transfer(Runnable meanwhile) {
        byte[] data = new byte[BYTES];
        new Random(Clock.nowNs()).nextBytes(data);
        from.segment().copyFrom(MemorySegment.ofArray(data));
        WorkRequest wr = new WorkRequest();
        wr.opcode = Opcode.WRITE;
        int messages = 8;
        for (int i = 0; i < messages; i++) {
            wr.localAddress = from.address() + (long) i * BYTES / messages;
            wr.localKey = from.key();
            wr.remoteAddress = to.address() + (long) i * BYTES / messages;
            wr.remoteKey = to.key();
            wr.length = BYTES / messages;
            a.endpoint().post(connection, wr);
        }
        Completion completion = new Completion();
        int done = 0;
        for (int turns = 0; done < messages; turns++) {
            turn();
            if (turns == 3) {
                meanwhile.run();
            }
            while (a.endpoint().pollCompletion(completion)) {
                assertEquals(Completion.OK, completion.status);
                done++;
            }
        }
        assertEquals(-1, from.segment().mismatch(to.segment()));
    }

    private long packetsOf(int plane) {
        PathStats s = new PathStats();
        long sum = 0;
        for (int i = 0; i < a.endpoint().pathCount(connection); i++) {
            a.endpoint().readPath(connection, i, s);
            sum += s.plane == plane ? s.packets : 0;
        }
        return sum;
    }

    private String states() {
        PathStats s = new PathStats();
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < a.endpoint().pathCount(connection); i++) {
            a.endpoint().readPath(connection, i, s);
            all.append(s.plane).append(' ').append(s.stateName()).append(", ").append(s.packets).append(" packets; ");
        }
        return all.toString();
    }

    /** Transfers until the plane carries data. */
    void assertUsed(int plane) {
        long before = packetsOf(plane);
        long start = Clock.nowNs();
        while (packetsOf(plane) <= before) {
            transfer(() -> { });
            assertTrue(Clock.nowNs() - start < 20_000_000_000L, "plane " + plane + " carries nothing: " + states());
        }
    }
}
