// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.ProbeHeader;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Paths, epochs, PSNs and floors, requirement by requirement. */
class PathRequirementsTest {
    private static final long MS = 1_000_000;

    private final Peers p = new Peers(1601);
    private final Tap tap = new Tap(p);
    private byte[] first;
    private int path;
    private int psn;

    /** One packet was written and acknowledged: B waits for {@code psn} and SSN 1. */
    private void connect() {
        Tap.Seen data = tap.connectAndWrite(100);
        first = data.bytes();
        path = data.path();
        psn = data.psn() + 1;
    }

    /** A Write of one packet with this PSN, floor and SSN on the same path. */
    private byte[] data(int epoch, int psn, int floor, int ssn, Consumer<ByteBuffer> more) {
        return Tap.changed(first, b -> {
            b.put(DataHeader.EPOCH, (byte) epoch).putInt(DataHeader.PSN, psn).put(DataHeader.FLOOR_DISTANCE, (byte) (psn - floor));
            b.putInt(DataHeader.SSN, ssn).putInt(DataHeader.MSN, ssn);
            more.accept(b);
        });
    }

    private byte[] data(int epoch, int psn, int floor, int ssn) {
        return data(epoch, psn, floor, ssn, b -> { });
    }

    private byte[] probe(int epoch, int next, int floor) {
        byte[] some = new byte[32];
        ByteBuffer b = ByteBuffer.wrap(some).put(0, first, 0, 16);
        b.put(4, (byte) 0x17).put(5, (byte) 0).put(6, (byte) 0).put(7, (byte) Math.min(255, next - floor)).put(14, (byte) epoch);
        b.putInt(ProbeHeader.NEXT_PSN, next).putInt(ProbeHeader.FLOOR, floor);
        int tag = Tap.crc(first) ^ ByteBuffer.wrap(first).getInt(0);
        return b.putInt(0, Tap.crc(some) ^ tag).array();
    }

    private Tap.Block block() {
        return tap.lastBlock(path);
    }

    private void assertBlock(int epoch, int cumulative, int span, long... words) {
        Tap.Block b = block();
        assertEquals(epoch, b.epoch());
        assertEquals(Tap.low(cumulative), b.cumulative());
        assertEquals(span, b.span());
        assertArrayEquals(words, b.words());
    }

    // ---- receiver ----

    @Test
    @Requirement({"MR-PATH-002", "MR-PATH-020"})
    void aNewerEpochStartsThePathAnewAtItsFloor() {
        connect();
        p.net.inject(p.b, 0, p.a.config.localAddresses[0], 3, data(0, psn + 2, psn, 3));
        p.run(MS);
        assertBlock(0, psn, 3, 0b100);
        assertEquals(1, block().ce());
        int far = psn + 0x12345678;
        tap.giveB(data(1, far + 3, far, 1));
        assertBlock(1, far, 4, 0b1000);
        assertEquals(0, block().ce(), "of this epoch alone");
        // By a probe as well, and over the end of the numbers of epochs.
        tap.giveB(probe(128, 50, 40));
        assertBlock(128, 40, 10);
        tap.giveB(probe(255, 70, 60));
        tap.giveB(data(0, 91, 90, 4));
        assertBlock(0, 90, 2, 0b10);
    }

    @Test
    @Requirement("MR-PATH-020")
    void theFirstPacketOfAPathSetsItsBase() {
        connect();
        int other = path ^ 1;
        int base = 0x7fff_fffe;
        tap.giveB(data(9, base + 4, base, 1, b -> b.putShort(DataHeader.PATH, (short) other)));
        Tap.Block b = tap.lastBlock(other);
        assertEquals(Tap.low(base), b.cumulative());
        assertEquals(9, b.epoch());
        assertEquals(5, b.span());
    }

