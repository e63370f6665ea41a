// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.port.PortException;
import io.metaroce.port.udp.UdpConfig;
import io.metaroce.port.udp.UdpPort;
import io.metaroce.transport.Completion;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Event;
import io.metaroce.transport.PathStats;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Planes come, go and move under two loops that exchange data over sockets of this machine. */
@Timeout(60)
class PlaneChangeOverUdpTest {
    private static final int BYTES = 4 << 20;

    private final RegionTable regions = new RegionTable();
    private final MemoryRegion from = regions.register(0, Arena.ofAuto().allocate(BYTES, 64), Access.LOCAL_WRITE);
    private final MemoryRegion to = regions.register(0, Arena.ofAuto().allocate(BYTES, 64), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
    private final CoreLoop a = loop(address("127.0.7.1"), address("127.0.7.2"), null);
    private final CoreLoop b = loop(address("127.0.7.11"), address("127.0.7.12"), null);
    private int connection;
    private int accepted;

    private static NetAddress address(String host) {
        try {
            return NetAddress.of(InetAddress.getByName(host), 0);
        } catch (java.net.UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private CoreLoop loop(NetAddress... planes) {
        UdpConfig udp = new UdpConfig(planes);
        udp.sourcePorts = 4;
        UdpPort port = new UdpPort(udp);
        EndpointConfig config = PortFit.fit(port, new EndpointConfig());
        config.maxConnections = 4;
        config.pathsPerPlane = 2;
        return new CoreLoop(port, config, regions);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private void turn() {
        a.runOnce((now, endpoint) -> false);
        b.runOnce((now, endpoint) -> false);
    }

    private void connect() {
        connection = a.endpoint().connect(Clock.nowNs(), b.port().localAddress(0), 0);
        Event event = new Event();
        boolean connected = false;
        while (!connected || accepted == 0) {
            turn();
            connected |= a.endpoint().pollEvent(event) && event.kind == Event.CONNECTED;
            accepted = b.endpoint().pollEvent(event) ? event.connection : accepted;
        }
    }

    private void transfer(Runnable meanwhile) {
        byte[] data = new byte[BYTES];
        new Random(Clock.nowNs()).nextBytes(data);
        from.segment().copyFrom(java.lang.foreign.MemorySegment.ofArray(data));
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
    private void assertUsed(int plane) {
        long before = packetsOf(plane);
        long start = Clock.nowNs();
        while (packetsOf(plane) <= before) {
            transfer(() -> { });
            assertTrue(Clock.nowNs() - start < 20_000_000_000L, "plane " + plane + " carries nothing: " + states());
        }
    }

    @Test
    @Requirement({"MR-MOVE-001", "MR-MOVE-002", "MR-MOVE-006"})
    void planesMoveComeAndGoUnderATransfer() {
        connect();
        transfer(() -> { });
        // Another port, then another address.
        transfer(() -> a.setPlane(1, address("127.0.7.2")));
        assertUsed(1);
        transfer(() -> b.setPlane(0, address("127.0.7.21")));
        assertUsed(0);
        transfer(() -> a.setPlane(2, address("127.0.7.3")));
        transfer(() -> b.setPlane(2, address("127.0.7.13")));
        assertUsed(2);
        transfer(() -> b.removePlane(1));
        assertNull(b.port().localAddress(1));
        transfer(() -> a.removePlane(0));
        assertUsed(2);
        assertThrows(PortException.class, () -> b.setPlane(1, address("192.0.2.77")), "not an address of this machine");
        b.setPlane(1, address("127.0.7.12"));
        assertUsed(1);
    }
}
