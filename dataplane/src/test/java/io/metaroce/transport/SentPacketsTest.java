// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Malformation;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Type;
import io.metaroce.wire.Validate;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Looks at every datagram of a lossy conversation with all operations both ways: what senders must write, they write. */
class SentPacketsTest {
    private static final int MTU = 1024;
    private static final long RESULTS = 6_000_000;

    private Peers p;
    private Tap tap;
    /** What A posted, by stream, in the order of posting. */
    private final Map<Integer, List<WorkRequest>> posted = new TreeMap<>();

    @BeforeEach
    void converse() {
        p = new Peers(1201);
        tap = new Tap(p);
        p.net.loss = 0.08;
        p.net.duplicate = 0.02;
        p.net.mark = 0.05;
        p.connect();
        int wrId = 0;
        for (int round = 0; round < 12; round++) {
            for (int stream = 0; stream < 3; stream++) {
                p.postReceiveB(stream, 4_000_000, 9_000, wrId);
                p.postReceiveB(stream, 4_000_000, 9_000, wrId);
                p.postReceiveB(stream, 4_000_000, 9_000, wrId);
                p.postReceiveB(stream, 4_000_000, 9_000, wrId);
                for (int opcode : new int[] {Opcode.WRITE, Opcode.SEND, Opcode.READ_REQUEST, Opcode.WRITE_IMM, Opcode.FETCH_ADD, Opcode.SEND_IMM,
                    Opcode.COMPARE_SWAP, Opcode.SEND_INVALIDATE}) {
                    boolean atomic = Opcode.isAtomic(opcode);
                    int length = atomic ? 8 : (round * 1031 + stream * 77) % 9_000;
                    WorkRequest wr = p.request(opcode, stream, atomic ? RESULTS : round * 9_000, length, atomic ? RESULTS + 8 : round * 9_000, wrId++);
                    wr.immediate = 0x01020304 + wrId;
                    wr.operand = 3;
                    if (opcode == Opcode.SEND_INVALIDATE) {
                        wr.remoteKey = p.regionsB.register(0, Arena.ofAuto().allocate(8), Peers.ALL).key();
                    }
                    p.post(wr);
                    posted.computeIfAbsent(stream, _ -> new ArrayList<>()).add(wr);
                    WorkRequest back = p.requestFromB(Opcode.WRITE, stream, 0, 2_500, 5_000_000, wrId);
                    assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, back));
                }
            }
        }
        int all = wrId;
        assertTrue(p.until(5_000_000_000L, () -> p.completionsA.size() == all), p.completionsA.size() + " of " + all);
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
        assertTrue(p.statsA().retransmissions > 20, "too few to see anything");
        p.a.endpoint.close(p.net.nowNs, p.ab);
        assertTrue(p.until(1_000_000_000L, () -> Peers.has(p.eventsA, Event.CLOSED)));
    }

    private List<Tap.Seen> data(boolean toB) {
        return tap.of(toB, Type.DATA);
    }

    private static Map<Integer, List<Tap.Seen>> by(List<Tap.Seen> packets, java.util.function.ToIntFunction<Tap.Seen> key) {
        Map<Integer, List<Tap.Seen>> groups = new TreeMap<>();
        packets.forEach(s -> groups.computeIfAbsent(key.applyAsInt(s), _ -> new ArrayList<>()).add(s));
        return groups;
    }

    /** First transmissions of a stream, by SSN. */
    private static List<Tap.Seen> meanings(List<Tap.Seen> packets, int stream) {
        Map<Integer, Tap.Seen> first = new TreeMap<>();
        packets.stream().filter(s -> s.stream() == stream).forEach(s -> first.putIfAbsent(s.ssn(), s));
        return List.copyOf(first.values());
    }

    @Test
    @Requirement({"MR-ENC-001", "MR-PKT-003", "MR-PKT-004", "MR-PKT-005", "MR-PKT-008", "MR-PKT-010", "MR-PKT-011"})
    void allThatIsSentIsWellFormed() {
        Set<Integer> types = new HashSet<>();
        for (int i = 0; i < tap.seen.size(); i++) {
            Tap.Seen s = tap.seen.get(i);
            byte[] datagram = s.isFollowed() ? s.with(tap.seen.get(i + 1)) : s.bytes();
            MemorySegment copy = Arena.ofAuto().allocate(datagram.length, 8).copyFrom(MemorySegment.ofArray(datagram));
            assertEquals("NONE", Malformation.name(Validate.check(copy.address(), datagram.length)));
            types.add(s.type());
            (s.type() == Type.ACK ? s.blocks() : List.<Tap.Block>of()).forEach(b -> assertTrue(b.words().length == 0 || b.words()[b.words().length - 1] != 0, "a trailing word of zero"));
        }
        assertEquals(Set.of(Type.INIT, Type.CHALLENGE, Type.ACCEPT, Type.DATA, Type.ACK, Type.PROBE, Type.PARITY, Type.CLOSE, Type.CLOSE_ACK), types);
    }

    @Test
    @Requirement("MR-GEN-004")
    void reservedFieldsAndFlagsAreZero() {
        for (Tap.Seen s : tap.seen) {
            int[] reserved = switch (s.type()) {
                case Type.DATA -> new int[] {15};
                case Type.ACK -> new int[0];
                case Type.PROBE -> new int[] {5, 6, 15};
                case Type.PARITY -> new int[] {5, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
                case Type.CLOSE, Type.CLOSE_ACK -> new int[] {5, 7, 16, 17, 18, 19};
                case Type.CHALLENGE -> new int[] {5, 6, 7, 12, 13, 14, 15};
                case Type.INIT -> new int[] {5, 6, 7};
                case Type.ACCEPT -> new int[] {5, 6, 7, 30, 31};
                default -> throw new AssertionError("type " + s.type());
            };
            for (int at : reserved) {
                assertEquals(0, s.u8(at), "type " + s.type() + ", byte " + at);
            }
            if (s.isData()) {
                assertEquals(0, s.u8(5) & ~(DataHeader.ACK_REQUEST | DataHeader.LAST | DataHeader.RETRANSMISSION | DataHeader.SOLICITED | DataHeader.ANSWERED));
                int op = s.opcode();
                boolean index = op == Opcode.SEND || op == Opcode.SEND_IMM || op == Opcode.SEND_INVALIDATE;
                assertTrue(!index || s.i32(44) == 0, "behind the receive index");
                assertTrue(op == Opcode.WRITE || op == Opcode.WRITE_IMM || Opcode.isRequest(op) || op == Opcode.SEND_INVALIDATE || s.i32(48) == 0, "key");
                assertTrue(Opcode.hasImmediate(op) || Opcode.isRequest(op) || s.i32(60) == 0, "immediate");
            } else if (s.type() == Type.ACK) {
                assertEquals(0, s.u8(5) & ~(AckHeader.HAS_SHARE | AckHeader.DATA_FOLLOWS));
                assertEquals(0, s.u8(AckHeader.LONG_BLOCKS) >> s.u8(6));
                assertTrue(s.blocks().stream().filter(Tap.Block::isLong).allMatch(b -> s.u8(b.at() + PathBlock.WORDS + 1) == 0));
                for (int i = 0; i < s.u8(7); i++) {
                    int at = s.bytes().length - (i + 1) * ControlBlock.LENGTH;
                    assertEquals(0, s.u16(at + 2));
                    assertTrue(s.u8(at) == ControlBlock.REBUILT || s.i32(at + 12) == 0);
                }
            }
        }
    }

    @Test
    @Requirement("MR-CRC-001")
    void checksumsUseTheTagThatTheReceiverGave() {
        int tagOfA = tap.of(true, Type.INIT).getFirst().i32(24);
        int tagOfB = tap.of(false, Type.ACCEPT).getFirst().i32(24);
        assertNotEquals(tagOfA, tagOfB);
        for (Tap.Seen s : tap.seen) {
            boolean handshake = s.type() <= Type.REFUSE;
            assertEquals(Tap.crc(s.bytes()) ^ (handshake ? 0 : s.toB() ? tagOfB : tagOfA), s.i32(0), "type " + s.type());
        }
    }

    @Test
    @Requirement({"MR-PKT-002", "MR-PKT-006"})
    void packetsOfAMessageAgreeAndAreFull() {
        for (boolean toB : new boolean[] {true, false}) {
            for (int stream = 0; stream < 3; stream++) {
                Map<Long, List<Tap.Seen>> messages = new HashMap<>();
                meanings(data(toB), stream).forEach(s -> messages.computeIfAbsent((long) s.msn() << 8 | (Opcode.isResponse(s.opcode()) ? 1 : 0),
                        _ -> new ArrayList<>()).add(s));
                for (List<Tap.Seen> message : messages.values()) {
                    Tap.Seen head = message.getFirst();
                    int length = head.i32(56);
                    for (int i = 0; i < message.size(); i++) {
                        Tap.Seen s = message.get(i);
                        boolean last = i == message.size() - 1;
                        assertArrayEquals(new long[] {head.opcode(), length, head.i32(48), head.i32(60)}, new long[] {s.opcode(), s.i32(56), s.i32(48), s.i32(60)});
                        boolean write = s.opcode() == Opcode.WRITE || s.opcode() == Opcode.WRITE_IMM;
                        assertEquals(head.i64(40) + (write ? (long) i * MTU : 0), s.i64(40), "address, receive index or request ID");
                        assertEquals(s.opcode() == Opcode.WRITE_IMM ? head.i32(52) : i * MTU, s.i32(52), "offset or receive index");
                        if (Opcode.fixedPayload(s.opcode()) == 0) {
                            assertEquals(last ? length - i * MTU : MTU, s.u16(38), "payload");
                        }
                        assertEquals(last, (s.u8(5) & DataHeader.LAST) != 0);
                    }
                }
            }
        }
    }

    @Test
    @Requirement({"MR-PKT-001", "MR-STR-003"})
    void messagesAreNumberedAsPostedAndWritesCarryTheirOwnAddress() {
        posted.forEach((stream, requests) -> {
            int next = 0;
            for (Tap.Seen s : meanings(data(true), stream)) {
                if (s.msn() == next) {
                    next++;
                }
                assertEquals(next - 1, s.msn(), "without holes, in order");
                WorkRequest wr = requests.get(s.msn());
                assertEquals(wr.opcode, s.opcode());
                assertEquals(wr.length, s.i32(56));
                if (wr.opcode == Opcode.WRITE) {
                    assertEquals(wr.remoteAddress + s.i32(52), s.i64(40));
                }
            }
            assertEquals(requests.size(), next);
        });
    }

    @Test
    @Requirement({"MR-STR-002", "MR-STR-004"})
    void everyMeaningHasOneSsnForAllItsTransmissions() {
        for (boolean toB : new boolean[] {true, false}) {
            for (List<Tap.Seen> stream : by(data(toB), Tap.Seen::stream).values()) {
                Map<Integer, byte[]> known = new TreeMap<>();
                for (Tap.Seen s : stream) {
                    byte[] meaning = meaning(s);
                    byte[] before = known.putIfAbsent(s.ssn(), meaning);
                    assertTrue(before == null || Arrays.equals(before, meaning), "SSN " + s.ssn() + " has two meanings");
                    assertEquals(before != null, s.isRepeat());
                }
                int next = 0;
                for (int ssn : known.keySet()) {
                    assertEquals(next++, ssn, "from 0, without holes");
                }
                // Offsets of a message follow one another by SSN.
                List<Tap.Seen> all = meanings(stream, stream.getFirst().stream());
                for (int i = 1; i < all.size(); i++) {
                    Tap.Seen s = all.get(i);
                    Tap.Seen before = all.get(i - 1);
                    boolean first = (before.u8(5) & DataHeader.LAST) != 0;
                    assertEquals(!first, before.msn() == s.msn() && before.opcode() == s.opcode(), "messages do not mix");
                }
            }
        }
    }

    /** All but what belongs to the transmission; memory may change, so without the payload. */
    private static byte[] meaning(Tap.Seen s) {
        byte[] d = Arrays.copyOf(s.bytes(), DataHeader.LENGTH);
        Arrays.fill(d, 0, 4, (byte) 0);
        d[Prefix.FLAGS] &= DataHeader.LAST | DataHeader.ANSWERED;
        d[DataHeader.FLOOR_DISTANCE] = 0;
        Arrays.fill(d, DataHeader.PATH, DataHeader.TIMESTAMP + 4, (byte) 0);
        Arrays.fill(d, DataHeader.DEMAND, DataHeader.DEMAND + 2, (byte) 0);
        return d;
    }

    @Test
    @Requirement({"MR-PATH-004", "MR-PATH-005", "MR-LOSS-002"})
    void psnsGoUpByOneAndRepeatsTakeAFreshOneOnTheSamePath() {
        Set<Integer> firsts = new HashSet<>();
        for (boolean toB : new boolean[] {true, false}) {
            for (List<Tap.Seen> path : by(data(toB), Tap.Seen::path).values()) {
                firsts.add(path.getFirst().psn());
                for (int i = 1; i < path.size(); i++) {
                    assertEquals(path.get(i - 1).psn() + 1, path.get(i).psn());
                }
            }
        }
        assertEquals(16, firsts.size(), "first PSNs differ");
        assertTrue(firsts.stream().filter(psn -> psn >>> 16 == 0).count() < 3, "first PSNs are random");
        long repeats = data(true).stream().filter(Tap.Seen::isRepeat).count();
        long elsewhere = data(true).stream().filter(Tap.Seen::isRepeat).filter(s -> data(true).stream()
                .filter(o -> o.stream() == s.stream() && o.ssn() == s.ssn()).findFirst().orElseThrow().path() != s.path()).count();
        assertEquals(0, p.statsA().deadPaths);
        assertTrue(repeats > 20);
        assertEquals(0, elsewhere, "of " + repeats);
    }

    @Test
    @Requirement({"MR-PATH-013", "MR-PATH-014"})
    void floorsNeverGoBackAndPsnsStayInTheirWindow() {
        for (boolean toB : new boolean[] {true, false}) {
            Map<Integer, Integer> floors = new HashMap<>();
            for (Tap.Seen s : tap.seen) {
                if (s.toB() != toB || !s.isData() && s.type() != Type.PROBE) {
                    continue;
                }
                int floor = s.isData() ? s.psn() - s.u8(7) : s.i32(28);
                Integer before = floors.put(s.path(), floor);
                assertTrue(before == null || floor - before >= 0, "path " + s.path());
            }
        }
    }

    @Test
    @Requirement({"MR-ENC-006", "MR-ENC-008", "MR-PATH-001"})
    void aPathHasOneSourcePortAndStaysOnItsPlane() {
        Map<Integer, Integer> ports = new HashMap<>();
        for (Tap.Seen s : tap.seen) {
            if (s.isData() || s.type() == Type.PROBE) {
                assertEquals(DataHeader.planeOf(s.path()), s.plane());
                assertTrue(DataHeader.indexOf(s.path()) < 4 && s.plane() < 2);
                int key = (s.toB() ? 1 << 24 : 0) | s.path() << 8 | s.epoch();
                Integer before = ports.put(key, s.sourcePort());
                assertTrue(before == null || before == s.sourcePort(), "path " + s.path());
            }
        }
        assertEquals(16, ports.size());
    }

    @Test
    @Requirement({"MR-OP-010", "MR-READ-010", "MR-ATOM-004"})
    void receivesAndRequestsAreCountedInTheOrderOfMessages() {
        for (int stream = 0; stream < 3; stream++) {
            int receives = 0;
            int reads = 0;
            for (Tap.Seen s : meanings(data(true), stream)) {
                boolean last = (s.u8(5) & DataHeader.LAST) != 0;
                if (Opcode.consumesReceive(s.opcode())) {
                    assertEquals(receives, s.opcode() == Opcode.WRITE_IMM ? s.i32(52) : s.i32(40));
                    receives += last ? 1 : 0;
                } else if (Opcode.isRequest(s.opcode())) {
                    assertEquals(reads++, s.i32(60));
                }
            }
            assertEquals(48, receives);
            assertEquals(36, reads);
        }
    }

    @Test
    @Requirement({"MR-READ-003", "MR-READ-004", "MR-READ-005", "MR-ATOM-006"})
    void responsesEchoTheirRequestsInOrder() {
        for (int stream = 0; stream < 3; stream++) {
            List<Tap.Seen> requests = meanings(data(true), stream).stream().filter(s -> Opcode.isRequest(s.opcode())).toList();
            List<Tap.Seen> responses = meanings(data(false), stream).stream().filter(s -> Opcode.isResponse(s.opcode())).toList();
            int next = 0;
            for (Tap.Seen s : responses) {
                Tap.Seen request = requests.get(next);
                assertEquals(request.i64(64), s.i64(40), "request ID");
                assertEquals(request.msn(), s.msn());
                assertEquals(request.i32(56), s.i32(56), "the length that was asked for");
                assertEquals(request.opcode() == Opcode.READ_REQUEST, s.opcode() == Opcode.READ_RESPONSE);
                next += (s.u8(5) & DataHeader.LAST) != 0 ? 1 : 0;
            }
            assertEquals(requests.size(), next);
            assertEquals(requests.size(), requests.stream().map(s -> s.i64(64)).distinct().count(), "no two have the same ID");
        }
    }

    @Test
    @Requirement("MR-ACK-011")
    void acknowledgementsConsumeNoPsnAndAreNotAcknowledged() {
        // All PSNs of a path belong to Data, seen above; here: what is acknowledged is Data or probes, and never ahead of them.
        Map<Integer, Integer> next = new HashMap<>();
        tap.of(true, Type.DATA).forEach(s -> next.put(s.path(), s.psn() + 1));
        tap.acksToA().stream().flatMap(s -> s.blocks().stream()).forEach(b -> {
            if (next.containsKey(b.path())) {
                assertTrue(b.distance(next.get(b.path())) >= b.span());
            }
        });
        assertFalse(tap.acksToA().isEmpty());
        List<Tap.Seen> tail = tap.seen.stream().sorted(Comparator.comparingLong(Tap.Seen::atNs)).toList();
        long lastData = tail.stream().filter(s -> s.isData() || s.type() == Type.PROBE).mapToLong(Tap.Seen::atNs).max().orElseThrow();
        assertTrue(tail.stream().filter(s -> s.type() == Type.ACK && s.atNs() > lastData + 50_000).count() < 4, "acknowledgements answer one another");
    }
}
