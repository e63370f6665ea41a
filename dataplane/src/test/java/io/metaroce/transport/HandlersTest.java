// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Cause;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.PathBlock;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Every handler with a past, an in-order, a future and a duplicate packet. Genuine datagrams are caught on the wire, changed, given a
 * right checksum, and handed in again.
 */
class HandlersTest {
    private static final int DATA = 0x15;
    private static final int ACK = 0x16;
    private static final int PROBE = 0x17;
    private static final int PSN = 16;
    private static final int SSN = 28;
    /** The first path block of an acknowledgement. */
    private static final int BLOCK = AckHeader.LENGTH;

    private final Peers p = new Peers(71).connect();
    private final List<byte[]> toB = new ArrayList<>();
    private final List<byte[]> toA = new ArrayList<>();

    @BeforeEach
    void tap() {
        p.net.filter = (d, plane, port) -> {
            // Each side's own connection identifier stands in what it receives.
            (ByteBuffer.wrap(d).getInt(8) == p.ba ? toB : toA).addAll(Tap.packets(d.clone()));
            return true;
        };
    }

    private static int type(byte[] d) {
        return d[4];
    }

    private static byte[] changed(byte[] datagram, Consumer<ByteBuffer> change) {
        byte[] made = datagram.clone();
        int tag = crc(datagram) ^ ByteBuffer.wrap(datagram).getInt(0);
        change.accept(ByteBuffer.wrap(made));
        ByteBuffer.wrap(made).putInt(0, crc(made) ^ tag);
        return made;
    }

    private static int crc(byte[] datagram) {
        CRC32C crc = new CRC32C();
        crc.update(datagram, 4, datagram.length - 4);
        return (int) crc.getValue();
    }

    private void give(TestNetwork.Host to, byte[] datagram) {
        p.net.inject(to, 0, TestNetwork.address(9, 0), 2, datagram);
        p.run(200_000);
    }

