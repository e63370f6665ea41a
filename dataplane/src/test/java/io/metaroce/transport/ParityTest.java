// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.Access;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Cause;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.ParityEntry;
import io.metaroce.wire.ParityHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Type;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Parity packets (spec: "Parity"): A, which has lost packets before, writes to B. */
class ParityTest {
    private static final int MTU = 1024;
    private static final int MESSAGE = 40 * MTU + 100;
    private static final int TO = 3 << 20;

    private Peers p = new Peers(71);
    private Tap tap = new Tap(p);
    /** One of B's, to make others of; null where the connection is encrypted. */
    private byte[] acknowledgement;
    /** First SSN of the message under way. */
    private int first;
    /** Packets of the message that are lost when they go for the first time, and whether B may know. */
    private final Set<Integer> lost = new HashSet<>();
    private boolean silent;

    /** Writes a first message, so that windows and round trips are known, and lets A remember a loss. */
    private void start() {
        p.connect();
        p.post(p.request(Opcode.WRITE, 0, 0, MESSAGE, 0, 0));
        assertTrue(p.until(10_000_000, () -> p.completionsA.size() == 1));
        first = MESSAGE / MTU + 1;
        p.run(1_000_000);
        p.completionsA.clear();
        acknowledgement = tap.acksToA().stream().map(Tap.Seen::bytes).findAny().orElse(null);
        tap.seen.clear();
        rememberLoss();
        p.net.filter = (d, plane, port) -> {
            boolean toB = (d[4] & 15) != Type.ACK;
            boolean data = (d[4] & 15) == Type.DATA;
            if (data && (d[5] & DataHeader.RETRANSMISSION) == 0) {
                return !lost.contains(ByteBuffer.wrap(d).getInt(DataHeader.SSN) - first);
            }
            return !silent || !toB || (d[4] & 15) == Type.PARITY;
        };
    }

    private void rememberLoss() {
        Inside.state(p.a.endpoint).losses.lost(1);
    }

    private void write(int opcode, int bytes) {
        p.post(p.request(opcode, 0, 0, bytes, TO, 1));
    }

    private void assertDone(int bytes) {
        assertTrue(p.until(10_000_000, () -> !p.completionsA.isEmpty()), "complete");
        assertEquals(Completion.OK, p.completionsA.getFirst().status);
        p.assertCopied(0, TO, bytes);
        p.run(1_000_000);
        p.assertIdle();
        assertEquals(0, Inside.state(p.a.endpoint).parity.used());
        assertEquals(0, Inside.state(p.b.endpoint).parity.used());
    }

    private List<Tap.Seen> parities() {
        return tap.of(true, Type.PARITY);
    }

    /** REBUILT blocks that B sent: stream, SSN in the message, path. */
    private List<List<Integer>> told() {
        List<List<Integer>> told = new ArrayList<>();
        for (Tap.Seen ack : tap.acksToA()) {
            for (int at = ack.bytes().length - ack.u8(AckHeader.CONTROL_BLOCKS) * ControlBlock.LENGTH; at < ack.bytes().length; at += ControlBlock.LENGTH) {
                if (ack.u8(at) == ControlBlock.REBUILT) {
                    told.add(List.of(ack.i32(at + ControlBlock.STREAM), ack.i32(at + ControlBlock.VALUE) - first, ack.i32(at + ControlBlock.DETAIL)));
                }
            }
        }
        return told;
    }

    // ---- what is sent ----