    @Test
    @Requirement("MR-PATH-021")
    void dataOfAnOlderEpochIsDeliveredAndChangesNothingOfThePath() {
        connect();
        tap.giveB(data(1, 1_002, 1_000, 1));
        assertBlock(1, 1_000, 3, 0b100);
        Tap.Block before = block();
        long received = p.statsB().bytesReceived;
        tap.giveB(data(0, psn, psn, 2));
        // And one that is half the ring away counts as older.
        tap.giveB(data(129, psn, psn, 3));
        assertEquals(received + 200, p.statsB().bytesReceived);
        tap.seen.clear();
        tap.giveB(probe(0, psn + 9, psn));
        assertTrue(tap.seen.isEmpty(), "a probe of an older epoch is dropped");
        tap.giveB(probe(1, 1_003, 1_000));
        assertEquals(before.cumulative(), block().cumulative());
        assertEquals(before.span(), block().span());
        assertArrayEquals(before.words(), block().words());
    }

    @Test
    @Requirement("MR-PATH-022")
    void theBaseFollowsTheFloorsOfDataAndProbes() {
        connect();
        tap.giveB(data(0, psn + 5, psn, 2));
        tap.giveB(data(0, psn + 6, psn, 3));
        tap.giveB(data(0, psn + 8, psn + 3, 4));
        assertBlock(0, psn + 3, 6, 0b101100);
        tap.giveB(probe(0, psn + 10, psn + 5));
        assertBlock(0, psn + 7, 3, 0b10);
        // Further than the window reaches.
        tap.giveB(probe(0, psn + 1_000, psn + 990));
        assertBlock(0, psn + 990, 10);
        // An older floor, of a packet that was overtaken, moves nothing back.
        tap.giveB(data(0, psn + 991, psn + 980, 5));
        assertBlock(0, psn + 990, 10, 0b10);
    }

    @Test
    @Requirement({"MR-PATH-024", "MR-STR-013"})
    void dataBelowTheBaseStillReachesItsStream() {
        connect();
        tap.giveB(data(0, psn + 9, psn + 5, 2));
        long received = p.statsB().bytesReceived;
        tap.giveB(data(0, psn + 1, psn, 1));
        assertEquals(received + 100, p.statsB().bytesReceived, "a new meaning is taken");
        tap.giveB(data(0, psn + 2, psn, 2));
        assertEquals(received + 100, p.statsB().bytesReceived, "a known one is not");
        assertEquals(1, p.statsB().duplicates);
    }

    @Test
    @Requirement("MR-PATH-025")
    void aPsnThatIsMarkedDoesNotReachItsStreamAgain() {
        connect();
        tap.giveB(data(0, psn + 2, psn, 2));
        long received = p.statsB().bytesReceived;
        int told = tap.acksToA().getLast().i32(20);
        tap.seen.clear();
        // Another meaning under the same PSN: no sender does that, but it shows that the stream is not asked.
        tap.giveB(data(0, psn + 2, psn, 3));
        assertEquals(received, p.statsB().bytesReceived);
        assertBlock(0, psn, 3, 0b100);
        assertEquals(told, tap.acksToA().getLast().i32(20), "the stream saw no duplicate");
    }

    @Test
    @Requirement("MR-PATH-027")
    void aProbeCountsAllBelowItsNextPsnAsSentAndNoneAsReceived() {
        connect();
        tap.giveB(probe(0, psn + 4, psn));
        assertBlock(0, psn, 4);
        // Beyond the window it is not believed.
        tap.giveB(probe(0, psn + 256, psn));
        assertBlock(0, psn, 256);
        tap.giveB(data(0, psn + 1, psn, 1));
        assertBlock(0, psn, 256, 0b10);
    }

    @Test
    @Requirement("MR-PATH-026")
    void whatTheStreamDoesNotTakeIsNotMarked() {
        connect();
        tap.giveB(data(0, psn, psn, 1_000_000));
        tap.giveB(data(0, psn + 1, psn, 0, b -> b.putInt(DataHeader.STREAM, 1 << 20)));
        tap.giveB(data(0, psn + 2, psn, 2));
        assertBlock(0, psn, 3, 0b100);
    }

    @Test
    @Requirement({"MR-PATH-003", "MR-ENC-007"})
    void pathsThatWereNotAgreedOnAreDropped() {
        connect();
        long received = p.statsB().bytesReceived;
        int[] unknown = {0x0004, 0x00ff, 0x0104, 0x0200, 0x0700};
        for (int i = 0; i < unknown.length; i++) {
            int number = unknown[i];
            tap.giveB(data(0, psn, psn, 1, b -> b.putShort(DataHeader.PATH, (short) number)));
            tap.giveB(Tap.changed(probe(0, psn, psn), b -> b.putShort(ProbeHeader.PATH, (short) number)));
        }
        assertEquals(2 * unknown.length, p.statsB().violations);
        assertEquals(received, p.statsB().bytesReceived);
        assertTrue(tap.seen.isEmpty());
    }

