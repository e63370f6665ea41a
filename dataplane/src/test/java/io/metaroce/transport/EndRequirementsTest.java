// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.CloseHeader;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.ProbeHeader;
import io.metaroce.wire.Reason;
import io.metaroce.wire.ResetHeader;
import io.metaroce.wire.Type;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keepalive, close, reset, and the end that violations bring, requirement by requirement. */
class EndRequirementsTest {
    private static final long MS = 1_000_000;

    private final Peers p = new Peers(1401);
    private final Tap tap = new Tap(p);

    private void write(int length) {
        int before = p.completionsA.size();
        p.post(p.request(Opcode.WRITE, 0, 0, length, 0, 1));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() > before));
        p.run(MS);
    }

    // ---- keepalive ----

    @Test
    @Requirement("MR-CON-025")
    void silenceIsProbedEveryKeepalive() {
        p.connect();
        p.run(MS);
        p.net.kill(p.b);
        tap.seen.clear();
        long start = p.net.nowNs;
        p.run(1_390 * MS);
        long[] rounds = tap.of(true, Type.PROBE).stream().mapToLong(s -> (s.atNs() - start) / (10 * MS)).distinct().toArray();
        assertArrayEquals(new long[] {39, 79, 119}, Arrays.stream(rounds).map(r -> r / 10 * 10 + 9).toArray(), Arrays.toString(rounds));
    }

    @Test
    @Requirement("MR-CON-026")
    void everyGenuinePacketProvesLifeWhateverItSays() {
        p.connect();
        write(100);
        Tap.Seen ack = tap.acksToA().stream().filter(s -> s.u8(6) > 0).findFirst().orElseThrow();
        p.net.kill(p.b);
        // An acknowledgement of what was never sent, an unknown path, a foreign CLOSE: all nonsense, and all genuine.
        byte[][] nonsense = {Tap.changed(ack.bytes(), b -> Tap.addToCumulative(b, 1_000)), Tap.changed(ack.bytes(), b -> b.put(AckHeader.LENGTH, (byte) 99))};
        for (int i = 0; i < 12; i++) {
            p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, nonsense[i % 2]);
            p.run(390 * MS);
        }
        assertEquals(12, p.statsA().violations);
        assertFalse(Peers.has(p.eventsA, Event.FAILED));
        // What is not genuine proves nothing.
        long last = p.net.nowNs - 390 * MS;
        byte[] forged = ack.bytes().clone();
        forged[AckHeader.SHARE] ^= 1;
        assertTrue(p.until(3_000 * MS, () -> {
            p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, forged);
            return Peers.has(p.eventsA, Event.FAILED);
        }));
        assertEquals(1_500 * MS, p.net.nowNs - last, 20 * MS);
    }

    @Test
    @Requirement("MR-CON-027")
    void aSideThatDidNotAskItselfDoesNotGiveUp() {
        p.connect();
        p.run(MS);
        // A is held up for two seconds: its peer's silence is its own, as long as no keepalive went unanswered.
        p.net.nowNs += 2_000 * MS;
        p.run(1_000 * MS);
        assertFalse(Peers.has(p.eventsA, Event.FAILED));
        assertFalse(Peers.has(p.eventsB, Event.FAILED));
    }

    @Test
    @Requirement("MR-CON-029")
    void aSideThatIsHeldUpAfterItAskedLooksAtItsQueuesFirst() {
        p.connect();
        p.run(MS);
        p.net.filter = (d, plane, port) -> false;
        p.run(850 * MS);
        p.net.filter = (d, plane, port) -> true;
        // Two keepalives went unanswered; the third would be answered in time.
        p.net.nowNs += 900 * MS;
        p.run(1_000 * MS);
        assertFalse(Peers.has(p.eventsA, Event.FAILED));
        assertFalse(Peers.has(p.eventsB, Event.FAILED));
    }

    @Test
    @Requirement("MR-CON-029")
    void aSideThatIsHeldUpAgainAndAgainGivesUpInTheEnd() {
        p.connect();
        p.run(MS);
        p.net.kill(p.b);
        long at = p.net.nowNs;
        while (!Peers.has(p.eventsA, Event.FAILED)) {
            p.net.nowNs += 200 * MS;
            p.run(150 * MS);
            assertTrue(p.net.nowNs - at < 6_000 * MS);
        }
        assertTrue(p.net.nowNs - at >= 4_500 * MS, (p.net.nowNs - at) / MS + " ms");
    }

    @Test
    @Requirement("MR-CON-028")
    void thePeerTimeoutIsAtLeastThreeKeepalives() {
        EndpointConfig config = Peers.config(1);
        config.peerTimeoutNs = 3 * Limits.KEEPALIVE_NS - 1;
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> new Peers(1402, config, Peers.config(2)));
        assertTrue(e.getMessage().contains("1199 ms"), e.getMessage());
        config.peerTimeoutNs++;
        new Peers(1402, config, Peers.config(2));
    }

    // ---- close ----

    @Test
    @Requirement("MR-CON-031")
    void anAbortSaysSoAtOnceOverAPlaneThatIsUp() {
        p.connect();
        write(200_000);
        p.net.blockedPlane[0] = true;
        p.post(p.request(Opcode.WRITE, 0, 0, 400_000, 0, 2));
        assertTrue(p.until(100 * MS, () -> p.statsA().planeFailures == 1));
        tap.seen.clear();
        long at = p.net.nowNs;
        p.a.endpoint.abort(p.net.nowNs, p.ab, Reason.APPLICATION_ABORT);
        assertTrue(p.until(MS, () -> Peers.has(p.eventsB, Event.FAILED)));
        List<Tap.Seen> close = tap.of(true, Type.CLOSE);
        assertEquals(1, close.size());
        assertEquals(at, close.getFirst().atNs());
        assertEquals(Reason.APPLICATION_ABORT, close.getFirst().u8(CloseHeader.REASON));
        assertEquals(Reason.APPLICATION_ABORT, p.eventsB.getLast().reason);
    }

    @Test
    @Requirement("MR-CON-031")
    void whoMissedTheCloseOfAnAbortIsReset() {
        p.connect();
        write(100);
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.CLOSE;
        p.b.endpoint.abort(p.net.nowNs, p.ba, Reason.APPLICATION_ABORT);
        p.run(MS);
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 2));
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertEquals(Reason.PEER_RESTARTED, p.eventsA.getLast().reason);
    }

    @Test
    @Requirement("MR-CON-032")
    void closeIsRepeatedAFewTimesAndThenGivenUp() {
        p.connect();
        write(100);
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.CLOSE_ACK;
        p.a.endpoint.close(p.net.nowNs, p.ab);
        assertTrue(p.until(1_000 * MS, () -> Peers.has(p.eventsA, Event.CLOSED)));
        List<Tap.Seen> closes = tap.of(true, Type.CLOSE);
        assertEquals(8, closes.size());
        for (int i = 1; i < closes.size(); i++) {
            assertEquals(20 * MS, closes.get(i).atNs() - closes.get(i - 1).atNs(), MS);
        }
        assertEquals(0, p.a.endpoint.liveConnections());
    }

    @Test
    @Requirement("MR-CON-032")
    void closeWaitsForFourRoundTripsOfALongWay() {
        p.net.delayNs = 15 * MS;
        p.connect();
        write(100);
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.CLOSE_ACK;
        p.a.endpoint.close(p.net.nowNs, p.ab);
        p.run(500 * MS);
        List<Tap.Seen> closes = tap.of(true, Type.CLOSE);
        assertEquals(120 * MS, closes.get(1).atNs() - closes.get(0).atNs(), 5 * MS);
    }

    @Test
    @Requirement({"MR-CON-032", "MR-CON-033"})
    void closesThatMeetEndBothSides() {
        p.connect();
        write(100);
        p.postReceiveB(1, 0, 100, 5);
        p.a.endpoint.close(p.net.nowNs, p.ab);
        p.b.endpoint.close(p.net.nowNs, p.ba);
        assertTrue(p.until(100 * MS, () -> Peers.has(p.eventsA, Event.CLOSED) && Peers.has(p.eventsB, Event.CLOSED)));
        assertEquals(Completion.CONNECTION_LOST, p.completionsB.getFirst().status, "flushed");
        p.run(100 * MS);
        assertEquals(0, p.a.endpoint.liveConnections() + p.b.endpoint.liveConnections());
    }

    @Test
    @Requirement({"MR-CON-033", "MR-CON-034"})
    void closeIsConfirmedForAWhileAndNothingElseIs() {
        p.connect();
        write(100);
        Tap.Seen data = tap.dataToB().getFirst();
        Tap.Seen probe = tap.of(true, Type.PROBE).getFirst();
        p.post(p.request(Opcode.READ_REQUEST, 1, 0, 100, 0, 7));
        p.a.endpoint.close(p.net.nowNs, p.ab);
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsB, Event.CLOSED)));
        assertEquals(Reason.GRACEFUL, p.eventsB.getLast().reason);
        Tap.Seen close = tap.of(true, Type.CLOSE).getFirst();
        p.run(40 * MS);
        tap.seen.clear();
        for (Tap.Seen s : List.of(data, probe, close)) {
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, s.bytes());
        }
        p.run(MS);
        assertEquals(List.of(Type.CLOSE_ACK), tap.seen.stream().map(Tap.Seen::type).toList());
        assertEquals(close.u8(CloseHeader.REASON), tap.seen.getFirst().u8(CloseHeader.REASON));
        p.run(20 * MS);
        assertEquals(0, p.b.endpoint.liveConnections());
    }

    @Test
    @Requirement("MR-CON-035")
    void aConfirmationOfAForeignSenderIsDropped() {
        p.connect();
        write(100);
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.CLOSE_ACK;
        p.a.endpoint.close(p.net.nowNs, p.ab);
        p.run(5 * MS);
        byte[] ack = tap.of(false, Type.CLOSE_ACK).getFirst().bytes();
        EndpointState state = Inside.state(p.a.endpoint);
        long c = state.connectionOf(p.ab);
        long heard = state.slab.getLong(c + ConnectionRecord.LAST_RX_NS);
        state.slab.putInt(c + ConnectionRecord.CONFIRMED, 0);
        tap.giveA(Tap.changed(ack, b -> b.putInt(CloseHeader.SENDER_CID, b.getInt(CloseHeader.SENDER_CID) + 1)));
        assertFalse(Peers.has(p.eventsA, Event.CLOSED));
        assertEquals(1, p.a.endpoint.counters().forged);
        assertEquals(heard, state.slab.getLong(c + ConnectionRecord.LAST_RX_NS), "no sign of life");
        assertEquals(0, state.slab.getInt(c + ConnectionRecord.CONFIRMED), "nor that the first probe arrived");
        tap.giveA(ack);
        assertTrue(Peers.has(p.eventsA, Event.CLOSED));
    }

    // ---- reset ----

    private byte[] probeOfNobody() {
        p.connect();
        write(100);
        byte[] probe = tap.of(true, Type.PROBE).getLast().bytes();
        p.net.kill(p.b);
        p.b = p.net.replace(p.b, Peers.config(99), p.regionsB);
        tap.seen.clear();
        return probe;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2_345})
    @Requirement({"MR-CON-041", "MR-CRC-005"})
    void aProbeOfNoConnectionIsAnsweredByReset(int port) {
        byte[] probe = Tap.changed(probeOfNobody(), b -> b.putShort(ProbeHeader.RECEIVE_PORT, (short) port));
        NetAddress from = TestNetwork.address(9, 1);
        p.net.inject(p.b, 1, new NetAddress(from.high(), from.low(), 51_234), 2, probe);
        p.run(1000);
        Tap.Seen reset = tap.of(false, Type.RESET).getFirst();
        assertEquals(new NetAddress(from.high(), from.low(), port == 0 ? 14_791 : port), reset.to());
        assertEquals(1, reset.plane());
        assertArrayEquals(Arrays.copyOf(probe, 24), Arrays.copyOfRange(reset.bytes(), ResetHeader.ECHO, 36));
        assertEquals(1, p.b.endpoint.counters().unknownConnection);
    }

    @Test
    @Requirement({"MR-CON-042", "MR-CRC-005"})
    void nothingElseOfNoConnectionIsAnswered() {
        p.connect();
        write(100);
        p.a.endpoint.close(p.net.nowNs, p.ab);
        p.run(10 * MS);
        List<Tap.Seen> all = tap.seen.stream().filter(s -> s.toB() && s.type() >= Type.DATA && s.type() != Type.PROBE).toList();
        p.net.kill(p.b);
        p.b = p.net.replace(p.b, Peers.config(99), p.regionsB);
        tap.seen.clear();
        all.forEach(s -> p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, s.bytes()));
        byte[] ack = Tap.changed(all.getFirst().bytes(), b -> b.put(4, (byte) 0x18));
        p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, Arrays.copyOf(ack, 20));
        p.run(10 * MS);
        assertTrue(tap.seen.isEmpty());
        assertEquals(all.size() + 1, p.b.endpoint.counters().unknownConnection);
        assertTrue(all.stream().map(Tap.Seen::type).toList().containsAll(List.of(Type.DATA, Type.CLOSE)));
    }

    @Test
    @Requirement({"MR-CON-043", "MR-LIM-002"})
    void resetsAreLimitedByRate() {
        byte[] probe = probeOfNobody();
        p.net.kill(p.a);
        for (int second = 1; second <= 3; second++) {
            for (int i = 0; i < 300; i++) {
                for (int k = 0; k < 10; k++) {
                    p.net.inject(p.b, 0, TestNetwork.address(9, 0), 2, probe);
                }
                p.net.run(MS, () -> false);
            }
            assertEquals(1_000 * second, p.b.endpoint.counters().resetsSent);
            p.net.run(700 * MS, () -> false);
        }
        assertEquals(3_000, tap.of(false, Type.RESET).size());
        assertEquals(6_000, p.b.endpoint.counters().controlOverflow, "what is not answered is counted");
    }

    @Test
    @Requirement({"MR-CON-044", "MR-CON-045"})
    void onlyAnEchoOfTheLastProbeEndsTheConnection() {
        p.connect();
        write(100);
        p.net.filter = (d, plane, port) -> false;
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 2));
        p.run(MS);
        int path = tap.dataToB().getLast().path();
        Tap.Seen probe = tap.of(true, Type.PROBE).stream().filter(s -> s.path() == path).reduce((x, y) -> y).orElseThrow();
        Tap.Seen older = tap.of(true, Type.PROBE).stream().filter(s -> s.path() == path && s.atNs() < probe.atNs()).reduce((x, y) -> y).orElseThrow();
        byte[] reset = new byte[36];
        reset[4] = 0x1a;
        System.arraycopy(probe.bytes(), 0, reset, ResetHeader.ECHO, 24);
        byte[] good = Tap.changed(reset, b -> { });
        java.nio.ByteBuffer.wrap(good).putInt(0, Tap.crc(good));
        byte[] stale = good.clone();
        System.arraycopy(older.bytes(), 0, stale, ResetHeader.ECHO, 24);
        java.nio.ByteBuffer.wrap(stale).putInt(0, Tap.crc(stale));
        int epoch = ResetHeader.ECHO + ProbeHeader.EPOCH;
        List<byte[]> bad = List.of(stale, Tap.changed(good, b -> b.putInt(ResetHeader.ECHO + 8, p.ba ^ 0x1000)),
                Tap.changed(good, b -> b.put(epoch, (byte) (b.get(epoch) + 1))),
                Tap.changed(good, b -> b.putInt(ResetHeader.ECHO + 16, b.getInt(ResetHeader.ECHO + 16) + 1)),
                Tap.changed(good, b -> b.putInt(ResetHeader.ECHO + 20, b.getInt(ResetHeader.ECHO + 20) ^ 64)),
                Tap.changed(good, b -> b.putShort(ResetHeader.ECHO + 12, (short) 0x0707)));
        for (byte[] d : bad) {
            p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, d);
        }
        p.poll();
        assertEquals(bad.size(), p.a.endpoint.counters().forged);
        assertFalse(Peers.has(p.eventsA, Event.FAILED));
        tap.seen.clear();
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, good);
        p.run(MS);
        assertEquals(Reason.PEER_RESTARTED, p.eventsA.getLast().reason);
        assertEquals(Completion.CONNECTION_LOST, p.completionsA.getLast().status);
        assertEquals(0, p.a.endpoint.liveConnections());
        assertTrue(tap.seen.isEmpty(), "no CLOSE repeats it");
    }

    // ---- violations ----

    @Test
    @Requirement({"MR-LIM-003", "MR-CON-036"})
    void tooManyViolationsEndTheConnectionOneDoesNot() {
        p.b.config.maxViolations = 10;
        p.connect();
        write(100);
        byte[] data = tap.dataToB().getFirst().bytes();
        byte[] beyond = Tap.changed(data, b -> b.putShort(DataHeader.PATH, (short) 0x0209));
        for (int i = 0; i < 10; i++) {
            tap.giveB(beyond);
        }
        assertEquals(10, p.statsB().violations);
        assertFalse(Peers.has(p.eventsB, Event.FAILED));
        write(100);
        tap.giveB(beyond);
        assertEquals(Reason.PROTOCOL_VIOLATION, p.eventsB.getLast().reason);
        assertTrue(p.until(MS, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertEquals(Reason.PROTOCOL_VIOLATION, p.eventsA.getLast().reason, "the peer is told");
    }

    @Test
    @Requirement({"MR-ERR-034", "MR-CON-036"})
    void aNakOfWhatWasNeverSentEndsTheConnection() {
        p.connect();
        write(100);
        // Waits for credit, so that it was posted but not sent.
        p.post(p.request(Opcode.SEND, 0, 0, 100, 0, 2));
        p.run(MS);
        byte[] ack = tap.acksToA().getLast().bytes();
        byte[] nak = nak(ack, 0, 1);
        tap.giveA(nak(ack, 55, 0));
        assertFalse(Peers.has(p.eventsA, Event.FAILED), "of a stream that does not exist it is ignored");
        tap.giveA(nak);
        assertEquals(Reason.PROTOCOL_VIOLATION, p.eventsA.getLast().reason);
        assertTrue(p.until(MS, () -> Peers.has(p.eventsB, Event.FAILED)));
        assertEquals(Reason.PROTOCOL_VIOLATION, p.eventsB.getLast().reason);
        assertEquals(Completion.CONNECTION_LOST, p.completionsA.getLast().status);
    }

    private static byte[] nak(byte[] ack, int stream, int msn) {
        return Tap.withControl(ack, ControlBlock.NAK, 1, stream, msn, 0);
    }

    private static void writeWithBadKeys(Peers q, int streams) {
        for (int i = 0; i < streams; i++) {
            WorkRequest wr = q.request(Opcode.WRITE, i, 0, 10, 0, i);
            wr.remoteKey ^= 0x1000;
            q.post(wr);
        }
    }

    /** NAKs, refused streams and packets that were made fill an acknowledgement: what came twice is told in the next. */
    @Test
    @Requirement({"MR-ERR-023", "MR-ACK-023"})
    void anAcknowledgementNeverHoldsMoreThanItMay() {
        EndpointConfig b = Peers.config(1405);
        b.streamPool = 100;
        Peers q = new Peers(1404, Peers.config(1404), b).connect();
        Tap t = new Tap(q);
        q.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        writeWithBadKeys(q, Limits.MAX_PENDING_NAKS);
        q.run(MS);
        EndpointState s = Inside.state(q.b.endpoint);
        long c = s.connectionOf(q.ba);
        for (int i = 0; i < Limits.REFUSED_STREAMS; i++) {
            s.slab.putInt(c + ConnectionRecord.REFUSED + 8L * i, 1_000 + i);
        }
        s.slab.putInt(c + ConnectionRecord.REFUSED_COUNT, Limits.REFUSED_STREAMS);
        for (int i = 0; i < Limits.REBUILT_TOLD; i++) {
            long record = s.parity.take();
            s.slab.putLong(record + ParityRecord.NEXT, s.parities(c, ConnectionRecord.PARITY_USED));
            s.parities(c, ConnectionRecord.PARITY_USED, record);
        }
        s.slab.putInt(c + ConnectionRecord.DUPLICATES, 2 * 5 + 1);
        t.seen.clear();
        s.tellNow(c);
        q.run(0);
        s.tellNow(c);
        q.run(0);
        List<Tap.Seen> acks = t.acksToA();
        assertEquals(AckHeader.MAX_CONTROL_BLOCKS, acks.getFirst().u8(7));
        assertEquals(new Tap.Control(ControlBlock.DUPLICATES, 0, 0, 5), acks.get(1).controls().getLast());
    }

    /** All in one burst, so that all are to be told in one acknowledgement, if the connection lived. */
    @ParameterizedTest
    @ValueSource(ints = {24, 25, 60})
    @Requirement({"MR-ERR-023", "MR-CON-036", "MR-ERR-020"})
    void moreNaksThanAnAcknowledgementHoldsEndTheConnection(int streams) {
        EndpointConfig b = Peers.config(1403);
        b.streamPool = 100;
        Peers q = new Peers(1402, Peers.config(1402), b).connect();
        Tap t = new Tap(q);
        boolean[] deaf = {true};
        q.net.filter = (d, plane, port) -> !deaf[0] || (d[4] & 15) != Type.ACK;
        writeWithBadKeys(q, streams);
        boolean dies = streams > 24;
        q.run(MS);
        assertEquals(dies, Peers.has(q.eventsB, Event.FAILED));
        for (Tap.Seen s : t.acksToA()) {
            assertTrue(s.u8(7) <= 28 && s.bytes().length <= AckHeader.MAX_LENGTH, s.u8(7) + " control blocks");
        }
        deaf[0] = false;
        if (dies) {
            assertEquals(Reason.TOO_MANY_STREAM_ERRORS, q.eventsB.getLast().reason);
            assertEquals(Reason.TOO_MANY_STREAM_ERRORS, t.of(false, Type.CLOSE).getFirst().u8(CloseHeader.REASON));
        } else {
            assertEquals(24, t.acksToA().getLast().u8(7));
            assertTrue(q.until(100 * MS, () -> q.completionsA.size() == 24));
            assertFalse(Peers.has(q.eventsA, Event.FAILED));
        }
    }
}
