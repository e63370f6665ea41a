// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.wire.Cause;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory whose registration ends or changes under the hands of the transport is not touched from then on, by either side. */
class MemoryInFlightTest {
    private static final int BIG = 1 << 20;
    private static final byte GONE = 0x5a;
    private final Peers p = new Peers(81, slow(81), slow(82)).connect();

    /** So slow that messages are under way for long. */
    private static EndpointConfig slow(long seed) {
        EndpointConfig c = Peers.config(seed);
        c.lineRateKbps = 10_000_000;
        return c;
    }

    private static MemoryRegion region(io.metaroce.memory.RegionTable table) {
        return table.register(0, Arena.ofAuto().allocate(BIG, 64), Peers.ALL);
    }

    private WorkRequest local(int opcode, int stream, MemoryRegion memory, int length, long wrId) {
        WorkRequest wr = p.request(opcode, stream, 0, length, 0, wrId);
        wr.localAddress = memory.address();
        wr.localKey = memory.key();
        return wr;
    }

    private int status(long wrId) {
        return p.completionsA.stream().filter(c -> c.wrId == wrId).findFirst().orElseThrow().status;
    }

    /** What the owner does with memory that is his again. */
    private static void reuse(MemoryRegion region) {
        region.segment().fill(GONE);
    }

    private static void assertUntouched(MemorySegment memory) {
        byte[] is = memory.toArray(ValueLayout.JAVA_BYTE);
        for (int i = 0; i < is.length; i++) {
            assertEquals(GONE, is[i], "byte " + i);
        }
    }

    /** Some of a message of a mebibyte is there, and not all. */
    private void underWay(java.util.function.Supplier<ConnectionStats> receiver) {
        assertTrue(p.until(100_000_000, () -> receiver.get().bytesReceived > 50_000));
        assertTrue(receiver.get().bytesReceived < BIG);
    }

    private int controls(byte[] d, int kind) {
        int n = 0;
        for (int i = 0; i < d[7] && d[4] == 0x16; i++) {
            n += d[d.length - 16 * (d[7] - i)] == kind ? 1 : 0;
        }
        return n;
    }