    @Test
    @Requirement("MR-PATH-006")
    void numbersWrapAroundWithoutNotice() {
        connect();
        tap.giveB(probe(1, -2, -3));
        assertBlock(1, -3, 1);
        tap.giveB(data(1, 1, -3, 2));
        assertBlock(1, -3, 5, 0b10000);
        for (int i = -3; i <= 0; i++) {
            tap.giveB(data(1, i, -3, 6 + i));
        }
        assertBlock(1, 2, 0);
        // And on the sender's side, in a transfer with losses.
        EndpointState a = Inside.state(p.a.endpoint);
        long c = a.connectionOf(p.ab);
        for (int i = 0; i < 8; i++) {
            a.slab.putInt(a.path(c, 0, i) + PathRecord.NEXT_PSN, (i % 3 << PathBlock.PSN_BITS) - 20);
            a.slab.addInt(a.path(c, 0, i) + PathRecord.EPOCH, 5);
        }
        p.net.loss = 0.1;
        tap.seen.clear();
        p.post(p.request(Opcode.WRITE, 3, 0, 400_000, 0, 2));
        assertTrue(p.until(1_000 * MS, () -> p.completionsA.size() == 2));
        p.assertCopied(0, 0, 400_000);
        Map<Integer, Integer> last = new HashMap<>();
        for (Tap.Seen s : tap.dataToB()) {
            Integer before = last.put(s.path(), s.psn());
            assertTrue(before == null || s.psn() == before + 1);
        }
        for (int k = 0; k < 3; k++) {
            int high = k;
            assertTrue(last.values().stream().anyMatch(x -> x >>> PathBlock.PSN_BITS == high), "over the end of what a path block has of them, too");
        }
        assertEquals(0, p.statsB().violations + p.statsA().violations);
    }

    // ---- sender ----

    @Test
    @Requirement({"MR-PATH-012", "MR-PATH-014"})
    void everyPacketTellsTheLowestPsnThatIsWaitedFor() {
        connect();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        p.post(p.request(Opcode.WRITE, 1, 0, 20_000, 0, 2));
        p.run(9_000);
        Map<Integer, Integer> floor = new HashMap<>();
        Map<Integer, Integer> count = new HashMap<>();
        for (Tap.Seen s : tap.dataToB()) {
            floor.putIfAbsent(s.path(), s.psn());
            assertEquals(count.merge(s.path(), 1, Integer::sum) - 1, s.u8(DataHeader.FLOOR_DISTANCE), "nothing is acknowledged yet");
        }
        assertTrue(count.values().stream().anyMatch(n -> n > 1));
        tap.of(true, Type.PROBE).forEach(s -> {
            assertEquals(floor.getOrDefault(s.path(), s.i32(ProbeHeader.NEXT_PSN)), s.i32(ProbeHeader.FLOOR));
            assertEquals(count.getOrDefault(s.path(), 0), s.u8(ProbeHeader.FLOOR_DISTANCE));
        });
        p.net.filter = (d, plane, port) -> true;
        assertTrue(p.until(10 * MS, () -> p.completionsA.size() == 2));
        p.run(MS);
        tap.seen.clear();
        p.post(p.request(Opcode.WRITE, 1, 0, 100, 0, 3));
        p.run(MS);
        assertEquals(0, tap.dataToB().getFirst().u8(DataHeader.FLOOR_DISTANCE), "all was acknowledged");
    }

