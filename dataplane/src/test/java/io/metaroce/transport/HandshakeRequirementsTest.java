// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;

import io.metaroce.wire.AcceptHeader;
import io.metaroce.wire.ChallengeHeader;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.Malformation;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Reason;
import io.metaroce.wire.RefuseHeader;
import io.metaroce.wire.Tlv;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Connection set-up, refusal and identifiers, requirement by requirement. */
class HandshakeRequirementsTest {
    private static final long MS = 1_000_000;

    private final Peers p = new Peers(1301);
    private final Tap tap = new Tap(p);

    private int connect() {
        return p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
    }

    /** Nothing of these types passes. */
    private void hold(Integer... types) {
        Set<Integer> held = Set.of(types);
        p.net.filter = (d, plane, port) -> !held.contains(d[4] & 15);
    }

    private List<Tap.Seen> inits() {
        return tap.of(true, Type.INIT);
    }

    private Tap.Seen first(boolean toB, int type) {
        return tap.of(toB, type).getFirst();
    }

    private static boolean sameButCookie(byte[] x, byte[] y) {
        byte[][] both = {x.clone(), y.clone()};
        for (byte[] d : both) {
            Arrays.fill(d, 0, 4, (byte) 0);
            Arrays.fill(d, InitHeader.COOKIE_HIGH, InitHeader.LENGTH, (byte) 0);
        }
        return Arrays.equals(both[0], both[1]);
    }

    // ---- initiator ----

    @Test
    @Requirement({"MR-CON-001", "MR-CON-020", "MR-CON-024", "MR-SEC-001"})
    void identitiesAreOwnRandomAndSecret() {
        Set<Integer> cids = new HashSet<>();
        Set<Long> nonces = new HashSet<>();
        Set<Integer> tags = new HashSet<>();
        Set<Integer> common = new HashSet<>();
        int low = 0;
        for (int run = 0; run < 4; run++) {
            // The same seed each time: what differs is the secret alone.
            EndpointConfig config = Peers.config(5);
            config.secret = 1_000 + run;
            Peers q = new Peers(1302, config, Peers.config(6));
            Tap t = new Tap(q);
            for (int i = 0; i < 8; i++) {
                assertTrue(q.a.endpoint.connect(q.net.nowNs, q.b.config.localAddresses[0], 0) > 0);
            }
            q.run(MS / 1000);
            Set<Integer> own = new HashSet<>();
            for (Tap.Seen s : t.of(true, Type.INIT)) {
                own.add(s.i32(InitHeader.INITIATOR_CID));
                nonces.add(s.i64(InitHeader.INITIATOR_NONCE));
                tags.add(s.i32(InitHeader.INITIATOR_TAG));
                low += s.i64(InitHeader.INITIATOR_NONCE) >>> 48 == 0 ? 1 : 0;
            }
            assertEquals(8, own.size(), "no two connections share a CID");
            assertFalse(own.contains(0));
            cids.addAll(own);
            own.forEach(cid -> assertEquals(q.a.endpoint.commonCid(), cid & q.a.endpoint.commonCidBits()));
            common.add(q.a.endpoint.commonCid());
        }
        assertTrue(common.size() > 1, "each endpoint has its own");
        assertEquals(32, cids.size());
        assertEquals(32, nonces.size());
        assertEquals(32, tags.size());
        assertTrue(low < 3, "64 random bits");
    }

    @Test
    @Requirement("MR-CON-002")
    void initIsLongerThanAnyAnswer() {
        EndpointConfig eight = Peers.config(8);
        eight.localAddresses = new NetAddress[8];
        Peers q = new Peers(1303, Peers.config(7), eight);
        Tap t = new Tap(q);
        q.connect();
        int init = t.of(true, Type.INIT).getFirst().bytes().length;
        assertTrue(init >= 512);
        t.seen.stream().filter(s -> !s.toB() && s.type() <= Type.REFUSE).forEach(s -> assertTrue(s.bytes().length <= init, "type " + s.type()));
    }