    @Test
    @Requirement({"MR-FEC-001", "MR-FEC-002", "MR-PKT-015"})
    void theEndOfAMessageIsCoveredPacketByPacket() {
        start();
        int bytes = 800 * MTU + 100;
        write(Opcode.WRITE, bytes);
        assertDone(bytes);
        List<Tap.Seen> data = tap.dataToB();
        assertFalse(parities().isEmpty());
        int next = -1;
        for (Tap.Seen parity : parities()) {
            int count = parity.u8(ParityHeader.COUNT);
            int begin = parity.i32(ParityHeader.SSN) - first;
            assertTrue(next < 0 || begin == next, "packets that follow those before");
            next = begin + count;
            byte[] xor = new byte[parity.u16(ParityHeader.PACKET_BYTES)];
            assertEquals(MTU, xor.length);
            for (int i = 0; i < count; i++) {
                Tap.Seen packet = data.get(begin + i);
                int entry = ParityHeader.LENGTH + i * ParityEntry.LENGTH;
                byte[] payload = Arrays.copyOfRange(packet.bytes(), DataHeader.LENGTH, packet.bytes().length);
                assertEquals(packet.path(), parity.u16(entry));
                assertEquals(packet.epoch(), parity.u8(entry + ParityEntry.EPOCH));
                assertEquals(packet.u8(Prefix.FLAGS), parity.u8(entry + ParityEntry.FLAGS));
                assertEquals(packet.psn(), parity.i32(entry + ParityEntry.PSN));
                assertEquals(crc(payload), parity.i32(entry + ParityEntry.CHECKSUM));
                for (int k = 0; k < payload.length; k++) {
                    xor[k] ^= payload[k];
                }
            }
            byte[] all = parity.bytes();
            assertArrayEquals(xor, Arrays.copyOfRange(all, ParityHeader.LENGTH + count * ParityEntry.LENGTH, all.length));
            Tap.Seen from = data.get(begin);
            for (int at : new int[] {ParityHeader.STREAM, DataHeader.MSN, DataHeader.REMOTE_KEY, DataHeader.OFFSET, DataHeader.MESSAGE_LENGTH}) {
                assertEquals(from.i32(at), parity.i32(at), "field at " + at);
            }
            assertEquals(from.i64(DataHeader.REMOTE_ADDRESS), parity.i64(DataHeader.REMOTE_ADDRESS));
        }
        assertEquals(data.size(), next, "up to the last packet");
        assertEquals(100, parities().getLast().u16(ParityHeader.LAST_BYTES));
        assertEquals(parities().size(), p.statsA().parities);
        // Behind the last packet at once, and none of what is repeated in time anyway.
        assertEquals(data.getLast().atNs(), parities().getLast().atNs());
        assertTrue(parities().getFirst().i32(ParityHeader.SSN) > first, "not from the beginning");
    }

    private static int crc(byte[] payload) {
        CRC32C crc = new CRC32C();
        crc.update(payload);
        return (int) crc.getValue();
    }

    @Test
    @Requirement("MR-FEC-001")
    void whoLosesNothingSendsNone() {
        start();
        Inside.state(p.a.endpoint).losses.lost(-1);
        write(Opcode.WRITE, MESSAGE);
        assertDone(MESSAGE);
        assertEquals(0, parities().size());
    }

    @ParameterizedTest
    @ValueSource(ints = {Opcode.WRITE, Opcode.SEND})
    @Requirement({"MR-FEC-001", "MR-FEC-002"})
    void neitherOnePacketNorASendIsCovered(int opcode) {
        start();
        p.postReceiveB(0, TO, MESSAGE, 0);
        p.run(1_000_000);
        write(opcode, opcode == Opcode.WRITE ? MTU : MESSAGE);
        assertDone(MTU);
        assertEquals(0, parities().size());
    }

    @Test
    @Requirement({"MR-FEC-001", "MR-FEC-003"})
    void whereNoMemoryIsLeftThereIsNone() {
        start();
        EndpointState a = Inside.state(p.a.endpoint);
        long[] taken = new long[Limits.PARITIES];
        Arrays.setAll(taken, i -> a.parity.take());
        lost.add(39);
        write(Opcode.WRITE, MESSAGE);
        assertTrue(p.until(10_000_000, () -> !p.completionsA.isEmpty()));
        assertEquals(0, parities().size());
        Arrays.stream(taken).forEach(a.parity::give);
        assertDone(MESSAGE);
    }

    /** Where only so much is sure to pass, a Parity packet is no longer. */
    @ParameterizedTest
    @CsvSource({"1215, 15", "1048, 2", "1047, 0"})
    @Requirement("MR-FEC-001")
    void itIsNoLongerThanWhatRoutesCarry(int safePayload, int packets) {
        EndpointConfig a = Peers.config(71);
        a.safePayload = safePayload;
        p = new Peers(71, a, Peers.config(72));
        tap = new Tap(p);
        start();
        write(Opcode.WRITE, MESSAGE);
        assertDone(MESSAGE);
        assertEquals(packets, parities().stream().mapToInt(s -> s.u8(ParityHeader.COUNT)).max().orElse(0));
        assertTrue(parities().stream().allMatch(s -> s.bytes().length <= DataHeader.LENGTH + safePayload));
    }

    // ---- what is made ----

    @ParameterizedTest
    @ValueSource(ints = {30, 38, 39, 40})
    @Requirement({"MR-FEC-004", "MR-FEC-006", "MR-FEC-010", "MR-FEC-011"})
    void oneThatIsLostIsMade(int packet) {
        start();
        lost.add(packet);
        write(Opcode.WRITE, MESSAGE);
        assertDone(MESSAGE);
        assertEquals(1, p.statsB().rebuilt);
        Tap.Seen gone = tap.dataToB().get(packet);
        assertEquals(List.of(List.of(0, packet, gone.path())), told(), "told once");
        assertTrue(tap.acksToA().stream().flatMap(s -> s.blocks().stream()).filter(b -> b.path() == gone.path() && b.epoch() == gone.epoch())
                .anyMatch(b -> b.distance(gone.psn()) < b.span() && !b.has(gone.psn())), "its path shows the loss");
        assertTrue(p.statsA().retransmissions <= 1);
    }

