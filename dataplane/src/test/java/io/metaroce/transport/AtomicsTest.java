// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.Words;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compare-and-swap and Fetch-and-add happen once, in stream order, whatever the network does. */
class AtomicsTest {
    private static final long RESULTS = 4_000_000;

    private static long get(MemoryRegion region, long at) {
        return region.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, at);
    }

    private static WorkRequest add(Peers p, int stream, long result, long word, long addend, long wrId) {
        WorkRequest wr = p.request(Opcode.FETCH_ADD, stream, result, 8, word, wrId);
        wr.operand = addend;
        return wr;
    }

    private static WorkRequest swap(Peers p, int stream, long result, long word, long compare, long value, long wrId) {
        WorkRequest wr = p.request(Opcode.COMPARE_SWAP, stream, result, 8, word, wrId);
        wr.compare = compare;
        wr.operand = value;
        return wr;
    }

    /** One word in memory that both sides have registered, added to from both, over two streams each, and by a thread of the host. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.05, 0.3})
    @Requirement({"MR-ATOM-001", "MR-ATOM-002", "MR-ATOM-003", "MR-ATOM-006", "MR-ATOM-007"})
    void aSharedCounterIsExact(double loss) throws InterruptedException {
        Peers p = new Peers(41).connect();
        p.net.loss = loss;
        p.net.duplicate = 0.3;
        MemorySegment shared = Arena.ofAuto().allocate(8, 8);
        MemoryRegion atA = p.regionsA.register(0, shared, Peers.ALL);
        MemoryRegion atB = p.regionsB.register(0, shared, Peers.ALL);
        int each = 100;
        int local = 20_000;
        Thread host = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < local; i++) {
                Words.fetchAndAdd(shared.address(), 1);
            }
        });
        for (int i = 0; i < 2 * each; i++) {
            WorkRequest wr = add(p, i % 2, RESULTS + 8 * i, 0, 1, i);
            wr.remoteAddress = shared.address();
            wr.remoteKey = atB.key();
            p.post(wr);
            wr.localAddress = p.memoryB.address() + RESULTS + 8 * i;
            wr.localKey = p.memoryB.key();
            wr.remoteKey = atA.key();
            assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, wr));
        }
        assertTrue(p.until(5_000_000_000L, () -> p.completionsA.size() == 2 * each && p.completionsB.size() == 2 * each),
                p.completionsA.size() + " and " + p.completionsB.size() + " done");
        host.join();
        assertEquals(4 * each + local, shared.get(ValueLayout.JAVA_LONG, 0));
        Set<Long> originals = new HashSet<>();
        for (int i = 0; i < 2 * each; i++) {
            originals.add(get(p.memoryA, RESULTS + 8 * i));
            originals.add(get(p.memoryB, RESULTS + 8 * i));
            // The order of posting, on each stream.
            assertEquals(Completion.OK, p.completionsA.get(i).status);
            assertEquals(8, p.completionsA.get(i).byteLength);
            assertEquals(Opcode.FETCH_ADD, p.completionsA.get(i).opcode);
            if (i >= 2) {
                assertTrue(get(p.memoryA, RESULTS + 8 * i) > get(p.memoryA, RESULTS + 8 * (i - 2)), "atomics of a stream keep their order");
            }
        }
        assertEquals(4 * each, originals.size(), "no two atomics saw the same value");
        assertTrue(originals.stream().allMatch(v -> v >= 0 && v < 4 * each + local));
        p.run(50_000_000);
        p.assertIdle();
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.05, 0.3})
    @Requirement({"MR-ATOM-002", "MR-ATOM-007", "MR-STR-022"})
    void compareAndSwapWritesOnlyWhatMatches(double loss) {
        Peers p = new Peers(42).connect();
        p.net.loss = loss;
        p.net.duplicate = 0.2;
        int n = 60;
        // Value i-1 becomes i, but every third compares with the wrong value. The result lands at an odd address.
        long value = 0;
        long[] expected = new long[n];
        for (int i = 0; i < n; i++) {
            expected[i] = value;
            long wanted = 0x8182838485868700L + i;
            p.post(swap(p, 0, RESULTS + 1 + 9 * i, 64, i % 3 == 2 ? ~value : value, wanted, i));
            value = i % 3 == 2 ? value : wanted;
        }
        assertTrue(p.until(5_000_000_000L, () -> p.completionsA.size() == n), p.completionsA.size() + " done");
        for (int i = 0; i < n; i++) {
            assertEquals(i, p.completionsA.get(i).wrId);
            assertEquals(expected[i], get(p.memoryA, RESULTS + 1 + 9 * i), "original value " + i);
        }
        assertEquals(value, get(p.memoryB, 64));
        p.run(50_000_000);
        p.assertIdle();
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.05, 0.3})
    @Requirement({"MR-ATOM-001", "MR-READ-002", "MR-READ-003"})
    void standsBetweenEarlierAndLaterMessages(double loss) {
        Peers p = new Peers(43).connect();
        p.net.loss = loss;
        p.net.duplicate = 0.1;
        int n = 40;
        for (int i = 0; i < n; i++) {
            // Eight bytes written, added to, and read: each step sees the one before.
            p.post(p.request(Opcode.WRITE, 0, 8 * i, 8, 8 * i, 3 * i));
            p.post(add(p, 0, RESULTS + 16 * i, 8 * i, Long.MIN_VALUE + i, 3 * i + 1));
            p.post(p.request(Opcode.READ_REQUEST, 0, RESULTS + 16 * i + 8, 8, 8 * i, 3 * i + 2));
        }
        assertTrue(p.until(5_000_000_000L, () -> p.completionsA.size() == 3 * n), p.completionsA.size() + " done");
        for (int i = 0; i < 3 * n; i++) {
            assertEquals(i, p.completionsA.get(i).wrId);
            assertEquals(Completion.OK, p.completionsA.get(i).status);
        }
        for (int i = 0; i < n; i++) {
            long written = get(p.memoryA, 8 * i);
            assertEquals(written, get(p.memoryA, RESULTS + 16 * i));
            assertEquals(written + Long.MIN_VALUE + i, get(p.memoryA, RESULTS + 16 * i + 8));
        }
        p.run(50_000_000);
        p.assertIdle();
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.3})
    @Requirement("MR-STR-026")
    void aFenceWaitsForEarlierAtomics(double loss) {
        Peers p = new Peers(44).connect();
        p.net.loss = loss;
        p.net.duplicate = 0.1;
        int n = 30;
        for (int i = 0; i < n; i++) {
            p.post(add(p, 0, RESULTS + 8 * i, 8, 1, 2 * i));
            // Would spoil the word if it arrived before the atomic had its turn.
            WorkRequest write = p.request(Opcode.WRITE, 0, 8 * i, 8, 8, 2 * i + 1);
            write.fence = true;
            p.post(write);
        }
        assertTrue(p.until(5_000_000_000L, () -> p.completionsA.size() == 2 * n), p.completionsA.size() + " done");
        assertEquals(0, get(p.memoryA, RESULTS));
        for (int i = 1; i < n; i++) {
            assertEquals(get(p.memoryA, 8 * (i - 1)), get(p.memoryA, RESULTS + 8 * i));
        }
    }

    @Test
    @Requirement({"MR-READ-001", "MR-ATOM-004", "MR-PAR-010"})
    void sharesTheLimitOfReads() {
        Peers p = new Peers(45).connect();
        Set<Integer> indices = new HashSet<>();
        boolean[] hold = {true};
        p.net.filter = (d, plane, port) -> {
            if (d[4] == 0x15 && Opcode.isRequest(d[6])) {
                indices.add(ByteBuffer.wrap(d).getInt(60));
            }
            return !hold[0] || d[4] != 0x15 || !Opcode.isResponse(d[6]);
        };
        int n = 50;
        for (int i = 0; i < n; i++) {
            p.post(i % 2 == 0 ? add(p, 0, RESULTS + 8 * i, 0, 1, i) : p.request(Opcode.READ_REQUEST, 0, RESULTS + 8 * i, 8, 0, i));
        }
        p.run(5_000_000);
        assertEquals(Limits.MAX_READS, indices.size());
        assertEquals(Limits.MAX_READS / 2, get(p.memoryB, 0), "executed, though no response has come through");
        hold[0] = false;
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == n), p.completionsA.size() + " done");
        assertEquals(n, indices.size());
        assertEquals(n / 2, get(p.memoryB, 0));
    }

    @Test
    @Requirement({"MR-ATOM-001", "MR-STR-023"})
    void isExecutedInItsTurnThoughTheResponseMustWait() {
        EndpointConfig poor = Peers.config(47);
        poor.maxWorkRequests = 1;
        Peers p = new Peers(46, Peers.config(46), poor).connect();
        // B's only work record for posting is taken by a Send that has no credit, those for responses by responses that get lost.
        WorkRequest waits = p.request(Opcode.SEND, 9, 0, 0, 0, 1);
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, waits));
        boolean[] lose = {true};
        p.net.filter = (d, plane, port) -> !lose[0] || d[4] != 0x15 || d[6] != Opcode.ATOMIC_RESPONSE;
        for (int i = 0; i < Limits.MIN_RESPONSES; i++) {
            p.post(add(p, 1, RESULTS + 800 + 8 * i, 16, 1, 100 + i));
        }
        p.run(1_000_000);
        p.postReceiveB(0, 0, 0, 2);
        for (int i = 0; i < 3; i++) {
            p.post(add(p, 0, RESULTS + 8 * i, 8, 1, i));
        }
        p.post(p.request(Opcode.SEND, 0, 0, 0, 0, 3));
        assertTrue(p.until(100_000_000, () -> p.completionsB.size() == 1));
        assertEquals(3, get(p.memoryB, 8), "what stands before a Send is done when the Send completes");
        assertEquals(1 + Limits.MIN_RESPONSES, p.b.endpoint.liveWorkRequests());
        assertTrue(p.completionsA.isEmpty());
        lose[0] = false;
        assertEquals(Endpoint.OK, p.a.endpoint.postReceive(p.ab, 9, p.memoryA.address(), 0, p.memoryA.key(), 4));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 5 + Limits.MIN_RESPONSES), p.completionsA.size() + " done");
        assertEquals(3, get(p.memoryB, 8));
        for (int i = 0; i < 3; i++) {
            assertEquals(i, get(p.memoryA, RESULTS + 8 * i));
        }
        p.run(50_000_000);
        p.assertIdle();
    }

    @Test
    @Requirement("MR-ATOM-006")
    void theResponseOutlivesTheRegionAndLaterChanges() {
        Peers p = new Peers(48).connect();
        MemoryRegion region = p.regionsB.register(0, Arena.ofAuto().allocate(64, 8), Peers.ALL);
        region.segment().set(ValueLayout.JAVA_LONG, 0, 5);
        int[] dropped = {0};
        p.net.filter = (d, plane, port) -> d[4] != 0x15 || d[6] != Opcode.ATOMIC_RESPONSE || dropped[0]++ >= 3;
        WorkRequest wr = add(p, 0, RESULTS, 0, 1, 1);
        wr.remoteAddress = region.address();
        wr.remoteKey = region.key();
        p.post(wr);
        p.run(10_000);
        assertEquals(6, region.segment().get(ValueLayout.JAVA_LONG, 0));
        region.segment().set(ValueLayout.JAVA_LONG, 0, 1_000);
        p.regionsB.deregister(region);
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 1));
        assertTrue(dropped[0] > 3);
        assertEquals(Completion.OK, p.completionsA.getFirst().status);
        assertEquals(5, get(p.memoryA, RESULTS));
        assertEquals(1_000, region.segment().get(ValueLayout.JAVA_LONG, 0));
    }

    @Test
    @Requirement("MR-READ-011")
    void messagesTellWhetherEarlierRequestsAreAnswered() {
        Peers p = new Peers(51).connect();
        int[] answered = new int[4];
        boolean[] hold = {true};
        p.net.filter = (d, plane, port) -> {
            ByteBuffer b = ByteBuffer.wrap(d);
            if (d[4] == 0x15 && b.getInt(8) == p.ba) {
                answered[b.getInt(32)] |= 1 << (d[5] >> 4 & 1);
            }
            assertTrue(d[4] != 0x15 || b.getInt(8) == p.ba || (d[5] & 16) == 0, "not in a response");
            return !hold[0] || d[4] != 0x15 || d[6] != Opcode.ATOMIC_RESPONSE;
        };
        p.post(p.request(Opcode.WRITE, 0, 0, 3_000, 0, 0));
        p.post(add(p, 0, RESULTS, 0, 1, 1));
        p.post(p.request(Opcode.WRITE, 0, 0, 3_000, 0, 2));
        p.run(3_000_000);
        hold[0] = false;
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 3));
        p.post(p.request(Opcode.WRITE, 0, 0, 3_000, 0, 3));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 4));
        // 2: all its packets said yes; 1: all said no.
        assertArrayEquals(new int[] {2, 2, 1, 2}, answered);
    }

    @Test
    @Requirement("MR-CRC-003")
    void operandsAreProtectedWithHeaderIntegrityToo() {
        EndpointConfig a = Peers.config(49);
        EndpointConfig b = Peers.config(50);
        a.integrity = EndpointConfig.INTEGRITY_HEADER;
        b.integrity = EndpointConfig.INTEGRITY_HEADER;
        Peers p = new Peers(49, a, b).connect();
        p.net.corrupt = 0.3;
        long sum = 0;
        for (int i = 0; i < 100; i++) {
            p.post(add(p, 0, RESULTS + 8 * i, 0, i * 0x0123456789abcdefL, i));
        }
        assertTrue(p.until(5_000_000_000L, () -> p.completionsA.size() == 100), p.completionsA.size() + " done");
        for (int i = 0; i < 100; i++) {
            assertEquals(sum, get(p.memoryA, RESULTS + 8 * i));
            sum += i * 0x0123456789abcdefL;
        }
        assertEquals(sum, get(p.memoryB, 0));
    }
}
