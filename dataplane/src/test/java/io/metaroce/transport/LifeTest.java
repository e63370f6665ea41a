// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Reason;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/** Connections are made, closed, refused and lost, and leave nothing behind. */
class LifeTest {
    private static void assertNothingLeft(TestNetwork.Host host) {
        assertEquals(0, host.endpoint.liveConnections());
        assertEquals(0, host.endpoint.liveStreams());
        assertEquals(0, host.endpoint.liveWorkRequests());
        assertEquals(0, host.endpoint.livePackets());
        assertEquals(0, host.endpoint.liveWindows());
    }

    @RepeatedTest(20)
    @Requirement({"MR-CON-003", "MR-CON-013"})
    void handshakeSurvivesLossAndDuplication(RepetitionInfo i) {
        Peers p = new Peers(100 + i.getCurrentRepetition());
        p.net.loss = 0.4;
        p.net.duplicate = 0.3;
        p.ab = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(p.until(3_000_000_000L, () -> Peers.has(p.eventsA, Event.CONNECTED) && Peers.has(p.eventsB, Event.ACCEPTED)));
        assertEquals(1, p.b.endpoint.liveConnections());
        assertEquals(1, p.eventsA.size());
        assertEquals(1, p.eventsB.size());
    }

    @RepeatedTest(5)
    @Requirement("MR-CON-030")
    void closeFinishesWorkThenFreesBothEnds(RepetitionInfo i) {
        Peers p = new Peers(200 + i.getCurrentRepetition()).connect();
        p.net.loss = 0.1;
        for (int n = 0; n < 10; n++) {
            p.post(p.request(Opcode.WRITE, n, n * 40_000L, 40_000, n * 40_000L, n));
        }
        p.postReceiveB(0, 0, 10, 1);
        p.a.endpoint.close(p.net.nowNs, p.ab);
        assertEquals(Endpoint.BAD_CONNECTION, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 0, 0, 1, 0, 99)));
        assertTrue(p.until(3_000_000_000L, () -> Peers.has(p.eventsA, Event.CLOSED) && Peers.has(p.eventsB, Event.CLOSED)));
        assertEquals(10, p.completionsA.stream().filter(c -> c.status == Completion.OK).count());
        p.assertCopied(0, 0, 400_000);
        assertEquals(Completion.CONNECTION_LOST, p.completionsB.getFirst().status);
        p.run(200_000_000);
        assertNothingLeft(p.a);
        assertNothingLeft(p.b);
    }

    /** Two that call each other at the same time get two connections, whole and apart, on whatever network. */
    @RepeatedTest(10)
    void callsThatCrossMakeTwoConnections(RepetitionInfo i) {
        Peers p = new Peers(250 + i.getCurrentRepetition());
        p.net.loss = 0.03 * i.getCurrentRepetition();
        p.net.duplicate = p.net.loss;
        p.net.jitterPerPortNs = 50_000;
        int fromA = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        int fromB = p.b.endpoint.connect(p.net.nowNs, p.a.config.localAddresses[0], 0);
        assertTrue(p.until(3_000_000_000L, () -> p.eventsA.size() == 2 && p.eventsB.size() == 2));
        for (List<Event> events : List.of(p.eventsA, p.eventsB)) {
            assertTrue(Peers.has(events, Event.CONNECTED) && Peers.has(events, Event.ACCEPTED));
            assertEquals(2, events.stream().map(e -> e.connection).distinct().count());
        }
        assertEquals(2, p.a.endpoint.liveConnections());
        assertEquals(2, p.b.endpoint.liveConnections());
        p.ab = fromA;
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 1));
        p.ab = p.eventsA.stream().filter(e -> e.kind == Event.ACCEPTED).findFirst().orElseThrow().connection;
        p.post(p.request(Opcode.WRITE, 0, 100_000, 100_000, 100_000, 2));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 2));
        p.assertCopied(0, 0, 200_000);
        // The end of one is not that of the other.
        p.b.endpoint.close(p.net.nowNs, fromB);
        // Where INIT was repeated, the handshake's round trip is long, and CLOSE is repeated after four of these only.
        assertTrue(p.until(10_000_000_000L, () -> Peers.has(p.eventsA, Event.CLOSED) && Peers.has(p.eventsB, Event.CLOSED)));
        p.ab = fromA;
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 3));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 3));
        assertEquals(Completion.OK, p.completionsA.getLast().status);
    }

    @Test
    @Requirement("MR-CON-031")
    void abortTellsThePeer() {
        Peers p = new Peers(31).connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 1_000_000, 0, 1));
        p.run(20_000);
        p.a.endpoint.abort(p.net.nowNs, p.ab, Reason.APPLICATION_ABORT);
        assertTrue(p.until(100_000_000L, () -> Peers.has(p.eventsB, Event.FAILED)));
        assertEquals(Reason.APPLICATION_ABORT, p.eventsB.getLast().reason);
        assertEquals(Completion.CONNECTION_LOST, p.completionsA.getFirst().status);
        p.run(200_000_000);
        assertNothingLeft(p.a);
        assertNothingLeft(p.b);
    }

    @Test
    @Requirement("MR-CON-027")
    void aDeadPeerIsNoticedNamedAndFreed() {
        Peers p = new Peers(32).connect();
        for (int i = 0; i < 20; i++) {
            p.post(p.request(Opcode.WRITE, i % 3, 0, 200_000, 0, i));
        }
        p.run(30_000);
        p.net.kill(p.b);
        long at = p.net.nowNs;
        assertTrue(p.until(3_000_000_000L, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertTrue(p.net.nowNs - at < 1_800_000_000L, (p.net.nowNs - at) / 1e6 + " ms");
        assertTrue(p.eventsA.getLast().text().contains("10.0.0.2:14791 did not answer"), p.eventsA.getLast().text());
        assertEquals(20, p.completionsA.size());
        assertNothingLeft(p.a);
    }

    @Test
    void anIdlePeerThatDiesIsFreedToo() {
        Peers p = new Peers(33).connect();
        p.run(1_000_000_000L);
        p.net.kill(p.a);
        assertTrue(p.until(3_000_000_000L, () -> Peers.has(p.eventsB, Event.FAILED)));
        assertNothingLeft(p.b);
    }

    @Test
    @Requirement("MR-CON-025")
    void anIdleConnectionStays() {
        Peers p = new Peers(34).connect();
        p.net.loss = 0.2;
        p.run(30_000_000_000L);
        assertEquals(1, p.a.endpoint.liveConnections());
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 1));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 1));
    }

    @Test
    @Requirement({"MR-CON-044"})
    void aRestartedPeerResetsTheOldConnection() {
        Peers p = new Peers(35).connect();
        for (int i = 0; i < 50; i++) {
            p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, i));
        }
        p.run(30_000);
        p.b = p.net.replace(p.b, Peers.config(99), p.regionsB);
        long at = p.net.nowNs;
        assertTrue(p.until(1_000_000_000L, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertEquals(Reason.PEER_RESTARTED, p.eventsA.getLast().reason);
        assertTrue(p.net.nowNs - at < 20_000_000L, "noticed after " + (p.net.nowNs - at) / 1e6 + " ms");
        p.eventsA.clear();
        p.eventsB.clear();
        p.completionsA.clear();
        p.connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 1));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 1));
        assertEquals(Completion.OK, p.completionsA.getFirst().status);
    }

    @Test
    @Requirement("MR-CON-003")
    void nobodyThere() {
        Peers p = new Peers(36);
        p.a.endpoint.connect(p.net.nowNs, TestNetwork.address(77, 0), 0);
        long at = p.net.nowNs;
        assertTrue(p.until(5_000_000_000L, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertTrue(p.net.nowNs - at <= 3_100_000_000L);
        assertTrue(p.eventsA.getFirst().text().contains("10.0.0.77:14791 did not answer"), p.eventsA.getFirst().text());
        assertNothingLeft(p.a);
    }

    @Test
    @Requirement("MR-CON-017")
    void exhaustedPoolRefusesWithARetryTime() {
        EndpointConfig one = Peers.config(2);
        one.maxConnections = 1;
        Peers p = new Peers(37, Peers.config(1), one).connect();
        p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(p.until(1_000_000_000L, () -> Peers.has(p.eventsA, Event.REFUSED)));
        assertEquals(Reason.NO_CONTEXT, p.eventsA.getLast().reason);
        assertTrue(p.eventsA.getLast().retryAfterMs > 0);
        p.a.endpoint.close(p.net.nowNs, p.ab);
        p.run(300_000_000L);
        p.eventsA.clear();
        p.eventsB.clear();
        p.connect();
    }

    @Test
    @Requirement("MR-PAR-012")
    void aServiceThatIsNotOfferedIsRefused() {
        EndpointConfig other = Peers.config(2);
        other.service = 5;
        Peers p = new Peers(38, Peers.config(1), other);
        p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(p.until(1_000_000_000L, () -> Peers.has(p.eventsA, Event.REFUSED)));
        assertEquals(Reason.PARAMETERS, p.eventsA.getLast().reason);
        assertNothingLeft(p.b);
    }

    @Test
    @Requirement({"MR-CON-006", "MR-CON-009"})
    void aSpoofedFloodLeavesNoState() {
        Peers p = new Peers(39);
        List<byte[]> inits = new ArrayList<>();
        p.net.filter = (d, plane, port) -> {
            if (d[4] == 0x11) {
                inits.add(d);
                return false;
            }
            return true;
        };
        p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        p.run(1_000_000);
        for (int i = 0; i < 1_000; i++) {
            p.net.inject(p.b, 0, TestNetwork.address(1 + i % 250, 0), 2, inits.getFirst());
        }
        assertEquals(0, p.b.endpoint.liveConnections());
        assertTrue(p.b.endpoint.counters().challengesSent <= 1_000);
    }

    @Test
    @Requirement("MR-CON-005")
    void theFirstProbeMayBeLost() {
        Peers p = new Peers(40);
        boolean[] once = {true};
        p.net.filter = (d, plane, port) -> {
            boolean drop = d[4] == (byte) Prefix.versionTypeOf(7) && once[0];
            once[0] &= !drop;
            return !drop;
        };
        long at = p.net.nowNs;
        p.connect();
        assertFalse(once[0]);
        assertTrue(p.net.nowNs - at < 50_000_000L, (p.net.nowNs - at) / 1e6 + " ms");
    }

    @Test
    void blindDatagramsHaveNoEffect() {
        Peers p = new Peers(41).connect();
        List<byte[]> seen = new ArrayList<>();
        p.net.filter = (d, plane, port) -> {
            seen.add(d);
            return true;
        };
        p.post(p.request(Opcode.WRITE, 0, 0, 50_000, 0, 1));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 1));
        long refused = p.b.endpoint.counters().checksumErrors;
        int injected = 0;
        for (byte[] d : List.copyOf(seen)) {
            if (d[4] == 0x15) {
                byte[] forged = d.clone();
                forged[63] ^= 1;
                p.net.inject(p.b, 0, TestNetwork.address(1, 0), 2, forged);
                injected++;
            }
        }
        assertEquals(refused + injected, p.b.endpoint.counters().checksumErrors);
    }
}