    /** One message of one packet written and acknowledged; returns its data packet. */
    private byte[] oneWrite(int length) {
        int before = p.completionsA.size();
        toB.clear();
        toA.clear();
        p.post(p.request(Opcode.WRITE, 0, 0, length, 0, 1));
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == before + 1));
        p.run(200_000);
        return toB.stream().filter(d -> type(d) == DATA).findFirst().orElseThrow();
    }

    private void assertStillWorks() {
        p.net.filter = (d, plane, port) -> true;
        oneWriteOf(p);
    }

    private static void oneWriteOf(Peers p) {
        int before = p.completionsA.size();
        p.post(p.request(Opcode.WRITE, 0, 100_000, 50_000, 200_000, 99));
        assertTrue(p.until(200_000_000, () -> p.completionsA.size() == before + 1));
        assertEquals(Completion.OK, p.completionsA.getLast().status);
        p.assertCopied(100_000, 200_000, 50_000);
    }

    // ---- Data, by PSN ----

    @Test
    void dataDuplicateByPsnIsDroppedAndAcknowledged() {
        byte[] data = oneWrite(100);
        long received = p.statsB().bytesReceived;
        toA.clear();
        give(p.b, data);
        assertEquals(received, p.statsB().bytesReceived);
        assertEquals(1, p.statsB().duplicates);
        assertStillWorks();
    }

    @Test
    @Requirement("MR-PATH-024")
    void dataOfThePastByPsnGoesToTheStreamLayerWhichKnowsIt() {
        byte[] data = oneWrite(100);
        give(p.b, changed(data, b -> b.putInt(PSN, b.getInt(PSN) - 300).put(7, (byte) 0)));
        assertEquals(1, p.statsB().duplicates);
        assertEquals(0, p.statsB().violations);
        assertStillWorks();
    }

    @Test
    @Requirement({"MR-ACK-002", "MR-ACK-004", "MR-PKT-010"})
    void dataOfTheFutureByPsnIsAGapReportedAtOnce() {
        byte[] data = oneWrite(100);
        toA.clear();
        give(p.b, changed(data, b -> b.putInt(PSN, b.getInt(PSN) + 4).put(7, (byte) 4).putInt(SSN, 1)));
        byte[] ack = toA.stream().filter(d -> type(d) == ACK).findFirst().orElseThrow();
        // One path block: cumulative still the missing PSN, span and one bit for what came.
        assertEquals(1, ack[6]);
        assertEquals(1, ack[AckHeader.LONG_BLOCKS]);
        assertEquals(Tap.low(ByteBuffer.wrap(data).getInt(PSN) + 1), Tap.low(ByteBuffer.wrap(ack).getInt(BLOCK)));
        assertEquals(4, ByteBuffer.wrap(ack).getShort(BLOCK + PathBlock.SPAN));
        assertEquals(0b1000, ByteBuffer.wrap(ack).getLong(BLOCK + PathBlock.LENGTH));
    }

    @Test
    @Requirement("MR-PATH-022")
    void dataFarAheadByPsnMovesTheWindowToItsFloor() {
        byte[] data = oneWrite(100);
        toA.clear();
        // A PSN is at most 255 from its own floor, so no genuine sender can be beyond the window: the floor comes along.
        give(p.b, changed(data, b -> b.putInt(PSN, b.getInt(PSN) + 600).put(7, (byte) 0xff).putInt(SSN, 1)));
        byte[] ack = toA.stream().filter(d -> type(d) == ACK).findFirst().orElseThrow();
        assertEquals(Tap.low(ByteBuffer.wrap(data).getInt(PSN) + 600 - 255), Tap.low(ByteBuffer.wrap(ack).getInt(BLOCK)));
        assertEquals(256, ByteBuffer.wrap(ack).getShort(BLOCK + PathBlock.SPAN));
        assertEquals(0, p.statsB().violations);
    }

    // ---- Data, by SSN ----

    @Test
    @Requirement("MR-STR-013")
    void dataDuplicateOrPastBySsnHasNoEffectTwice() {
        byte[] data = oneWrite(100);
        long received = p.statsB().bytesReceived;
        give(p.b, changed(data, b -> b.putInt(PSN, b.getInt(PSN) + 1).put(7, (byte) 1)));
        assertEquals(received, p.statsB().bytesReceived);
        assertEquals(1, p.statsB().duplicates);
    }

    @Test
    @Requirement({"MR-STR-020", "MR-OP-011"})
    void dataOfTheFutureBySsnIsPlacedButCompletesNothing() {
        p.postReceiveB(0, 500_000, 1_000, 5);
        byte[] data = oneWrite(100);
        p.run(1_000_000);
        byte[] early = changed(data, b -> {
            b.putInt(PSN, b.getInt(PSN) + 1).put(7, (byte) 1).putInt(SSN, 5);
            // A Send for receive 0, ahead of its turn.
            b.put(6, (byte) Opcode.SEND).putInt(40, 0).putInt(44, 0).putInt(48, 0).putInt(52, 0);
        });
        long before = p.statsB().bytesReceived;
        give(p.b, early);
        assertEquals(before + 100, p.statsB().bytesReceived);
        assertTrue(p.completionsB.isEmpty());
    }

    @Test
    void twoMessagesForOneReceiveCompleteItOnce() {
        p.postReceiveB(0, 500_000, 1_000, 5);
        p.run(1_000_000);
        toB.clear();
        p.post(p.request(Opcode.SEND, 0, 0, 100, 0, 1));
        assertTrue(p.until(100_000_000, () -> p.completionsB.size() == 1));
        byte[] data = toB.stream().filter(d -> type(d) == DATA).findFirst().orElseThrow();
        p.postReceiveB(0, 500_000, 1_000, 6);
        for (int i = 1; i <= 2; i++) {
            int n = i;
            give(p.b, changed(data, b -> b.putInt(PSN, b.getInt(PSN) + 3 - n).put(7, (byte) (3 - n)).putInt(SSN, 3 - n).putInt(40, 1)));
        }
        assertEquals(2, p.completionsB.size());
        assertEquals(1, p.statsB().violations);
    }

    @Test
    @Requirement({"MR-STR-012", "MR-PATH-026"})
    void dataBeyondTheStreamWindowIsNotMarkedAsArrived() {
        byte[] data = oneWrite(100);
        toA.clear();
        give(p.b, changed(data, b -> b.putInt(PSN, b.getInt(PSN) + 1).put(7, (byte) 1).putInt(SSN, 5_000)));
        assertEquals(1, p.statsB().violations);
        assertTrue(toA.stream().noneMatch(d -> type(d) == ACK && d[6] > 0 && Tap.low(ByteBuffer.wrap(d).getInt(BLOCK)) == Tap.low(ByteBuffer.wrap(data).getInt(PSN) + 2)));
        assertStillWorks();
    }

    // ---- atomics ----

    private static final int ADDEND = 72;
    private static final int READ_INDEX = 60;

    private long word() {
        return p.memoryB.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    /** One Fetch-and-add of 1 to the first word of B, done; returns its request. */
    private byte[] oneAdd() {
        WorkRequest wr = p.request(Opcode.FETCH_ADD, 0, 0, 8, 0, 1);
        wr.operand = 1;
        int before = p.completionsA.size();
        toB.clear();
        toA.clear();
        p.post(wr);
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == before + 1));
        p.run(200_000);
        return toB.stream().filter(d -> type(d) == DATA).findFirst().orElseThrow();
    }

    private static byte[] next(byte[] data, int ahead, Consumer<ByteBuffer> change) {
        return changed(data, b -> {
            b.putInt(PSN, b.getInt(PSN) + ahead).put(7, (byte) ahead).putInt(SSN, b.getInt(SSN) + ahead);
            change.accept(b);
        });
    }

    @Test
    @Requirement("MR-ATOM-001")
    void anAtomicOfThePastOrTwiceIsExecutedOnce() {
        byte[] add = oneAdd();
        assertEquals(1, word());
        give(p.b, add);
        // The same meaning in a new transmission.
        give(p.b, changed(add, b -> b.putInt(PSN, b.getInt(PSN) + 1).put(7, (byte) 1)));
        assertEquals(1, word());
        assertEquals(2, p.statsB().duplicates);
        p.run(50_000_000);
        assertStillWorks();
    }

    @Test
    @Requirement({"MR-ATOM-001", "MR-READ-010"})
    void anAtomicOfTheFutureWaitsForItsTurn() {
        byte[] add = oneAdd();
        // Numbers 2 and 1 of the stream, in this order: the second adds 10, the first 100.
        byte[] later = next(add, 2, b -> b.putInt(READ_INDEX, 2).putInt(32, 2).putLong(ADDEND, 10));
        give(p.b, later);
        give(p.b, changed(later, b -> b.putInt(PSN, b.getInt(PSN) + 1).put(7, (byte) 3)));
        assertEquals(1, word());
        toA.clear();
        give(p.b, next(add, 1, b -> b.putInt(READ_INDEX, 1).putInt(32, 1).putLong(ADDEND, 100)));
        assertEquals(111, word());
        List<Long> originals = toA.stream().filter(d -> type(d) == DATA && d[6] == Opcode.ATOMIC_RESPONSE)
                .sorted((x, y) -> Integer.compare(ByteBuffer.wrap(x).getInt(SSN), ByteBuffer.wrap(y).getInt(SSN)))
                .map(d -> ByteBuffer.wrap(d).getLong(64)).distinct().toList();
        assertEquals(List.of(1L, 101L), originals);
    }

    /** What B refuses here A never asked for: it must not hear of it. */
    private void deafenA() {
        p.net.filter = (d, plane, port) -> ByteBuffer.wrap(d).getInt(8) == p.ba;
    }

    @Test
    @Requirement("MR-ERR-008")
    void anAtomicWithTheNumberOfAnotherIsRefused() {
        byte[] add = oneAdd();
        deafenA();
        give(p.b, next(add, 3, b -> b.putInt(READ_INDEX, 1).putInt(32, 3).putLong(ADDEND, 10)));
        give(p.b, next(add, 2, b -> b.putInt(READ_INDEX, 1).putInt(32, 2).putLong(ADDEND, 100)));
        give(p.b, next(add, 1, b -> b.putInt(READ_INDEX, 1).putInt(32, 1).putLong(ADDEND, 1_000)));
        assertEquals(1, word());
        assertEquals(Cause.TOO_MANY_READS, p.eventsB.getLast().reason);
    }

    @Test
    @Requirement("MR-ERR-008")
    void anAtomicWhoseNumberIsNotThatOfItsTurnIsRefused() {
        byte[] add = oneAdd();
        deafenA();
        // Index 0 was answered; 2 leaves out 1; 17 is too far ahead.
        for (int index : new int[] {0, 2, 17}) {
            int failed = p.eventsB.size();
            byte[] bad = changed(add, b -> b.putInt(PSN, b.getInt(PSN) + 1 + index).put(7, (byte) (1 + index)).putInt(24, index)
                    .putInt(SSN, 0).putInt(32, 0).putInt(READ_INDEX, index == 0 ? -1 : index));
            if (index == 0) {
                bad = next(add, 1, b -> b.putInt(32, 1));
            }
            give(p.b, bad);
            assertEquals(failed + 1, p.eventsB.size(), "index " + index);
            assertEquals(Cause.TOO_MANY_READS, p.eventsB.getLast().reason);
            assertEquals(1, word());
        }
    }

    @Test
    @Requirement("MR-ATOM-008")
    void aResponseThatIsStaleOrForeignChangesNothing() {
        oneAdd();
        byte[] response = toA.stream().filter(d -> type(d) == DATA).findFirst().orElseThrow();
        assertEquals(0, p.memoryA.segment().get(ValueLayout.JAVA_LONG, 0));
        give(p.a, response);
        // As a new message: its request is complete, and then one that never was.
        give(p.a, next(response, 1, b -> b.putLong(64, 77)));
        give(p.a, next(response, 2, b -> b.putLong(40, b.getLong(40) + (1L << 32)).putLong(64, 77)));
        give(p.a, next(response, 3, b -> b.putLong(40, -1).putLong(64, 77)));
        assertEquals(0, p.memoryA.segment().get(ValueLayout.JAVA_LONG, 0));
        assertEquals(1, p.completionsA.size());
        assertEquals(0, p.statsA().violations);
    }

    @Test
    @Requirement({"MR-ATOM-007", "MR-ATOM-008"})
    void onlyTheFirstResponseToAnAtomicCounts() {
        oneAdd();
        byte[] old = toA.stream().filter(d -> type(d) == DATA).findFirst().orElseThrow();
        List<byte[]> held = new ArrayList<>();
        p.net.filter = (d, plane, port) -> {
            if (ByteBuffer.wrap(d).getInt(8) == p.ba) {
                held.add(d.clone());
            }
            return false;
        };
        WorkRequest wr = p.request(Opcode.FETCH_ADD, 0, 8, 8, 0, 2);
        wr.operand = 1;
        p.post(wr);
        p.run(20_000);
        byte[] request = held.stream().filter(d -> type(d) == DATA).findFirst().orElseThrow();
        long id = ByteBuffer.wrap(request).getLong(64);
        long untouched = p.memoryA.segment().get(ValueLayout.JAVA_LONG, 8);
        // A Read's response is not one to an atomic.
        give(p.a, next(old, 1, b -> b.put(6, (byte) Opcode.READ_RESPONSE).putLong(40, id).putLong(64, 5)));
        assertEquals(untouched, p.memoryA.segment().get(ValueLayout.JAVA_LONG, 8));
        give(p.a, next(old, 2, b -> b.putLong(40, id).putLong(64, 6)));
        assertEquals(6, p.memoryA.segment().get(ValueLayout.JAVA_LONG, 8));
        give(p.a, next(old, 3, b -> b.putLong(40, id).putLong(64, 7)));
        assertEquals(6, p.memoryA.segment().get(ValueLayout.JAVA_LONG, 8));
        assertEquals(1, p.completionsA.size(), "the request itself is not acknowledged yet");
    }

    // ---- acknowledgements ----

    @Test
    void acknowledgementsOfThePastAndDuplicatesChangeNothing() {
        oneWrite(20_000);
        List<byte[]> old = toA.stream().filter(d -> type(d) == ACK).toList();
        oneWrite(20_000);
        ConnectionStats before = p.statsA();
        old.forEach(d -> give(p.a, d));
        assertEquals(before.retransmissions, p.statsA().retransmissions);
        assertEquals(0, p.statsA().violations);
        p.assertIdle();
        assertStillWorks();
    }

    @Test
    @Requirement("MR-ACK-014")
    void anAcknowledgementOfTheFutureIsAViolation() {
        oneWrite(100);
        byte[] ack = toA.stream().filter(d -> type(d) == ACK && d[6] > 0).reduce((x, y) -> y).orElseThrow();
        give(p.a, changed(ack, b -> Tap.addToCumulative(b, 50)));
        assertEquals(1, p.statsA().violations);
        assertStillWorks();
    }

    @Test
    @Requirement({"MR-ACK-012", "MR-PATH-003"})
    void anAcknowledgementOfAnotherEpochOrUnknownPathChangesNothing() {
        oneWrite(100);
        byte[] ack = toA.stream().filter(d -> type(d) == ACK && d[6] > 0).reduce((x, y) -> y).orElseThrow();
        give(p.a, changed(ack, b -> b.put(BLOCK + PathBlock.EPOCH, (byte) 7)));
        assertEquals(0, p.statsA().violations);
        give(p.a, changed(ack, b -> b.put(BLOCK, (byte) 200)));
        assertEquals(1, p.statsA().violations);
        assertStillWorks();
    }

    // ---- probes ----

    @Test
    @Requirement({"MR-ACK-002", "MR-PATH-021", "MR-PATH-027"})
    void probesOldRepeatedAndAhead() {
        p.run(1_000_000_000L);
        byte[] probe = toB.stream().filter(d -> type(d) == PROBE).reduce((x, y) -> y).orElseThrow();
        toA.clear();
        give(p.b, probe);
        assertTrue(toA.stream().anyMatch(d -> type(d) == ACK), "a repeated probe is answered again");
        toA.clear();
        give(p.b, changed(probe, b -> b.put(14, (byte) -1)));
        assertTrue(toA.stream().noneMatch(d -> type(d) == ACK && d[6] > 0), "a probe of an older epoch is not answered");
        toA.clear();
        // Says that 10 packets were sent of which none came: they are reported missing at once.
        give(p.b, changed(probe, b -> b.putInt(16, b.getInt(16) + 10).put(7, (byte) 10)));
        byte[] ack = toA.stream().filter(d -> type(d) == ACK && d[6] > 0).findFirst().orElseThrow();
        assertEquals(10, ByteBuffer.wrap(ack).getShort(BLOCK + PathBlock.SPAN));
    }

    // ---- control blocks ----

    @Test
    @Requirement({"MR-CRED-002", "MR-CRED-006"})
    void creditOfThePastAndRepeatedDoesNotCount() {
        p.postReceiveB(3, 0, 100, 1);
        p.run(200_000);
        byte[] first = toA.stream().filter(d -> type(d) == ACK && d[7] == 1).findFirst().orElseThrow();
        p.postReceiveB(3, 0, 100, 2);
        p.run(200_000);
        give(p.a, first);
        p.post(p.request(Opcode.SEND, 3, 0, 10, 0, 1));
        p.post(p.request(Opcode.SEND, 3, 0, 10, 0, 2));
        assertTrue(p.until(50_000_000, () -> p.completionsA.size() == 2));
        p.post(p.request(Opcode.SEND, 3, 0, 10, 0, 3));
        assertFalse(p.until(50_000_000, () -> p.completionsA.size() == 3), "no credit was made up");
    }

    @Test
    @Requirement("MR-ERR-031")
    void aRepeatedNakIsConfirmedAgainAndEndsNothingElse() {
        WorkRequest bad = p.request(Opcode.WRITE, 2, 0, 100, 0, 1);
        bad.remoteKey ^= 0x1000;
        p.post(bad);
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 1));
        p.run(1_000_000);
        byte[] nak = toA.stream().filter(d -> type(d) == ACK && d[7] > 0).findFirst().orElseThrow();
        toB.clear();
        give(p.a, nak);
        assertTrue(toB.stream().anyMatch(d -> type(d) == ACK && d[7] == 1), "confirmed again");
        assertEquals(1, p.eventsA.stream().filter(e -> e.kind == Event.STREAM_FAILED).count());
        assertStillWorks();
    }

    @Test
    @Requirement({"MR-ERR-042", "MR-ERR-044"})
    void aStreamsEndRepeatedAndOfTheFuture() {
        WorkRequest end = p.request(WorkRequest.LOCAL_INVALIDATE, 2, 0, 0, 0, 1);
        end.localKey ^= 0x1000;
        p.post(end);
        p.run(1_000_000);
        byte[] reset = toB.stream().filter(d -> type(d) == ACK && d[7] > 0 && d[d.length - 16] == 5).findFirst().orElseThrow();
        toA.clear();
        give(p.b, reset);
        assertTrue(toA.stream().anyMatch(d -> type(d) == ACK && d[7] == 1 && d[d.length - 16] == 4), "confirmed again");
        assertEquals(1, p.eventsB.stream().filter(e -> e.kind == Event.STREAM_FAILED).count());
        assertStillWorks();
        // Of another stream, from an SSN that was never sent.
        give(p.b, changed(reset, b -> b.putInt(reset.length - 12, 9).putInt(reset.length - 8, 1)));
        assertEquals(io.metaroce.wire.Reason.PROTOCOL_VIOLATION, p.eventsB.getLast().reason);
        assertEquals(Event.FAILED, p.eventsB.getLast().kind);
    }

    // ---- handshake and close ----

    @Test
    @Requirement({"MR-CON-005", "MR-CON-013"})
    void handshakePacketsRepeatedLaterChangeNothing() {
        Peers q = new Peers(72);
        List<byte[]> all = new ArrayList<>();
        q.net.filter = (d, plane, port) -> {
            all.add(d.clone());
            return true;
        };
        q.connect();
        for (byte[] d : List.copyOf(all)) {
            if (type(d) >= 0x11 && type(d) <= 0x14) {
                q.net.inject(q.a, 0, q.b.config.localAddresses[0], 2, d);
                q.net.inject(q.b, 0, q.a.config.localAddresses[0], 2, d);
            }
        }
        q.run(100_000_000);
        assertEquals(1, q.a.endpoint.liveConnections());
        assertEquals(1, q.b.endpoint.liveConnections());
        assertEquals(1, q.eventsA.size());
        assertEquals(1, q.eventsB.size());
        oneWriteOf(q);
    }

    @Test
    @Requirement({"MR-CON-033", "MR-CON-034"})
    void aRepeatedCloseIsAcknowledgedAgain() {
        oneWrite(100);
        toB.clear();
        toA.clear();
        p.a.endpoint.close(p.net.nowNs, p.ab);
        assertTrue(p.until(100_000_000, () -> Peers.has(p.eventsB, Event.CLOSED)));
        byte[] close = toB.stream().filter(d -> type(d) == 0x18).findFirst().orElseThrow();
        toA.clear();
        give(p.b, close);
        assertTrue(toA.stream().anyMatch(d -> type(d) == 0x19));
        assertEquals(1, p.eventsB.stream().filter(e -> e.kind == Event.CLOSED).count());
    }

    @Test
    @Requirement("MR-CON-035")
    void aCloseWithAForeignSenderChangesNothing() {
        oneWrite(100);
        Peers q = p;
        List<byte[]> seen = toB;
        q.a.endpoint.close(q.net.nowNs, q.ab);
        q.net.filter = (d, plane, port) -> {
            if (type(d) == 0x18) {
                seen.add(d.clone());
                return false;
            }
            return true;
        };
        q.run(1_000_000);
        byte[] close = seen.stream().filter(d -> type(d) == 0x18).findFirst().orElseThrow();
        long forged = q.b.endpoint.counters().forged;
        give(q.b, changed(close, b -> b.putInt(12, b.getInt(12) + 1)));
        assertEquals(forged + 1, q.b.endpoint.counters().forged);
        assertEquals(1, q.b.endpoint.liveConnections());
    }
}
