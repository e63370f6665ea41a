// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.crypto.PskSecurity;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.PlaneHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Planes that are added, moved and removed while connections live. */
class PlaneChangeTest {
    private static final long MS = 1_000_000;

    private static EndpointConfig config(long seed, int planes) {
        EndpointConfig c = Peers.config(seed);
        c.localAddresses = new NetAddress[planes];
        c.maxParked = 4;
        return c;
    }

    /** Two hosts that may have {@code slots} planes; the first few are there. */
    private static Peers peers(long seed, int slots, int planesA, int planesB) {
        return new Peers(seed, config(seed, slots), config(seed + 1, slots), planesA, planesB).connect();
    }

    private static NetAddress elsewhere(int host, int plane, int n) {
        return new NetAddress(0, 0xffff_0a00_0000L | (long) (100 + n) << 16 | (long) plane << 8 | host, 14_791 + n);
    }

    private static boolean isPlane(byte[] d, int kind) {
        return d[Prefix.VERSION_TYPE] == (byte) Prefix.versionTypeOf(Type.PLANE) && d[PlaneHeader.KIND] == kind;
    }

    private static void write(Peers p, int messages) {
        p.completionsA.clear();
        for (int i = 0; i < messages; i++) {
            p.post(p.request(Opcode.WRITE, 0, i * 100_000L, 100_000, i * 100_000L, i));
        }
    }

