// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.crypto.PskSecurity;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Idle connections give their contexts back and take them again, and nobody but the two endpoints notices. */
class ParkTest {
    private static final long MS = 1_000_000;

    private static EndpointConfig config(long seed) {
        EndpointConfig c = Peers.config(seed);
        c.maxParked = 16;
        return c;
    }

    private static Peers peers(long seed) {
        return new Peers(seed, config(seed), config(seed + 1)).connect();
    }

    private static Peers encryptedPeers(long seed) {
        EndpointConfig[] both = {config(seed), config(seed + 1)};
        for (EndpointConfig c : both) {
            c.security = new PskSecurity(new byte[PskSecurity.PSK_BYTES]);
            c.requireEncryption = true;
            c.keyPackets = 30;
        }
        return new Peers(seed, both[0], both[1]).connect();
    }

    private static void park(Peers p) {
        // What was acknowledged last may still be on its way.
        p.run(MS);
        assertTrue(p.a.endpoint.park(p.net.nowNs, p.ab), "seed " + p.seed);
        assertTrue(p.until(200 * MS, () -> p.a.endpoint.isParked(p.ab) && p.b.endpoint.isParked(p.ba)), "seed " + p.seed);
        assertEquals(0, p.a.endpoint.liveConnections());
        assertEquals(0, p.b.endpoint.liveConnections());
    }

    private static WorkRequest fromB(Peers p, int stream, int length, long wrId) {
        WorkRequest wr = p.request(Opcode.SEND, stream, 0, length, 0, wrId);
        wr.localAddress = p.memoryB.address();
        wr.localKey = p.memoryB.key();
        return wr;
    }

    private static void postReceiveA(Peers p, int stream, long at, int length, long wrId) {
        assertEquals(Endpoint.OK, p.a.endpoint.postReceive(p.ab, stream, p.memoryA.address() + at, length, p.memoryA.key(), wrId));
    }