    /** A hears of a packet that was made before it would repeat it. */
    @Test
    @Requirement({"MR-FEC-006", "MR-FEC-011"})
    void whatWasMadeIsNotRepeated() {
        start();
        lost.add(35);
        // Without probes the loss shows when the Parity packet is there already.
        silent = true;
        write(Opcode.WRITE, MESSAGE);
        p.until(1_000_000, () -> parities().size() > 0 && tap.dataToB().size() > 40);
        p.run(20_000);
        silent = false;
        assertDone(MESSAGE);
        assertEquals(1, p.statsB().rebuilt);
        assertEquals(0, p.statsA().retransmissions);
        assertTrue(Inside.state(p.a.endpoint).losses.isLossy());
    }

    @Test
    @Requirement({"MR-FEC-006", "MR-OP-020"})
    void aWriteWithImmediateThatIsMadeCompletesItsReceiveOnce() {
        start();
        p.postReceiveB(0, 0, 0, 7);
        p.postReceiveB(0, 0, 0, 8);
        p.run(1_000_000);
        lost.add(40);
        write(Opcode.WRITE_IMM, MESSAGE);
        assertDone(MESSAGE);
        assertEquals(1, p.statsB().rebuilt);
        assertEquals(1, p.completionsB.size());
        assertEquals(7, p.completionsB.getFirst().wrId);
        assertEquals(MESSAGE, p.completionsB.getFirst().byteLength);
    }

    @Test
    @Requirement("MR-FEC-004")
    void ofTwoThatAreLostNoneIsMadeBeforeOneIsRepeated() {
        start();
        lost.add(36);
        lost.add(38);
        write(Opcode.WRITE, MESSAGE);
        boolean repeated = p.until(10_000_000, () -> p.statsB().rebuilt > 0) && p.statsA().retransmissions > 0;
        assertTrue(p.statsB().rebuilt == 0 || repeated, "made from too little");
        assertDone(MESSAGE);
        assertTrue(p.statsA().retransmissions > 0);
    }

    @Test
    @Requirement("MR-FEC-004")
    void oneThatMayStillComeIsWaitedFor() {
        start();
        lost.add(40);
        silent = true;
        write(Opcode.WRITE, MESSAGE);
        p.run(10_000);
        assertTrue(parities().size() > 0);
        assertEquals(0, p.statsB().rebuilt, "nothing shows that it is lost");
        assertTrue(Inside.state(p.b.endpoint).parity.used() > 0, "kept meanwhile");
        silent = false;
        assertDone(MESSAGE);
        assertEquals(1, p.statsB().rebuilt);
    }

