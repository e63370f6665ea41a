// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Reason;
import io.metaroce.wire.Type;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Packets grow to what all routes carry, and no route that carries less swallows anything for good. */
class PayloadSizeTest {
    private static final long MS = 1_000_000;
    private static final int LIMIT = 8_192;
    private static final int SAFE = 1_152;

    /** Payload that passes, by plane; and on some source ports less. */
    private final int[] carries = new int[8];
    private java.util.function.IntPredicate narrowPort = port -> false;

    private Peers peers(long seed, int planes) {
        Arrays.fill(carries, LIMIT);
        Peers p = new Peers(seed, config(seed, planes), config(seed + 1, planes));
        p.net.filter = (d, plane, port) -> d.length <= DataHeader.LENGTH + (narrowPort.test(port) ? SAFE : carries[plane]);
        return p;
    }

    private static EndpointConfig config(long seed, int planes) {
        EndpointConfig c = Peers.config(seed);
        c.localAddresses = new NetAddress[planes];
        c.payloadMtu = LIMIT;
        c.safePayload = SAFE;
        return c;
    }

    private static void transfer(Peers p, int messages) {
        p.completionsA.clear();
        for (int i = 0; i < messages; i++) {
            p.post(p.request(Opcode.WRITE, 0, i * 100_000L, 100_000, i * 100_000L, i));
        }
        finish(p, messages);
    }

    private static void finish(Peers p, int messages) {
        assertTrue(p.until(3_000 * MS, () -> p.completionsA.size() == messages), p.completionsA.size() + " of " + messages + ", seed " + p.seed);
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
        p.assertCopied(0, 0, messages * 100_000L);
    }

