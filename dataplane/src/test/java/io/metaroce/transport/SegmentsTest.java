// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.crypto.PskSecurity;
import io.metaroce.wire.Cause;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages whose memory lies in pieces, or is copied when they are posted. */
class SegmentsTest {
    private static final int PIECES = 7;

    private static EndpointConfig config(long seed, boolean sealed) {
        EndpointConfig c = Peers.config(seed);
        c.maxSegments = PIECES;
        c.maxInlineBytes = 200;
        c.sharedReceiveDomains = new int[] {0};
        c.integrity = seed % 2 == 0 ? EndpointConfig.INTEGRITY_HEADER : EndpointConfig.INTEGRITY_FULL;
        if (sealed) {
            byte[] psk = new byte[PskSecurity.PSK_BYTES];
            Arrays.fill(psk, (byte) 3);
            c.security = new PskSecurity(psk);
        }
        return c;
    }

    private static Peers peers(long seed, boolean sealed) {
        return new Peers(seed, config(seed, sealed), config(seed, sealed)).connect();
    }

    /** Memory for one message, in pieces of all sizes that lie apart, in any order; some are empty. Bytes between are guards. */
    private static final class Scattered {
        final Segments segments = new Segments(PIECES);
        final List<MemorySegment> pieces = new ArrayList<>();
        final MemorySegment whole;
        final int length;

        Scattered(MemoryRegion region, Random random, long at, int room, int length) {
            whole = region.segment().asSlice(at, room);
            this.length = length;
            int n = 2 + random.nextInt(PIECES - 1);
            int left = length;
            long gaps = room - length;
            long next = 0;
            List<long[]> places = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                int piece = i == n - 1 ? left : random.nextInt(4) == 0 ? 0 : random.nextInt(left + 1);
                places.add(new long[] {next, piece});
                next += piece + gaps / n;
                left -= piece;
            }
            java.util.Collections.shuffle(places, random);
            for (long[] p : places) {
                pieces.add(whole.asSlice(p[0], p[1]));
                segments.add(whole.address() + p[0], (int) p[1], p[1] == 0 ? 0 : region.key());
            }
        }

        byte[] content() {
            byte[] all = new byte[length];
            int at = 0;
            for (MemorySegment p : pieces) {
                MemorySegment.copy(p, 0, MemorySegment.ofArray(all), at, p.byteSize());
                at += (int) p.byteSize();
            }
            return all;
        }