    private static void finish(Peers p, int messages) {
        assertTrue(p.until(3_000 * MS, () -> p.completionsA.size() == messages), p.completionsA.size() + " of " + messages + ", seed " + p.seed);
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status, "seed " + p.seed + ", " + p.eventsA.getLast().text()));
        p.assertCopied(0, 0, messages * 100_000L);
        assertTrue(p.eventsA.stream().noneMatch(e -> e.kind == Event.FAILED || e.kind == Event.STREAM_FAILED));
    }

    private static boolean isGood(TestNetwork.Host host, int connection, int plane) {
        PathStats s = new PathStats();
        int paths = host.endpoint.pathCount(connection);
        int good = 0;
        for (int i = 0; i < paths; i++) {
            host.endpoint.readPath(connection, i, s);
            good += s.plane == plane && s.stateName().equals("good") ? 1 : 0;
        }
        return good == host.config.pathsPerPlane;
    }

    private static long packets(Peers p, int plane) {
        PathStats s = new PathStats();
        long sum = 0;
        for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
            p.a.endpoint.readPath(p.ab, i, s);
            sum += s.plane == plane ? s.packets : 0;
        }
        return sum;
    }

    private static void assertAllGood(Peers p, int planes) {
        assertTrue(p.until(1_000 * MS, () -> {
            boolean good = true;
            for (int plane = 0; plane < planes; plane++) {
                good &= isGood(p.a, p.ab, plane) && isGood(p.b, p.ba, plane);
            }
            return good;
        }), "seed " + p.seed);
        long[] before = new long[planes];
        for (int plane = 0; plane < planes; plane++) {
            before[plane] = packets(p, plane);
        }
        write(p, 20);
        finish(p, 20);
        for (int plane = 0; plane < planes; plane++) {
            assertTrue(packets(p, plane) > before[plane], "plane " + plane + " is used, seed " + p.seed);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.2})
    @Requirement({"MR-MOVE-001", "MR-MOVE-003", "MR-MOVE-004", "MR-MOVE-005", "MR-MOVE-006"})
    void aPlaneMovesInMidTransfer(double loss) {
        for (int seed = 0; seed < 10; seed++) {
            Peers p = peers(100 + seed * 2, 2, 2, 2);
            p.net.loss = loss;
            p.net.duplicate = loss;
            write(p, 60);
            p.run(100_000);
            boolean sender = seed % 2 == 0;
            p.net.setPlane(sender ? p.a : p.b, 1, elsewhere(sender ? 1 : 2, 1, 1));
            finish(p, 60);
            assertAllGood(p, 2);
        }
    }

    @Test
    void theOnlyPlaneMoves() {
        for (int seed = 0; seed < 10; seed++) {
            Peers p = peers(200 + seed * 2, 1, 1, 1);
            p.net.loss = 0.02 * seed;
            for (int n = 1; n < 4; n++) {
                write(p, 20);
                p.run(50_000);
                boolean sender = (seed + n) % 2 == 0;
                p.net.setPlane(sender ? p.a : p.b, 0, elsewhere(sender ? 1 : 2, 0, n));
                long at = p.net.nowNs;
                finish(p, 20);
                assertTrue(p.net.nowNs - at < 300 * MS, (p.net.nowNs - at) / 1e6 + " ms");
            }
            assertAllGood(p, 1);
        }
    }

    @Test
    void planesOfAnEncryptedConnectionMoveToo() {
        EndpointConfig a = config(290, 2);
        EndpointConfig b = config(291, 2);
        a.security = new PskSecurity(new byte[PskSecurity.PSK_BYTES]);
        b.security = new PskSecurity(new byte[PskSecurity.PSK_BYTES]);
        a.requireEncryption = true;
        Peers p = new Peers(290, a, b, 2, 1).connect();
        p.net.loss = 0.1;
        write(p, 40);
        p.run(100_000);
        p.net.setPlane(p.b, 1, elsewhere(2, 1, 1));
        p.net.setPlane(p.a, 0, elsewhere(1, 0, 1));
        finish(p, 40);
        assertAllGood(p, 2);
    }

    @Test
    @Requirement({"MR-MOVE-007", "MR-ENC-007"})
    void aPlaneIsAddedByEitherSideInAnyOrder() {
        for (int first = 0; first < 4; first++) {
            Peers p = peers(300 + first * 2L, 3, first == 2 ? 3 : 2, first == 3 ? 3 : 2);
            p.net.loss = 0.1;
            write(p, 40);
            p.run(100_000);
            if (first == 0 || first == 3) {
                p.net.setPlane(p.a, 2, elsewhere(1, 2, 1));
                p.run(first * 50 * MS);
            }
            if (first != 3) {
                p.net.setPlane(p.b, 2, elsewhere(2, 2, 1));
                p.run(50 * MS);
            }
            if (first == 1) {
                p.net.setPlane(p.a, 2, elsewhere(1, 2, 1));
            }
            finish(p, 40);
            assertAllGood(p, 3);
        }
    }

    @Test
    @Requirement({"MR-MOVE-002", "MR-MOVE-008"})
    void aRemovedPlaneIsLeftAtOnceAndMayComeBack() {
        for (int seed = 0; seed < 10; seed++) {
            Peers p = peers(400 + seed * 2, 2, 2, 2);
            p.net.loss = 0.03 * (seed & ~1);
            write(p, 60);
            p.run(100_000);
            TestNetwork.Host who = seed % 2 == 0 ? p.a : p.b;
            p.net.removePlane(who, seed / 2 % 2);
            finish(p, 60);
            if (who == p.a || p.net.loss == 0) {
                // A peer whose statement was lost finds the plane silent before it is repeated.
                assertEquals(0, p.statsA().planeFailures, "it is no failure");
            }
            p.run(200 * MS);
            long datagrams = p.net.datagrams;
            int gone = seed / 2 % 2;
            p.net.filter = (d, plane, port) -> {
                assertTrue(plane != gone, "nothing is sent there");
                return true;
            };
            p.run(2_000 * MS);
            assertTrue(p.net.datagrams > datagrams, "it stays alive on the other one");
            p.net.filter = (d, plane, port) -> true;
            p.net.setPlane(who, gone, elsewhere(who == p.a ? 1 : 2, gone, 2));
            assertAllGood(p, 2);
        }
        Peers p = peers(420, 2, 2, 2);
        p.net.removePlane(p.a, 0);
        assertThrows(IllegalArgumentException.class, () -> p.a.endpoint.removePlane(p.net.nowNs, 1));
        assertThrows(IllegalArgumentException.class, () -> p.a.endpoint.removePlane(p.net.nowNs, 0));
        assertThrows(IllegalArgumentException.class, () -> p.a.endpoint.setPlane(p.net.nowNs, 2, elsewhere(1, 2, 1), new int[] {1}));
    }

    /** The statement alone, even a genuine one, moves nothing: somebody who got the challenge there has to answer. */
    @Test
    @Requirement("MR-MOVE-004")
    void aPlaneIsNotMovedToWhereThePeerIsNot() {
        Peers p = peers(500, 2, 2, 2);
        List<byte[]> stated = new ArrayList<>();
        int[] challenges = {0};
        p.net.filter = (d, plane, port) -> {
            if (d[4] == (byte) Prefix.versionTypeOf(Type.PLANE)) {
                stated.add(d);
                challenges[0] += d[6] == 1 ? 1 : 0;
                return d[6] == 0;
            }
            return true;
        };
        p.net.setPlane(p.a, 1, elsewhere(1, 1, 1));
        p.run(400 * MS);
        assertTrue(challenges[0] > 1 && challenges[0] <= 20, challenges[0] + " challenges to a place where nobody answers");
        write(p, 20);
        finish(p, 20);
        assertFalse(isGood(p.b, p.ba, 1) && isGood(p.a, p.ab, 1), "B still talks to where A was");
        // From outside, without the tag.
        long errors = p.b.endpoint.counters().checksumErrors;
        byte[] forged = stated.getFirst().clone();
        forged[47] ^= 1;
        p.net.inject(p.b, 0, TestNetwork.address(9, 0), 2, forged);
        assertEquals(errors + 1, p.b.endpoint.counters().checksumErrors);
        p.net.filter = (d, plane, port) -> true;
        assertAllGood(p, 2);
    }

    /** A plane of the responder's goes after it was told in ACCEPT, and the initiator's first packet arrives in the same turn of the loop. */
    @Test
    @Requirement({"MR-MOVE-001", "MR-CON-014"})
    void aPlaneIsRemovedBeforeThePeersFirstPacketArrives() {
        Peers p = new Peers(31, config(31, 2), config(32, 2), 2, 2);
        List<byte[]> held = new ArrayList<>();
        p.net.filter = (d, plane, port) -> d[4] != 0x15 && d[4] != 0x17 || !held.add(d);
        p.ab = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(p.until(1_000 * MS, () -> !held.isEmpty()));
        p.net.removePlane(p.b, 1);
        p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, held.getFirst());
        p.net.filter = (d, plane, port) -> true;
        assertTrue(p.until(100 * MS, () -> Peers.has(p.eventsB, Event.ACCEPTED)));
        write(p, 4);
        finish(p, 4);
        assertTrue(p.until(500 * MS, () -> !isGood(p.a, p.ab, 1)), "A has heard of it");
        assertTrue(isGood(p.a, p.ab, 0));
    }

    /** B's plane is away while A states its own, and back before A hears that it was away. */
    @Test
    @Requirement("MR-MOVE-001")
    void whoMovesRightAfterItsAcceptIsFound() {
        for (int seed = 0; seed < 10; seed++) {
            Peers p = new Peers(3_000 + seed, config(3_000 + seed, 1), config(4_000 + seed, 1), 1, 1);
            boolean[] accepted = {false};
            p.net.observer = (from, d, plane, port, to) -> accepted[0] |= (d[4] & 15) == Type.ACCEPT;
            p.ab = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
            assertTrue(p.until(100 * MS, () -> accepted[0]));
            p.net.setPlane(p.b, 0, elsewhere(2, 0, seed));
            assertTrue(p.until(500 * MS, () -> Peers.has(p.eventsA, Event.CONNECTED) && Peers.has(p.eventsB, Event.ACCEPTED)), "seed " + seed);
            write(p, 5);
            finish(p, 5);
        }
    }

    @Test
    @Requirement("MR-MOVE-007")
    void aPlaneThatWasAwayUnnoticedIsUsedByBothAgain() {
        Peers p = peers(41, 2, 2, 2);
        // STATE of plane 1 with port 0: A never hears that the plane is gone.
        p.net.filter = (d, plane, port) -> !isPlane(d, PlaneHeader.STATE) || d[7] != 1 || (d[20] | d[21]) != 0;
        p.net.removePlane(p.b, 1);
        p.run(5 * MS);
        p.net.setPlane(p.a, 1, elsewhere(1, 1, 1));
        p.run(50 * MS);
        p.net.setPlane(p.b, 1, elsewhere(2, 1, 1));
        assertTrue(p.until(1_000 * MS, () -> isGood(p.a, p.ab, 1) && isGood(p.b, p.ba, 1)));
    }

    /** A statement was answered when there was no use for it; made again, it must not pass for answered by that. */
    @Test
    @Requirement("MR-MOVE-009")
    void whatWasTakenBeforeThePlaneWasThereIsStatedAgain() {
        Peers p = peers(43, 2, 1, 2);
        List<byte[]> taken = new ArrayList<>();
        p.net.filter = (d, plane, port) -> {
            if (isPlane(d, PlaneHeader.TAKEN) && d[7] == 1) {
                taken.add(d);
            }
            return true;
        };
        p.net.setPlane(p.b, 1, elsewhere(2, 1, 1));
        assertTrue(p.until(100 * MS, () -> !taken.isEmpty()));
        byte[] old = taken.getFirst();
        p.net.filter = (d, plane, port) -> !isPlane(d, PlaneHeader.STATE) || ByteBuffer.wrap(d).getInt(8) != p.ab;
        p.net.setPlane(p.a, 1, elsewhere(1, 1, 1));
        p.run(5 * MS);
        p.net.inject(p.b, 0, TestNetwork.address(1, 0), 2, old);
        p.run(MS);
        p.net.filter = (d, plane, port) -> true;
        assertTrue(p.until(1_000 * MS, () -> isGood(p.a, p.ab, 1) && isGood(p.b, p.ba, 1)));
    }

    /** The answer to a resuming INIT is lost, and a plane of the caller's changes before it calls again. */
    @Test
    @Requirement({"MR-MOVE-001", "MR-CON-056"})
    void aPlaneChangesWhileTheConnectionIsResumed() {
        Peers p = peers(42, 3, 2, 2);
        p.run(MS);
        assertTrue(p.a.endpoint.park(p.net.nowNs, p.ab));
        assertTrue(p.until(200 * MS, () -> p.a.endpoint.isParked(p.ab) && p.b.endpoint.isParked(p.ba)));
        int[] lost = {0};
        p.net.filter = (d, plane, port) -> d[4] != 0x13 || lost[0]++ > 0;
        write(p, 2);
        assertTrue(p.until(100 * MS, () -> lost[0] == 1));
        p.net.removePlane(p.a, 1);
        finish(p, 2);
        assertTrue(p.until(500 * MS, () -> !isGood(p.b, p.ba, 1)), "B has heard of it");
        assertTrue(isGood(p.a, p.ab, 0));
    }

    @Test
    @Requirement("MR-MOVE-003")
    void anOlderStatementHasNoEffect() {
        Peers p = peers(510, 2, 2, 2);
        List<byte[]> stated = new ArrayList<>();
        p.net.filter = (d, plane, port) -> {
            if (isPlane(d, PlaneHeader.STATE)) {
                stated.add(d);
            }
            return true;
        };
        p.net.setPlane(p.a, 1, elsewhere(1, 1, 1));
        p.run(100 * MS);
        byte[] old = stated.getFirst();
        p.net.setPlane(p.a, 1, elsewhere(1, 1, 2));
        p.run(100 * MS);
        boolean[] challenged = {false};
        p.net.filter = (d, plane, port) -> {
            challenged[0] |= isPlane(d, PlaneHeader.CHALLENGE);
            return true;
        };
        p.net.inject(p.b, 0, TestNetwork.address(1, 0), 2, old);
        p.run(100 * MS);
        assertFalse(challenged[0]);
        assertAllGood(p, 2);
    }

    @Test
    void aParkedConnectionFindsAPeerThatMoved() {
        Peers p = peers(600, 2, 2, 2);
        p.run(MS);
        assertTrue(p.a.endpoint.park(p.net.nowNs, p.ab));
        assertTrue(p.until(100 * MS, () -> p.a.endpoint.isParked(p.ab) && p.b.endpoint.isParked(p.ba)));
        p.net.setPlane(p.b, 0, elsewhere(2, 0, 1));
        p.net.setPlane(p.a, 1, elsewhere(1, 1, 1));
        write(p, 10);
        finish(p, 10);
        assertAllGood(p, 2);
    }

    /** At any moment of the round trip that resumes a connection, at either end, whatever is lost of it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Requirement({"MR-CON-003", "MR-CON-013"})
    void aPlaneMovesWhileAConnectionIsResumed(boolean encrypted) {
        for (int seed = 0; seed < 40; seed++) {
            EndpointConfig[] both = {config(800 + seed * 2L, 2), config(801 + seed * 2L, 2)};
            for (EndpointConfig c : both) {
                c.security = encrypted ? new PskSecurity(new byte[PskSecurity.PSK_BYTES]) : null;
            }
            Peers p = new Peers(800 + seed * 2L, both[0], both[1], 2, 2).connect();
            p.run(MS);
            assertTrue(p.a.endpoint.park(p.net.nowNs, p.ab));
            assertTrue(p.until(100 * MS, () -> p.a.endpoint.isParked(p.ab) && p.b.endpoint.isParked(p.ba)));
            p.net.loss = seed % 3 * 0.1;
            write(p, 10);
            p.run(seed / 4 * (seed % 3 == 0 ? 3_000L : 40_000L));
            TestNetwork.Host who = seed % 2 == 0 ? p.a : p.b;
            p.net.setPlane(who, seed / 2 % 2, elsewhere(who == p.a ? 1 : 2, seed / 2 % 2, 1));
            finish(p, 10);
            assertAllGood(p, 2);
        }
    }

    /** Planes other than the first come, go and move at random at both ends, with loss and repetitions; plane 0 moves now and then. */
    @Test
    void anyOrderOfChangesEndsWithAllPlanesInUse() {
        for (int seed = 0; seed < 40; seed++) {
            Peers p = peers(700 + seed * 2L, 3, 1 + seed % 3, 1 + seed / 3 % 3);
            Random r = new Random(seed);
            p.net.loss = 0.2 * r.nextDouble();
            p.net.duplicate = 0.2 * r.nextDouble();
            boolean[][] there = new boolean[2][3];
            for (int plane = 0; plane < 3; plane++) {
                there[0][plane] = plane < 1 + seed % 3;
                there[1][plane] = plane < 1 + seed / 3 % 3;
            }
            int n = 0;
            for (int round = 0; round < 6; round++) {
                write(p, 20);
                for (int i = 0; i < 6; i++) {
                    int side = r.nextInt(2);
                    TestNetwork.Host host = side == 0 ? p.a : p.b;
                    int plane = r.nextInt(3);
                    if (plane > 0 && there[side][plane] && r.nextBoolean()) {
                        p.net.removePlane(host, plane);
                        there[side][plane] = false;
                    } else if (plane > 0 || i == 5 && round % 2 == side) {
                        p.net.setPlane(host, plane, elsewhere(side + 1, plane, ++n));
                        there[side][plane] = true;
                    }
                    p.run(r.nextInt(r.nextBoolean() ? 100_000 : 30_000_000));
                }
                finish(p, 20);
                // Both must not leave the last common plane at the same time.
                p.run(500 * MS);
            }
            for (int plane = 1; plane < 3; plane++) {
                p.net.setPlane(p.a, plane, elsewhere(1, plane, ++n));
                p.net.setPlane(p.b, plane, elsewhere(2, plane, ++n));
            }
            assertAllGood(p, 3);
            assertEquals(0, p.statsA().violations + p.statsB().violations);
        }
    }
}