    @ParameterizedTest
    @CsvSource({"deregister, 0", "deregister, 0.1", "elsewhere, 0", "elsewhere, 0.1", "no right, 0", "no right, 0.1"})
    @Requirement({"MR-MEM-002", "MR-MEM-003", "MR-ERR-009", "MR-ERR-010"})
    void aPeersWritesUnderWay(String how, double loss) {
        p.net.loss = loss;
        MemoryRegion target = region(p.regionsB);
        WorkRequest wr = p.request(Opcode.WRITE, 0, 0, BIG, 0, 1);
        wr.remoteAddress = target.address();
        wr.remoteKey = target.key();
        p.post(wr);
        underWay(p::statsB);
        MemoryRegion now = null;
        switch (how) {
            case "deregister" -> p.regionsB.deregister(target);
            case "elsewhere" -> now = p.regionsB.reregister(target, 0, Arena.ofAuto().allocate(BIG, 64), Peers.ALL);
            default -> now = p.regionsB.reregister(target, 0, target.segment(), Access.REMOTE_READ);
        }
        reuse(target);
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 1));
        assertEquals(how.equals("no right") ? Cause.ACCESS_DENIED : Cause.BAD_KEY, status(1));
        p.run(600_000_000);
        assertUntouched(target.segment());
        p.assertIdle();
        if (now != null) {
            assertEquals(how.equals("no right"), now.key() == target.key());
            WorkRequest again = p.request(how.equals("no right") ? Opcode.READ_REQUEST : Opcode.WRITE, 1, 0, 100, 0, 2);
            again.remoteAddress = now.address();
            again.remoteKey = now.key();
            p.post(again);
            assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 2));
            assertEquals(Completion.OK, status(2));
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1, 0.3})
    @Requirement({"MR-MEM-004", "MR-ERR-040", "MR-ERR-041", "MR-ERR-042"})
    void theSourceOfAMessageUnderWay(double loss) {
        p.net.loss = loss;
        p.net.duplicate = 0.1;
        MemoryRegion source = region(p.regionsA);
        boolean[] ended = {false};
        p.net.filter = (d, plane, port) -> {
            if (ended[0] && d[4] == 0x15 && d.length > 64) {
                assertFalse(d[64] == GONE && d[d.length - 1] == GONE, "read after the registration ended");
            }
            return true;
        };
        p.postReceiveB(0, 0, 2 * BIG, 70);
        p.postReceiveB(0, 0, 2 * BIG, 71);
        p.postReceiveB(0, 0, 2 * BIG, 72);
        p.run(1_000_000);
        p.post(p.request(Opcode.SEND, 0, 0, 50_000, 0, 0));
        p.post(local(Opcode.SEND, 0, source, BIG, 1));
        p.post(p.request(Opcode.SEND, 0, 0, 50_000, 0, 2));
        p.post(p.request(Opcode.WRITE, 5, 0, 500_000, 4_000_000, 5));
        p.run(40_000);
        p.regionsA.deregister(source);
        reuse(source);
        ended[0] = true;
        assertTrue(p.until(2_000_000_000L, () -> p.completionsA.size() == 4 && p.completionsB.size() == 3));
        assertEquals(Completion.OK, status(0), "what was posted before goes on");
        assertEquals(Cause.LOCAL_ERROR, status(1));
        assertEquals(Completion.FLUSHED, status(2));
        assertEquals(Completion.OK, status(5), "another stream");
        assertEquals(List.of(0L, 1L, 2L), p.completionsA.stream().filter(c -> c.stream == 0).map(c -> c.wrId).toList());
        assertEquals(List.of(Completion.OK, Completion.FLUSHED, Completion.FLUSHED), p.completionsB.stream().map(c -> c.status).toList());
        assertEquals(Cause.LOCAL_ERROR, p.eventsB.getLast().reason);
        assertTrue(p.eventsB.getLast().text().contains("LOCAL_ERROR"));
        assertEquals(Endpoint.STREAM_IN_ERROR, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 0, 0, 1, 0, 9)));
        p.run(600_000_000);
        assertEquals(1, p.eventsA.stream().filter(e -> e.kind == Event.STREAM_FAILED).count());
        assertEquals(1, p.eventsB.stream().filter(e -> e.kind == Event.STREAM_FAILED).count());
        p.assertIdle();
    }

    @ParameterizedTest
    @CsvSource({"READ, 0", "READ, 0.2", "ATOMIC, 0", "ATOMIC, 0.2"})
    @Requirement("MR-MEM-004")
    void theDestinationOfAResponseUnderWay(String which, double loss) {
        p.net.loss = loss;
        MemoryRegion destination = region(p.regionsA);
        boolean read = which.equals("READ");
        p.post(p.request(Opcode.READ_REQUEST, 0, 2_000_000, 1_000, 0, 0));
        p.post(local(read ? Opcode.READ_REQUEST : Opcode.FETCH_ADD, 0, destination, read ? BIG : 8, 1));
        if (read) {
            underWay(p::statsA);
        } else {
            p.run(5_000);
        }
        p.regionsA.deregister(destination);
        reuse(destination);
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 2));
        assertEquals(Completion.OK, status(0));
        assertEquals(Cause.LOCAL_ERROR, status(1));
        p.run(600_000_000);
        assertUntouched(destination.segment());
        p.assertIdle();
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.2})
    @Requirement({"MR-MEM-004", "MR-ERR-014"})
    void theMemoryOfAPostedReceive(double loss) {
        p.net.loss = loss;
        MemoryRegion target = region(p.regionsB);
        assertEquals(Endpoint.OK, p.b.endpoint.postReceive(p.ba, 0, target.address(), BIG, target.key(), 70));
        p.run(1_000_000);
        p.post(p.request(Opcode.SEND, 0, 0, BIG, 0, 1));
        underWay(p::statsB);
        // A right to write is needed for a receive, too.
        p.regionsB.reregister(target, 0, target.segment(), Access.REMOTE_WRITE | Access.REMOTE_READ);
        reuse(target);
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 1 && p.completionsB.size() == 1));
        assertEquals(Cause.LOCAL_ERROR, status(1));
        assertEquals(Completion.FLUSHED, p.completionsB.getFirst().status);
        p.run(600_000_000);
        assertUntouched(target.segment());
        p.assertIdle();
    }

    /** Datagrams that a port could not take lie in the burst while the application deregisters what they name. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Requirement("MR-MEM-004")
    void whatWaitsForThePort(boolean segmented) {
        EndpointConfig a = Peers.config(85);
        a.maxSegments = 2;
        a.maxInlineBytes = 100;
        Peers p = new Peers(85, a, Peers.config(86)).connect();
        MemoryRegion source = region(p.regionsA);
        TxBurst burst = p.net.burst(16);
        WorkRequest wr = p.request(Opcode.WRITE, 1, 0, 3_000, 0, 0);
        p.post(wr);
        wr.stream = 2;
        wr.localAddress = source.address();
        wr.localKey = source.key();
        wr.wrId = 1;
        if (segmented) {
            wr.segments = new Segments(2).add(source.address(), 500, source.key()).add(source.address() + 5_000, 2_500, source.key());
        }
        p.post(wr);
        WorkRequest small = p.request(Opcode.WRITE, 3, 0, 90, 4_000_000, 2);
        small.inline = true;
        p.post(small);
        p.a.endpoint.transmit(p.net.nowNs, burst);
        int all = burst.count;
        p.a.endpoint.dropStale(burst);
        assertEquals(all, burst.count, "nothing has changed");
        p.regionsA.deregister(region(p.regionsA));
        p.a.endpoint.dropStale(burst);
        assertEquals(all, burst.count, "nothing of theirs has changed");
        p.regionsA.deregister(source);
        p.a.endpoint.dropStale(burst);
        // Of the three packets in segments one was put together in the burst's own memory.
        assertEquals(segmented ? all - 2 : all - 3, burst.count);
        assertEquals(segmented ? 2 : 3, p.a.endpoint.counters().staleDatagrams);
        long end = source.address() + source.length();
        List<Long> buffers = new java.util.ArrayList<>();
        for (int i = 0; i < 16; i++) {
            buffers.add(burst.header[i]);
            assertFalse(i < burst.count && burst.payloadLength[i] > 0 && burst.payload[i] >= source.address() && burst.payload[i] < end);
        }
        assertEquals(16, buffers.stream().distinct().count(), "every slot keeps a buffer");
        // To the network it is a loss; the stream ends as if they had never been built.
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 3));
        for (Completion c : p.completionsA) {
            assertEquals(c.wrId == 1 ? Cause.LOCAL_ERROR : Completion.OK, c.status);
        }
        p.assertCopied(0, 0, 3_000);
        p.run(100_000_000);
        p.assertIdle();
    }

    @Test
    @Requirement("MR-MEM-004")
    void changesElsewhereDisturbNothing() {
        for (int i = 0; i < 40; i++) {
            p.postReceiveB(0, i * 20_000L, 20_000, i);
            p.post(p.request(Opcode.SEND, 0, i * 20_000L, 20_000, 0, i));
        }
        assertTrue(p.until(1_000_000_000L, () -> {
            p.regionsA.deregister(region(p.regionsA));
            p.regionsB.deregister(region(p.regionsB));
            return p.completionsA.size() == 40 && p.completionsB.size() == 40;
        }));
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
        p.assertCopied(0, 0, 800_000);
    }

    /** The peer refuses the first while the second cannot go on either. */
    @Test
    @Requirement("MR-ERR-045")
    void oneMessageEndsWithACauseAndTheLaterOnesAreFlushed() {
        MemoryRegion source = region(p.regionsA);
        WorkRequest bad = p.request(Opcode.WRITE, 0, 0, 100, 0, 1);
        bad.remoteKey ^= 1 << 20;
        p.post(bad);
        p.post(local(Opcode.WRITE, 0, source, BIG, 2));
        p.post(local(WorkRequest.LOCAL_INVALIDATE, 0, source, 0, 3));
        p.regionsA.deregister(source);
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 3));
        assertEquals(Cause.BAD_KEY, status(1));
        assertEquals(Completion.FLUSHED, status(2));
        assertEquals(Completion.FLUSHED, status(3));
        p.run(100_000_000);
        p.assertIdle();
    }

    /** Forty streams whose memory goes at once: no acknowledgement outgrows itself, and the connection lives. */
    @Test
    @Requirement({"MR-ERR-041", "MR-STR-025"})
    void manyStreamsAtOnce() {
        MemoryRegion source = region(p.regionsA);
        int[] most = {0};
        p.net.filter = (d, plane, port) -> {
            most[0] = Math.max(most[0], controls(d, ControlBlock.STREAM_RESET));
            return true;
        };
        int n = 40;
        for (int i = 0; i < n; i++) {
            p.post(local(Opcode.WRITE, i, source, BIG, i));
        }
        p.post(p.request(Opcode.WRITE, 50, 0, BIG, 4_000_000, 99));
        p.run(100_000);
        p.regionsA.deregister(source);
        assertTrue(p.until(3_000_000_000L, () -> p.completionsA.size() == n + 1), p.completionsA.size() + " of " + n);
        for (int i = 0; i < n; i++) {
            assertEquals(Cause.LOCAL_ERROR, status(i));
        }
        assertEquals(Completion.OK, status(99));
        assertEquals(Limits.MAX_PENDING_RESETS, most[0]);
        p.run(100_000_000);
        assertEquals(n, p.eventsB.stream().filter(e -> e.kind == Event.STREAM_FAILED).count());
        assertEquals(1, p.a.endpoint.liveConnections());
        p.assertIdle();
    }

    @Test
    @Requirement({"MR-ERR-042", "MR-ERR-043"})
    void whatThePeerSentBeforeTheEndCompletes() {
        // One path, or silence would move packets and leave their fate open.
        EndpointConfig[] plain = {Peers.config(81), Peers.config(82)};
        for (EndpointConfig c : plain) {
            c.localAddresses = new NetAddress[1];
            c.pathsPerPlane = 1;
        }
        Peers p = new Peers(81, plain[0], plain[1]).connect();
        // B's own work on the stream: one message done at A before the end, one that comes too late.
        MemoryRegion source = region(p.regionsA);
        WorkRequest own = new WorkRequest();
        own.opcode = Opcode.WRITE;
        own.stream = 3;
        own.localAddress = p.memoryB.address();
        own.localKey = p.memoryB.key();
        own.remoteAddress = p.memoryA.address() + 4_000_000;
        own.remoteKey = p.memoryA.key();
        own.length = 5_000;
        own.wrId = 1;
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, own));
        // Its acknowledgements do not come through until the stream has ended at A.
        boolean[] deaf = {true};
        p.net.filter = (d, plane, port) -> !deaf[0] || d[4] != 0x16 || ByteBuffer.wrap(d).getInt(8) != p.ba;
        p.run(12_000);
        WorkRequest ending = p.request(Opcode.WRITE, 3, 0, 100, 0, 10);
        ending.localAddress = source.address();
        ending.localKey = source.key();
        p.post(ending);
        p.regionsA.deregister(source);
        p.run(1_000);
        own.wrId = 2;
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, own));
        p.run(10_000);
        deaf[0] = false;
        assertTrue(p.until(1_000_000_000L, () -> p.completionsB.size() == 2 && p.completionsA.size() == 1));
        assertEquals(List.of(Completion.OK, Cause.LOCAL_ERROR), p.completionsB.stream().map(c -> c.status).toList());
        p.run(100_000_000);
        p.assertIdle();
    }

    // ---- invalidation by a request of one's own ----

    private WorkRequest invalidate(int stream, int key, long wrId) {
        WorkRequest wr = new WorkRequest();
        wr.opcode = WorkRequest.LOCAL_INVALIDATE;
        wr.stream = stream;
        wr.localKey = key;
        wr.wrId = wrId;
        return wr;
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.2})
    @Requirement({"MR-MEM-005", "MR-STR-022"})
    void ownInvalidationHasItsTurn(double loss) {
        p.net.loss = loss;
        MemoryRegion source = region(p.regionsA);
        Peers.fill(source.segment(), 5);
        byte[] contents = source.segment().toArray(ValueLayout.JAVA_BYTE);
        p.post(local(Opcode.WRITE, 0, source, BIG, 0));
        p.post(invalidate(0, source.key(), 1));
        p.post(p.request(Opcode.WRITE, 0, 0, 1_000, 4_000_000, 2));
        WorkRequest silent = invalidate(7, region(p.regionsA).key(), 3);
        silent.unsignaled = true;
        p.post(silent);
        p.run(30_000);
        assertNotNull(p.regionsA.find(source.key()), "the Write before it is not complete");
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 3));
        assertEquals(List.of(0L, 1L, 2L), p.completionsA.stream().map(c -> c.wrId).toList());
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
        assertEquals(WorkRequest.LOCAL_INVALIDATE, p.completionsA.get(1).opcode);
        assertNull(p.regionsA.find(source.key()));
        assertEquals(1, p.regionsA.count());
        assertArrayEquals(contents, p.memoryB.segment().asSlice(0, BIG).toArray(ValueLayout.JAVA_BYTE));
        p.run(50_000_000);
        p.assertIdle();
    }

    @ParameterizedTest
    @ValueSource(strings = {"unknown", "foreign domain"})
    @Requirement({"MR-MEM-005", "MR-ERR-040"})
    void ownInvalidationOfWhatIsNotOnes(String which) {
        MemoryRegion foreign = p.regionsA.register(9, Arena.ofAuto().allocate(64), Peers.ALL);
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 0));
        p.post(invalidate(0, which.equals("unknown") ? p.memoryA.key() ^ 0x1000 : foreign.key(), 1));
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 2));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 3));
        assertEquals(List.of(Completion.OK, Cause.BAD_KEY, Completion.FLUSHED), p.completionsA.stream().map(c -> c.status).toList());
        assertEquals(2, p.regionsA.count());
        p.run(10_000_000);
        assertEquals(Cause.BAD_KEY, p.eventsB.getLast().reason);
        p.assertIdle();
    }

    /** A peer that has never heard of the stream learns that it is no more. */
    @Test
    @Requirement("MR-ERR-043")
    void theEndOfAStreamThatThePeerNeverSaw() {
        p.post(invalidate(12, 0, 1));
        p.run(10_000_000);
        assertEquals(Event.STREAM_FAILED, p.eventsB.getLast().kind);
        assertEquals(12, p.eventsB.getLast().stream);
        assertEquals(Endpoint.STREAM_IN_ERROR, p.b.endpoint.postReceive(p.ba, 12, 0, 0, 0, 1));
        p.run(100_000_000);
        p.assertIdle();
    }
}
