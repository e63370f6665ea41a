// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.wire.Cause;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One queue of receives for many streams: nothing lost, nothing twice, and who finds it dry waits alone. */
class SharedReceivesTest {
    private static final int SIZE = 8_000;

    private static EndpointConfig sharing(long seed, int depth) {
        EndpointConfig c = Peers.config(seed);
        c.sharedReceiveDomains = new int[] {0, 0, 7};
        c.sharedReceiveDepth = depth;
        c.sharedReceivesPerStream = 8;
        return c;
    }

    private static Peers peers(long seed, int depth) {
        return new Peers(seed, Peers.config(seed), sharing(seed + 1, depth)).connect();
    }

    private static int share(Peers p, long at, long wrId) {
        return p.b.endpoint.postSharedReceive(0, p.memoryB.address() + at, SIZE, p.memoryB.key(), wrId);
    }

    private static void use(Peers p, int... streams) {
        for (int s : streams) {
            assertEquals(Endpoint.OK, p.b.endpoint.useSharedReceives(p.ba, s, 0));
        }
    }

    /** Twenty streams send what they like through 32 receives; each is posted again when its message was looked at. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.05, 0.3})
    @Requirement({"MR-SRQ-001", "MR-SRQ-002", "MR-SRQ-004", "MR-OP-010", "MR-OP-011", "MR-STR-021", "MR-STR-022"})
    void manyStreamsFindTheirReceives(double loss) {
        Peers p = peers(91, 32);
        p.net.loss = loss;
        p.net.duplicate = 0.1;
        assertEquals(Endpoint.OK, p.b.endpoint.useSharedReceives(p.ba, Endpoint.ALL_STREAMS, 0));
        for (int i = 0; i < 32; i++) {
            assertEquals(Endpoint.OK, share(p, i * (long) SIZE, i));
        }
        assertEquals(Endpoint.QUEUE_FULL, share(p, 0, 0));
        Random random = new Random(5);
        int n = 600;
        long[] from = new long[n];
        Map<Integer, Integer> next = new HashMap<>();
        Map<Integer, List<Integer>> sent = new HashMap<>();
        for (int i = 0; i < n; i++) {
            int stream = random.nextInt(20);
            int opcode = i % 3 == 0 ? Opcode.SEND : Opcode.SEND_IMM;
            from[i] = random.nextInt(4_000_000);
            WorkRequest wr = p.request(opcode, stream, from[i], random.nextInt(SIZE + 1), 0, i);
            wr.immediate = i;
            p.post(wr);
            sent.computeIfAbsent(stream, _ -> new ArrayList<>()).add(wr.length);
        }
        int[] received = {0};
        int[] looked = {0};
        assertTrue(p.until(5_000_000_000L, () -> {
            for (; looked[0] < p.completionsB.size(); looked[0]++) {
                Completion c = p.completionsB.get(looked[0]);
                assertEquals(Completion.OK, c.status);
                int k = next.merge(c.stream, 1, Integer::sum) - 1;
                assertEquals(sent.get(c.stream).get(k), c.byteLength, "message " + k + " of stream " + c.stream);
                if (c.hasImmediate) {
                    p.assertCopied(from[c.immediate], c.wrId * SIZE, c.byteLength);
                }
                received[0]++;
                assertEquals(Endpoint.OK, share(p, c.wrId * SIZE, c.wrId));
            }
            return received[0] == n && p.completionsA.size() == n;
        }), received[0] + " of " + n + " received");
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
        p.run(50_000_000);
        p.assertIdle();
        if (loss == 0) {
            assertEquals(0, p.statsA().retransmissions, "nothing was sent that could not be taken");
        }
        assertEquals(0, p.statsB().noResource);
        assertEquals(0, p.statsB().violations);
    }

    /** The peer is quicker than the application that accepts it. */
    @Test
    @Requirement({"MR-SRQ-004", "MR-CRED-004"})
    void messagesThatWaitedBeforeTheQueueWasUsed() {
        Peers p = peers(107, 16);
        for (int s = 0; s < 4; s++) {
            p.post(p.request(Opcode.SEND, s, s * 10_000L, SIZE, 0, s));
        }
        p.postReceiveB(3, 4_000_000, SIZE, 33);
        p.run(2_000_000);
        for (int i = 0; i < 4; i++) {
            share(p, i * (long) SIZE, i);
        }
        assertEquals(Endpoint.OK, p.b.endpoint.useSharedReceives(p.ba, Endpoint.ALL_STREAMS, 0));
        assertTrue(p.until(50_000_000, () -> p.completionsB.size() == 4 && p.completionsA.size() == 4));
        assertEquals(33, p.completionsB.stream().filter(c -> c.stream == 3).findFirst().orElseThrow().wrId, "it has receives of its own");
        p.post(p.request(Opcode.SEND, 9, 0, SIZE, 0, 9));
        assertTrue(p.until(50_000_000, () -> p.completionsB.size() == 5));
    }

