// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.wire.AcceptHeader;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Reason;
import io.metaroce.wire.Type;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What an attacker off the path can send to an unencrypted connection, and somebody who has recorded old packets (spec: "Guessing").
 * What an attacker can do to encrypted ones is in {@link EncryptionTest}.
 */
class AttackTest {
    private static final int GUESSES = 3_000;

    private final Random random = new Random(11);

    private static String traces(Peers p) {
        ConnectionStats s = p.statsB();
        return s.packetsReceived + " " + s.acksReceived + " " + s.acksSent + " " + s.violations + " " + s.duplicates + " " + s.ecnMarks + " "
                + p.b.endpoint.liveConnections() + " " + p.b.endpoint.liveStreams() + " " + p.eventsB.size() + " " + p.completionsB.size();
    }

    private static void assertWorks(Peers p) {
        int before = p.completionsA.size();
        p.post(p.request(Opcode.WRITE, 0, 4096, 30_000, 8192, 5));
        assertTrue(p.until(3_000_000_000L, () -> p.completionsA.size() == before + 1));
        assertEquals(Completion.OK, p.completionsA.getLast().status);
        p.assertCopied(4096, 8192, 30_000);
    }

    /** A datagram to B of this type, as A sends it on the connection at rest. */
    private static byte[] genuine(Peers p, int type) {
        Tap tap = new Tap(p);
        assertWorks(p);
        // B writes too, so that A acknowledges.
        WorkRequest wr = p.requestFromB(Opcode.WRITE, 1, 0, 3_000, (6 << 20), 1);
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, wr));
        p.run(1_000_000_000L);
        byte[] d = tap.of(true, type == Type.CLOSE ? Type.PROBE : type).getLast().bytes();
        if (type == Type.CLOSE) {
            d = Tap.resized(d, 20, b -> b.put(4, (byte) 0x18).putShort(5, (short) 0).put(7, (byte) 0).putInt(12, p.ab).putInt(16, 0));
        }
        return d;
    }

    @ParameterizedTest
    @ValueSource(ints = {Type.DATA, Type.ACK, Type.PROBE, Type.CLOSE})
    @Requirement({"MR-CRC-002", "MR-CRC-005"})
    void whoKnowsAllButTagOrCidChangesNothing(int type) {
        Peers p = new Peers(700 + type).connect();
        byte[] good = genuine(p, type);
        String before = traces(p);
        long errors = p.b.endpoint.counters().checksumErrors;
        for (int i = 0; i < GUESSES; i++) {
            byte[] d = good.clone();
            // Every other bit is right; and it comes with a mark that would slow the sender down.
            ByteBuffer.wrap(d).putInt(0, ByteBuffer.wrap(d).getInt(0) ^ 1 + random.nextInt(Integer.MAX_VALUE));
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 3, d);
        }
        assertEquals(GUESSES, p.b.endpoint.counters().checksumErrors - errors);
        assertEquals(before, traces(p));
        for (int i = 0; i < GUESSES; i++) {
            byte[] d = good.clone();
            int cid = random.nextInt() | 1;
            if (cid != p.ba) {
                ByteBuffer.wrap(d).putInt(8, cid);
                p.net.inject(p.b, 0, p.a.config.localAddresses[0], 3, d);
            }
        }
        assertTrue(p.b.endpoint.counters().unknownConnection >= GUESSES - 1);
        assertEquals(before, traces(p));
        assertWorks(p);
        if (type == Type.CLOSE) {
            // The right one does end it: the guesses were wrong in their tag alone.
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, good);
            p.poll();
            assertEquals(Event.CLOSED, p.eventsB.getLast().kind);
        }
    }

    @Test
    @Requirement("MR-CON-035")
    void closeNeedsTheOtherEndsCidAsWell() {
        Peers p = new Peers(710).connect();
        byte[] close = genuine(p, Type.CLOSE);
        String before = traces(p);
        for (int i = 0; i < GUESSES; i++) {
            int wrong = p.ab ^ 1 + random.nextInt(Integer.MAX_VALUE);
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, Tap.changed(close, b -> b.putInt(12, wrong == 0 ? 1 : wrong)));
        }
        assertEquals(GUESSES, p.b.endpoint.counters().forged);
        assertEquals(before, traces(p));
        assertWorks(p);
    }

    @ParameterizedTest
    @ValueSource(ints = {Type.CHALLENGE, Type.ACCEPT, Type.REFUSE})
    @Requirement("MR-CON-008")
    void answersOfTheHandshakeNeedTheNonce(int type) {
        Peers p = new Peers(715 + type);
        Peers other = new Peers(715 + type);
        Tap tap = new Tap(other);
        other.connect();
        byte[] answer = tap.of(false, type == Type.REFUSE ? Type.CHALLENGE : type).getFirst().bytes();
        int nonceAt = AcceptHeader.INITIATOR_NONCE;
        if (type == Type.REFUSE) {
            answer = Tap.resized(answer, 28, b -> b.put(4, (byte) 0x14).put(6, (byte) Reason.NO_CONTEXT).putInt(24, 0));
        }
        byte[] template = answer;
        p.net.filter = (d, plane, port) -> false;
        p.ab = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        p.run(1_000_000);
        for (int i = 0; i < GUESSES; i++) {
            long nonce = random.nextLong();
            p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, Tap.changed(template, b -> b.putInt(8, p.ab).putLong(nonceAt, nonce)));
        }
        assertEquals(GUESSES, p.a.endpoint.counters().forged);
        p.poll();
        assertTrue(p.eventsA.isEmpty());
        p.net.filter = (d, plane, port) -> true;
        assertTrue(p.until(1_000_000_000L, () -> Peers.has(p.eventsA, Event.CONNECTED)));
    }

    @Test
    @Requirement({"MR-CON-006", "MR-CON-009"})
    void aFloodOfForgedInitsLeavesNoStateAndKeepsNobodyOut() {
        Peers p = new Peers(720);
        Tap tap = new Tap(p);
        p.connect();
        byte[] init = tap.of(true, Type.INIT).getLast().bytes();
        assertNotEquals(0, ByteBuffer.wrap(init).getLong(InitHeader.COOKIE_HIGH));
        p.a.endpoint.abort(p.net.nowNs, p.ab, Reason.APPLICATION_ABORT);
        p.run(200_000_000);
        long bytes = p.b.endpoint.stateBytes();
        tap.seen.clear();
        p.eventsA.clear();
        p.eventsB.clear();
        p.ab = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        for (int i = 0; i < 50_000; i++) {
            // A cookie that was good for somebody else; none; or a guess with a time of now.
            byte[] d = Tap.changed(init, b -> {
                b.putInt(InitHeader.INITIATOR_CID, random.nextInt() | 1).putLong(InitHeader.INITIATOR_NONCE, random.nextLong());
                if (random.nextInt(3) == 0) {
                    b.putLong(InitHeader.COOKIE_HIGH, 0).putLong(InitHeader.COOKIE_HIGH + 8, 0);
                } else if (random.nextInt(2) == 0) {
                    b.putLong(InitHeader.COOKIE_HIGH, random.nextLong()).putLong(InitHeader.COOKIE_HIGH + 8, p.net.nowNs - random.nextInt(1000));
                }
            });
            p.net.inject(p.b, 0, new NetAddress(0, 0xffff_0000_0000L | random.nextInt() & 0xffff_ffffL, 14791), 2, d);
            if (i % 50 == 0) {
                p.run(20_000);
            }
        }
        assertEquals(1, p.b.endpoint.liveConnections(), "the one that A asked for meanwhile");
        assertTrue(p.until(1_000_000_000L, () -> Peers.has(p.eventsA, Event.CONNECTED)), "and who asks honestly gets in");
        assertEquals(bytes, p.b.endpoint.stateBytes());
        assertTrue(p.b.endpoint.counters().badCookies > 30_000);
        for (Tap.Seen s : tap.of(false, Type.CHALLENGE)) {
            assertEquals(40, s.bytes().length);
        }
        assertTrue(tap.of(false, Type.CHALLENGE).size() <= 50_002);
        p.ba = p.eventsB.getLast().connection;
        assertWorks(p);
    }

    // ---- what was recorded ----

    private static void fill(Peers p, long value) {
        MemorySegment m = p.memoryA.segment();
        for (long i = 0; i < 100_000; i += 8) {
            m.set(ValueLayout.JAVA_LONG, i, value);
        }
    }

    @Test
    @Requirement({"MR-PATH-024", "MR-PATH-025"})
    void recordedDataDoesNotBringBackOldContents() {
        Peers p = new Peers(730).connect();
        Tap tap = new Tap(p);
        fill(p, 1);
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 1));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 1));
        List<Tap.Seen> old = List.copyOf(tap.seen);
        fill(p, 2);
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 2));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 2));
        for (Tap.Seen s : old) {
            p.net.inject(s.toB() ? p.b : p.a, s.plane(), (s.toB() ? p.a : p.b).config.localAddresses[s.plane()], 2, s.bytes());
            p.run(10_000);
        }
        p.assertCopied(0, 0, 100_000);
        assertEquals(2, p.completionsA.size());
        assertEquals(0, p.statsA().violations + p.statsB().violations);
        assertWorks(p);
    }

    @Test
    @Requirement({"MR-PATH-021", "MR-ACK-012"})
    void recordedPacketsOfAnOldEpochDoNotChangeThePathOfTheNewOne() {
        Peers p = new Peers(731).connect();
        Tap tap = new Tap(p);
        fill(p, 1);
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 1));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 1));
        List<Tap.Seen> old = List.copyOf(tap.seen);
        // Every route that A has sent data by dies.
        Set<Integer> dead = new HashSet<>();
        old.stream().filter(s -> s.toB() && s.isData()).forEach(s -> dead.add(s.sourcePort()));
        p.net.filter = (d, plane, port) -> ByteBuffer.wrap(d).getInt(8) != p.ba || !dead.contains(port);
        fill(p, 2);
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 2));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 2));
        p.net.filter = (d, plane, port) -> true;
        p.run(500_000_000);
        PathStats stats = new PathStats();
        List<Integer> epochs = new ArrayList<>();
        for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
            p.a.endpoint.readPath(p.ab, i, stats);
            epochs.add(stats.epoch);
        }
        assertTrue(epochs.stream().filter(e -> e > 0).count() > 2, () -> "epochs " + epochs);
        long lost = p.statsA().retransmissions;
        for (Tap.Seen s : old) {
            p.net.inject(s.toB() ? p.b : p.a, s.plane(), (s.toB() ? p.a : p.b).config.localAddresses[s.plane()], 2, s.bytes());
        }
        p.run(1_000_000);
        p.assertCopied(0, 0, 100_000);
        for (int i = 0; i < 10; i++) {
            assertWorks(p);
        }
        assertEquals(lost, p.statsA().retransmissions, "nothing was taken for lost");
        assertEquals(0, p.statsA().violations + p.statsB().violations);
    }

    @Test
    @Requirement({"MR-CON-020", "MR-CON-021"})
    void recordedPacketsOfAFormerConnectionDoNotGetIntoTheNext() {
        EndpointConfig b = Peers.config(733);
        b.maxConnections = 1;
        Peers p = new Peers(732, Peers.config(732), b).connect();
        Tap tap = new Tap(p);
        assertWorks(p);
        int former = p.ba;
        for (int life = 0; life < 20; life++) {
            List<Tap.Seen> old = tap.seen.stream().filter(s -> s.toB() && s.type() >= Type.DATA && s.type() <= Type.CLOSE_ACK).toList();
            p.a.endpoint.close(p.net.nowNs, p.ab);
            assertTrue(p.until(3_000_000_000L, () -> Peers.has(p.eventsA, Event.CLOSED) && Peers.has(p.eventsB, Event.CLOSED)));
            p.run(200_000_000);
            p.eventsA.clear();
            p.eventsB.clear();
            p.connect();
            assertNotEquals(former, p.ba);
            String before = traces(p);
            for (Tap.Seen s : old) {
                p.net.inject(p.b, s.plane(), p.a.config.localAddresses[0], 2, s.bytes());
                // With the CID of today, which occupies the very same slot: the tag is another.
                byte[] d = s.bytes();
                int crc = Tap.crc(d) ^ ByteBuffer.wrap(d).getInt(0);
                byte[] e = Tap.changed(d, x -> x.putInt(8, p.ba));
                assertEquals(crc, Tap.crc(e) ^ ByteBuffer.wrap(e).getInt(0));
                p.net.inject(p.b, s.plane(), p.a.config.localAddresses[0], 2, e);
            }
            assertEquals(before, traces(p));
            former = p.ba;
            tap.seen.clear();
            assertWorks(p);
        }
    }

    @Test
    @Requirement({"MR-CON-005", "MR-ENC-009"})
    void noPacketMovesAPlaneOfAnEstablishedConnection() {
        Peers p = new Peers(740);
        Tap tap = new Tap(p);
        p.connect();
        assertWorks(p);
        NetAddress elsewhere = new NetAddress(0, 0xffff_c633_6401L, 4444);
        Set<String> to = new HashSet<>();
        List<Tap.Seen> recorded = List.copyOf(tap.seen);
        p.net.observer = (from, d, plane, port, address) -> {
            // Answers of the handshake go to where it comes from; nothing else does.
            if ((d[4] & 0xf) >= Type.DATA) {
                to.add(address.toString());
            }
        };
        for (Tap.Seen s : recorded) {
            byte[] d = s.bytes();
            if (s.type() == Type.INIT || s.type() == Type.ACCEPT) {
                // The handshake again, with another place for its first plane.
                int at = s.type() == Type.INIT ? 48 : 32;
                d = Tap.changed(d, b -> b.putLong(at + 8 + 4, elsewhere.high()).putLong(at + 8 + 12, elsewhere.low()).putShort(at + 8 + 20, (short) 4444));
            }
            p.net.inject(s.toB() ? p.b : p.a, s.plane(), elsewhere, 2, d);
        }
        assertWorks(p);
        p.run(2_000_000_000L);
        assertTrue(to.size() >= 4);
        assertFalse(to.contains(elsewhere.toString()), () -> "sent to " + to);
        assertTrue(to.stream().allMatch(a -> a.startsWith("10.0.")), () -> "sent to " + to);
    }

    // ---- what has to be guessed ----

    /** The bits that the specification counts on are there, and the same slots give other bits each time. */
    @Test
    @Requirement({"MR-SEC-001", "MR-CON-021"})
    void identifiersHaveAsManyRandomBitsAsTheSpecificationSays() {
        int cids = 0;
        int tags = 0;
        long nonces = 0;
        int firstCid = 0;
        int firstTag = 0;
        long firstNonce = 0;
        for (int secret = 1; secret <= 64; secret++) {
            EndpointConfig c = Peers.config(1);
            c.maxConnections = 64;
            c.secret = secret * 0x9e3779b97f4a7c15L;
            Peers p = new Peers(750, c, Peers.config(2));
            Tap tap = new Tap(p);
            p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
            p.run(1_000);
            Tap.Seen init = tap.of(true, Type.INIT).getFirst();
            if (secret == 1) {
                firstCid = init.i32(InitHeader.INITIATOR_CID);
                firstTag = init.i32(InitHeader.INITIATOR_TAG);
                firstNonce = init.i64(InitHeader.INITIATOR_NONCE);
            }
            cids |= init.i32(InitHeader.INITIATOR_CID) ^ firstCid;
            tags |= init.i32(InitHeader.INITIATOR_TAG) ^ firstTag;
            nonces |= init.i64(InitHeader.INITIATOR_NONCE) ^ firstNonce;
        }
        assertEquals(25, Integer.bitCount(cids), "CID with 64 connections: 31 bits, less 6 of the slot");
        assertEquals(32, Integer.bitCount(tags));
        assertEquals(64, Long.bitCount(nonces));
    }

    @Test
    @Requirement("MR-SEC-001")
    void bothHalvesOfTheSecretCount() {
        Set<Long> nonces = new HashSet<>();
        for (long[] s : new long[][] {{1, 1}, {1, 2}, {2, 1}, {2, 2}}) {
            EndpointConfig c = Peers.config(1);
            c.secret = s[0];
            c.secretLow = s[1];
            Peers p = new Peers(751, c, Peers.config(2));
            Tap tap = new Tap(p);
            p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
            p.run(1_000);
            nonces.add(tap.of(true, Type.INIT).getFirst().i64(InitHeader.INITIATOR_NONCE));
        }
        assertEquals(4, nonces.size());
    }

    @Test
    @Requirement({"MR-SEC-001", "MR-SEC-002"})
    void keysOfFormerRegionsStayInvalidAndKeysAreNotAlike() {
        RegionTable table = new RegionTable();
        MemorySegment memory = Arena.ofAuto().allocate(64);
        Set<Integer> seen = new HashSet<>();
        int again = 0;
        int bits = 0;
        for (int i = 0; i < 50_000; i++) {
            MemoryRegion region = table.register(0, memory, Peers.ALL);
            again += seen.add(region.key()) ? 0 : 1;
            bits |= region.key();
            assertEquals(RegionTable.OK, table.check(region.key(), 0, memory.address(), 64, 0));
            table.deregister(region);
            assertEquals(RegionTable.BAD_KEY, table.check(region.key(), 0, memory.address(), 64, 0));
        }
        // A slot comes round 12 times here, each time with 20 random bits: a key comes again in one such test of four.
        assertTrue(again <= 4, again + " keys came again");
        assertEquals(-1, bits);
    }

    @Test
    @Requirement("MR-CRC-004")
    void nothingCompletesOnAWrongChecksum() {
        Peers p = new Peers(760).connect();
        int[] spoilt = {0};
        p.net.change = d -> {
            if (d[4] != 0x15 || d.length < 600 || spoilt[0] >= 40) {
                return d;
            }
            spoilt[0]++;
            byte[] bad = d.clone();
            bad[500] ^= 4;
            return bad;
        };
        p.postReceiveB(1, 1 << 20, 20_000, 1);
        p.post(p.request(Opcode.SEND, 1, 0, 20_000, 0, 1));
        assertTrue(p.until(2_000_000_000L, () -> p.completionsB.size() == 1));
        assertEquals(40, spoilt[0]);
        assertEquals(40, p.b.endpoint.counters().checksumErrors);
        p.assertCopied(0, 1 << 20, 20_000);
    }
}