    @Test
    @Requirement("MR-CON-003")
    void initIsRepeatedUnchangedAtDoublingIntervalsAndThenGivenUp() {
        hold(Type.CHALLENGE);
        int first = connect();
        long start = p.net.nowNs;
        // What an endpoint says of itself may change meanwhile, what it said may not.
        p.until(50 * MS, () -> false);
        connect();
        assertTrue(p.until(5_000 * MS, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertEquals(3_000 * MS, p.net.nowNs - start, MS);
        assertEquals(first, p.eventsA.getFirst().connection);
        assertTrue(p.eventsA.getFirst().text().contains("10.0.0.2:14791"));
        List<Tap.Seen> sent = inits().stream().filter(s -> s.i32(InitHeader.INITIATOR_CID) == first).toList();
        sent.forEach(s -> assertArrayEquals(sent.getFirst().bytes(), s.bytes()));
        long[] gaps = new long[sent.size() - 1];
        for (int i = 0; i < gaps.length; i++) {
            gaps[i] = (sent.get(i + 1).atNs() - sent.get(i).atNs()) / MS;
        }
        assertArrayEquals(new long[] {20, 40, 80, 160, 160}, Arrays.copyOf(gaps, 5), Arrays.toString(gaps));
        for (int i = 5; i < gaps.length; i++) {
            assertEquals(160, gaps[i]);
        }
    }

    @Test
    @Requirement("MR-CON-004")
    void everyChallengeIsAnsweredAtOnceWithItsCookie() {
        hold(Type.ACCEPT);
        connect();
        assertTrue(p.until(10 * MS, () -> inits().size() == 2));
        assertEquals(0, inits().get(0).i64(InitHeader.COOKIE_HIGH));
        Tap.Seen challenge = first(false, Type.CHALLENGE);
        assertEquals(challenge.i64(ChallengeHeader.COOKIE_HIGH), inits().get(1).i64(InitHeader.COOKIE_HIGH));
        assertEquals(challenge.i64(ChallengeHeader.COOKIE_LOW), inits().get(1).i64(InitHeader.COOKIE_LOW));
        assertTrue(sameButCookie(inits().get(0).bytes(), inits().get(1).bytes()));
        p.run(MS);
        hold(Type.ACCEPT, Type.CHALLENGE);
        long before = p.net.nowNs;
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, Tap.changed(challenge.bytes(), b -> b.putLong(ChallengeHeader.COOKIE_HIGH, 77)));
        p.run(0);
        assertEquals(77, inits().getLast().i64(InitHeader.COOKIE_HIGH));
        assertEquals(before, inits().getLast().atNs());
        p.run(30 * MS);
        assertTrue(inits().size() > 3);
        assertEquals(77, inits().getLast().i64(InitHeader.COOKIE_HIGH), "used from then on");
    }

    @Test
    @Requirement("MR-CON-005")
    void acceptIsAnsweredAtOnceAndUntilSomethingComesBack() {
        hold(Type.ACK, Type.DATA);
        connect();
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsA, Event.CONNECTED)));
        long at = p.net.nowNs;
        p.run(0);
        assertEquals(at, first(true, Type.PROBE).atNs());
        hold(Type.ACK, Type.DATA, Type.PROBE);
        tap.seen.clear();
        p.run(100 * MS);
        assertEquals(5, tap.of(true, Type.PROBE).size(), 1, "every 20 ms");
    }

    @Test
    @Requirement("MR-CON-007")
    void aRefusalIsToldWithReasonTimeAndText() {
        hold(Type.CHALLENGE);
        int c = connect();
        p.run(MS);
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, refusal("voll, \u00e4\u001b[31m", inits().getFirst()));
        p.poll();
        Event event = p.eventsA.getFirst();
        assertEquals(Event.REFUSED, event.kind);
        assertEquals(c, event.connection);
        assertEquals(Reason.SHUTDOWN, event.reason);
        assertEquals(12_345, event.retryAfterMs);
        assertEquals("voll, \u00e4\u001b[31m", new String(event.peerText, 0, event.peerTextLength, StandardCharsets.UTF_8));
        assertEquals(0, p.a.endpoint.liveConnections());
    }

    @Test
    @Requirement({"MR-SEC-004", "MR-LIM-002"})
    void thePeersTextIsShownWithoutItsControlCharacters() {
        hold(Type.CHALLENGE);
        for (int i = 0; i < 4; i++) {
            connect();
            connect();
            connect();
            connect();
            p.net.run(MS, () -> false);
            inits().forEach(s -> p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, refusal("\u001b[2Jno\n\u202e\u0000!", s, 0)));
            tap.seen.clear();
        }
        connect();
        p.net.run(MS, () -> false);
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, refusal("last", inits().getFirst(), 0));
        p.poll();
        assertEquals(17, p.eventsA.size());
        String text = p.eventsA.get(1).text();
        assertTrue(text.endsWith("\ufffd[2Jno\ufffd\ufffd\ufffd!"), text);
        // Sixteen texts are kept: the first gave way to the last, the refusal itself did not.
        assertEquals(0, p.eventsA.get(0).peerTextLength);
        assertEquals(Reason.SHUTDOWN, p.eventsA.get(0).reason);
        assertTrue(p.eventsA.getLast().text().endsWith(": last"));
    }

    private static byte[] refusal(String text, Tap.Seen init) {
        return refusal(text, init, 12_345);
    }

    private static byte[] refusal(String text, Tap.Seen init, int retryAfterMs) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        byte[] d = new byte[RefuseHeader.LENGTH + utf8.length];
        ByteBuffer b = ByteBuffer.wrap(d);
        b.put(4, (byte) Prefix.versionTypeOf(Type.REFUSE)).put(6, (byte) Reason.SHUTDOWN).putInt(8, init.i32(InitHeader.INITIATOR_CID)).putInt(12, retryAfterMs)
                .putLong(16, init.i64(InitHeader.INITIATOR_NONCE)).putShort(24, (short) utf8.length).put(RefuseHeader.LENGTH, utf8);
        return b.putInt(0, Tap.crc(d)).array();
    }

    @Test
    @Requirement("MR-CON-008")
    void answersThatDoNotEchoTheNonceAreDropped() {
        hold(Type.CHALLENGE, Type.ACCEPT);
        connect();
        p.run(MS);
        Tap.Seen challenge = first(false, Type.CHALLENGE);
        byte[] forged = Tap.changed(challenge.bytes(), b -> b.putLong(16, b.getLong(16) + 1));
        tap.giveA(forged);
        assertEquals(1, p.a.endpoint.counters().forged);
        assertEquals(1, inits().size());
        tap.giveA(challenge.bytes());
        Tap.Seen accept = first(false, Type.ACCEPT);
        tap.giveA(Tap.changed(accept.bytes(), b -> b.putLong(16, b.getLong(16) + 1)));
        assertEquals(2, p.a.endpoint.counters().forged);
        byte[] refusal = refusal("no", inits().getFirst());
        tap.giveA(Tap.changed(refusal, b -> b.putLong(16, b.getLong(16) + 1)));
        assertEquals(3, p.a.endpoint.counters().forged);
        // Of no attempt at all.
        long unexpected = p.a.endpoint.counters().unexpected;
        tap.giveA(Tap.changed(accept.bytes(), b -> b.putInt(8, b.getInt(8) ^ 0x100000)));
        assertEquals(unexpected + 1, p.a.endpoint.counters().unexpected);
        assertTrue(p.eventsA.isEmpty());
        tap.giveA(accept.bytes());
        assertTrue(Peers.has(p.eventsA, Event.CONNECTED));
    }

    // ---- responder ----

    @Test
    @Requirement({"MR-CON-006", "MR-CON-009"})
    void aCookieIsGoodForItsOwnInitAndTimeOnly() {
        hold(Type.ACCEPT);
        connect();
        assertTrue(p.until(10 * MS, () -> inits().size() == 2));
        byte[] good = inits().get(1).bytes();
        p.net.filter = (d, plane, port) -> false;
        NetAddress from = p.a.config.localAddresses[0];
        int challenges = tap.of(false, Type.CHALLENGE).size();
        byte[][] bad = {Tap.changed(good, b -> b.putInt(InitHeader.INITIATOR_CID, 77)),
            Tap.changed(good, b -> b.putLong(InitHeader.INITIATOR_NONCE, 77)),
            Tap.changed(good, b -> b.putLong(InitHeader.COOKIE_HIGH, b.getLong(InitHeader.COOKIE_HIGH) + 1)),
            Tap.changed(good, b -> b.putLong(InitHeader.COOKIE_LOW, b.getLong(InitHeader.COOKIE_LOW) + 1))};
        Peers other = new Peers(1304);
        Tap answers = new Tap(other);
        other.net.nowNs = p.net.nowNs;
        for (byte[] d : bad) {
            p.net.inject(p.b, 0, from, 2, d);
        }
        p.net.inject(p.b, 0, TestNetwork.address(9, 0), 2, good);
        p.run(MS);
        assertEquals(5, p.b.endpoint.counters().badCookies);
        assertEquals(challenges + 5, tap.of(false, Type.CHALLENGE).size(), "each is answered by a challenge");
        // B itself still takes it: nothing was used up. Another endpoint, of another secret, does not.
        other.net.inject(other.b, 0, from, 2, good);
        other.run(MS);
        assertEquals(1, answers.of(false, Type.CHALLENGE).size());
        assertEquals(0, other.b.endpoint.liveConnections());
        p.run(2_000 * MS);
        assertEquals(0, p.b.endpoint.liveConnections());
        p.net.inject(p.b, 0, from, 2, good);
        assertEquals(1, p.b.endpoint.liveConnections(), "still good");
        p.run(9_000 * MS);
        assertEquals(0, p.b.endpoint.liveConnections());
        p.net.inject(p.b, 0, from, 2, good);
        assertEquals(0, p.b.endpoint.liveConnections(), "a cookie ages");
        assertEquals(6, p.b.endpoint.counters().badCookies);
    }

    @Test
    @Requirement("MR-CON-011")
    void answersGoToTheSourceOfInitAtThePortItTells() {
        hold(Type.CHALLENGE);
        connect();
        p.run(MS);
        // Planes of somebody else, at another port; the INIT comes from host 9, over plane 1.
        byte[] init = Tap.changed(inits().getFirst().bytes(), b -> {
            int planes = tlv(b.array(), InitHeader.LENGTH, Tlv.PLANES);
            for (int i = 0; i < 2; i++) {
                b.putInt(planes + 4 + 20 * i + 12, 0x0a00_004d).putShort(planes + 4 + 20 * i + 16, (short) (2_000 + i));
            }
        });
        NetAddress nine = TestNetwork.address(9, 0);
        NetAddress told = new NetAddress(nine.high(), nine.low(), 2_001);
        tap.seen.clear();
        p.net.inject(p.b, 1, nine, 2, init);
        p.run(MS);
        Tap.Seen challenge = first(false, Type.CHALLENGE);
        assertEquals(told, challenge.to());
        assertEquals(1, challenge.plane());
        byte[] again = Tap.changed(init, b -> b.putLong(InitHeader.COOKIE_HIGH, challenge.i64(ChallengeHeader.COOKIE_HIGH))
                .putLong(InitHeader.COOKIE_LOW, challenge.i64(ChallengeHeader.COOKIE_LOW)));
        p.net.inject(p.b, 1, nine, 2, again);
        p.run(MS);
        assertEquals(told, first(false, Type.ACCEPT).to());
        assertEquals(1, first(false, Type.ACCEPT).plane());
        p.b.config.acceptConnections = false;
        p.net.inject(p.b, 1, nine, 2, Tap.changed(again, b -> b.putLong(InitHeader.COOKIE_LOW, 0)));
        p.run(MS);
        tap.seen.stream().filter(s -> !s.toB()).forEach(s -> assertEquals(told, s.to(), "type " + s.type()));
        assertTrue(tap.seen.stream().filter(s -> !s.toB()).count() >= 3);
    }

    /** Offset of the value of a TLV. */
    static int tlv(byte[] d, int from, int type) {
        ByteBuffer b = ByteBuffer.wrap(d);
        for (int at = from; at < d.length; at += 4 + (b.getShort(at + 2) + 3 & ~3)) {
            if (d[at] == type) {
                return at;
            }
        }
        throw new AssertionError("no TLV of type " + type);
    }

    @Test
    @Requirement({"MR-CON-012", "MR-CON-013", "MR-CON-014", "MR-CON-015"})
    void halfOpenAnswersTheSameAcceptNothingElseAndIsForgotten() {
        hold(Type.ACCEPT);
        connect();
        assertTrue(p.until(10 * MS, () -> !tap.of(false, Type.ACCEPT).isEmpty()));
        long start = p.net.nowNs;
        byte[] accept = first(false, Type.ACCEPT).bytes();
        assertNotEquals(0, ByteBuffer.wrap(accept).getInt(AcceptHeader.RESPONDER_CID));
        // The pool of B changes, the answer to the same INIT does not.
        connect();
        p.run(100 * MS);
        List<Tap.Seen> accepts = tap.of(false, Type.ACCEPT).stream().filter(s -> s.i32(8) == ByteBuffer.wrap(accept).getInt(8)).toList();
        assertTrue(accepts.size() > 2);
        accepts.forEach(s -> assertArrayEquals(accept, s.bytes()));
        assertEquals(2, p.b.endpoint.liveConnections());
        // A wrong checksum proves nothing.
        byte[] probe = new byte[32];
        ByteBuffer.wrap(probe).put(4, (byte) 0x17).putInt(8, ByteBuffer.wrap(accept).getInt(AcceptHeader.RESPONDER_CID)).putInt(0, 12345);
        p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, probe);
        p.net.kill(p.a);
        tap.seen.clear();
        p.run(start + 1_499 * MS - p.net.nowNs);
        assertEquals(2, p.b.endpoint.liveConnections());
        p.run(200 * MS);
        assertEquals(0, p.b.endpoint.liveConnections());
        assertTrue(tap.seen.isEmpty(), "silently");
        assertTrue(p.eventsB.isEmpty());
    }

    @Test
    @Requirement("MR-CON-014")
    void dataOpensAHalfOpenConnectionAndIsHandled() {
        hold(Type.PROBE);
        p.ab = connect();
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsA, Event.CONNECTED)));
        p.run(MS);
        assertFalse(Peers.has(p.eventsB, Event.ACCEPTED));
        assertTrue(tap.seen.stream().noneMatch(s -> !s.toB() && s.type() > Type.REFUSE));
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 1));
        assertTrue(p.until(10 * MS, () -> p.completionsA.size() == 1));
        assertTrue(Peers.has(p.eventsB, Event.ACCEPTED));
        assertEquals(0, p.statsA().retransmissions);
        p.assertCopied(0, 0, 100);
    }

    @Test
    @Requirement({"MR-CON-016", "MR-CON-019"})
    void whoTakesNoConnectionsSaysSo() {
        p.b.config.acceptConnections = false;
        connect();
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsA, Event.REFUSED)));
        assertEquals(Reason.REFUSED_BY_APPLICATION, p.eventsA.getFirst().reason);
        assertEquals(0, p.b.endpoint.liveConnections());
    }

    @Test
    @Requirement("MR-CON-021")
    void aSlotThatIsUsedAgainHasAnotherTag() {
        EndpointConfig one = Peers.config(4);
        one.maxConnections = 1;
        Peers q = new Peers(1305, Peers.config(3), one);
        Tap t = new Tap(q);
        Set<Integer> tags = new HashSet<>();
        byte[] old = null;
        for (int i = 0; i < 4; i++) {
            q.eventsA.clear();
            q.eventsB.clear();
            t.seen.clear();
            q.connect();
            tags.add(t.of(false, Type.ACCEPT).getFirst().i32(AcceptHeader.RESPONDER_TAG));
            if (old != null) {
                // A late packet of the former connection, even one that names the new connection.
                long before = q.b.endpoint.counters().checksumErrors;
                q.net.inject(q.b, 0, q.a.config.localAddresses[0], 2, Tap.changed(old, b -> b.putInt(8, q.ba)));
                assertEquals(before + 1, q.b.endpoint.counters().checksumErrors);
            }
            q.post(q.request(Opcode.WRITE, 0, 0, 10, 0, 1));
            q.run(MS);
            old = t.dataToB().getFirst().bytes();
            q.a.endpoint.close(q.net.nowNs, q.ab);
            q.run(200 * MS);
        }
        assertEquals(4, tags.size());
    }

    // ---- versions ----

    @Test
    @Requirement({"MR-GEN-001", "MR-GEN-002"})
    void anInitOfAnotherVersionIsRefusedInOurs() {
        Peers q = new Peers(1306);
        Tap t = new Tap(q);
        q.net.change = d -> d[4] == Prefix.versionTypeOf(Type.INIT) ? Tap.changed(d, b -> {
            b.put(4, (byte) 0x21);
            // Whatever stands behind the first 32 bytes.
            Arrays.fill(b.array(), 32, d.length, (byte) 0xee);
        }) : d;
        q.a.endpoint.connect(q.net.nowNs, q.b.config.localAddresses[0], 0);
        assertTrue(q.until(10 * MS, () -> Peers.has(q.eventsA, Event.REFUSED)));
        assertEquals(Reason.VERSION, q.eventsA.getFirst().reason);
        assertEquals(0x14, t.of(false, Type.REFUSE).getFirst().u8(4));
        assertEquals(0, q.b.endpoint.liveConnections());
        // Too short to be answered, of a wrong checksum, or of no initiator: dropped.
        byte[] init = t.of(true, Type.INIT).getFirst().bytes();
        byte[][] bad = {Tap.resized(init, 508, b -> b.put(4, (byte) 0x21)), Tap.changed(init, b -> b.put(4, (byte) 0x21).putInt(12, 0)), init.clone()};
        bad[2][4] = 0x21;
        t.seen.clear();
        for (byte[] d : bad) {
            q.net.inject(q.b, 0, q.a.config.localAddresses[0], 2, d);
        }
        q.run(MS);
        assertTrue(t.seen.isEmpty());
    }

    @Test
    @Requirement("MR-GEN-003")
    void anythingElseOfAnotherVersionIsDropped() {
        p.connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 10, 0, 1));
        p.run(MS);
        p.a.endpoint.close(p.net.nowNs, p.ab);
        p.run(MS);
        List<Tap.Seen> all = List.copyOf(tap.seen);
        tap.seen.clear();
        long before = p.b.endpoint.counters().malformed;
        long byVersion = p.b.endpoint.counters().malformedBy[Malformation.BAD_VERSION];
        int n = 0;
        for (Tap.Seen s : all) {
            if (s.type() != Type.INIT) {
                for (int version : new int[] {0, 2, 15}) {
                    p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, Tap.changed(s.bytes(), b -> b.put(4, (byte) (version << 4 | s.type()))));
                    n++;
                }
            }
        }
        assertEquals(before + n, p.b.endpoint.counters().malformed);
        assertEquals(byVersion + n, p.b.endpoint.counters().malformedBy[Malformation.BAD_VERSION]);
        p.run(MS);
        assertTrue(tap.seen.isEmpty());
    }
}