    @Test
    @Requirement("MR-PATH-013")
    void noPsnGoesBeyondTheWindowOfItsFloor() {
        EndpointConfig one = Peers.config(1602);
        one.pathsPerPlane = 1;
        one.minWindowPackets = 1_000;
        one.streamWindowPackets = 1024;
        EndpointConfig peer = Peers.config(1603);
        peer.localAddresses = new io.metaroce.wire.NetAddress[1];
        Peers q = new Peers(1602, one, peer);
        Tap t = new Tap(q);
        q.connect();
        // Of all packets one is never acknowledged: B never says that it got it, nor that it is missing.
        q.post(q.request(Opcode.WRITE, 0, 0, 500_000, 0, 1));
        q.post(q.request(Opcode.WRITE, 1, 0, 500_000, 0, 2));
        q.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        q.run(300_000);
        Inside.raiseWindows(q.a.endpoint, q.ab, 1_000);
        q.run(20_000);
        int start = t.dataToB().getFirst().psn();
        int top = t.dataToB().stream().mapToInt(s -> s.psn() - start).max().orElseThrow();
        assertTrue(top <= 255 && top >= 250, top + " beyond the floor");
        assertTrue(t.dataToB().stream().allMatch(s -> s.psn() - start == s.u8(DataHeader.FLOOR_DISTANCE)));
    }

    @Test
    @Requirement({"MR-PATH-007", "MR-PATH-008", "MR-PATH-009", "MR-PATH-010", "MR-LOSS-022", "MR-LOSS-023"})
    void aPathThatFailedIsProbedInANewEpochBeforeItCarriesData() {
        connect();
        for (int i = 0; i < 60; i++) {
            p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, i));
        }
        p.run(100_000);
        PathStats s = new PathStats();
        p.a.endpoint.readPath(p.ab, 1, s);
        int port = s.sourcePort;
        int failed = 1;
        // Its route and the first three that replace it are dead.
        Set<Integer> dead = new HashSet<>(Set.of(port));
        p.net.filter = (d, plane, sp) -> plane != 0 || !dead.contains(sp) || (d[4] & 15) == Type.ACK;
        p.net.observer = chain(p.net.observer, seen -> {
            if (seen.toB() && seen.type() == Type.PROBE && seen.path() == failed && dead.size() < 4) {
                dead.add(seen.sourcePort());
            }
        });
        assertTrue(p.until(2_000 * MS, () -> p.completionsA.size() == 61));
        p.run(200 * MS);
        p.post(p.request(Opcode.WRITE, 0, 0, 400_000, 0, 100));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 62));
        List<Tap.Seen> sent = tap.seen.stream().filter(x -> x.toB() && (x.isData() || x.type() == Type.PROBE) && x.path() == failed).toList();
        Tap.Seen turn = sent.stream().filter(x -> x.epoch() == 1).findFirst().orElseThrow();
        assertEquals(Type.PROBE, turn.type());
        assertTrue(turn.sourcePort() != port);
        assertEquals(turn.i32(ProbeHeader.NEXT_PSN), turn.i32(ProbeHeader.FLOOR), "nothing out");
        int last = sent.stream().filter(x -> x.isData() && x.epoch() == 0).mapToInt(Tap.Seen::psn).reduce((x, y) -> y).orElseThrow();
        assertEquals(last + 1, turn.psn(), "PSNs run on");
        // Tries with other ports are of the same epoch, as long as it carried no Data.
        List<Integer> ports = sent.stream().filter(x -> x.epoch() == 1 && x.type() == Type.PROBE).map(Tap.Seen::sourcePort).distinct().toList();
        assertTrue(ports.size() >= 4, ports + "");
        assertEquals(1, sent.stream().mapToInt(Tap.Seen::epoch).max().orElseThrow());
        long answered = tap.acksToA().stream().filter(x -> x.blocks().stream().anyMatch(b -> b.path() == failed && b.epoch() == 1))
                .mapToLong(Tap.Seen::atNs).min().orElseThrow();
        long used = sent.stream().filter(x -> x.isData() && x.epoch() == 1).mapToLong(Tap.Seen::atNs).min().orElseThrow();
        assertTrue(used > answered, "Data waits for the answer");
        assertFalse(Peers.has(p.eventsA, Event.STREAM_FAILED));
    }

    private TestNetwork.Observer chain(TestNetwork.Observer before, Consumer<Tap.Seen> then) {
        return (from, d, plane, port, to) -> {
            before.sent(from, d, plane, port, to);
            then.accept(tap.seen.getLast());
        };
    }
}
