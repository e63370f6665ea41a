// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.Opcode;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loss, dead paths and dead planes: found, repaired, moved, and used again when they return. */
class PathsTest {
    private static final int MESSAGES = 60;

    private static Peers busy(long seed) {
        Peers p = new Peers(seed).connect();
        for (int i = 0; i < MESSAGES; i++) {
            p.post(p.request(Opcode.WRITE, 0, i * 100_000L, 100_000, i * 100_000L, i));
        }
        return p;
    }

    private static void assertAllWritten(Peers p) {
        assertTrue(p.until(3_000_000_000L, () -> p.completionsA.size() == MESSAGES), p.completionsA.size() + " of " + MESSAGES + ", seed " + p.seed);
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
        p.assertCopied(0, 0, MESSAGES * 100_000L);
    }

    private static PathStats path(Peers p, int i) {
        PathStats s = new PathStats();
        p.a.endpoint.readPath(p.ab, i, s);
        return s;
    }

    @Test
    @Requirement({"MR-LOSS-001", "MR-LOSS-002"})
    void aSingleLossIsRepairedOnceOnItsPathWithinTwoRoundTrips() {
        Peers p = new Peers(51).connect();
        int[] dropped = {0};
        long[] lostAt = {0};
        long[] repairedAt = {0};
        byte[][] lost = new byte[1][];
        p.net.filter = (d, plane, port) -> {
            if (d[4] == 0x15 && dropped[0] == 0 && d[31] == 9) {
                dropped[0] = 1;
                lost[0] = d;
                lostAt[0] = p.net.nowNs;
                return false;
            }
            if (d[4] == 0x15 && (d[5] & 4) != 0) {
                repairedAt[0] = p.net.nowNs;
                assertEquals(lost[0][12], d[12]);
                assertEquals(lost[0][13], d[13], "repaired on the path that lost it");
            }
            return true;
        };
        p.post(p.request(Opcode.WRITE, 0, 0, 200_000, 0, 1));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 1));
        assertEquals(1, p.statsA().retransmissions);
        assertEquals(0, p.statsA().spuriousRetransmissions);
        assertEquals(0, p.statsA().timeouts);
        assertTrue(repairedAt[0] - lostAt[0] < 2 * 15_000, (repairedAt[0] - lostAt[0]) + " ns");
        p.assertCopied(0, 0, 200_000);
    }

    @Test
    @Requirement("MR-LOSS-010")
    void aLostTailIsRepairedByAProbeNotATimeout() {
        for (int seed = 0; seed < 20; seed++) {
            Peers p = new Peers(300 + seed).connect();
            // Settle the RTT first.
            p.post(p.request(Opcode.WRITE, 0, 0, 50_000, 0, 0));
            assertTrue(p.until(100_000_000L, () -> p.completionsA.size() == 1));
            boolean[] once = {true};
            p.net.filter = (d, plane, port) -> {
                boolean drop = d[4] == 0x15 && (d[5] & 2) != 0 && once[0];
                once[0] &= !drop;
                return !drop;
            };
            long at = p.net.nowNs;
            p.post(p.request(Opcode.WRITE, 0, 0, 20_000, 0, 1));
            assertTrue(p.until(100_000_000L, () -> p.completionsA.size() == 2));
            assertTrue(p.net.nowNs - at < 100_000, "took " + (p.net.nowNs - at) + " ns, seed " + seed);
            assertEquals(0, p.statsA().timeouts);
        }
    }

    @Test
    @Requirement({"MR-LOSS-022", "MR-LOSS-020", "MR-PATH-011"})
    void aDeadPathIsLeftWithinItsPlane() {
        Peers p = busy(52);
        p.run(100_000);
        int port = path(p, 1).sourcePort;
        int plane = path(p, 1).plane;
        p.net.filter = (d, pl, s) -> pl != plane || s != port;
        assertAllWritten(p);
        assertTrue(p.statsA().deadPaths > 0);
        assertEquals(0, p.statsA().planeFailures);
        p.run(300_000_000);
        for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
            assertEquals("good", path(p, i).stateName(), "path " + i);
            assertTrue(path(p, i).plane != plane || path(p, i).sourcePort != port);
        }
    }

    @Test
    @Requirement("MR-LOSS-021")
    void routesThatDieTogetherAreReplaced() {
        Peers p = busy(53);
        p.run(100_000);
        Set<Integer> dead = new HashSet<>();
        for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
            dead.add(path(p, i).sourcePort);
        }
        p.net.filter = (d, pl, s) -> d[4] != 0x15 && d[4] != 0x17 || !dead.contains(s);
        assertAllWritten(p);
    }

    @Test
    @Requirement({"MR-LOSS-030", "MR-LOSS-031", "MR-LOSS-034"})
    void aDeadPlaneIsOneDecisionAndLosesNothing() {
        Peers p = busy(54);
        p.run(100_000);
        p.net.blockedPlane[1] = true;
        long at = p.net.nowNs;
        assertTrue(p.until(100_000_000L, () -> p.statsA().planeFailures == 1));
        assertTrue(p.net.nowNs - at < 8 * 15_000, "decided after " + (p.net.nowNs - at) + " ns");
        assertAllWritten(p);
        assertEquals(1, p.statsA().planeFailures);
        assertTrue(p.eventsA.stream().noneMatch(e -> e.kind == Event.FAILED || e.kind == Event.STREAM_FAILED));
    }

    @ParameterizedTest
    @ValueSource(longs = {10, 1_000, 20_000})
    @Requirement({"MR-PATH-009", "MR-PATH-010", "MR-LOSS-032"})
    void aPlaneThatReturnsIsUsedAgain(long outageMs) {
        Peers p = busy(55);
        p.run(60_000);
        p.net.blockedPlane[1] = true;
        assertAllWritten(p);
        p.run(outageMs * 1_000_000);
        p.net.blockedPlane[1] = false;
        assertTrue(p.until(150_000_000L, () -> {
            boolean good = true;
            for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
                good &= path(p, i).stateName().equals("good");
            }
            return good;
        }), "not back 150 ms after an outage of " + outageMs + " ms");
        long before = path(p, 4).packets;
        p.completionsA.clear();
        for (int i = 0; i < MESSAGES; i++) {
            p.post(p.request(Opcode.WRITE, 0, i * 100_000L, 100_000, i * 100_000L, i));
        }
        assertAllWritten(p);
        assertTrue(path(p, 4).packets > before);
    }

    @Test
    void lossNeverCutsTheWindowOfAPath() {
        Peers p = busy(56);
        p.net.loss = 0.1;
        assertAllWritten(p);
        double sum = 0;
        for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
            sum += path(p, i).window;
        }
        Peers q = busy(56);
        assertAllWritten(q);
        double clean = 0;
        for (int i = 0; i < q.a.endpoint.pathCount(q.ab); i++) {
            clean += path(q, i).window;
        }
        assertTrue(sum > clean / 2, sum + " against " + clean);
    }

    /** One route marks nine of ten packets, far from the last hop: its path loses window, until it takes another, and the others do not. */
    @Test
    @Requirement({"MR-CC-003", "MR-CC-012"})
    void marksTrimOnlyTheirPath() {
        double[][] least = new double[2][4];
        for (int marked = 0; marked < 2; marked++) {
            Peers p = new Peers(57).connect();
            p.net.jitterPerPortNs = 0;
            int port = path(p, 2).sourcePort;
            p.net.mark = 0.9 * marked;
            p.net.marks = (plane, s) -> plane == 0 && s == port;
            for (int i = 0; i < MESSAGES; i++) {
                p.post(p.request(Opcode.WRITE, 0, i * 100_000L, 100_000, i * 100_000L, i));
            }
            double[] windows = least[marked];
            java.util.Arrays.fill(windows, Double.MAX_VALUE);
            // Not from the first round trip, which settles the windows of all.
            p.run(40_000);
            assertTrue(p.until(3_000_000_000L, () -> {
                for (int i = 0; i < windows.length; i++) {
                    windows[i] = Math.min(windows[i], path(p, i).window);
                }
                return p.completionsA.size() == MESSAGES;
            }));
            assertTrue(p.statsA().ecnMarks >= 100 * marked, p.statsA().ecnMarks + " marks");
        }
        for (int i = 0; i < 4; i++) {
            double kept = least[1][i] / least[0][i];
            assertTrue(i == 2 ? kept < 0.7 : kept > 0.95, "path " + i + " keeps " + kept);
        }
    }

    /** Shallow queues that are full: they mark much of what they take and drop some. Windows shrink, and repairs keep to them. */
    @Test
    @Requirement({"MR-LOSS-004", "MR-CC-012"})
    void aFullQueueIsNotKeptFullByRepairs() {
        double before = 0;
        double after = 0;
        for (int seed = 61; seed < 69; seed++) {
            Peers p = busy(seed);
            // Very unequal routes, so that delay favours some of them.
            p.net.jitterPerPortNs = 40_000;
            p.run(200_000);
            before += goodWindows(p);
            // Fewer marks than would count as those of the last hop.
            p.net.mark = 0.6;
            java.util.Random random = new java.util.Random(seed);
            p.net.filter = (d, plane, port) -> d[4] != 0x15 && d[4] != 0x17 || random.nextDouble() >= 0.3;
            // Packets sent when last seen with more out than the window; a window that was cut does not call back what is out.
            long[] sent = new long[p.a.endpoint.pathCount(p.ab)];
            for (int sample = 0; sample < 700; sample++) {
                p.run(2_000);
                if (p.completionsA.size() > 20) {
                    p.completionsA.clear();
                    for (int i = 0; i < 20; i++) {
                        p.post(p.request(Opcode.WRITE, 0, i * 100_000L, 100_000, i * 100_000L, i));
                    }
                }
                for (int i = 0; i < sent.length; i++) {
                    PathStats s = path(p, i);
                    boolean over = s.inflight > s.window * 1.2 + 1;
                    assertTrue(!over || sent[i] == 0 || sent[i] == s.packets, s.inflight + " packets out in a window of " + s.window);
                    sent[i] = over ? s.packets : 0;
                }
            }
            after += goodWindows(p);
        }
        assertTrue(after < 0.35 * before, "windows of " + after + " are left of " + before);
    }

    private static double goodWindows(Peers p) {
        double sum = 0;
        for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
            PathStats s = path(p, i);
            sum += s.stateName().equals("good") ? s.window : 0;
        }
        return sum;
    }

    /** One route of four loses a third of its packets: its path takes another; where all lose as much, none does. */
    @Test
    @Requirement("MR-LOSS-040")
    void aRouteThatLosesMuchIsLeft() {
        for (boolean everywhere : new boolean[] {false, true}) {
            Peers p = busy(64);
            java.util.Random random = new java.util.Random(64);
            int port = path(p, 1).sourcePort;
            p.net.filter = (d, plane, s) -> d[4] != 0x15 || !everywhere && (plane != 0 || s != port) || random.nextInt(3) != 0;
            assertAllWritten(p);
            p.run(10_000_000);
            int moved = 0;
            for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
                moved += path(p, i).epoch;
            }
            assertEquals(0, p.statsA().deadPaths);
            assertEquals(everywhere ? 0 : 1, moved);
            assertTrue(everywhere || path(p, 1).sourcePort != port);
        }
    }

    /** Few packets are out, and never two: that is a dead plane all the same. */
    @Test
    @Requirement("MR-LOSS-035")
    void aPlaneOfDeadPathsIsDown() {
        Peers p = new Peers(62, slow(62), slow(63)).connect();
        p.net.blockedPlane[1] = true;
        int[] posted = {0};
        assertTrue(p.until(200_000_000L, () -> {
            // One packet at a time.
            if (p.completionsA.size() == posted[0]) {
                p.post(p.request(Opcode.WRITE, 0, 0, 1_000, 0, posted[0]++));
            }
            return p.statsA().planeFailures == 1;
        }), p.statsA().deadPaths + " dead paths");
        p.net.blockedPlane[1] = false;
        assertTrue(p.until(200_000_000L, () -> path(p, 4).stateName().equals("good")), path(p, 4).stateName());
    }

    @Test
    @Requirement("MR-CC-005")
    void theLeastRttIsMeasuredAnewWithoutOurOwnQueue() {
        Peers p = new Peers(58).connect();
        long[] next = {0};
        // The route grows longer by 30 us a way after a second; the windows must follow it up, not a queue.
        boolean[] longer = {false};
        assertTrue(p.until(25_000_000_000L, () -> {
            if (!longer[0] && p.net.nowNs > 2_000_000_000L) {
                p.net.delayNs += 30_000;
                longer[0] = true;
            }
            if (p.completionsA.size() == next[0]) {
                next[0]++;
                p.post(p.request(Opcode.WRITE, 0, 0, 500_000, 0, next[0]));
            }
            return p.a.endpoint.leastRttNs(p.ab, 0) > 60_000;
        }) || p.a.endpoint.leastRttNs(p.ab, 0) > 60_000, p.a.endpoint.leastRttNs(p.ab, 0) + " ns");
        assertTrue(p.a.endpoint.leastRttNs(p.ab, 0) < 100_000, p.a.endpoint.leastRttNs(p.ab, 0) + " ns");
    }

    @Test
    void aSmallWindowLeavesItsDeadFirstPathsForOthers() {
        EndpointConfig slow = Peers.config(59);
        slow.lineRateKbps = 1_000_000;
        Peers p = new Peers(59, slow, Peers.config(60)).connect();
        Set<Integer> dead = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            dead.add(path(p, i).sourcePort);
        }
        // Three of four routes of each plane are dead from the start, and replacements that hit them are, too.
        p.net.filter = (d, plane, port) -> !dead.contains(port);
        p.post(p.request(Opcode.WRITE, 0, 0, 300_000, 0, 1));
        assertTrue(p.until(500_000_000L, () -> p.completionsA.size() == 1), "not done");
        p.assertCopied(0, 0, 300_000);
    }

    /** A side that only received so far does not know that a plane is dead, and its one packet goes there. */
    @ParameterizedTest
    @ValueSource(longs = {0, 50_000, 200_000})
    @Requirement("MR-LOSS-027")
    void aLonePacketIntoADeadPlaneIsMoved(long timerFloorNs) {
        for (int seed = 0; seed < 30; seed++) {
            EndpointConfig a = Peers.config(600 + seed);
            EndpointConfig b = Peers.config(700 + seed);
            a.timerFloorNs = timerFloorNs;
            b.timerFloorNs = timerFloorNs;
            Peers p = new Peers(600 + seed, a, b).connect();
            for (int i = 0; i < 5; i++) {
                p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, i));
            }
            assertTrue(p.until(100_000_000L, () -> p.completionsA.size() == 5));
            p.net.blockedPlane[1] = true;
            p.post(p.request(Opcode.WRITE, 0, 0, 1_000_000, 0, 5));
            assertTrue(p.until(200_000_000L, () -> p.completionsA.size() == 6), "write, seed " + seed);
            p.a.endpoint.postReceive(p.ab, 1, p.memoryA.address(), 100, p.memoryA.key(), 7);
            p.run(5_000_000);
            WorkRequest send = p.request(Opcode.SEND, 1, 0, 64, 0, 8);
            send.localAddress = p.memoryB.address();
            send.localKey = p.memoryB.key();
            assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, send));
            long at = p.net.nowNs;
            assertTrue(p.until(500_000_000L, () -> p.completionsB.size() == 1), "send, seed " + seed);
            assertTrue(p.net.nowNs - at < 20_000_000L, (p.net.nowNs - at) / 1e6 + " ms, seed " + seed);
        }
    }

    /** A plane that dies in mid-transfer may cost a few probes, never a wait for a keepalive. */
    @Test
    void aDyingPlaneCostsMillisecondsEvenWhereHostsAreSlow() {
        for (int seed = 0; seed < 60; seed++) {
            EndpointConfig a = slow(800 + seed);
            Peers p = new Peers(800 + seed, a, slow(900 + seed)).connect();
            int[] posted = {0};
            for (; posted[0] < 8; posted[0]++) {
                p.postReceiveB(0, 0, 0, posted[0]);
                p.post(p.request(Opcode.WRITE_IMM, 0, 0, 100_000, 0, posted[0]));
            }
            long[] last = {p.net.nowNs};
            long[] gap = {0};
            int[] done = {0};
            long cut = p.net.nowNs + 3_000_000 + seed * 50_000L;
            assertTrue(p.until(1_000_000_000L, () -> {
                p.net.blockedPlane[1] = p.net.nowNs > cut;
                for (Completion c : p.completionsB) {
                    p.postReceiveB(0, 0, 0, c.wrId + 8);
                }
                p.completionsB.clear();
                for (Completion c : p.completionsA) {
                    assertEquals(Completion.OK, c.status);
                    done[0]++;
                    gap[0] = Math.max(gap[0], p.net.nowNs - last[0]);
                    last[0] = p.net.nowNs;
                    p.post(p.request(Opcode.WRITE_IMM, 0, 0, 100_000, 0, posted[0]++));
                }
                p.completionsA.clear();
                return p.net.nowNs > cut + 60_000_000L;
            }), "seed " + seed);
            gap[0] = Math.max(gap[0], p.net.nowNs - last[0]);
            assertTrue(gap[0] < 30_000_000L, "a pause of " + gap[0] / 1e6 + " ms, seed " + seed);
        }
    }

    /** After a plane has died in a transfer, the last words on another stream still come through both ways, quickly. */
    @Test
    void lastWordsComeThroughWithADeadPlane() {
        for (int seed = 0; seed < 150; seed++) {
            Peers p = new Peers(2000 + seed, slow(2000 + seed), slow(3000 + seed)).connect();
            for (int i = 0; i < 4; i++) {
                p.postReceiveB(7, 4_000_000 + i * 1_000L, 1_000, 100 + i);
                p.a.endpoint.postReceive(p.ab, 7, p.memoryA.address() + 4_000_000 + i * 1_000L, 1_000, p.memoryA.key(), 100 + i);
            }
            int messages = 10 + seed % 20;
            for (int i = 0; i < messages; i++) {
                p.postReceiveB(0, 0, 0, i);
                p.post(p.request(Opcode.WRITE_IMM, 0, 0, 100_000, 0, i));
            }
            p.run(seed * 7_000L);
            p.net.blockedPlane[seed % 2] = true;
            assertTrue(p.until(300_000_000L, () -> p.completionsA.size() == messages), "transfer, seed " + seed);
            p.completionsB.clear();
            p.post(p.request(Opcode.SEND, 7, 0, 300, 0, 900));
            assertTrue(p.until(100_000_000L, () -> p.completionsB.stream().anyMatch(c -> c.wrId == 100)), "question, seed " + seed);
            WorkRequest answer = p.request(Opcode.SEND, 7, 0, 900, 0, 901);
            answer.localAddress = p.memoryB.address();
            answer.localKey = p.memoryB.key();
            assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, answer));
            assertTrue(p.until(100_000_000L, () -> p.completionsA.stream().anyMatch(c -> c.isReceive)), "answer, seed " + seed);
        }
    }

    /** A share below the line is paced: what waits for its time goes when the time has come, and not with the next sign of life. */
    @Test
    @Requirement("MR-CC-020")
    void whatIsPacedGoesInTime() {
        for (int seed = 0; seed < 40; seed++) {
            EndpointConfig a = slow(1200 + seed);
            EndpointConfig b = slow(1300 + seed);
            a.lineRateKbps = 300_000;
            b.lineRateKbps = 300_000;
            Peers p = new Peers(1200 + seed, a, b).connect();
            p.net.mark = 0.8;
            p.net.loss = seed % 2 * 0.02;
            int[] posted = {0};
            long[] last = {p.net.nowNs};
            long[] gap = {0};
            int[] seen = {0};
            p.until(300_000_000L, () -> {
                while (posted[0] - p.completionsA.size() < 16) {
                    p.post(p.request(Opcode.WRITE, 0, 0, 20_000, 0, posted[0]++));
                }
                if (p.completionsA.size() > seen[0]) {
                    seen[0] = p.completionsA.size();
                    gap[0] = Math.max(gap[0], p.net.nowNs - last[0]);
                    last[0] = p.net.nowNs;
                }
                return false;
            });
            gap[0] = Math.max(gap[0], p.net.nowNs - last[0]);
            assertTrue(gap[0] < 50_000_000L, "a pause of " + gap[0] / 1e6 + " ms after " + seen[0] + " messages, seed " + seed);
        }
    }

    private static EndpointConfig slow(long seed) {
        EndpointConfig c = Peers.config(seed);
        c.timerFloorNs = 200_000;
        c.runLength = 4;
        c.minWindowPackets = 64;
        c.ackEvery = 4;
        c.ackDelayNs = 20_000;
        return c;
    }
}
