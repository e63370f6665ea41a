// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints that do not believe where a peer says that its planes are. */
class PlaneTrustTest {
    private static final long MS = 1_000_000;
    private static final int PLANES = 3;
    /** Somebody who has nothing to do with it. */
    private static final NetAddress VICTIM = new NetAddress(0, 0xffff_0a00_4242L, 14_791);

    private final Peers p = new Peers(40, config(40), config(41), PLANES, PLANES);
    private final Tap tap = new Tap(p);

    private static EndpointConfig config(long seed) {
        EndpointConfig c = Peers.config(seed);
        c.localAddresses = new NetAddress[PLANES];
        c.trustPlanes = false;
        c.maxParked = 4;
        return c;
    }

    private boolean isUsed(TestNetwork.Host host, int connection, int plane) {
        PathStats s = new PathStats();
        int good = 0;
        for (int i = 0; i < host.endpoint.pathCount(connection); i++) {
            host.endpoint.readPath(connection, i, s);
            good += s.plane == plane && !s.planeDown && s.stateName().equals("good") ? 1 : 0;
        }
        return good == host.config.pathsPerPlane;
    }

    private void write() {
        int before = p.completionsA.size();
        p.post(p.request(Opcode.WRITE, 0, 0, 500_000, 0, 1));
        assertTrue(p.until(1_000 * MS, () -> p.completionsA.size() == before + 1), () -> p.eventsA.getLast().text());
        assertEquals(Completion.OK, p.completionsA.getLast().status);
        p.assertCopied(0, 0, 500_000);
    }

    private void assertAllUsed() {
        assertTrue(p.until(1_500 * MS, () -> {
            boolean all = true;
            for (int plane = 0; plane < PLANES; plane++) {
                all &= isUsed(p.a, p.ab, plane) && isUsed(p.b, p.ba, plane);
            }
            return all;
        }));
    }

    private List<Tap.Seen> over(int plane) {
        return tap.seen.stream().filter(s -> s.plane() == plane).toList();
    }

    /** Puts the victim's address into INIT or ACCEPT, as if their sender had. */
    private void accuse(int type, int plane) {
        p.net.filter = (d, over, port) -> {
            if ((d[4] & 0xf) == type) {
                int at = type == Type.INIT ? 48 : 32;
                while (d[at] != 2) {
                    at += 4 + (ByteBuffer.wrap(d).getShort(at + 2) + 3 & ~3);
                }
                int entry = at + 4 + 20 * plane;
                ByteBuffer.wrap(d).putLong(entry, VICTIM.high()).putLong(entry + 8, VICTIM.low()).putShort(entry + 16, (short) VICTIM.port());
                ByteBuffer.wrap(d).putInt(0, Tap.crc(d));
            }
            return true;
        };
    }

    private List<Tap.Seen> toVictim() {
        return tap.seen.stream().filter(s -> s.to().low() == VICTIM.low()).toList();
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.2})
    @Requirement({"MR-SEC-003", "MR-MOVE-005"})
    void planesAreUsedOnceTheyAnswered(double loss) {
        p.net.loss = loss;
        long start = p.net.nowNs;
        p.connect();
        write();
        assertAllUsed();
        write();
        for (int plane = 1; plane < PLANES; plane++) {
            List<Tap.Seen> seen = over(plane);
            for (boolean toB : new boolean[] {true, false}) {
                Tap.Seen first = seen.stream().filter(s -> s.toB() == toB).findFirst().orElseThrow();
                assertEquals(Type.PLANE, first.type(), "first of all a challenge");
                long answered = tap.seen.stream().filter(s -> s.toB() != toB && s.type() == Type.PLANE && s.u8(6) == 2 && s.u8(7) == first.u8(7))
                        .findFirst().orElseThrow().atNs();
                assertTrue(seen.stream().filter(s -> s.toB() == toB && s.type() != Type.PLANE).allMatch(s -> s.atNs() > answered));
            }
            assertTrue(seen.stream().anyMatch(Tap.Seen::isData));
        }
        if (loss == 0) {
            assertTrue(over(1).stream().filter(Tap.Seen::isData).findFirst().orElseThrow().atNs() - start < MS, "it takes a round trip or two");
        }
        assertEquals(0, p.statsA().violations + p.statsB().violations);
        assertEquals(0, p.a.endpoint.counters().forged + p.b.endpoint.counters().forged);
    }

    @ParameterizedTest
    @CsvSource({"3, 1", "3, 0", "1, 1", "1, 0"})
    @Requirement("MR-SEC-003")
    void aThirdPartyGetsNothingButFewChallenges(int type, int plane) {
        accuse(type, plane);
        p.connect();
        write();
        p.run(2_000 * MS);
        write();
        List<Tap.Seen> there = toVictim();
        assertTrue(there.stream().allMatch(s -> s.type() == Type.PLANE && s.u8(6) == 1), "challenges only");
        assertTrue(there.size() > 0 && there.size() < 20, there.size() + " of them in two seconds");
        assertEquals(1, p.eventsA.size());
        // What was not lied about is used.
        assertTrue(isUsed(p.a, p.ab, 2) && isUsed(p.b, p.ba, 2));
        assertTrue(isUsed(p.a, p.ab, 0) && isUsed(p.b, p.ba, 0), "the handshake came this way");
    }

    @Test
    @Requirement("MR-SEC-003")
    void aPlaneThatIsDownAtFirstIsUsedLater() {
        p.net.filter = (d, plane, port) -> plane != 1;
        p.connect();
        write();
        p.run(1_000 * MS);
        p.net.filter = (d, plane, port) -> true;
        assertAllUsed();
    }

    @Test
    @Requirement("MR-SEC-003")
    void afterParkingOnlyWhatIsNewIsDoubted() {
        p.connect();
        assertAllUsed();
        for (boolean moved : new boolean[] {false, true}) {
            p.run(200 * MS);
            assertTrue(p.a.endpoint.park(p.net.nowNs, p.ab));
            assertTrue(p.until(200 * MS, () -> p.a.endpoint.isParked(p.ab) && p.b.endpoint.isParked(p.ba)));
            tap.seen.clear();
            if (moved) {
                accuse(Type.INIT, 1);
                long start = p.net.nowNs;
                write();
                p.run(100 * MS);
                assertTrue(isUsed(p.b, p.ba, 1) && isUsed(p.a, p.ab, 1), "where it was stays in force");
                assertTrue(toVictim().stream().allMatch(s -> s.type() == Type.PLANE && s.u8(6) == 1));
                assertTrue(p.net.nowNs - start < 1_000 * MS);
            } else {
                write();
                assertTrue(tap.seen.stream().noneMatch(s -> s.type() == Type.PLANE), "all addresses were proven before");
            }
        }
    }
}