    @Test
    @Requirement({"MR-SIZE-001", "MR-SIZE-002", "MR-SIZE-003", "MR-PKT-006"})
    void whereNothingIsInTheWayOneRoundTripSettlesIt() {
        Peers p = peers(1, 2).connect();
        assertEquals(SAFE, p.a.endpoint.packetBytes(p.ab));
        int[] longest = {0};
        var pass = p.net.filter;
        p.net.filter = (d, plane, port) -> {
            longest[0] = Math.max(longest[0], d[4] == 0x15 ? d.length - DataHeader.LENGTH : 0);
            return pass.pass(d, plane, port);
        };
        // Posted before anything is known: cut for any route, and so it stays.
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 0));
        finish(p, 1);
        assertEquals(SAFE, longest[0]);
        p.run(MS);
        assertEquals(LIMIT, p.a.endpoint.packetBytes(p.ab));
        assertEquals(LIMIT, p.b.endpoint.packetBytes(p.ba));
        transfer(p, 10);
        assertEquals(LIMIT, longest[0]);
        assertTrue(p.statsA().packetsSent < 88 + 10 * 13 + 5);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1})
    @Requirement({"MR-SIZE-003", "MR-SIZE-004"})
    void theNarrowestPlaneInUseDecides(double loss) {
        for (int seed = 0; seed < 10; seed++) {
            Peers p = peers(10 + seed * 2, 3);
            carries[1] = 1_408 + 500 * seed;
            carries[2] = 4_096;
            p.net.loss = loss;
            p.connect();
            transfer(p, 20);
            assertTrue(p.until(2_000 * MS, () -> p.a.endpoint.packetBytes(p.ab) > Math.min(carries[1], 4_096) - 64), "seed " + seed + ": " + p.a.endpoint.packetBytes(p.ab));
            assertTrue(p.a.endpoint.packetBytes(p.ab) <= Math.min(carries[1], 4_096));
            transfer(p, 20);
            assertTrue(loss > 0 || p.statsA().deadPaths == 0, "no long packet was lost for its length, seed " + seed);
        }
    }

    /** One plane was fast to be found wide; of its routes, some are not. */
    @Test
    @Requirement({"MR-SIZE-005", "MR-SIZE-006"})
    void aRouteThatSwallowsLongPacketsIsLeft() {
        for (int seed = 0; seed < 20; seed++) {
            Peers p = peers(100 + seed * 2, 2).connect();
            p.run(5 * MS);
            assertEquals(LIMIT, p.a.endpoint.packetBytes(p.ab));
            narrowPort = port -> port % 3 == 0;
            transfer(p, 40);
            transfer(p, 40);
            PathStats s = new PathStats();
            p.run(300 * MS);
            for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
                p.a.endpoint.readPath(p.ab, i, s);
                assertTrue(s.sourcePort % 3 != 0 || s.packets == 0 || !s.stateName().equals("good") || s.inflight == 0, "path " + i);
            }
            assertEquals(LIMIT, p.a.endpoint.packetBytes(p.ab));
            narrowPort = port -> false;
        }
    }

    /** Whole windows may be lost in a queue that is full, so that probes alone tell of it; what is sent then arrives. */
    @Test
    @Requirement("MR-SIZE-006")
    void manyLostAtOnceAreNoReasonToLeaveARoute() {
        EndpointConfig onePath = config(160, 1);
        onePath.pathsPerPlane = 1;
        Peers p = new Peers(160, onePath, config(161, 1));
        p.net.delayNs = 200_000;
        p.connect();
        p.run(5 * MS);
        assertEquals(LIMIT, p.a.endpoint.packetBytes(p.ab));
        int[] lost = {0};
        long fullUntilNs = p.net.nowNs + 400_000;
        p.net.filter = (d, plane, port) -> {
            boolean passes = (d[4] & 15) != Type.DATA || p.net.nowNs >= fullUntilNs;
            if (!passes) {
                lost[0]++;
            }
            return passes;
        };
        transfer(p, 40);
        assertTrue(lost[0] > Limits.BLACK_HOLE, lost[0] + " lost");
        assertEquals(lost[0], p.statsA().retransmissions);
        assertEquals(0, p.statsA().deadPaths);
    }

    /** A whole plane shrinks: it is left for the messages that are too long for it, and comes back when these are done. */
    @Test
    @Requirement({"MR-SIZE-006", "MR-SIZE-007"})
    void aPlaneThatShrinksLosesNothing() {
        for (int seed = 0; seed < 10; seed++) {
            Peers p = peers(200 + seed * 2, 2).connect();
            p.run(5 * MS);
            for (int i = 0; i < 60; i++) {
                p.post(p.request(Opcode.WRITE, 0, i * 100_000L, 100_000, i * 100_000L, i));
            }
            p.run(100_000);
            carries[1] = 1_408;
            finish(p, 60);
            assertTrue(p.until(3_000 * MS, () -> {
                if (p.a.endpoint.liveWorkRequests() == 0) {
                    p.post(p.request(Opcode.WRITE, 0, 0, 50_000, 0, 1));
                }
                return p.a.endpoint.packetBytes(p.ab) <= 1_408;
            }), "seed " + seed);
            assertTrue(p.a.endpoint.packetBytes(p.ab) > 1_408 - 64);
            assertTrue(p.until(1_000 * MS, () -> p.a.endpoint.liveWorkRequests() == 0));
            transfer(p, 40);
            PathStats s = new PathStats();
            long before = 0;
            for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
                p.a.endpoint.readPath(p.ab, i, s);
                before += s.plane == 1 ? s.packets : 0;
            }
            transfer(p, 40);
            long after = 0;
            for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
                p.a.endpoint.readPath(p.ab, i, s);
                after += s.plane == 1 ? s.packets : 0;
            }
            assertTrue(after > before, "the narrow plane is in use again, seed " + seed);
        }
    }

    /** Nothing carries what is under way: the messages wait, then the connection ends and says why. */
    @Test
    @Requirement("MR-SIZE-008")
    void messagesThatNoRouteCarriesEndTheConnection() {
        Peers p = peers(300, 2).connect();
        p.run(5 * MS);
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000_000, 0, 1));
        p.run(50_000);
        carries[0] = 1_200;
        carries[1] = 1_300;
        long at = p.net.nowNs;
        assertTrue(p.until(10_000 * MS, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertEquals(Reason.PATH_MTU, p.eventsA.getLast().reason, p.eventsA.getLast().text());
        assertTrue(p.net.nowNs - at < 4_000 * MS, (p.net.nowNs - at) / 1e6 + " ms");
        assertEquals(Completion.CONNECTION_LOST, p.completionsA.getFirst().status);
    }

    /** The same, but it passes: what waited goes on. */
    @Test
    @Requirement("MR-SIZE-008")
    void messagesThatWaitForARouteGoOnWhenItIsBack() {
        Peers p = peers(310, 2).connect();
        p.run(5 * MS);
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000_000, 0, 1));
        p.run(50_000);
        carries[0] = 1_200;
        carries[1] = 1_200;
        p.run(600 * MS);
        carries[0] = LIMIT;
        carries[1] = LIMIT;
        assertTrue(p.until(2_000 * MS, () -> p.completionsA.size() == 1));
        assertEquals(Completion.OK, p.completionsA.getFirst().status);
        p.assertCopied(0, 0, 5_000_000);
    }

    @Test
    @Requirement("MR-SIZE-004")
    void whatDidNotPassIsTriedAgainAfterAWhile() {
        Peers p = peers(320, 1);
        carries[0] = 3_000;
        p.connect();
        p.run(100 * MS);
        assertTrue(p.a.endpoint.packetBytes(p.ab) <= 3_000);
        carries[0] = LIMIT;
        p.run(500_000 * MS);
        assertTrue(p.a.endpoint.packetBytes(p.ab) <= 3_000);
        p.run(110_000 * MS);
        assertEquals(LIMIT, p.a.endpoint.packetBytes(p.ab));
    }

    @Test
    void anAddedPlaneIsMeasuredBeforeItIsUsed() {
        Arrays.fill(carries, LIMIT);
        Peers p = new Peers(400, config(400, 3), config(401, 3), 2, 2);
        p.net.filter = (d, plane, port) -> d.length <= DataHeader.LENGTH + carries[plane];
        p.connect();
        p.run(5 * MS);
        carries[2] = 2_000;
        p.net.setPlane(p.a, 2, TestNetwork.address(11, 2));
        p.net.setPlane(p.b, 2, TestNetwork.address(12, 2));
        transfer(p, 60);
        assertTrue(p.until(500 * MS, () -> p.a.endpoint.packetBytes(p.ab) <= 2_000 && p.a.endpoint.packetBytes(p.ab) > 1_930), p.a.endpoint.packetBytes(p.ab) + "");
        transfer(p, 60);
        assertEquals(0, p.statsA().deadPaths);
    }

    /** A plane failed before it was known what it carries; when it is back nobody but it may be there to carry what was cut for others. */
    @Test
    @Requirement("MR-SIZE-004")
    void aSearchThatAnOutageBrokeOffGoesOn() {
        Peers p = peers(500, 2);
        p.connect();
        for (int i = 0; i < 40; i++) {
            p.post(p.request(Opcode.WRITE, 0, i * 100_000L, 100_000, i * 100_000L, i));
        }
        carries[1] = -DataHeader.LENGTH;
        finish(p, 40);
        p.run(50 * MS);
        assertTrue(planeIsDown(p, 1));
        assertEquals(LIMIT, p.a.endpoint.packetBytes(p.ab));
        carries[1] = LIMIT;
        assertTrue(p.until(1_000 * MS, () -> !planeIsDown(p, 1)));
        p.run(10 * MS);
        carries[0] = -DataHeader.LENGTH;
        transfer(p, 40);
    }

    private static boolean planeIsDown(Peers p, int plane) {
        PathStats s = new PathStats();
        p.a.endpoint.readPath(p.ab, plane * p.a.endpoint.pathCount(p.ab) / 2, s);
        return s.planeDown;
    }
}