    @Test
    @Requirement({"MR-CON-050", "MR-CON-052", "MR-CON-054", "MR-CON-056", "MR-CON-057", "MR-CON-063"})
    void aParkedConnectionGoesOnWhereItStoppedAfterOneRoundTrip() {
        Peers p = peers(1);
        for (int i = 0; i < 4; i++) {
            p.postReceiveB(3, 4_000_000 + i * 1_000L, 1_000, 100 + i);
        }
        p.post(p.request(Opcode.SEND, 3, 0, 500, 0, 1));
        p.post(p.request(Opcode.WRITE, 5, 0, 100_000, 0, 2));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 2 && p.completionsB.size() == 1));
        for (int round = 0; round < 3; round++) {
            park(p);
            p.run(5_000 * MS);
            assertTrue(p.a.endpoint.isParked(p.ab), "no keepalive wakes it");
            p.completionsA.clear();
            p.completionsB.clear();
            long at = p.net.nowNs;
            p.post(p.request(Opcode.SEND, 3, 1_000, 700, 0, 3));
            assertTrue(p.until(100 * MS, () -> p.completionsB.size() == 1), "round " + round);
            long roundTrip = 2 * (p.net.delayNs + p.net.jitterPerPortNs);
            assertTrue(p.net.nowNs - at < 2 * roundTrip, "the first message took " + (p.net.nowNs - at) + " ns");
            assertEquals(101 + round, p.completionsB.getFirst().wrId, "the next receive of the stream");
            assertEquals(p.ba, p.completionsB.getFirst().connection, "by its old handle");
            p.assertCopied(1_000, 4_000_000 + (1 + round) * 1_000L, 700);
            assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 1));
            assertEquals(p.ab, p.completionsA.getFirst().connection);
        }
        assertEquals(1, p.eventsA.size(), "no event but CONNECTED");
        assertEquals(1, p.eventsB.size(), "no event but ACCEPTED");
        assertEquals(3, p.a.endpoint.counters().parks);
        assertEquals(3, p.b.endpoint.counters().resumes);
        assertTrue(p.statsA().packetsSent >= 102, "counters go on");
    }

    /** At the level that an implementation is free in: how small is small. */
    @Test
    void aParkedRecordIsAFractionOfAContext() {
        long context = ConnectionRecord.BYTES + 8L * PlaneRecord.BYTES + 8L * 4 * PathRecord.BYTES;
        assertTrue(ParkedRecord.bytes(8) <= 320);
        assertTrue(ParkedRecord.bytes(8) * 30 < context);
    }

    @Test
    @Requirement("MR-CON-021")
    void aResumedConnectionHasFreshIdentifiers() {
        Peers p = peers(2);
        List<byte[]> seen = new ArrayList<>();
        p.net.filter = (d, plane, port) -> seen.add(d);
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 0, 1));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 1));
        park(p);
        List<byte[]> late = List.copyOf(seen);
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 0, 2));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 2));
        p.run(MS);
        long before = p.b.endpoint.counters().unknownConnection + p.b.endpoint.counters().checksumErrors;
        for (byte[] d : late) {
            p.net.inject(p.b, 0, TestNetwork.address(1, 0), 2, d);
        }
        p.run(MS);
        assertTrue(p.b.endpoint.counters().unknownConnection + p.b.endpoint.counters().checksumErrors > before);
        assertEquals(0, p.statsB().duplicates + p.statsB().violations, "no late packet reached the connection");
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 0, 3));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 3));
    }

    /** Both sides park, post and stop at random, while the network loses, repeats and reorders; every message arrives once, in order. */
    @Test
    @Requirement({"MR-CON-051", "MR-CON-053", "MR-CON-055", "MR-CON-060", "MR-CON-061", "MR-CON-064", "MR-SEAL-043"})
    void parkingAtAnyTimeLosesAndRepeatsNothing() {
        long parks = 0;
        long resumes = 0;
        long abandoned = 0;
        for (int seed = 0; seed < 90; seed++) {
            Peers p = seed < 60 ? peers(1_000 + seed * 2L) : encryptedPeers(1_000 + seed * 2L);
            Random r = new Random(seed);
            p.net.loss = seed % 4 == 0 ? 0 : 0.25 * r.nextDouble();
            p.net.duplicate = seed % 3 == 0 ? 0 : 0.3 * r.nextDouble();
            p.net.jitterPerPortNs = r.nextInt(40_000);
            int[] sent = new int[2];
            for (int i = 0; i < 60; i++) {
                p.postReceiveB(0, 0, 3_000, i);
                postReceiveA(p, 0, 0, 3_000, i);
            }
            while (sent[0] + sent[1] < 80) {
                switch (r.nextInt(4)) {
                    case 0 -> p.a.endpoint.park(p.net.nowNs, p.ab);
                    case 1 -> p.b.endpoint.park(p.net.nowNs, p.ba);
                    default -> {
                        boolean a = r.nextBoolean();
                        boolean both = r.nextInt(4) == 0;
                        if ((a || both) && sent[0] < 60) {
                            p.post(p.request(Opcode.SEND, 0, 0, 1 + r.nextInt(3_000), 0, 1_000 + sent[0]++));
                        }
                        if ((!a || both) && sent[1] < 60) {
                            assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, fromB(p, 0, 1 + r.nextInt(3_000), 1_000 + sent[1]++)));
                        }
                    }
                }
                p.run(r.nextInt(3) == 0 ? 0 : r.nextInt(r.nextBoolean() ? 30_000 : 40_000_000));
            }
            int s = seed;
            assertTrue(p.until(3_000 * MS, () -> p.completionsA.size() == sent[0] + sent[1] && p.completionsB.size() == sent[0] + sent[1]),
                    () -> "seed " + s + ": " + p.completionsA.size() + " and " + p.completionsB.size() + " of " + (sent[0] + sent[1]) + " "
                            + p.eventsA.getLast().text());
            for (List<Completion> all : List.of(p.completionsA, p.completionsB)) {
                int receive = 0;
                int send = 1_000;
                for (Completion c : all) {
                    assertEquals(Completion.OK, c.status, "seed " + seed);
                    assertEquals(c.isReceive ? receive++ : send++, c.wrId, "seed " + seed);
                }
            }
            assertEquals(1, p.eventsA.size(), "seed " + seed);
            assertEquals(1, p.eventsB.size(), "seed " + seed);
            p.net.loss = 0;
            p.run(300 * MS);
            // Unless what was asked for last was to park.
            if (!p.a.endpoint.isParked(p.ab)) {
                park(p);
            }
            p.a.endpoint.close(p.net.nowNs, p.ab);
            assertTrue(p.until(500 * MS, () -> Peers.has(p.eventsA, Event.CLOSED) && Peers.has(p.eventsB, Event.CLOSED)), "seed " + seed);
            p.run(100 * MS);
            for (TestNetwork.Host h : List.of(p.a, p.b)) {
                assertEquals(0, h.endpoint.liveConnections() + h.endpoint.parkedConnections() + h.endpoint.liveStreams() + h.endpoint.liveWorkRequests()
                        + h.endpoint.livePackets() + h.endpoint.liveWindows(), "seed " + seed);
                parks += h.endpoint.counters().parks;
                resumes += h.endpoint.counters().resumes;
                abandoned += h.endpoint.counters().parksAbandoned;
            }
        }
        assertTrue(parks > 500 && resumes > 500 && abandoned > 50, parks + " parks, " + resumes + " resumes, " + abandoned + " abandoned");
    }

    @Test
    @Requirement("MR-CON-060")
    void twoCallsAtTheSameMomentMakeOneConnection() {
        for (int seed = 0; seed < 20; seed++) {
            Peers p = peers(3_000 + seed * 2L);
            p.net.loss = seed < 10 ? 0 : 0.3;
            p.postReceiveB(0, 0, 100, 1);
            postReceiveA(p, 0, 0, 100, 1);
            p.run(100 * MS);
            assertTrue(p.a.endpoint.park(p.net.nowNs, p.ab));
            assertTrue(p.until(2_000 * MS, () -> {
                if (!p.a.endpoint.isParked(p.ab)) {
                    p.a.endpoint.park(p.net.nowNs, p.ab);
                }
                return p.a.endpoint.isParked(p.ab) && p.b.endpoint.isParked(p.ba);
            }), "seed " + seed);
            p.post(p.request(Opcode.SEND, 0, 0, 100, 0, 2));
            assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, fromB(p, 0, 100, 2)));
            assertTrue(p.until(1_000 * MS, () -> p.completionsA.size() == 2 && p.completionsB.size() == 2), "seed " + seed);
            assertEquals(1, p.a.endpoint.liveConnections());
            assertEquals(1, p.b.endpoint.liveConnections());
        }
    }

    @Test
    @Requirement({"MR-CON-017", "MR-CON-018", "MR-CON-059", "MR-CON-062"})
    void manyConnectionsShareFewContexts() {
        int clients = 12;
        EndpointConfig few = config(7);
        few.maxConnections = 4;
        few.maxParked = 64;
        few.streamPool = 64;
        TestNetwork net = new TestNetwork(5);
        io.metaroce.memory.RegionTable regions = new io.metaroce.memory.RegionTable();
        io.metaroce.memory.MemoryRegion memory = regions.register(0, java.lang.foreign.Arena.ofAuto().allocate(1 << 20, 64), Peers.ALL);
        TestNetwork.Host server = net.add(few, regions);
        TestNetwork.Host[] hosts = new TestNetwork.Host[clients];
        int[] handles = new int[clients];
        int[] done = new int[clients];
        boolean[] up = new boolean[clients];
        for (int i = 0; i < clients; i++) {
            hosts[i] = net.add(config(100 + i), regions);
            handles[i] = hosts[i].endpoint.connect(net.nowNs, few.localAddresses[0], 0);
        }
        long[] lastInitNs = new long[clients];
        int[] refusals = new int[1];
        net.filter = (d, plane, port) -> {
            assertTrue(server.endpoint.liveConnections() <= 4);
            return true;
        };
        WorkRequest wr = new WorkRequest();
        Event event = new Event();
        Completion completion = new Completion();
        boolean all = net.run(30_000 * MS, () -> {
            while (server.endpoint.pollEvent(event)) {
                assertEquals(Event.ACCEPTED, event.kind, event.text());
            }
            int finished = 0;
            for (int i = 0; i < clients; i++) {
                while (hosts[i].endpoint.pollEvent(event)) {
                    if (event.kind == Event.CONNECTED) {
                        up[i] = true;
                    } else {
                        assertEquals(Event.REFUSED, event.kind, event.text());
                        assertEquals(Reason.NO_CONTEXT, event.reason);
                        assertTrue(event.retryAfterMs > 0);
                        refusals[0]++;
                        lastInitNs[i] = net.nowNs;
                        // At once: the endpoint itself waits.
                        handles[i] = hosts[i].endpoint.connect(net.nowNs, few.localAddresses[0], 0);
                    }
                }
                while (hosts[i].endpoint.pollCompletion(completion)) {
                    assertEquals(Completion.OK, completion.status);
                    done[i]++;
                }
                if (up[i] && done[i] < 20 && hosts[i].endpoint.liveWorkRequests() == 0) {
                    wr.opcode = Opcode.WRITE;
                    wr.localAddress = memory.address();
                    wr.localKey = memory.key();
                    wr.remoteAddress = memory.address() + 500_000;
                    wr.remoteKey = memory.key();
                    wr.length = 10_000;
                    assertEquals(Endpoint.OK, hosts[i].endpoint.post(handles[i], wr));
                }
                finished += done[i] == 20 ? 1 : 0;
            }
            return finished == clients;
        });
        assertTrue(all, java.util.Arrays.toString(done) + java.util.Arrays.toString(up));
        assertTrue(refusals[0] > 0);
        assertEquals(clients, server.endpoint.liveConnections() + server.endpoint.parkedConnections());
        assertTrue(server.endpoint.counters().refusalsSent < 400, "each refusal holds its caller off: " + server.endpoint.counters().refusalsSent);
    }

    @Test
    @Requirement("MR-CON-018")
    void aRefusedCallerWaitsAsItWasTold() {
        EndpointConfig one = Peers.config(2);
        one.maxConnections = 1;
        Peers p = new Peers(37, Peers.config(1), one).connect();
        p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(p.until(1_000 * MS, () -> Peers.has(p.eventsA, Event.REFUSED)));
        long refusedNs = p.net.nowNs;
        long retryNs = p.eventsA.getLast().retryAfterMs * MS;
        long[] initNs = {0};
        p.net.filter = (d, plane, port) -> {
            initNs[0] = d[4] == 0x11 && initNs[0] == 0 ? p.net.nowNs : initNs[0];
            return true;
        };
        p.a.endpoint.close(p.net.nowNs, p.ab);
        p.eventsA.clear();
        p.eventsB.clear();
        p.connect();
        assertTrue(initNs[0] - refusedNs >= retryNs && initNs[0] - refusedNs < retryNs + 2 * MS, (initNs[0] - refusedNs) + " ns");
    }

    /** A refusal that asks for weeks holds nobody for longer than an attempt lasts. */
    @Test
    @Requirement("MR-CON-018")
    void anAbsurdRetryTimeDoesNotHoldAnAttemptForEver() {
        EndpointConfig one = Peers.config(2);
        one.maxConnections = 1;
        Peers p = new Peers(38, Peers.config(1), one).connect();
        p.net.change = d -> {
            if (d[4] == 0x14) {
                d[12] = (byte) 0xff;
                new Checksummed(d).seal();
            }
            return d;
        };
        p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(p.until(1_000 * MS, () -> Peers.has(p.eventsA, Event.REFUSED)));
        p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(p.until(4_000 * MS, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertEquals(1, p.a.endpoint.liveConnections());
    }

    @Test
    void anIdleConnectionIsParkedByItself() {
        EndpointConfig a = config(11);
        a.parkIdleNs = 50 * MS;
        Peers p = new Peers(11, a, config(12)).connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 0, 1));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 1));
        p.run(30 * MS);
        assertFalse(p.a.endpoint.isParked(p.ab));
        assertTrue(p.until(60 * MS, () -> p.a.endpoint.isParked(p.ab) && p.b.endpoint.isParked(p.ba)));
    }

    @Test
    @Requirement("MR-CON-051")
    void aPeerThatDoesNotParkIsLeftAlone() {
        Peers p = new Peers(13, config(13), Peers.config(14)).connect();
        p.run(MS);
        assertTrue(p.a.endpoint.park(p.net.nowNs, p.ab));
        p.run(1_000 * MS);
        assertFalse(p.a.endpoint.isParked(p.ab));
        assertEquals(1, p.a.endpoint.counters().parksAbandoned);
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 0, 1));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 1));
    }

    @Test
    void aBusyConnectionIsNotParked() {
        Peers p = peers(15);
        p.post(p.request(Opcode.WRITE, 0, 0, 500_000, 0, 1));
        assertFalse(p.a.endpoint.park(p.net.nowNs, p.ab));
        // A Send that waits for credit is work of its sender, which the receiver does not know of.
        p.post(p.request(Opcode.SEND, 1, 0, 10, 0, 2));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 1));
        p.run(MS);
        p.b.endpoint.park(p.net.nowNs, p.ba);
        p.run(300 * MS);
        assertFalse(p.a.endpoint.isParked(p.ab) || p.b.endpoint.isParked(p.ba));
        p.postReceiveB(1, 0, 10, 3);
        assertTrue(p.until(200 * MS, () -> p.completionsA.size() == 2));
    }

    @Test
    @Requirement("MR-CON-057")
    void aPeerThatLostItsStateIsNoticedAtTheNextPost() {
        Peers p = peers(16);
        park(p);
        p.b = p.net.replace(p.b, config(99), p.regionsB);
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 0, 1));
        assertTrue(p.until(100 * MS, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertEquals(Reason.PEER_RESTARTED, p.eventsA.getLast().reason);
        assertEquals(Completion.CONNECTION_LOST, p.completionsA.getFirst().status);
        assertEquals(Endpoint.BAD_CONNECTION, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 0, 0, 1, 0, 2)));
        assertEquals(0, p.a.endpoint.liveConnections() + p.a.endpoint.parkedConnections() + p.a.endpoint.liveStreams());
    }

    @Test
    void aPeerThatIsDeadIsNoticedAtTheNextPost() {
        Peers p = peers(17);
        park(p);
        p.net.kill(p.b);
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 0, 1));
        assertTrue(p.until(4_000 * MS, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertEquals(Reason.TIMEOUT, p.eventsA.getLast().reason);
        assertEquals(Completion.CONNECTION_LOST, p.completionsA.getFirst().status);
    }

    @Test
    @Requirement("MR-CON-055")
    void anAbortReachesAParkedPeer() {
        Peers p = peers(18);
        p.postReceiveB(0, 0, 10, 7);
        park(p);
        p.a.endpoint.abort(p.net.nowNs, p.ab, Reason.APPLICATION_ABORT);
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsB, Event.FAILED)));
        assertEquals(Reason.APPLICATION_ABORT, p.eventsB.getLast().reason);
        assertEquals(Completion.CONNECTION_LOST, p.completionsB.getFirst().status);
        for (TestNetwork.Host h : List.of(p.a, p.b)) {
            assertEquals(0, h.endpoint.liveConnections() + h.endpoint.parkedConnections() + h.endpoint.liveStreams() + h.endpoint.liveWindows());
        }
    }

    @Test
    @Requirement({"MR-CON-056", "MR-CON-057"})
    void whoDoesNotKnowTheSecretsCannotCall() {
        Peers p = peers(19);
        park(p);
        byte[][] call = new byte[1][];
        p.net.filter = (d, plane, port) -> {
            if (d[4] == 0x11) {
                call[0] = d;
                return false;
            }
            return true;
        };
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 0, 1));
        p.run(MS);
        int resume = indexOfResume(call[0]);
        assertNotEquals(0, resume);
        for (int i = 0; i < 16; i++) {
            byte[] forged = call[0].clone();
            forged[resume + 4 + i] ^= 1;
            new Checksummed(forged).seal();
            p.net.inject(p.b, 0, TestNetwork.address(1, 0), 2, forged);
            assertTrue(p.b.endpoint.isParked(p.ba));
            assertEquals(0, p.b.endpoint.liveConnections());
        }
        assertEquals(16, p.b.endpoint.counters().refusalsSent);
        p.net.filter = (d, plane, port) -> true;
        assertTrue(p.until(200 * MS, () -> p.completionsA.size() == 1), "the real caller is not disturbed");
    }

    @Test
    @Requirement("MR-CON-058")
    void whatStreamsRelyOnMustNotChange() {
        Peers p = peers(22);
        park(p);
        p.net.filter = (d, plane, port) -> {
            if (d[4] == 0x11) {
                d[indexOf(5, d) + 7] ^= (byte) 0x80;
                d[indexOf(5, d) + 6] = 0;
                new Checksummed(d).seal();
            }
            return true;
        };
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 0, 1));
        assertTrue(p.until(2_000 * MS, () -> Peers.has(p.eventsA, Event.FAILED) && Peers.has(p.eventsB, Event.FAILED)));
        assertEquals(Reason.PARAMETERS, p.eventsA.getLast().reason);
        assertEquals(0, p.b.endpoint.liveConnections() + p.b.endpoint.parkedConnections());
    }

    /** What is posted while the peer is being called is checked against what it told before. */
    @Test
    @Requirement({"MR-CON-054", "MR-CON-058"})
    void aReadMayBePostedToAParkedConnection() {
        Peers p = peers(23);
        park(p);
        p.post(p.request(Opcode.READ_REQUEST, 0, 0, 5_000, 0, 1));
        assertTrue(p.until(200 * MS, () -> p.completionsA.size() == 1));
        assertEquals(Completion.OK, p.completionsA.getFirst().status);
    }

    private static int indexOfResume(byte[] init) {
        return indexOf(15, init);
    }

    private static int indexOf(int type, byte[] init) {
        int at = 48;
        while (at < init.length) {
            if (init[at] == type) {
                return at;
            }
            at += 4 + ((init[at + 2] & 0xff) << 8 | init[at + 3] & 0xff) + 3 & ~3;
        }
        return 0;
    }

    /** Gives an altered datagram a right checksum with tag 0. */
    private record Checksummed(byte[] bytes) {
        void seal() {
            java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
            crc.update(bytes, 4, bytes.length - 4);
            for (int i = 0; i < 4; i++) {
                bytes[i] = (byte) (crc.getValue() >>> 24 - 8 * i);
            }
        }
    }

    @Test
    @Requirement("MR-CON-062")
    void anIdleConnectionMakesRoomForOneThatHasWork() {
        EndpointConfig one = config(20);
        one.maxConnections = 1;
        Peers p = new Peers(20, one, config(21)).connect();
        park(p);
        // The only context of ours goes to another connection.
        int other = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(other > 0);
        assertTrue(p.until(100 * MS, () -> p.eventsA.size() == 2));
        assertEquals(Endpoint.NO_CONTEXT, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 0, 0, 1_000, 0, 1)));
        assertTrue(p.until(200 * MS, () -> p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 0, 0, 1_000, 0, 1)) == Endpoint.OK));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 1));
        assertTrue(p.a.endpoint.isParked(other));
    }
}