    /** Streams that once sent and are silent now do not keep from others what is left. */
    @Test
    @Requirement("MR-SRQ-002")
    void halfOfTheQueueStaysForThoseThatAsk() {
        Peers p = peers(108, 16);
        for (int i = 0; i < 10; i++) {
            share(p, i * (long) SIZE, i);
        }
        for (int s = 0; s < 12; s++) {
            use(p, s);
            assertTrue(p.b.endpoint.freeSharedReceives(0) >= 5, "after " + s + " streams");
        }
        for (int i = 0; i < 5; i++) {
            p.post(p.request(Opcode.SEND, 11, 0, 10, 0, i));
        }
        assertTrue(p.until(50_000_000, () -> p.completionsA.size() == 5));
    }

    /** Packets of the second message come first: it binds no receive that the first would need. */
    @Test
    @Requirement({"MR-SRQ-001", "MR-STR-020"})
    void laterMessagesDoNotTakeTheReceivesOfEarlierOnes() {
        Peers p = peers(92, 2);
        use(p, 3);
        share(p, 0, 0);
        share(p, SIZE, 1);
        boolean[] hold = {true};
        p.net.filter = (d, plane, port) -> !hold[0] || d[4] != 0x15 || ByteBuffer.wrap(d).getInt(40) != 0;
        for (int i = 0; i < 3; i++) {
            p.post(p.request(Opcode.SEND, 3, i * 10_000L, SIZE, 0, i));
        }
        p.run(1_000_000);
        assertTrue(p.completionsB.isEmpty());
        p.assertCopied(10_000, SIZE, SIZE);
        hold[0] = false;
        assertTrue(p.until(1_000_000_000L, () -> p.completionsB.size() == 2 && p.completionsA.size() == 2));
        p.assertCopied(0, 0, SIZE);
        share(p, 2 * SIZE, 2);
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 3));
        p.assertCopied(20_000, 2 * SIZE, SIZE);
    }

    /** The queue is dry: streams wait in line for one receive at a time, while others work at full speed. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1})
    @Requirement({"MR-SRQ-004", "MR-SRQ-005", "MR-CRED-004", "MR-CRED-007"})
    void aDryQueueIsServedInTurn(double loss) {
        Peers p = peers(93, 32);
        use(p, 0, 1, 2, 3);
        p.net.loss = loss;
        int each = 4;
        for (int i = 0; i < 4 * each; i++) {
            p.post(p.request(Opcode.SEND, i / each, i * 10_000L, SIZE, 0, i));
        }
        p.post(p.request(Opcode.WRITE, 9, 0, 1 << 20, 4_000_000, 99));
        assertTrue(p.until(20_000_000, () -> p.completionsA.size() == 1));
        assertEquals(99, p.completionsA.getFirst().wrId);
        p.run(3_000_000);
        for (int round = 1; round <= each; round++) {
            for (int i = 0; i < 4; i++) {
                assertEquals(Endpoint.OK, share(p, i * (long) SIZE, i));
            }
            int done = 4 * round;
            assertTrue(p.until(500_000_000, () -> p.completionsB.size() == done), "round " + round);
            Set<Integer> streams = new HashSet<>();
            p.completionsB.subList(done - 4, done).forEach(c -> streams.add(c.stream));
            assertEquals(4, streams.size(), "one each in round " + round);
        }
        assertTrue(p.until(500_000_000, () -> p.completionsA.size() == 4 * each + 1));
        p.run(50_000_000);
        p.assertIdle();
    }

    /** How long a message waits that finds no receive, once there is one: a round trip or two, not a fixed time. */
    @ParameterizedTest
    @ValueSource(longs = {2_000, 20_000, 200_000})
    @Requirement({"MR-SRQ-003", "MR-CRED-004", "MR-CRED-005"})
    void thePauseIsScaledToTheRoundTrip(long delayNs) {
        EndpointConfig b = sharing(95, 64);
        Peers p = new Peers(94, Peers.config(94), b);
        p.net.delayNs = delayNs;
        p.net.jitterPerPortNs = 0;
        p.connect();
        use(p, 0);
        share(p, 0, 0);
        p.post(p.request(Opcode.SEND, 0, 0, 100, 0, 0));
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 1));
        p.run(100 * delayNs);
        List<Long> asks = new ArrayList<>();
        p.net.filter = (d, plane, port) -> {
            if (d[4] == 0x16 && d[7] > 0 && d[d.length - 16] == ControlBlock.CREDIT_REQUEST) {
                asks.add(p.net.nowNs);
            }
            return true;
        };
        long posted = p.net.nowNs;
        p.post(p.request(Opcode.SEND, 0, 0, 100, 0, 1));
        p.run(40 * delayNs);
        assertTrue(asks.size() >= 3, asks.size() + " requests");
        assertTrue(asks.getFirst() - posted <= 1_000, "the first at once");
        long first = asks.get(1) - asks.get(0);
        assertTrue(first >= 4 * delayNs && first <= Math.max(10_000, 6 * delayNs), first + " ns after " + delayNs + " ns each way");
        long second = asks.get(2) - asks.get(1);
        assertTrue(Math.abs(second - 2 * first) <= first / 5, second + " after " + first);
        long free = p.net.nowNs;
        share(p, 0, 1);
        assertTrue(p.until(1_000_000_000L, () -> p.completionsB.size() == 2));
        assertTrue(p.net.nowNs - free <= 2 * delayNs + 5_000, "half a round trip to tell, half to send: " + (p.net.nowNs - free));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4})
    @Requirement({"MR-CRED-008", "MR-ERR-040", "MR-STR-025"})
    void aMessageThatFindsNoReceiveIsGivenUpAfterSoManyRetries(int retries) {
        EndpointConfig a = Peers.config(96);
        a.receiverNotReadyRetries = retries;
        Peers p = new Peers(96, a, sharing(97, 64)).connect();
        use(p, 0, 1);
        p.run(1_000_000);
        int dry = 1;
        int[] asks = {0};
        p.net.filter = (d, plane, port) -> {
            asks[0] += d[4] == 0x16 && d[7] > 0 && d[d.length - 16] == ControlBlock.CREDIT_REQUEST ? 1 : 0;
            return true;
        };
        p.post(p.request(Opcode.WRITE, dry, 0, 50_000, 0, 0));
        p.post(p.request(Opcode.SEND, dry, 0, 100, 0, 1));
        p.post(p.request(Opcode.SEND, dry, 0, 100, 0, 2));
        p.post(p.request(Opcode.WRITE, 5, 0, 1 << 20, 4_000_000, 5));
        assertTrue(p.until(2_000_000_000L, () -> p.completionsA.size() == 4));
        Map<Long, Integer> status = new HashMap<>();
        p.completionsA.forEach(c -> status.put(c.wrId, c.status));
        assertEquals(Map.of(0L, Completion.OK, 1L, Cause.RECEIVER_NOT_READY, 2L, Completion.FLUSHED, 5L, Completion.OK), status);
        assertEquals(retries + 1, asks[0]);
        p.run(10_000_000);
        assertEquals(Cause.RECEIVER_NOT_READY, p.eventsB.getLast().reason);
        p.assertIdle();
    }

    /** The same limit where receives are the stream's own, and none where it is not set. */
    @Test
    @Requirement("MR-CRED-008")
    void retriesCountForOwnReceivesToo() {
        EndpointConfig a = Peers.config(98);
        a.receiverNotReadyRetries = 3;
        Peers p = new Peers(98, a, Peers.config(99)).connect();
        p.post(p.request(Opcode.SEND, 0, 0, 100, 0, 1));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 1));
        assertEquals(Cause.RECEIVER_NOT_READY, p.completionsA.getFirst().status);
        Peers q = new Peers(98, Peers.config(98), Peers.config(99)).connect();
        q.post(q.request(Opcode.SEND, 0, 0, 100, 0, 1));
        q.run(5_000_000_000L);
        assertTrue(q.completionsA.isEmpty());
        q.postReceiveB(0, 0, 100, 1);
        assertTrue(q.until(200_000_000, () -> q.completionsA.size() == 1));
        assertEquals(Completion.OK, q.completionsA.getFirst().status);
    }

    @Test
    @Requirement("MR-SRQ-006")
    void receivesOfAStreamThatEndsGoBack() {
        Peers p = peers(101, 16);
        for (int i = 0; i < 8; i++) {
            share(p, i * (long) SIZE, i);
        }
        use(p, 0, 1);
        boolean[] hold = {true};
        // Three Sends of stream 0 never come whole; then a bad Write ends it.
        p.net.filter = (d, plane, port) -> !hold[0] || d[4] != 0x15 || d[6] != Opcode.SEND || (d[5] & 2) == 0;
        for (int i = 0; i < 3; i++) {
            p.post(p.request(Opcode.SEND, 0, 0, SIZE, 0, i));
        }
        p.run(1_000_000);
        assertEquals(4, p.b.endpoint.freeSharedReceives(0), "three asked for by stream 0, one unasked for stream 1");
        WorkRequest bad = p.request(Opcode.WRITE, 0, 0, 100, 0, 9);
        bad.remoteKey ^= 0x1000;
        p.post(bad);
        hold[0] = false;
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 4));
        int used = p.completionsB.size();
        p.run(50_000_000);
        assertEquals(used, p.completionsB.size());
        p.completionsB.forEach(c -> assertEquals(Completion.OK, c.status, "none is flushed"));
        assertEquals(7 - used, p.b.endpoint.freeSharedReceives(0));
        for (int i = 0; i < 8 - used; i++) {
            p.post(p.request(Opcode.SEND, 1, 0, SIZE, 0, 20 + i));
        }
        assertTrue(p.until(1_000_000_000L, () -> p.completionsB.size() == 8));
        Set<Long> places = new HashSet<>();
        p.completionsB.forEach(c -> places.add(c.wrId));
        assertEquals(8, places.size(), "each receive once");
    }

    /** Two connections share; one dies with receives bound and begun, the other gets them. */
    @Test
    @Requirement("MR-SRQ-006")
    void receivesOfAConnectionThatDiesGoBack() {
        Peers p = peers(102, 16);
        TestNetwork.Host third = p.net.add(Peers.config(103), p.regionsA);
        int other = third.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(p.until(1_000_000_000L, () -> p.eventsB.size() == 2));
        int fromThird = p.eventsB.getLast().connection;
        for (int c : new int[] {p.ba, fromThird}) {
            assertEquals(Endpoint.OK, p.b.endpoint.useSharedReceives(c, 0, 0));
        }
        for (int i = 0; i < 4; i++) {
            share(p, i * (long) SIZE, i);
        }
        p.net.filter = (d, plane, port) -> ByteBuffer.wrap(d).getInt(8) != fromThird || d[4] != 0x15 || (d[5] & 2) == 0;
        for (int i = 0; i < 4; i++) {
            WorkRequest wr = p.request(Opcode.SEND, 0, 0, SIZE, 0, i);
            assertEquals(Endpoint.OK, third.endpoint.post(other, wr));
        }
        p.run(500_000);
        assertEquals(0, p.b.endpoint.freeSharedReceives(0));
        for (int i = 0; i < 3; i++) {
            p.post(p.request(Opcode.SEND, 0, i * 10_000L, SIZE, 0, i));
        }
        p.run(500_000);
        int before = p.completionsB.size();
        assertTrue(before < 3);
        p.net.kill(third);
        assertTrue(p.until(5_000_000_000L, () -> p.completionsB.size() == 3 && p.completionsA.size() == 3));
        p.completionsB.forEach(c -> assertEquals(p.ba, c.connection));
        for (Completion c : p.completionsB) {
            assertEquals(Completion.OK, c.status);
        }
        assertTrue(Peers.has(p.eventsB, Event.FAILED));
    }

    @Test
    @Requirement("MR-SRQ-007")
    void theLowWaterMarkIsToldOnce() {
        Peers p = peers(104, 16);
        for (int i = 0; i < 8; i++) {
            share(p, i * (long) SIZE, i);
        }
        use(p, 0);
        assertEquals(Endpoint.OK, p.b.endpoint.notifySharedReceivesBelow(0, 5));
        for (int i = 0; i < 6; i++) {
            p.post(p.request(Opcode.SEND, 0, 0, 10, 0, i));
        }
        assertTrue(p.until(100_000_000, () -> p.completionsB.size() == 6));
        p.poll();
        List<Event> low = p.eventsB.stream().filter(e -> e.kind == Event.SHARED_RECEIVES_LOW).toList();
        assertEquals(1, low.size());
        assertEquals(0, low.getFirst().stream);
        assertTrue(low.getFirst().text().contains("queue 0"));
        assertEquals(Endpoint.OK, p.b.endpoint.notifySharedReceivesBelow(0, 5));
        p.poll();
        assertEquals(2, p.eventsB.stream().filter(e -> e.kind == Event.SHARED_RECEIVES_LOW).count(), "at once where it is low already");
        assertEquals(Endpoint.BAD_QUEUE, p.b.endpoint.notifySharedReceivesBelow(3, 5));
    }

    /** What a peer may ask for has limits: a stream's share of the queue, and what is posted. */
    @Test
    @Requirement({"MR-SRQ-004", "MR-LIM-020"})
    void aGreedyPeerGetsAStreamsShare() {
        Peers p = peers(105, 64);
        for (int i = 0; i < 64; i++) {
            share(p, i * (long) SIZE, i);
        }
        use(p, 0, 1);
        List<byte[]> requests = new ArrayList<>();
        p.net.filter = (d, plane, port) -> {
            if (d[4] == 0x16 && d[7] > 0 && d[d.length - 16] == ControlBlock.CREDIT_REQUEST) {
                requests.add(d.clone());
            }
            return d[4] != 0x15;
        };
        for (int i = 0; i < 200; i++) {
            p.post(p.request(Opcode.SEND, 0, 0, 10, 0, i));
        }
        p.run(1_000_000);
        assertFalse(requests.isEmpty());
        assertTrue(requests.stream().allMatch(d -> ByteBuffer.wrap(d).getInt(d.length - 8) <= 9 + Limits.CREDIT_ASK_AHEAD));
        assertEquals(64 - 8 - 1, p.b.endpoint.freeSharedReceives(0));
    }

    @Test
    @Requirement("MR-SRQ-001")
    void whatCannotBeShared() {
        Peers p = peers(106, 8);
        Endpoint b = p.b.endpoint;
        assertEquals(Endpoint.BAD_QUEUE, b.useSharedReceives(p.ba, 0, 3));
        assertEquals(Endpoint.BAD_QUEUE, b.useSharedReceives(p.ba, 0, -1));
        assertEquals(Endpoint.BAD_QUEUE, b.useSharedReceives(p.ba, 0, 2), "another protection domain");
        assertEquals(Endpoint.BAD_CONNECTION, b.useSharedReceives(p.ba ^ 0x10000, 0, 0));
        assertEquals(Endpoint.BAD_STREAM, b.useSharedReceives(p.ba, 1 << 20, 0));
        assertEquals(Endpoint.BAD_QUEUE, b.postSharedReceive(9, p.memoryB.address(), 10, p.memoryB.key(), 0));
        assertEquals(Endpoint.BAD_LENGTH, b.postSharedReceive(0, p.memoryB.address(), -1, p.memoryB.key(), 0));
        assertEquals(Endpoint.BAD_LOCAL_KEY, b.postSharedReceive(0, p.memoryB.address() - 1, 10, p.memoryB.key(), 0));
        MemoryRegion foreign = p.regionsB.register(7, Arena.ofAuto().allocate(100), Peers.ALL);
        assertEquals(Endpoint.BAD_LOCAL_KEY, b.postSharedReceive(0, foreign.address(), 10, foreign.key(), 0));
        assertEquals(Endpoint.OK, b.postSharedReceive(2, foreign.address(), 10, foreign.key(), 0));
        p.postReceiveB(1, 0, 10, 0);
        assertEquals(Endpoint.BAD_QUEUE, b.useSharedReceives(p.ba, 1, 0), "has receives of its own");
        use(p, 2, 2);
        assertEquals(Endpoint.BAD_QUEUE, b.useSharedReceives(p.ba, 2, 1), "uses another queue");
        assertEquals(Endpoint.BAD_QUEUE, b.postReceive(p.ba, 2, p.memoryB.address(), 10, p.memoryB.key(), 0));
    }
}