        /** What lies between the pieces. */
        byte[] guards() {
            byte[] all = whole.toArray(ValueLayout.JAVA_BYTE);
            for (MemorySegment p : pieces) {
                int from = (int) (p.address() - whole.address());
                Arrays.fill(all, from, from + (int) p.byteSize(), (byte) 0);
            }
            return all;
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 0, false", "2, 0.1, false", "3, 0.3, false", "4, 0, true", "5, 0.1, true"})
    @Requirement({"MR-MEM-006", "MR-PKT-006", "MR-OP-011", "MR-READ-006", "MR-CRC-003"})
    void everyOperationInPiecesOfAnySize(long seed, double loss, boolean sealed) {
        Peers p = peers(120 + seed, sealed);
        p.net.loss = loss;
        p.net.duplicate = 0.1;
        Random random = new Random(seed);
        int n = 120;
        int room = 16_000;
        assertEquals(Endpoint.OK, p.b.endpoint.useSharedReceives(p.ba, 1, 0));
        Scattered[] local = new Scattered[n];
        Scattered[] received = new Scattered[n];
        byte[][] expected = new byte[n][];
        byte[][] guards = new byte[n][];
        for (int i = 0; i < n; i++) {
            int length = random.nextInt(3) == 0 ? random.nextInt(100) : random.nextInt(14_000);
            local[i] = new Scattered(p.memoryA, random, i * (long) room, room, length);
            int kind = i % 4;
            WorkRequest wr = p.request(switch (kind) {
                case 0 -> Opcode.WRITE;
                case 1 -> Opcode.READ_REQUEST;
                default -> Opcode.SEND;
            }, kind == 3 ? 1 : 0, 0, -1, i * (long) room, i);
            wr.localKey = 0;
            wr.segments = local[i].segments;
            if (kind == 1) {
                expected[i] = p.memoryB.segment().asSlice(i * (long) room, length).toArray(ValueLayout.JAVA_BYTE);
                guards[i] = local[i].guards();
            } else {
                expected[i] = local[i].content();
            }
            if (kind >= 2) {
                received[i] = new Scattered(p.memoryB, random, i * (long) room, room, length + random.nextInt(500));
                guards[i] = received[i].guards();
                int posted = kind == 2 ? p.b.endpoint.postReceive(p.ba, 0, received[i].segments, i)
                        : p.b.endpoint.postSharedReceive(0, received[i].segments, i);
                assertEquals(Endpoint.OK, posted);
            }
            p.post(wr);
            // What was posted is the endpoint's own copy.
            wr.segments.clear();
        }
        assertTrue(p.until(5_000_000_000L, () -> p.completionsA.size() == n && p.completionsB.size() == n / 2), p.completionsA.size() + " done");
        for (Completion c : p.completionsA) {
            int i = (int) c.wrId;
            assertEquals(Completion.OK, c.status);
            assertEquals(expected[i].length, c.byteLength);
            byte[] is = switch (i % 4) {
                case 0 -> p.memoryB.segment().asSlice(i * (long) room, expected[i].length).toArray(ValueLayout.JAVA_BYTE);
                case 1 -> local[i].content();
                default -> Arrays.copyOf(received[i].content(), expected[i].length);
            };
            assertArrayEquals(expected[i], is, "message " + i);
            if (i % 4 == 1) {
                assertArrayEquals(guards[i], local[i].guards(), "between the pieces of " + i);
            } else if (i % 4 >= 2) {
                assertArrayEquals(guards[i], received[i].guards(), "between the pieces of " + i);
            }
        }
        p.run(50_000_000);
        p.assertIdle();
        assertEquals(0, p.a.endpoint.liveSegmentLists());
        assertEquals(0, p.b.endpoint.liveSegmentLists());
    }

    @Test
    @Requirement("MR-MEM-006")
    void onePieceOrNoneIsAnOrdinaryMessage() {
        Peers p = peers(130, false);
        Segments one = new Segments(1).add(p.memoryA.address() + 100, 5_000, p.memoryA.key());
        WorkRequest wr = p.request(Opcode.WRITE, 0, 0, 0, 100, 1);
        wr.segments = one;
        p.post(wr);
        wr = p.request(Opcode.FETCH_ADD, 0, 0, 0, 4_000_000, 2);
        wr.segments = new Segments(1).add(p.memoryA.address() + 6_000, 8, p.memoryA.key());
        wr.operand = 1;
        p.post(wr);
        wr = p.request(Opcode.WRITE, 0, 0, 0, 0, 3);
        wr.segments = new Segments(3);
        p.post(wr);
        assertEquals(0, p.a.endpoint.liveSegmentLists());
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 3));
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
        p.assertCopied(100, 100, 5_000);
    }

    @Test
    @Requirement({"MR-MEM-004", "MR-MEM-006"})
    void everyPieceIsCheckedWhenPostedAndAfterChanges() {
        Peers p = peers(131, false);
        MemoryRegion other = p.regionsA.register(0, Arena.ofAuto().allocate(10_000), 0);
        MemoryRegion foreign = p.regionsA.register(9, Arena.ofAuto().allocate(10_000), Peers.ALL);
        WorkRequest wr = p.request(Opcode.WRITE, 0, 0, 0, 0, 1);
        wr.segments = new Segments(8).add(p.memoryA.address(), 100, p.memoryA.key()).add(foreign.address(), 10, foreign.key());
        assertEquals(Endpoint.BAD_LOCAL_KEY, p.a.endpoint.post(p.ab, wr));
        wr.segments.clear().add(p.memoryA.address(), 100, p.memoryA.key()).add(other.address() + 9_999, 2, other.key());
        assertEquals(Endpoint.BAD_LOCAL_KEY, p.a.endpoint.post(p.ab, wr));
        wr.segments.clear().add(p.memoryA.address(), 100, p.memoryA.key()).add(other.address(), 10_000, other.key());
        wr.opcode = Opcode.READ_REQUEST;
        assertEquals(Endpoint.BAD_LOCAL_KEY, p.a.endpoint.post(p.ab, wr), "may not be written");
        assertEquals(Endpoint.BAD_LOCAL_KEY, p.a.endpoint.postReceive(p.ab, 0, wr.segments, 1));
        wr.segments.clear();
        for (int i = 0; i < PIECES + 1; i++) {
            wr.segments.add(p.memoryA.address(), 1, p.memoryA.key());
        }
        assertEquals(Endpoint.TOO_MANY_SEGMENTS, p.a.endpoint.post(p.ab, wr));
        assertEquals(Endpoint.TOO_MANY_SEGMENTS, p.a.endpoint.postReceive(p.ab, 0, wr.segments, 1));
        wr.opcode = Opcode.FETCH_ADD;
        wr.segments.clear().add(p.memoryA.address(), 4, p.memoryA.key()).add(p.memoryA.address() + 4, 4, p.memoryA.key());
        assertEquals(Endpoint.TOO_MANY_SEGMENTS, p.a.endpoint.post(p.ab, wr));
        wr.opcode = Opcode.WRITE;
        wr.segments.clear().add(p.memoryA.address(), 1 << 30, p.memoryA.key()).add(p.memoryA.address(), 1, p.memoryA.key());
        assertEquals(Endpoint.BAD_LENGTH, p.a.endpoint.post(p.ab, wr));
        assertEquals(0, p.a.endpoint.liveSegmentLists());
        assertEquals(0, p.a.endpoint.liveWorkRequests());
        assertThrows(IllegalArgumentException.class, () -> new Segments(2).add(0, -1, 0));
        assertThrows(IllegalStateException.class, () -> new Segments(1).add(0, 1, 0).add(0, 1, 0));

        // One piece of the second message goes while it is under way.
        p.post(p.request(Opcode.WRITE, 0, 0, 50_000, 100_000, 1));
        MemoryRegion big = p.regionsA.register(0, Arena.ofAuto().allocate(1 << 20), Access.LOCAL_WRITE);
        wr.segments.clear().add(p.memoryA.address(), 100_000, p.memoryA.key()).add(big.address(), 1 << 20, big.key());
        wr.wrId = 2;
        p.post(wr);
        assertTrue(p.until(100_000_000, () -> p.statsB().bytesReceived > 200_000));
        p.regionsA.deregister(big);
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 2));
        assertEquals(List.of(Completion.OK, Cause.LOCAL_ERROR), p.completionsA.stream().map(c -> c.status).toList());
        p.run(100_000_000);
        assertEquals(0, p.a.endpoint.liveSegmentLists());
        p.assertIdle();
    }

    @Test
    @Requirement("MR-LIM-002")
    void listsAreLimited() {
        EndpointConfig few = config(132, false);
        few.segmentListPool = 3;
        Peers p = new Peers(132, few, config(132, false)).connect();
        WorkRequest wr = p.request(Opcode.WRITE, 0, 0, 0, 0, 1);
        wr.segments = new Segments(2).add(p.memoryA.address(), 1, p.memoryA.key()).add(p.memoryA.address() + 8, 1, p.memoryA.key());
        for (int i = 0; i < 3; i++) {
            p.post(wr);
        }
        assertEquals(Endpoint.QUEUE_FULL, p.a.endpoint.post(p.ab, wr));
        assertEquals(Endpoint.QUEUE_FULL, p.a.endpoint.postReceive(p.ab, 0, wr.segments, 1));
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 1));
        assertEquals(4, p.a.endpoint.liveWorkRequests());
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 4));
        p.post(wr);
    }

    @Test
    @Requirement({"MR-SRQ-006", "MR-LIM-002"})
    void listsOfReceivesComeBackHoweverTheyEnd() {
        Peers p = peers(133, false);
        assertEquals(Endpoint.OK, p.b.endpoint.useSharedReceives(p.ba, 1, 0));
        Segments two = new Segments(2).add(p.memoryB.address(), 1_000, p.memoryB.key()).add(p.memoryB.address() + 9_000, 1_000, p.memoryB.key());
        for (int i = 0; i < 5; i++) {
            assertEquals(Endpoint.OK, p.b.endpoint.postReceive(p.ba, 0, two, i));
            assertEquals(Endpoint.OK, p.b.endpoint.postSharedReceive(0, two, i));
        }
        assertEquals(10, p.b.endpoint.liveSegmentLists());
        p.post(p.request(Opcode.SEND, 0, 0, 1_500, 0, 0));
        p.post(p.request(Opcode.SEND, 1, 0, 1_500, 0, 1));
        assertTrue(p.until(100_000_000, () -> p.completionsB.size() == 2));
        assertEquals(8, p.b.endpoint.liveSegmentLists());
        for (int s = 0; s < 2; s++) {
            // Too long for its receive: the stream ends.
            p.post(p.request(Opcode.SEND, s, 0, 2_001, 0, 2 + s));
        }
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 4));
        p.run(1_000_000);
        assertEquals(4, p.b.endpoint.liveSegmentLists(), "those of the stream are flushed, the shared ones stay");
        assertEquals(4, p.b.endpoint.freeSharedReceives(0));
        p.b.endpoint.abort(p.net.nowNs, p.ba, io.metaroce.wire.Reason.SHUTDOWN);
        assertEquals(4, p.b.endpoint.liveSegmentLists());
    }

    // ---- inline ----

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.3})
    @Requirement("MR-MEM-007")
    void inlineDataIsWhatItWasWhenPosted(double loss) {
        Peers p = peers(140, false);
        p.net.loss = loss;
        MemorySegment own = Arena.ofAuto().allocate(200);
        int n = 200;
        for (int i = 0; i < n; i++) {
            own.fill((byte) i);
            boolean send = i % 2 == 1;
            if (send) {
                if (i < 128) {
                    p.postReceiveB(0, 500_000 + i * 200L, 200, i);
                } else {
                    continue;
                }
            }
            WorkRequest wr = p.request(send ? Opcode.SEND : Opcode.WRITE, 0, 0, i, i * 200L, i);
            wr.inline = true;
            wr.localKey = 0;
            wr.localAddress = own.address();
            if (i % 5 == 4) {
                wr.segments = new Segments(2).add(own.address() + i / 3, i / 2, 0).add(own.address(), i - i / 2, 0);
            }
            p.post(wr);
        }
        own.fill((byte) 0x77);
        assertTrue(p.until(3_000_000_000L, () -> p.completionsA.size() == 164));
        for (int i = 0; i < n; i++) {
            if (i % 2 == 1 && i >= 128) {
                continue;
            }
            byte[] is = p.memoryB.segment().asSlice((i % 2 == 1 ? 500_000 : 0) + i * 200L, i).toArray(ValueLayout.JAVA_BYTE);
            byte[] expected = new byte[i];
            Arrays.fill(expected, (byte) i);
            assertArrayEquals(expected, is, "message " + i);
        }
        p.run(50_000_000);
        p.assertIdle();
        assertEquals(0, p.a.endpoint.liveInlineRequests());
    }

    @Test
    @Requirement("MR-MEM-007")
    void inlineDataHasALimitAndNoKey() {
        Peers p = peers(141, false);
        WorkRequest wr = p.request(Opcode.WRITE, 0, 0, 201, 0, 1);
        wr.inline = true;
        assertEquals(Endpoint.BAD_LENGTH, p.a.endpoint.post(p.ab, wr));
        wr.length = 8;
        for (int opcode : new int[] {Opcode.READ_REQUEST, Opcode.FETCH_ADD, Opcode.COMPARE_SWAP}) {
            wr.opcode = opcode;
            assertEquals(Endpoint.BAD_OPCODE, p.a.endpoint.post(p.ab, wr));
        }
        // A change of registrations is none of its business.
        MemoryRegion gone = p.regionsA.register(0, Arena.ofAuto().allocate(100), 0);
        wr.opcode = Opcode.WRITE;
        wr.localAddress = gone.address();
        wr.localKey = gone.key();
        gone.segment().fill((byte) 9);
        p.post(wr);
        assertEquals(1, p.a.endpoint.liveInlineRequests());
        p.regionsA.deregister(gone);
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 1));
        assertEquals(Completion.OK, p.completionsA.getFirst().status);
        assertEquals(0x0909090909090909L, p.memoryB.segment().get(ValueLayout.JAVA_LONG, 0));
        assertEquals(0, p.a.endpoint.liveInlineRequests());
        p.a.config.maxInlineBytes = Limits.MAX_INLINE_BYTES + 1;
        assertThrows(IllegalArgumentException.class, () -> new Endpoint(p.a.config, new RegionTable()));
        p.a.config.maxInlineBytes = 0;
        p.a.config.maxSegments = Limits.MAX_SEGMENTS + 1;
        assertThrows(IllegalArgumentException.class, () -> new Endpoint(p.a.config, new RegionTable()));
    }
}
