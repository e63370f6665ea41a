// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Loss, probes, dead paths and planes, requirement by requirement. */
class LossRequirementsTest {
    private static final long MS = 1_000_000;

    private final EndpointConfig a = Peers.config(2201);
    private final EndpointConfig b = Peers.config(2202);
    private Peers p;
    private Tap tap;

    private void connect() {
        p = new Peers(2201, a, b);
        tap = new Tap(p);
        tap.connectAndWrite(50_000);
    }

    private long srtt(int plane) {
        EndpointState s = Inside.state(p.a.endpoint);
        return s.slab.getInt(s.plane(s.connectionOf(p.ab), plane) + PlaneRecord.SRTT_NS);
    }

    private PathStats path(int i) {
        PathStats s = new PathStats();
        p.a.endpoint.readPath(p.ab, i, s);
        return s;
    }

    private static int index(int path) {
        return DataHeader.planeOf(path) * 4 + DataHeader.indexOf(path);
    }

    /** B falls silent with one packet out; returns it. */
    private Tap.Seen silence() {
        connect();
        p.net.filter = (d, plane, port) -> false;
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 2));
        p.run(0);
        return tap.dataToB().getFirst();
    }

    private List<Tap.Seen> probes(int path, int epoch) {
        return tap.of(true, Type.PROBE).stream().filter(s -> s.path() == path && s.epoch() == epoch).toList();
    }

    // ---- gaps ----

    @Test
    @Requirement({"MR-LOSS-001", "MR-LOSS-002", "MR-LOSS-005", "MR-PATH-005"})
    void aPacketIsRepeatedAsOftenAsItIsLost() {
        connect();
        int[] lost = {0};
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA || ByteBuffer.wrap(d).getInt(DataHeader.MSN) != 1
                || ByteBuffer.wrap(d).getInt(DataHeader.OFFSET) != 10 * 1024 || ++lost[0] > 25;
        p.post(p.request(Opcode.WRITE, 0, 0, 2_000_000, 0, 2));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 2));
        List<Tap.Seen> tries = tap.dataToB().stream().filter(s -> s.i32(DataHeader.OFFSET) == 10 * 1024).toList();
        assertEquals(26, tries.size());
        assertEquals(1, tries.stream().map(Tap.Seen::path).distinct().count(), "on the path that lost it");
        assertEquals(26, tries.stream().map(Tap.Seen::psn).distinct().count());
        assertEquals(25, p.statsA().retransmissions, "and nothing else was repeated");
        assertEquals(0, p.statsA().timeouts);
        for (int i = 1; i < tries.size(); i++) {
            assertTrue(tries.get(i).atNs() - tries.get(i - 1).atNs() < 60_000, "each within a round trip or two");
        }
    }

    // ---- probes ----

    @ParameterizedTest
    @ValueSource(longs = {4_000, 12_000_000})
    @Requirement({"MR-LOSS-010", "MR-LOSS-011", "MR-LOSS-014", "MR-LOSS-021"})
    void probesComeOneAfterTheOtherThenEverSlowerThenThePathIsDead(long delayNs) {
        connectWith(delayNs);
        p.net.filter = (d, plane, port) -> false;
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 2));
        p.run(0);
        Tap.Seen data = tap.dataToB().getFirst();
        double rtt = Math.max(srtt(data.plane()), path(index(data.path())).rttUs * 1_000);
        p.until(1_400 * MS, () -> p.statsA().timeouts > 0);
        List<Tap.Seen> probes = probes(data.path(), 0);
        assertEquals(8, probes.size());
        double grain = rtt / 4 + 2_000;
        assertEquals(1.5 * rtt, probes.getFirst().atNs() - data.atNs(), grain);
        for (int i = 1; i < probes.size(); i++) {
            double wait = 1.25 * rtt * (i < 4 ? 1 : 1 << i - 3);
            wait = Math.max(1.25 * rtt, Math.min(wait, 100e6));
            double gap = probes.get(i).atNs() - probes.get(i - 1).atNs();
            assertTrue(gap >= wait - 1 && gap <= wait + grain, "probe " + (i + 1) + " after " + gap / rtt + " RTT");
        }
        assertEquals(1, p.statsA().timeouts);
        assertEquals(1, path(index(data.path())).epoch);
    }

    private void connectWith(long delayNs) {
        p = new Peers(2203, a, b);
        tap = new Tap(p);
        p.net.delayNs = delayNs;
        p.connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 50_000, 0, 1));
        assertTrue(p.until(1_000 * MS, () -> p.completionsA.size() == 1));
        p.run(100 * MS);
        tap.seen.clear();
    }

    @Test
    @Requirement("MR-LOSS-012")
    void probesWaitForTheHostsTimersAndTheDelayOfAcknowledgements() {
        a.timerFloorNs = 500_000;
        a.ackDelayNs = 100_000;
        Tap.Seen data = silence();
        p.run(20 * MS);
        List<Tap.Seen> probes = probes(data.path(), 0);
        assertTrue(probes.getFirst().atNs() - data.atNs() >= 600_000);
        assertTrue(probes.getFirst().atNs() - data.atNs() <= 900_000);
        for (int i = 1; i < probes.size(); i++) {
            assertTrue(probes.get(i).atNs() - probes.get(i - 1).atNs() >= 600_000, "probe " + i);
        }
    }

    @Test
    @Requirement("MR-LOSS-012")
    void theLongestOfTheRoundTripsCounts() {
        connect();
        EndpointState s = Inside.state(p.a.endpoint);
        long c = s.connectionOf(p.ab);
        for (int i = 0; i < 8; i++) {
            s.slab.putInt(s.path(c, 0, i) + PathRecord.SRTT_NS, 1_000_000);
        }
        p.net.filter = (d, plane, port) -> false;
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 2));
        p.run(0);
        Tap.Seen data = tap.dataToB().getFirst();
        p.run(1_499_000);
        assertTrue(probes(data.path(), 0).isEmpty());
        p.run(100_000);
        assertEquals(1, probes(data.path(), 0).size(), "the path's");
        connect();
        s = Inside.state(p.a.endpoint);
        c = s.connectionOf(p.ab);
        for (int i = 0; i < 2; i++) {
            s.slab.putInt(s.plane(c, i) + PlaneRecord.SRTT_NS, 1_000_000);
        }
        p.net.filter = (d, plane, port) -> false;
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 2));
        p.run(0);
        data = tap.dataToB().getFirst();
        p.run(1_499_000);
        assertTrue(probes(data.path(), 0).isEmpty());
        p.run(100_000);
        assertEquals(1, probes(data.path(), 0).size(), "the plane's");
    }

    @Test
    @Requirement({"MR-LOSS-011", "MR-LOSS-013"})
    void whereLossIsMetProbesGoBehindTheEndOfMessagesAndBehindRepeats() {
        connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 8_000, 0, 2));
        p.run(0);
        assertEquals(List.of(), tap.of(true, Type.PROBE), "nothing was lost so far");
        p.run(MS);
        tap.seen.clear();
        boolean[] lost = new boolean[1];
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA || lost[0] || !(lost[0] = true);
        p.post(p.request(Opcode.WRITE, 0, 0, 8_000, 0, 3));
        assertTrue(p.until(10 * MS, () -> p.completionsA.size() == 3));
        Tap.Seen repeat = tap.dataToB().stream().filter(Tap.Seen::isRepeat).findFirst().orElseThrow();
        Tap.Seen behind = tap.of(true, Type.PROBE).stream().filter(s -> s.path() == repeat.path() && s.psn() == repeat.psn() + 1).findFirst().orElseThrow();
        assertEquals(repeat.atNs(), behind.atNs(), "behind the repeat");
        p.run(MS);
        tap.seen.clear();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        p.post(p.request(Opcode.WRITE, 0, 0, 8_000, 0, 4));
        p.run(0);
        Map<Integer, Integer> last = new HashMap<>();
        tap.dataToB().forEach(s -> last.put(s.path(), s.psn()));
        Map<Integer, Integer> probed = new HashMap<>();
        tap.of(true, Type.PROBE).forEach(s -> probed.put(s.path(), s.psn() - 1));
        assertEquals(last, probed);
        int path = last.keySet().iterator().next();
        double rtt = Math.max(srtt(DataHeader.planeOf(path)), path(index(path)).rttUs * 1_000);
        p.run((long) (4 * rtt));
        List<Tap.Seen> repeats = probes(path, 0);
        double[] waits = {.5, .5, 1.25};
        for (int i = 0; i < waits.length; i++) {
            double gap = repeats.get(i + 1).atNs() - repeats.get(i).atNs();
            assertTrue(gap >= waits[i] * rtt - 1 && gap <= waits[i] * rtt + rtt / 4 + 2_000, "repeat " + (i + 1) + " after " + gap / rtt + " RTT");
        }
    }

    // ---- dead paths ----

    @ParameterizedTest
    @ValueSource(longs = {0, 100_000})
    @Requirement({"MR-LOSS-020", "MR-LOSS-026", "MR-LOSS-022"})
    void aPathDiesOfProbesAndProof(long timerFloorNs) {
        a.timerFloorNs = timerFloorNs;
        connect();
        int bad = 0x0001;
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA && (d[4] & 15) != Type.PROBE || ByteBuffer.wrap(d).getInt(8) != p.ba
                || ByteBuffer.wrap(d).getShort(12) != bad || d[14] != 0;
        for (int i = 0; i < 50; i++) {
            p.post(p.request(Opcode.WRITE, i % 3, 0, 100_000, 0, i));
        }
        assertTrue(p.until(200 * MS, () -> path(1).epoch == 1));
        long death = p.net.nowNs;
        Tap.Seen lastData = tap.dataToB().stream().filter(s -> s.path() == bad && s.epoch() == 0).reduce((x, y) -> y).orElseThrow();
        List<Tap.Seen> probes = probes(bad, 0).stream().filter(s -> s.atNs() > lastData.atNs()).toList();
        // Three probes and one proof; with slow hosts five, then two proofs with one more probe between them.
        assertEquals(timerFloorNs == 0 ? 3 : 6, probes.size());
        Tap.Seen last = probes.getLast();
        double rtt = Math.max(srtt(0), 0);
        assertTrue(death - last.atNs() >= Math.max(1.2 * rtt, timerFloorNs) - 3_000, "and time for the last of them");
        assertTrue(p.until(500 * MS, () -> p.completionsA.size() == 51));
        assertEquals(1, p.statsA().deadPaths);
    }

    @Test
    @Requirement({"MR-LOSS-026", "MR-LOSS-021", "MR-LOSS-030"})
    void withoutProofNothingDiesSoon() {
        Tap.Seen data = silence();
        // Nobody answers at all: after four probes, which would do with a proof, neither path nor plane is given up.
        p.until(10 * MS, () -> probes(data.path(), 0).size() == 7);
        assertEquals(0, p.statsA().deadPaths);
        assertEquals(0, p.statsA().planeFailures);
    }

    @Test
    @Requirement("MR-LOSS-026")
    void whatWasSentBeforeTheLastProbeIsNoProof() {
        connect();
        // A host that was held up: everything of B's comes late, by more than all probes take, but it comes.
        List<Runnable> held = new ArrayList<>();
        p.net.filter = (d, plane, port) -> {
            if (ByteBuffer.wrap(d).getInt(8) == p.ab) {
                byte[] copy = d.clone();
                held.add(() -> p.net.inject(p.a, plane, p.b.config.localAddresses[plane], 2, copy));
                return false;
            }
            return true;
        };
        for (int i = 0; i < 8; i++) {
            p.post(p.request(Opcode.WRITE, i, 0, 3_000, 0, 10 + i));
        }
        p.run(5_000);
        // Enough for three probes after each path's last packet.
        p.run(55_000);
        // Now one answer after the other arrives, in the order of sending.
        for (Runnable r : List.copyOf(held)) {
            r.run();
            p.run(1_000);
        }
        assertEquals(0, p.statsA().deadPaths);
    }

    @Test
    @Requirement({"MR-LOSS-023", "MR-PATH-009", "MR-LOSS-032"})
    void aDeadRouteIsTriedAgainAtDoublingIntervalsWithOtherPorts() {
        connect();
        p.net.blockedPlane[1] = true;
        p.post(p.request(Opcode.WRITE, 0, 0, 3_000_000, 0, 2));
        assertTrue(p.until(100 * MS, () -> p.statsA().planeFailures == 1));
        p.run(20 * MS);
        tap.seen.clear();
        p.run(700 * MS);
        List<Tap.Seen> tries = tap.of(true, Type.PROBE).stream().filter(s -> s.plane() == 1 && DataHeader.indexOf(s.path()) == 0).toList();
        for (int i = 1; i < tries.size(); i++) {
            assertTrue(tries.get(i).sourcePort() != tries.get(i - 1).sourcePort());
        }
        long longest = 0;
        List<Long> gaps = new ArrayList<>();
        for (int i = 1; i < tries.size(); i++) {
            gaps.add(tries.get(i).atNs() - tries.get(i - 1).atNs());
            longest = Math.max(longest, gaps.getLast());
        }
        assertTrue(longest <= 101 * MS, longest + " ns");
        for (int i = 1; i < gaps.size(); i++) {
            if (gaps.get(i) < 95 * MS) {
                assertEquals(2.0, (double) gaps.get(i) / gaps.get(i - 1), 0.3, gaps + "");
            }
        }
        assertTrue(gaps.size() > 5, gaps + "");
    }

    @Test
    @Requirement("MR-LOSS-024")
    void aPathThatReturnsStartsFromItsNeighboursAndTheNewRoundTrip() {
        connect();
        int bad = 0x0001;
        boolean[] dead = {true};
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA && (d[4] & 15) != Type.PROBE || ByteBuffer.wrap(d).getInt(8) != p.ba
                || ByteBuffer.wrap(d).getShort(12) != bad || !dead[0];
        for (int i = 0; i < 20; i++) {
            p.post(p.request(Opcode.WRITE, i % 3, 0, 100_000, 0, i));
        }
        assertTrue(p.until(100 * MS, () -> path(1).stateName().equals("probing")));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 21));
        p.run(MS);
        // Its neighbours' windows have changed since it died, and so has the way.
        EndpointState s = Inside.state(p.a.endpoint);
        long c = s.connectionOf(p.ab);
        Windows windows = new Windows(s);
        float[] factors = {0.5f, 0, 1.5f, 2.5f};
        for (int i : new int[] {0, 2, 3}) {
            windows.setFactor(s.plane(c, 0), s.path(c, 0, i), factors[i]);
        }
        p.net.delayNs += 100_000;
        dead[0] = false;
        assertTrue(p.until(300 * MS, () -> path(1).stateName().equals("good")));
        assertEquals(0.75 * 1.5, s.slab.getFloat(s.path(c, 0, 1) + PathRecord.FACTOR), 1e-3);
        assertEquals(208, path(1).rttUs, 8, "the answer's");
    }

    @Test
    @Requirement("MR-LOSS-025")
    void withoutAGoodPathNoDataGoesAndProbingGoesOn() {
        connect();
        for (int i = 0; i < 20; i++) {
            p.post(p.request(Opcode.WRITE, i % 3, 0, 100_000, 0, i));
        }
        p.run(30_000);
        p.net.filter = (d, plane, port) -> false;
        assertTrue(p.until(800 * MS, () -> {
            boolean any = false;
            for (int i = 0; i < 8; i++) {
                any |= path(i).stateName().equals("good") || path(i).stateName().equals("draining");
            }
            return !any;
        }), "some path is still good");
        tap.seen.clear();
        p.run(300 * MS);
        assertTrue(tap.dataToB().isEmpty());
        // Both planes are down, so one path of each goes on.
        assertTrue(tap.of(true, Type.PROBE).size() >= 2 * 3);
        p.net.filter = (d, plane, port) -> true;
        assertTrue(p.until(300 * MS, () -> p.completionsA.size() == 21), p.completionsA.size() + " done");
        p.assertCopied(0, 0, 100_000);
    }

    // ---- planes ----

    @Test
    @Requirement({"MR-LOSS-030", "MR-LOSS-031", "MR-LOSS-034", "MR-ACK-021"})
    void aPlaneThatDiesAndReturnsIsCountedAndNobodyElseHears() {
        connect();
        for (int i = 0; i < 30; i++) {
            p.post(p.request(Opcode.WRITE, i % 3, 0, 400_000, 0, i));
        }
        p.run(60_000);
        p.net.blockedPlane[0] = true;
        assertTrue(p.until(100 * MS, () -> p.statsA().planeFailures == 1));
        tap.seen.clear();
        p.run(15_000);
        List<Tap.Seen> next = tap.dataToB();
        assertTrue(next.getFirst().isRepeat() && next.get(5).isRepeat(), "what was out there goes first");
        assertTrue(next.stream().filter(Tap.Seen::isRepeat).allMatch(s -> (s.u8(5) & DataHeader.ACK_REQUEST) != 0), "and wants to be acknowledged at once");
        assertTrue(path(0).planeDown && !path(4).planeDown);
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 31));
        assertTrue(tap.dataToB().stream().allMatch(s -> s.plane() == 1));
        p.net.blockedPlane[0] = false;
        p.run(200 * MS);
        assertFalse(path(0).planeDown);
        assertEquals(1, p.statsA().planeFailures);
        assertEquals(2, p.eventsA.size() + p.eventsB.size(), "the connection, and nothing since");
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
    }

    @ParameterizedTest
    @CsvSource({"0,4000", "0,500000", "200000,4000", "200000,2500000"})
    @Requirement({"MR-LOSS-030", "MR-LOSS-035", "MR-LOSS-036", "MR-LOSS-031"})
    void aPlaneThatEndsWithOnePacketOutIsGivenUpByOneDecision(long timerFloorNs, long delayNs) {
        a.timerFloorNs = timerFloorNs;
        connectWith(delayNs);
        p.net.blockedPlane[1] = true;
        for (int i = 0; tap.dataToB().stream().noneMatch(s -> s.plane() == 1); i++) {
            p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, i));
            int n = i + 2;
            p.until(3 * delayNs, () -> p.completionsA.size() == n);
        }
        Tap.Seen alone = tap.dataToB().getLast();
        assertTrue(p.until(100 * MS, () -> p.statsA().planeFailures == 1));
        double tookNs = p.net.nowNs - alone.atNs();
        // Probes 1.5 and 1.25 RTT after one another, with the second the others are asked, one for these to be silent, one for the proof.
        assertTrue(tookNs < 7 * 2 * delayNs + 30 * timerFloorNs, tookNs / delayNs / 2 + " RTT");
        assertTrue(p.statsA().timeouts <= 1, "its other paths did not die by themselves");
        p.run(3 * delayNs + 100_000);
        assertTrue(tap.dataToB().stream().noneMatch(s -> s.plane() == 1 && s.atNs() > alone.atNs()), "none was given what it had");
    }

    @Test
    @Requirement({"MR-LOSS-030", "MR-LOSS-036"})
    void neighboursThatAnswerSpeakForThePlane() {
        connect();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA && (d[4] & 15) != Type.PROBE || ByteBuffer.wrap(d).getInt(8) != p.ba
                || ByteBuffer.wrap(d).getShort(12) != 0x0102 || d[14] != 0;
        for (int i = 0; p.statsA().deadPaths == 0; i++) {
            p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, i));
            int n = i + 2;
            assertTrue(p.until(100 * MS, () -> p.completionsA.size() == n));
        }
        // Those of the same plane, each with a probe of the silent path, from its second on.
        long asked = tap.of(true, Type.PROBE).stream().filter(s -> s.plane() == 1 && s.path() != 0x0102).map(Tap.Seen::path).distinct().count();
        assertEquals(3, asked);
        assertEquals(0, p.statsA().planeFailures);
    }

    @Test
    @Requirement("MR-LOSS-030")
    void oneSilentPathOfSeveralIsNotAPlane() {
        connect();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA && (d[4] & 15) != Type.PROBE || ByteBuffer.wrap(d).getInt(8) != p.ba
                || ByteBuffer.wrap(d).getShort(12) != 0x0102 || d[14] != 0;
        // One packet at a time, so that now and then the only packet out on the plane is on the dead path.
        for (int i = 0; i < 60; i++) {
            p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, i));
            int n = i + 2;
            assertTrue(p.until(100 * MS, () -> p.completionsA.size() == n));
        }
        assertTrue(p.statsA().deadPaths >= 1);
        assertEquals(0, p.statsA().planeFailures);
    }

    @ParameterizedTest
    @CsvSource({"16000, 31500, false", "30000, 48000, false", "0, 60000, true"})
    @Requirement("MR-LOSS-030")
    void aPlaneThatIsSlowWhereOthersAreIsNotDown(long otherNs, long slowerNs, boolean isDown) {
        connect();
        p.net.jitterPerPortNs = 0;
        // The round trip is 8 us on both, until queues grow.
        for (int i = 0; i < 300; i++) {
            if (i == 100) {
                p.net.queue = (to, plane) -> to != p.b ? 0 : plane == 1 ? slowerNs : otherNs;
            }
            p.post(p.request(Opcode.WRITE, 0, 0, 1024, 0, i));
            p.run(1_000);
        }
        assertEquals(isDown, p.statsA().planeFailures > 0);
    }

    @Test
    @Requirement("MR-LOSS-030")
    void theOnlyPathOfAPlaneSpeaksForIt() {
        a.pathsPerPlane = 1;
        a.localAddresses = new NetAddress[2];
        connect();
        p.net.blockedPlane[1] = true;
        for (int i = 0; i < 30; i++) {
            p.post(p.request(Opcode.WRITE, 0, 0, 20_000, 0, i));
        }
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 31));
        assertEquals(1, p.statsA().planeFailures);
    }
}