    /** What arrived has been changed, or its memory withdrawn, before the loss shows. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Requirement("MR-FEC-005")
    void whatIsNoLongerWhatArrivedMakesNothing(boolean deregistered) {
        start();
        lost.add(40);
        silent = true;
        write(Opcode.WRITE, MESSAGE);
        p.run(10_000);
        assertTrue(Inside.state(p.b.endpoint).parity.used() > 0);
        long changed = TO + 38 * MTU;
        if (deregistered) {
            p.regionsB.deregister(p.memoryB);
        } else {
            p.memoryB.segment().set(ValueLayout.JAVA_BYTE, changed, (byte) ~p.memoryA.segment().get(ValueLayout.JAVA_BYTE, 38 * MTU));
        }
        silent = false;
        assertTrue(p.until(10_000_000, () -> !p.completionsA.isEmpty()));
        assertEquals(0, p.statsB().rebuilt);
        assertEquals(deregistered ? Cause.BAD_KEY : Completion.OK, p.completionsA.getFirst().status);
        if (!deregistered) {
            p.assertCopied(40 * MTU, TO + 40 * MTU, 100);
            assertTrue(p.memoryB.segment().asSlice(changed, 1).mismatch(p.memoryA.segment().asSlice(38 * MTU, 1)) == 0, "left alone");
        }
        p.run(1_000_000);
        assertEquals(0, Inside.state(p.b.endpoint).parity.used());
    }

    @Test
    @Requirement("MR-FEC-005")
    void whatThePeerMayNotReadMakesNothing() {
        start();
        int key = p.regionsB.register(0, p.memoryB.segment(), Access.LOCAL_WRITE | Access.REMOTE_WRITE).key();
        lost.add(40);
        WorkRequest write = p.request(Opcode.WRITE, 0, 0, MESSAGE, TO, 1);
        write.remoteKey = key;
        p.post(write);
        assertDone(MESSAGE);
        assertFalse(parities().isEmpty());
        assertEquals(0, p.statsB().rebuilt);
    }

    @Test
    @Requirement({"MR-FEC-004", "MR-FEC-006"})
    void anEncryptedConnectionMakesThemToo() {
        p = EncryptionTest.peers(73, 2);
        start();
        EndpointState b = Inside.state(p.b.endpoint);
        // What is lost is unreadable: now and then a datagram.
        for (int i = 1; p.statsB().rebuilt == 0; i++) {
            assertTrue(i < 200, "none was made of " + p.statsA().parities);
            p.net.loss = 0.01;
            rememberLoss();
            p.post(p.request(Opcode.WRITE, 0, 0, MESSAGE, TO, i));
            int done = i;
            assertTrue(p.until(100_000_000, () -> p.completionsA.size() == done));
            p.assertCopied(0, TO, MESSAGE);
        }
        p.net.loss = 0;
        p.run(10_000_000);
        assertEquals(0, b.parity.used());
    }

    @Test
    @Requirement("MR-LIM-020")
    void aConnectionThatEndsLeavesNothingBehind() {
        start();
        lost.add(36);
        lost.add(38);
        silent = true;
        write(Opcode.WRITE, MESSAGE);
        p.run(10_000);
        assertTrue(Inside.state(p.b.endpoint).parity.used() > 0);
        p.net.filter = (d, plane, port) -> true;
        p.a.endpoint.close(p.net.nowNs, p.ab);
        p.b.endpoint.close(p.net.nowNs, p.ba);
        p.run(1_000_000_000);
        assertEquals(0, Inside.state(p.a.endpoint).parity.used());
        assertEquals(0, Inside.state(p.b.endpoint).parity.used());
    }

    // ---- what is not believed ----

    private byte[] parity() {
        start();
        write(Opcode.WRITE, MESSAGE);
        assertDone(MESSAGE);
        return parities().getLast().bytes();
    }

    @Test
    @Requirement("MR-FEC-003")
    void aPathThatDoesNotExistIsAViolation() {
        byte[] parity = parity();
        tap.giveB(parity);
        assertEquals(0, p.statsB().violations, "late, but right");
        tap.giveB(Tap.changed(parity, b -> b.putShort(ParityHeader.LENGTH, (short) 0x00ff)));
        assertEquals(1, p.statsB().violations);
    }

    @Test
    @Requirement("MR-FEC-003")
    void moreThanWasAgreedOnIsAViolation() {
        byte[] parity = parity();
        byte[] longer = Arrays.copyOf(Tap.changed(parity, b -> {
            b.putShort(ParityHeader.PACKET_BYTES, (short) (MTU + 1));
            b.putInt(DataHeader.OFFSET, 0);
            b.putInt(DataHeader.MESSAGE_LENGTH, (parity[ParityHeader.COUNT] - 1) * (MTU + 1) + 100);
        }), parity.length + 1);
        tap.giveB(longer);
        assertEquals(1, p.statsB().violations);
    }

    @Test
    @Requirement("MR-FEC-003")
    void aStreamThatIsNotKnownIsNotMade() {
        byte[] parity = parity();
        int streams = p.b.endpoint.liveStreams();
        tap.giveB(Tap.changed(parity, b -> b.putInt(ParityHeader.STREAM, 5)));
        assertEquals(streams, p.b.endpoint.liveStreams());
        assertEquals(0, Inside.state(p.b.endpoint).parity.used());
    }

    /** REBUILT for what was lost and not made, in the name of B: A must believe it, and nothing else. */
    @ParameterizedTest
    @ValueSource(strings = {"right", "another SSN", "another path", "another stream", "no path"})
    @Requirement("MR-FEC-011")
    void onlyWhatIsNamedExactlyIsNotRepeated(String what) {
        start();
        lost.add(2);
        write(Opcode.WRITE, 4 * MTU);
        p.run(0);
        Tap.Seen gone = tap.dataToB().get(2);
        int path = what.equals("another path") ? (gone.path() + 1) % 4 : what.equals("no path") ? 0x00ff : gone.path();
        tap.seen.clear();
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, rebuilt(acknowledgement, what.equals("another stream") ? 1 : 0,
                first + (what.equals("another SSN") ? 77 : 2), path));
        assertTrue(p.until(10_000_000, () -> !p.completionsA.isEmpty()));
        p.run(1_000_000);
        assertEquals(what.equals("right") ? 0 : 1, tap.dataToB().stream().filter(Tap.Seen::isRepeat).count());
        assertEquals(what.equals("no path") ? 1 : 0, p.statsA().violations);
        p.assertIdle();
    }

    private static byte[] rebuilt(byte[] ack, int stream, int ssn, int path) {
        return Tap.withControl(ack, ControlBlock.REBUILT, 0, stream, ssn, path);
    }
}
