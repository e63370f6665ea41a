// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.wire.Cause;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Type;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams, their windows, order, operations and errors, requirement by requirement. */
class StreamRequirementsTest {
    private static final long MS = 1_000_000;

    private final EndpointConfig b = Peers.config(1802);
    private Peers p;
    private Tap tap;
    private Tap.Seen first;

    private void peers() {
        p = new Peers(1801, Peers.config(1801), b);
        tap = new Tap(p);
    }

    /** One packet was written to stream 0 and acknowledged: next are SSN 1, MSN 1. */
    private void connect() {
        peers();
        first = tap.connectAndWrite(100);
    }

    /** A message of one packet with this SSN and MSN, by a PSN of its own. */
    private byte[] next(int ssn, Consumer<ByteBuffer> more) {
        return Tap.changed(first.bytes(), d -> {
            d.putInt(DataHeader.PSN, first.psn() + ssn).put(DataHeader.FLOOR_DISTANCE, (byte) Math.min(255, ssn - 1));
            d.putInt(DataHeader.SSN, ssn).putInt(DataHeader.MSN, ssn);
            more.accept(d);
        });
    }

    private static Consumer<ByteBuffer> send(int index) {
        return d -> d.put(DataHeader.OPCODE, (byte) Opcode.SEND).putLong(DataHeader.RECEIVE_INDEX, (long) index << 32).putInt(DataHeader.REMOTE_KEY, 0);
    }

    private WorkRequest fromB(int opcode, int stream, long from, int length, long to, long wrId) {
        WorkRequest wr = p.requestFromB(opcode, stream, from, length, to, wrId);
        return wr;
    }

    private byte[] bytesB(long at, int length) {
        return p.memoryB.segment().asSlice(at, length).toArray(ValueLayout.JAVA_BYTE);
    }

    // ---- windows and order ----

    @Test
    @Requirement({"MR-STR-011", "MR-STR-012", "MR-STR-013"})
    void theReceiverTakesWhatIsInItsWindowInAnyOrderOnce() {
        b.streamWindowPackets = 64;
        connect();
        long before = p.statsB().bytesReceived;
        tap.giveB(next(65, d -> { }));
        assertEquals(1, p.statsB().violations, "one beyond the window");
        assertEquals(before, p.statsB().bytesReceived);
        for (int ssn = 64; ssn >= 1; ssn -= ssn == 3 ? 2 : 1) {
            tap.giveB(next(ssn, d -> { }));
            tap.giveB(next(ssn, d -> d.putInt(DataHeader.PSN, d.getInt(DataHeader.PSN) + 100).put(DataHeader.FLOOR_DISTANCE, (byte) 160)));
        }
        assertEquals(before + 63 * 100, p.statsB().bytesReceived);
        assertEquals(63, p.statsB().duplicates, "each a second time, by another PSN");
        tap.giveB(next(65, d -> d.putInt(DataHeader.PSN, first.psn() + 180).put(DataHeader.FLOOR_DISTANCE, (byte) 179)));
        assertEquals(before + 64 * 100, p.statsB().bytesReceived, "the window has moved by one: SSN 2 is awaited");
        tap.giveB(next(2, d -> d.putInt(DataHeader.PSN, first.psn() + 190).put(DataHeader.FLOOR_DISTANCE, (byte) 189)));
        assertEquals(1, p.statsB().violations);
    }

