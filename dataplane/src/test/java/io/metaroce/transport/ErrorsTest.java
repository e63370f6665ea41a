// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.wire.Cause;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a target refuses ends one stream with the cause, touches no byte, and leaves the other streams running. */
class ErrorsTest {
    private final Peers p = new Peers(21).connect();

    /** Good message, bad one, good one on stream 0; a good one on stream 1. */
    private void refused(int cause, WorkRequest bad) {
        byte[] before = p.memoryB.segment().asSlice(1_000_000, 100_000).toArray(ValueLayout.JAVA_BYTE);
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 0, 1));
        bad.wrId = 2;
        p.post(bad);
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 1_000_000, 3));
        p.post(p.request(Opcode.WRITE, 1, 0, 50_000, 50_000, 4));
        assertTrue(p.until(2_000_000_000L, () -> p.completionsA.size() == 4), p.completionsA.size() + " completions");
        assertEquals(Completion.OK, status(1));
        assertEquals(cause, status(2));
        assertEquals(Completion.FLUSHED, status(3));
        assertEquals(Completion.OK, status(4));
        p.assertCopied(0, 50_000, 50_000);
        Event failed = p.eventsA.stream().filter(e -> e.kind == Event.STREAM_FAILED).findFirst().orElseThrow();
        assertEquals(0, failed.stream);
        assertEquals(cause, failed.reason);
        assertTrue(failed.text().contains("10.0.0.2:14791") && failed.text().contains(Cause.name(cause)), failed.text());
        assertTrue(Peers.has(p.eventsB, Event.STREAM_FAILED));
        assertEquals(Endpoint.STREAM_IN_ERROR, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 0, 0, 1, 0, 9)));
        byte[] after = p.memoryB.segment().asSlice(1_000_000, 100_000).toArray(ValueLayout.JAVA_BYTE);
        // The flushed message behind the refused one may or may not have landed; the refused one must not.
        assertEquals(-1, java.util.Arrays.mismatch(before, 5_000, 100_000, after, 5_000, 100_000));
        // The other stream goes on.
        p.post(p.request(Opcode.WRITE, 1, 0, 5_000, 0, 5));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 5));
        p.run(100_000_000);
        p.assertIdle();
    }

    private int status(long wrId) {
        return p.completionsA.stream().filter(c -> c.wrId == wrId).findFirst().orElseThrow().status;
    }

    private WorkRequest write(Consumer<WorkRequest> change) {
        WorkRequest wr = p.request(Opcode.WRITE, 0, 0, 20_000, 1_005_000, 0);
        change.accept(wr);
        return wr;
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.2})
    @Requirement({"MR-ERR-009", "MR-ERR-001", "MR-ERR-030", "MR-ERR-032"})
    void badKey(double loss) {
        p.net.loss = loss;
        refused(Cause.BAD_KEY, write(wr -> wr.remoteKey ^= 0x1000));
    }

    @Test
    @Requirement("MR-ERR-002")
    void badAddress() {
        refused(Cause.OUT_OF_BOUNDS, write(wr -> wr.remoteAddress = p.memoryB.address() - 1));
    }

    @Test
    @Requirement({"MR-ERR-010", "MR-ERR-002"})
    void badLength() {
        refused(Cause.OUT_OF_BOUNDS, write(wr -> wr.remoteAddress = p.memoryB.address() + Peers.REGION_BYTES - 19_999));
    }

    @Test
    @Requirement("MR-ERR-002")
    void addressThatWraps() {
        refused(Cause.OUT_OF_BOUNDS, write(wr -> wr.remoteAddress = -100));
    }

    @Test
    @Requirement("MR-ERR-003")
    void noRightToWrite() {
        MemoryRegion readOnly = p.regionsB.register(0, Arena.ofAuto().allocate(100_000), Access.REMOTE_READ);
        refused(Cause.ACCESS_DENIED, write(wr -> {
            wr.remoteKey = readOnly.key();
            wr.remoteAddress = readOnly.address();
        }));
    }

    @Test
    @Requirement("MR-ERR-003")
    void noRightToRead() {
        MemoryRegion writeOnly = p.regionsB.register(0, Arena.ofAuto().allocate(100_000), Access.REMOTE_WRITE);
        WorkRequest wr = p.request(Opcode.READ_REQUEST, 0, 0, 1_000, 0, 0);
        wr.remoteKey = writeOnly.key();
        wr.remoteAddress = writeOnly.address();
        refused(Cause.ACCESS_DENIED, wr);
    }

    /** An atomic that would change the very last word of the 100,000 bytes that {@link #refused} watches. */
    private WorkRequest atomic(int opcode, Consumer<WorkRequest> change) {
        WorkRequest wr = p.request(opcode, 0, 4_000_000, 8, 1_099_992, 0);
        wr.operand = 1;
        wr.compare = p.memoryB.segment().get(ValueLayout.JAVA_LONG, 1_099_992);
        change.accept(wr);
        return wr;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 7})
    @Requirement({"MR-ATOM-005", "MR-ERR-013"})
    void atomicOnAnUnalignedAddress(int offset) {
        p.net.loss = 0.1;
        refused(Cause.ALIGNMENT, atomic(offset == 4 ? Opcode.COMPARE_SWAP : Opcode.FETCH_ADD, wr -> wr.remoteAddress -= offset));
    }

    @Test
    @Requirement("MR-ATOM-005")
    void atomicWithoutTheRight() {
        MemoryRegion noAtomics = p.regionsB.register(0, p.memoryB.segment(), Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ);
        refused(Cause.ACCESS_DENIED, atomic(Opcode.COMPARE_SWAP, wr -> wr.remoteKey = noAtomics.key()));
    }

    @Test
    @Requirement("MR-ATOM-005")
    void atomicWithAForeignKey() {
        MemoryRegion foreign = p.regionsB.register(7, p.memoryB.segment(), Peers.ALL);
        refused(Cause.PROTECTION_DOMAIN, atomic(Opcode.FETCH_ADD, wr -> wr.remoteKey = foreign.key()));
    }

    @ParameterizedTest
    @ValueSource(longs = {-8, -4, 4, 8})
    @Requirement("MR-ATOM-005")
    void atomicOutsideTheRegion(long offset) {
        // Only whole words inside: the words at both ends of this region are the first and last to be had.
        MemoryRegion few = p.regionsB.register(0, p.memoryB.segment().asSlice(1_099_000, 80), Peers.ALL);
        long edge = offset < 0 ? few.address() : few.address() + 72;
        WorkRequest good = atomic(Opcode.FETCH_ADD, wr -> {
            wr.remoteAddress = edge;
            wr.remoteKey = few.key();
            wr.operand = 0;
        });
        good.stream = 5;
        p.post(good);
        assertTrue(p.until(100_000_000L, () -> p.completionsA.size() == 1));
        assertEquals(Completion.OK, p.completionsA.removeFirst().status);
        refused(Cause.OUT_OF_BOUNDS, atomic(Opcode.FETCH_ADD, wr -> {
            wr.remoteAddress = edge + offset;
            wr.remoteKey = few.key();
        }));
    }

    @Test
    @Requirement("MR-ATOM-005")
    void atomicOfAKeyThatAnEarlierMessageEnded() {
        p.postReceiveB(3, 0, 100, 1);
        MemoryRegion ended = p.regionsB.register(0, Arena.ofAuto().allocate(64, 8), Peers.ALL);
        boolean[] hold = {true};
        p.net.filter = (d, plane, port) -> !hold[0] || d[4] != 0x15 || d[6] != Opcode.SEND_INVALIDATE;
        WorkRequest end = p.request(Opcode.SEND_INVALIDATE, 3, 0, 100, 0, 1);
        end.remoteKey = ended.key();
        p.post(end);
        WorkRequest late = p.request(Opcode.FETCH_ADD, 3, 4_000_000, 8, 0, 2);
        late.remoteAddress = ended.address();
        late.remoteKey = ended.key();
        late.operand = 1;
        p.post(late);
        p.run(300_000);
        hold[0] = false;
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 2));
        assertEquals(Completion.OK, status(1));
        assertEquals(Cause.BAD_KEY, status(2));
        assertEquals(0, ended.segment().get(ValueLayout.JAVA_LONG, 0), "it had come before the key ended, but not in turn");
    }

    @Test
    @Requirement("MR-ERR-004")
    void otherProtectionDomain() {
        MemoryRegion foreign = p.regionsB.register(7, Arena.ofAuto().allocate(100_000), Peers.ALL);
        refused(Cause.PROTECTION_DOMAIN, write(wr -> {
            wr.remoteKey = foreign.key();
            wr.remoteAddress = foreign.address();
        }));
    }

    @Test
    @Requirement({"MR-ERR-005", "MR-ERR-024"})
    void sendLongerThanItsReceive() {
        p.postReceiveB(0, 1_005_000, 9_999, 77);
        refused(Cause.BAD_LENGTH, p.request(Opcode.SEND, 0, 0, 10_000, 0, 0));
        Completion flushed = p.completionsB.stream().filter(c -> c.wrId == 77).findFirst().orElseThrow();
        assertEquals(Completion.FLUSHED, flushed.status);
    }

    @Test
    @Requirement("MR-READ-008")
    void regionGoneWhileReadIsAnswered() {
        MemoryRegion shortLived = p.regionsB.register(0, Arena.ofAuto().allocate(4 << 20), Peers.ALL);
        WorkRequest wr = p.request(Opcode.READ_REQUEST, 0, 0, 4 << 20, 0, 1);
        wr.remoteKey = shortLived.key();
        wr.remoteAddress = shortLived.address();
        p.net.loss = 0.2;
        p.post(wr);
        p.run(200_000);
        p.regionsB.deregister(shortLived);
        assertTrue(p.until(2_000_000_000L, () -> p.completionsA.size() == 1));
        assertEquals(Cause.BAD_KEY, p.completionsA.getFirst().status);
        p.net.loss = 0;
        p.run(600_000_000);
        p.assertIdle();
    }

    @Test
    @Requirement({"MR-ERR-012", "MR-LOSS-006"})
    void noRoomForTheStream() {
        EndpointConfig few = Peers.config(4);
        few.streamPool = 3;
        Peers q = new Peers(22, Peers.config(3), few).connect();
        for (int i = 0; i < 8; i++) {
            q.post(q.request(Opcode.WRITE, i, 0, 10_000, i * 10_000L, i));
        }
        assertTrue(q.until(2_000_000_000L, () -> q.completionsA.size() == 8), q.completionsA.size() + " completions");
        assertEquals(3, q.completionsA.stream().filter(c -> c.status == Completion.OK).count());
        assertEquals(5, q.completionsA.stream().filter(c -> c.status == Cause.UNKNOWN_STREAM).count());
        q.run(50_000_000);
        q.assertIdle();
        assertTrue(q.net.datagrams < 2_000, q.net.datagrams + " datagrams");
    }

    @Test
    void badLocalRequestsAreRefusedAtPost() {
        WorkRequest wr = p.request(Opcode.WRITE, 0, 0, 100, 0, 0);
        wr.localKey++;
        assertEquals(Endpoint.BAD_LOCAL_KEY, p.a.endpoint.post(p.ab, wr));
        wr = p.request(Opcode.WRITE, 0, Peers.REGION_BYTES - 10, 100, 0, 0);
        assertEquals(Endpoint.BAD_LOCAL_KEY, p.a.endpoint.post(p.ab, wr));
        assertEquals(Endpoint.BAD_LENGTH, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 0, 0, -1, 0, 0)));
        assertEquals(Endpoint.BAD_LENGTH, p.a.endpoint.post(p.ab, p.request(Opcode.FETCH_ADD, 0, 0, 4, 0, 0)));
        assertEquals(Endpoint.BAD_LENGTH, p.a.endpoint.post(p.ab, p.request(Opcode.COMPARE_SWAP, 0, 0, 16, 0, 0)));
        MemoryRegion readOnly = p.regionsA.register(0, Arena.ofAuto().allocate(8), 0);
        wr = p.request(Opcode.FETCH_ADD, 0, 0, 8, 0, 0);
        wr.localKey = readOnly.key();
        wr.localAddress = readOnly.address();
        assertEquals(Endpoint.BAD_LOCAL_KEY, p.a.endpoint.post(p.ab, wr));
        assertEquals(Endpoint.BAD_OPCODE, p.a.endpoint.post(p.ab, p.request(Opcode.ATOMIC_RESPONSE, 0, 0, 8, 0, 0)));
        assertEquals(Endpoint.BAD_STREAM, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 1 << 20, 0, 1, 0, 0)));
        assertEquals(Endpoint.BAD_STREAM, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, -1, 0, 1, 0, 0)));
        assertEquals(Endpoint.BAD_OPCODE, p.a.endpoint.post(p.ab, p.request(Opcode.READ_RESPONSE, 0, 0, 1, 0, 0)));
        assertEquals(Endpoint.BAD_CONNECTION, p.a.endpoint.post(p.ab ^ 0x10000, p.request(Opcode.WRITE, 0, 0, 1, 0, 0)));
        assertEquals(0, p.a.endpoint.liveWorkRequests());
    }

    @Test
    void requestsBeyondTheQueueAreRefusedAndComeBack() {
        int n = 0;
        while (p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 0, 0, 100, 0, n)) == Endpoint.OK) {
            n++;
        }
        assertEquals(1024, n);
        int posted = n;
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == posted));
        assertEquals(Endpoint.OK, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 0, 0, 100, 0, n)));
    }
}