    @Test
    @Requirement({"MR-STR-022", "MR-STR-024"})
    void nothingCompletesBeforeWhatStandsBeforeIt() {
        connect();
        int[] pass = {Integer.MAX_VALUE};
        // The second packet of message 1 and the response to message 3 do not get through.
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA || pass[0] == 0
                || ByteBuffer.wrap(d).getInt(DataHeader.SSN) != 2 && d[6] != Opcode.READ_RESPONSE;
        p.post(p.request(Opcode.WRITE, 0, 0, 3_000, 0, 11));
        p.post(p.request(Opcode.WRITE, 0, 0, 1_000, 0, 12));
        p.run(5 * MS);
        assertEquals(1, p.completionsA.size(), "the first message lacks a packet");
        pass[0] = 0;
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 3));
        pass[0] = 1;
        p.post(p.request(Opcode.READ_REQUEST, 0, 100_000, 1_000, 0, 13));
        p.post(p.request(Opcode.WRITE, 0, 0, 1_000, 0, 14));
        p.run(5 * MS);
        assertEquals(3, p.completionsA.size(), "the Read waits for its data");
        pass[0] = 0;
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 5));
        assertEquals(List.of(1L, 11L, 12L, 13L, 14L), p.completionsA.stream().map(c -> c.wrId).toList());
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1, 0.3})
    @Requirement({"MR-STR-023", "MR-STR-022", "MR-STR-021", "MR-CRC-004"})
    void aCompletionMakesAllBeforeItVisible(double loss) {
        peers();
        p.connect();
        p.net.loss = loss;
        p.net.corrupt = loss / 2;
        int n = 40;
        for (int i = 0; i < n; i++) {
            p.postReceiveB(2, 2_000_000 + i * 3_000L, 3_000, i);
            p.post(p.request(Opcode.WRITE, 2, i * 20_000L, 20_000, i * 20_000L, i));
            p.post(p.request(i % 2 == 0 ? Opcode.SEND : Opcode.SEND_IMM, 2, 1_000_000 + i * 3_000L, 3_000, 0, i));
        }
        int[] checked = {0};
        assertTrue(p.until(3_000 * MS, () -> {
            for (; checked[0] < p.completionsB.size(); checked[0]++) {
                // At this very instant, with later messages under way.
                int i = checked[0];
                assertEquals(i, p.completionsB.get(i).wrId);
                p.assertCopied(i * 20_000L, i * 20_000L, 20_000);
                p.assertCopied(1_000_000 + i * 3_000L, 2_000_000 + i * 3_000L, 3_000);
            }
            return checked[0] == n;
        }));
    }

    @Test
    @Requirement({"MR-STR-025", "MR-CRED-007"})
    void aStreamThatIsStuckHoldsUpNoOther() {
        connect();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA || ByteBuffer.wrap(d).getInt(DataHeader.STREAM) != 0;
        p.post(p.request(Opcode.WRITE, 0, 0, 1_000, 0, 2));
        // And one that waits for credit.
        p.post(p.request(Opcode.SEND, 1, 0, 1_000, 0, 3));
        long at = p.net.nowNs;
        for (int i = 0; i < 20; i++) {
            p.post(p.request(Opcode.WRITE, 2 + i % 3, 0, 20_000, 0, 10 + i));
        }
        assertTrue(p.until(10 * MS, () -> p.completionsA.size() == 21));
        assertTrue(p.net.nowNs - at < MS, (p.net.nowNs - at) / 1e6 + " ms");
    }

    @Test
    @Requirement({"MR-STR-001", "MR-ERR-024", "MR-ERR-030", "MR-ERR-032", "MR-ERR-033"})
    void bothDirectionsOfANumberAreOneStreamAndFailTogether() {
        connect();
        assertEquals(Endpoint.OK, p.a.endpoint.postReceive(p.ab, 4, p.memoryA.address(), 100, p.memoryA.key(), 50));
        p.postReceiveB(4, 0, 100, 60);
        p.run(MS);
        // B's Send waits for a packet that does not get through.
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA || d[6] != Opcode.SEND;
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, fromB(Opcode.SEND, 4, 0, 100, 0, 61)));
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, fromB(Opcode.SEND, 4, 0, 100, 0, 62)));
        WorkRequest bad = p.request(Opcode.WRITE, 4, 0, 10, 0, 51);
        bad.remoteKey = 0;
        p.post(bad);
        p.post(p.request(Opcode.WRITE, 4, 0, 10, 0, 52));
        assertTrue(p.until(50 * MS, () -> p.completionsA.size() == 4 && p.completionsB.size() == 3));
        assertEquals(List.of(Cause.BAD_KEY, Completion.FLUSHED), p.completionsA.stream().filter(c -> c.wrId > 50).map(c -> c.status).toList());
        assertEquals(Completion.FLUSHED, p.completionsA.stream().filter(c -> c.wrId == 50).findFirst().orElseThrow().status, "A's receive");
        p.completionsB.forEach(c -> assertEquals(Completion.FLUSHED, c.status, "of B " + c.wrId));
        Event event = p.eventsB.getLast();
        assertEquals(Event.STREAM_FAILED, event.kind);
        assertEquals(4, event.stream);
        assertEquals(Cause.BAD_KEY, event.reason);
        assertTrue(event.text().contains("10.0.0.1:14791"), event.text());
        p.net.filter = (d, plane, port) -> true;
        for (int i = 0; i < 3; i++) {
            p.run(700 * MS);
            assertEquals(Endpoint.STREAM_IN_ERROR, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 4, 0, 10, 0, 53)));
            assertEquals(Endpoint.STREAM_IN_ERROR, p.b.endpoint.post(p.ba, fromB(Opcode.WRITE, 4, 0, 10, 0, 63)));
            assertEquals(Endpoint.STREAM_IN_ERROR, p.a.endpoint.postReceive(p.ab, 4, p.memoryA.address(), 100, p.memoryA.key(), 54));
        }
        p.assertIdle();
    }

    // ---- operations ----

    @Test
    @Requirement("MR-OP-002")
    void emptyMessagesNeedNeitherKeyNorAddress() {
        connect();
        p.postReceiveB(1, 0, 0, 9);
        int id = 20;
        for (int opcode : new int[] {Opcode.WRITE, Opcode.READ_REQUEST, Opcode.WRITE_IMM}) {
            WorkRequest wr = p.request(opcode, 1, 0, 0, 0, id++);
            wr.remoteKey = 0x77777777;
            wr.remoteAddress = -1;
            wr.localKey = 3;
            wr.localAddress = 1;
            p.post(wr);
        }
        assertTrue(p.until(50 * MS, () -> p.completionsA.size() == 4 && p.completionsB.size() == 1));
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
    }

    @Test
    @Requirement({"MR-OP-012", "MR-OP-013", "MR-OP-001"})
    void aWriteWithImmediateLeavesTheMemoryOfItsReceiveAlone() {
        connect();
        byte[] before = bytesB(300_000, 20_000);
        p.postReceiveB(1, 300_000, 20_000, 9);
        p.postReceiveB(1, 300_000, 20_000, 10);
        WorkRequest wr = p.request(Opcode.WRITE_IMM, 1, 0, 5_000, 100_000, 2);
        wr.immediate = 0xfedcba98;
        p.post(wr);
        assertTrue(p.until(50 * MS, () -> p.completionsB.size() == 1));
        Completion c = p.completionsB.getFirst();
        assertEquals(9, c.wrId);
        assertEquals(5_000, c.byteLength);
        assertEquals(0xfedcba98, c.immediate);
        assertArrayEquals(before, bytesB(300_000, 20_000));
        p.assertCopied(0, 100_000, 5_000);
        byte[] d = tap.dataToB().getLast().bytes();
        assertArrayEquals(new byte[] {(byte) 0xfe, (byte) 0xdc, (byte) 0xba, (byte) 0x98}, java.util.Arrays.copyOfRange(d, 60, 64));
    }

    @Test
    @Requirement({"MR-OP-011", "MR-STR-020", "MR-OP-001"})
    void everyPacketFindsItsPlaceWhateverIsMissingBeforeIt() {
        connect();
        p.postReceiveB(0, 500_000, 4_000, 5);
        p.postReceiveB(0, 510_000, 4_000, 6);
        p.run(MS);
        // The last packet of the second of two Sends, then a Write, with all before them missing.
        tap.giveB(next(9, send(1).andThen(d -> d.putInt(DataHeader.OFFSET, 3_900).putInt(DataHeader.MESSAGE_LENGTH, 4_000))));
        assertEquals(-1, p.memoryA.segment().asSlice(0, 100).mismatch(p.memoryB.segment().asSlice(513_900, 100)));
        tap.giveB(next(12, d -> d.putLong(DataHeader.REMOTE_ADDRESS, p.memoryB.address() + 700_000)));
        assertEquals(-1, p.memoryA.segment().asSlice(0, 100).mismatch(p.memoryB.segment().asSlice(700_000, 100)));
        assertTrue(p.completionsB.isEmpty());
    }

    @Test
    @Requirement("MR-PKT-007")
    void flagsOfInformationChangeNothing() {
        connect();
        p.postReceiveB(0, 500_000, 1_000, 5);
        p.run(MS);
        tap.giveB(next(1, send(0).andThen(d -> d.put(Prefix.FLAGS, (byte) (DataHeader.LAST | DataHeader.RETRANSMISSION | DataHeader.SOLICITED)))));
        assertEquals(Completion.OK, p.completionsB.getFirst().status);
        assertEquals(-1, p.memoryA.segment().asSlice(0, 100).mismatch(p.memoryB.segment().asSlice(500_000, 100)));
        assertEquals(0, p.statsB().duplicates);
    }

    @Test
    @Requirement("MR-CRC-004")
    void spoiledPayloadIsNotShownAsComplete() {
        connect();
        p.postReceiveB(0, 500_000, 1_000, 5);
        p.run(MS);
        byte[] good = next(1, send(0));
        for (int bit = 8 * DataHeader.LENGTH; bit < 8 * good.length; bit += 37) {
            byte[] bad = good.clone();
            bad[bit / 8] ^= (byte) (1 << bit % 8);
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, bad);
        }
        p.run(MS);
        assertTrue(p.completionsB.isEmpty());
        assertTrue(tap.acksToA().stream().noneMatch(s -> s.blocks().stream().anyMatch(x -> x.path() == first.path() && x.has(first.psn() + 1))));
        tap.giveB(good);
        assertEquals(1, p.completionsB.size());
        assertEquals(-1, p.memoryA.segment().asSlice(0, 100).mismatch(p.memoryB.segment().asSlice(500_000, 100)));
    }

    @Test
    @Requirement("MR-LIM-001")
    void moreThanThePayloadAgreedOnIsDropped() {
        connect();
        byte[] before = bytesB(0, 2_000);
        byte[] large = Tap.resized(first.bytes(), DataHeader.LENGTH + 1_025, d -> d.putInt(DataHeader.PSN, first.psn() + 1).put(7, (byte) 0)
                .putInt(DataHeader.SSN, 1).putInt(DataHeader.MSN, 1).putShort(DataHeader.PAYLOAD_LENGTH, (short) 1_025).putInt(DataHeader.MESSAGE_LENGTH, 1_025));
        tap.giveB(large);
        assertEquals(1, p.statsB().violations);
        assertArrayEquals(before, bytesB(0, 2_000));
        assertTrue(tap.seen.isEmpty());
    }

    // ---- Reads ----

    @Test
    @Requirement("MR-READ-007")
    void aResponseThatFitsNoReadHasNoEffect() {
        connect();
        p.post(p.request(Opcode.READ_REQUEST, 0, 200_000, 100, 0, 2));
        assertTrue(p.until(10 * MS, () -> p.completionsA.size() == 2));
        p.run(MS);
        Tap.Seen response = tap.of(false, Type.DATA).getFirst();
        tap.seen.clear();
        // The one that is answered already goes back to what it was: nothing may change it again.
        p.memoryA.segment().asSlice(200_000, 100).fill((byte) 7);
        byte[] before = p.memoryA.segment().toArray(ValueLayout.JAVA_BYTE);
        int[] ahead = {0};
        List<Consumer<ByteBuffer>> stale = List.of(d -> { }, d -> d.putLong(40, d.getLong(40) + 1), d -> d.putLong(40, -1), d -> d.putLong(40, 0x7fffffffL));
        for (Consumer<ByteBuffer> how : stale) {
            ahead[0]++;
            tap.giveA(Tap.later(response.bytes(), ahead[0], d -> {
                d.putInt(DataHeader.SSN, ahead[0]);
                how.accept(d);
            }));
        }
        assertArrayEquals(before, p.memoryA.segment().toArray(ValueLayout.JAVA_BYTE));
        assertEquals(2, p.completionsA.size());
        assertFalse(Peers.has(p.eventsA, Event.STREAM_FAILED));
        Tap.Block block = tap.acksToB().getLast().blocks().getFirst();
        assertEquals(Tap.low(response.psn() + 1 + stale.size()), block.cumulative(), "taken and acknowledged");
    }

    @Test
    @Requirement("MR-READ-007")
    void aResponseOfAnotherStreamOrLengthHasNoEffect() {
        connect();
        p.post(p.request(Opcode.READ_REQUEST, 0, 200_000, 100, 0, 2));
        assertTrue(p.until(10 * MS, () -> p.completionsA.size() == 2));
        p.run(MS);
        Tap.Seen response = tap.of(false, Type.DATA).getFirst();
        p.net.filter = (d, plane, port) -> false;
        tap.seen.clear();
        p.post(p.request(Opcode.READ_REQUEST, 0, 300_000, 100, 0, 3));
        p.run(30_000);
        long id = tap.dataToB().getFirst().i64(DataHeader.OWN_REQUEST_ID);
        byte[] before = p.memoryA.segment().toArray(ValueLayout.JAVA_BYTE);
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, Tap.later(response.bytes(), 1,
                d -> d.putInt(DataHeader.SSN, 0).putInt(DataHeader.STREAM, 9).putLong(40, id)));
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, Tap.later(response.bytes(), 2,
                d -> d.putInt(DataHeader.SSN, 1).putInt(DataHeader.MESSAGE_LENGTH, 200).put(5, (byte) 0).putLong(40, id)));
        assertArrayEquals(before, p.memoryA.segment().toArray(ValueLayout.JAVA_BYTE));
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, Tap.later(response.bytes(), 3, d -> d.putInt(DataHeader.SSN, 2).putLong(40, id)));
        assertEquals(-1, p.memoryA.segment().asSlice(300_000, 100).mismatch(p.memoryB.segment().asSlice(0, 100)), "the right one is placed at once");
    }

    @Test
    @Requirement({"MR-READ-009", "MR-CRED-007"})
    void waitingForCreditHoldsLaterMessagesButNoResponses() {
        connect();
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, fromB(Opcode.SEND, 0, 0, 100, 0, 70)));
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, fromB(Opcode.WRITE, 0, 0, 100, 0, 71)));
        p.run(MS);
        p.post(p.request(Opcode.READ_REQUEST, 0, 200_000, 5_000, 0, 2));
        assertTrue(p.until(10 * MS, () -> p.completionsA.size() == 2));
        assertTrue(p.completionsB.isEmpty());
        assertTrue(tap.of(false, Type.DATA).stream().allMatch(s -> s.opcode() == Opcode.READ_RESPONSE));
    }

    // ---- errors ----

    @Test
    @Requirement({"MR-ERR-007", "MR-ERR-009", "MR-ERR-020", "MR-ERR-021"})
    void aReceiveThatWasNotPostedIsRefused() {
        connect();
        p.postReceiveB(0, 500_000, 1_000, 5);
        p.run(MS);
        tap.seen.clear();
        byte[] before = bytesB(500_000, 1_000);
        tap.giveB(next(1, send(1)));
        assertEquals(new Tap.Control(ControlBlock.NAK, Cause.NO_RECEIVE, 0, 1), tap.acksToA().getFirst().controls().getFirst());
        assertArrayEquals(before, bytesB(500_000, 1_000));
    }

    @Test
    @Requirement("MR-ERR-007")
    void aReceiveThatIsDoneIsRefused() {
        connect();
        p.postReceiveB(0, 500_000, 1_000, 5);
        p.run(MS);
        tap.giveB(next(1, send(0)));
        assertEquals(1, p.completionsB.size());
        tap.seen.clear();
        tap.giveB(next(2, send(0)));
        assertEquals(new Tap.Control(ControlBlock.NAK, Cause.NO_RECEIVE, 0, 2), tap.acksToA().getFirst().controls().getFirst());
    }

    @Test
    @Requirement({"MR-ERR-020", "MR-ERR-009"})
    void aFaultWaitsForItsTurnAndTheFirstInOrderCounts() {
        connect();
        byte[] before = bytesB(0, 100);
        tap.giveB(next(4, d -> d.putInt(DataHeader.REMOTE_KEY, 0)));
        tap.giveB(next(3, d -> d.putLong(DataHeader.REMOTE_ADDRESS, p.memoryB.address() - 50)));
        tap.giveB(next(2, d -> { }));
        assertFalse(Peers.has(p.eventsB, Event.STREAM_FAILED));
        tap.seen.clear();
        tap.giveB(next(1, d -> { }));
        assertTrue(Peers.has(p.eventsB, Event.STREAM_FAILED));
        assertEquals(new Tap.Control(ControlBlock.NAK, Cause.OUT_OF_BOUNDS, 0, 3), tap.acksToA().getFirst().controls().getFirst());
        assertArrayEquals(before, bytesB(0, 100));
    }

    @Test
    @Requirement("MR-ERR-022")
    void aFailedStreamSwallowsWhatStillComes() {
        connect();
        p.postReceiveB(0, 500_000, 1_000, 5);
        p.run(MS);
        p.net.filter = (d, plane, port) -> ByteBuffer.wrap(d).getInt(8) == p.ba;
        tap.giveB(next(1, d -> d.putInt(DataHeader.REMOTE_KEY, 0)));
        assertTrue(Peers.has(p.eventsB, Event.STREAM_FAILED));
        byte[] before = bytesB(600_000, 100);
        long placed = p.statsB().bytesReceived;
        tap.giveB(next(2, d -> d.putLong(DataHeader.REMOTE_ADDRESS, p.memoryB.address() + 600_000)));
        tap.giveB(next(3, d -> d.putInt(DataHeader.REMOTE_KEY, 0)));
        tap.giveB(next(4, send(0)));
        assertArrayEquals(before, bytesB(600_000, 100));
        assertEquals(placed, p.statsB().bytesReceived);
        assertEquals(Tap.low(first.psn() + 5), tap.lastBlock(first.path()).cumulative(), "marked");
        assertEquals(1, p.eventsB.stream().filter(e -> e.kind == Event.STREAM_FAILED).count());
        assertEquals(1, p.completionsB.size());
    }

    @Test
    @Requirement({"MR-ERR-031", "MR-ACK-010"})
    void everyNakIsConfirmedAtOnceWithoutPathBlocks() {
        connect();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK || ByteBuffer.wrap(d).getInt(8) != p.ba;
        WorkRequest bad = p.request(Opcode.WRITE, 5, 0, 10, 0, 2);
        bad.remoteKey = 0;
        p.post(bad);
        p.run(MS);
        byte[] nak = tap.acksToA().stream().filter(s -> s.u8(7) == 1).findFirst().orElseThrow().bytes();
        for (int i = 0; i < 3; i++) {
            tap.seen.clear();
            p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, nak);
            p.run(0);
            Tap.Seen confirm = tap.acksToB().getFirst();
            assertEquals(0, confirm.u8(6));
            assertEquals(List.of(new Tap.Control(ControlBlock.STREAM_ERROR_CONFIRM, 0, 5, 0)), confirm.controls());
        }
        assertEquals(1, p.eventsA.stream().filter(e -> e.kind == Event.STREAM_FAILED).count());
    }

    @Test
    @Requirement("MR-ERR-021")
    void aRefusalThatIsLostIsToldAgainThoughNobodyAsks() {
        connect();
        MemoryRegion shortLived = p.regionsB.register(0, Arena.ofAuto().allocate(1_000), Peers.ALL);
        // The request arrives and is acknowledged; the response is lost, and the region ends before it is repeated.
        boolean[] deaf = {false};
        p.net.filter = (d, plane, port) -> ((d[4] & 15) != Type.DATA || d[6] != Opcode.READ_RESPONSE) && !(deaf[0] && (d[4] & 15) == Type.ACK);
        WorkRequest wr = p.request(Opcode.READ_REQUEST, 0, 200_000, 1_000, 0, 2);
        wr.remoteAddress = shortLived.address();
        wr.remoteKey = shortLived.key();
        p.post(wr);
        p.run(10_000);
        p.regionsB.deregister(shortLived);
        assertTrue(p.until(MS, () -> Peers.has(p.eventsB, Event.STREAM_FAILED)));
        deaf[0] = true;
        long at = p.net.nowNs;
        p.run(150_000);
        deaf[0] = false;
        assertTrue(p.until(2 * MS, () -> p.completionsA.size() == 2));
        assertEquals(Cause.BAD_KEY, p.completionsA.getLast().status);
        assertTrue(p.net.nowNs - at < MS, (p.net.nowNs - at) / 1e6 + " ms");
        p.run(2 * MS);
        tap.seen.clear();
        p.run(300 * MS);
        assertTrue(tap.acksToA().stream().noneMatch(s -> s.u8(7) > 0), "confirmed, it is over");
    }

    @Test
    @Requirement("MR-ERR-021")
    void refusalsAreRepeatedAtDoublingIntervals() {
        connect();
        p.net.filter = (d, plane, port) -> ByteBuffer.wrap(d).getInt(8) == p.ba;
        tap.giveB(next(1, d -> d.putInt(DataHeader.REMOTE_KEY, 0)));
        tap.seen.clear();
        p.run(300 * MS);
        long[] at = tap.acksToA().stream().filter(s -> s.u8(6) == 0 && s.u8(7) == 1).mapToLong(Tap.Seen::atNs).toArray();
        assertTrue(at.length >= 9, at.length + " repetitions");
        for (int i = 2; i < at.length; i++) {
            double gap = at[i] - at[i - 1];
            assertTrue(gap > 90 * MS || Math.abs(gap / (at[i - 1] - at[i - 2]) - 2) < 0.2, "repetition " + i);
        }
    }

    @Test
    @Requirement({"MR-LIM-020", "MR-LIM-002"})
    void noPacketMakesStateGrowBeyondWhatWasMade() {
        b.streamPool = 8;
        b.maxStreams = 1 << 20;
        peers();
        p.a.config.maxStreams = 1 << 20;
        connect();
        long bytes = p.b.endpoint.stateBytes();
        p.net.filter = (d, plane, port) -> false;
        for (int i = 1; i < 5_000; i++) {
            int n = i;
            // Out of order, for ever other streams; every third a request.
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, Tap.changed(first.bytes(), d -> d.putInt(DataHeader.PSN, first.psn() + n).put(7, (byte) 0)
                    .putInt(DataHeader.STREAM, n % 1_000).putInt(DataHeader.SSN, 1 + n % 500).putInt(DataHeader.MSN, 1)));
        }
        assertEquals(8, p.b.endpoint.liveStreams());
        assertTrue(p.b.endpoint.liveWindows() <= 8 * 4);
        assertEquals(bytes, p.b.endpoint.stateBytes());
        assertTrue(p.statsB().noResource > 4_000, "each refusal is counted");
        p.b.endpoint.abort(p.net.nowNs, p.ba, 1);
        assertEquals(0, p.b.endpoint.liveStreams() + p.b.endpoint.liveWindows());
    }
}
