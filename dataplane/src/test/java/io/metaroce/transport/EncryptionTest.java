// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.crypto.PskSecurity;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Reason;
import io.metaroce.wire.SealedHeader;
import io.metaroce.wire.Tlv;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Encrypted connections: how they are agreed on, what they keep out, how keys change. */
class EncryptionTest {
    private static final byte[] PSK = key(7);

    private static byte[] key(int fill) {
        byte[] psk = new byte[PskSecurity.PSK_BYTES];
        Arrays.fill(psk, (byte) fill);
        return psk;
    }

    private static EndpointConfig config(long seed, byte[] psk, boolean require) {
        EndpointConfig c = Peers.config(seed);
        c.security = psk == null ? null : new PskSecurity(psk);
        c.requireEncryption = require;
        return c;
    }

    private static Peers peers(long seed) {
        return peers(seed, 2);
    }

    /** Two with so many planes that speak encrypted only. */
    static Peers peers(long seed, int planes) {
        EndpointConfig a = config(seed, PSK, true);
        EndpointConfig b = config(seed + 1, PSK, true);
        a.localAddresses = new NetAddress[planes];
        b.localAddresses = new NetAddress[planes];
        return new Peers(seed, a, b);
    }

    private static int type(byte[] datagram) {
        return datagram[4] & 0xf;
    }

    private static boolean isHandshake(byte[] datagram) {
        return type(datagram) <= Type.REFUSE;
    }

    /** Lets A call B, however that ends. */
    private static Peers attempt(Peers p) {
        p.ab = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        p.until(5_000_000_000L, () -> !p.eventsA.isEmpty() && p.eventsA.getLast().kind != Event.STREAM_FAILED);
        p.run(1_000_000);
        if (Peers.has(p.eventsB, Event.ACCEPTED)) {
            p.ba = p.eventsB.getLast().connection;
        }
        return p;
    }

    private static void assertWorks(Peers p, int length) {
        int before = p.completionsA.size();
        p.post(p.request(Opcode.WRITE, 0, 4096, length, 8192, 5));
        assertTrue(p.until(3_000_000_000L, () -> p.completionsA.size() == before + 1), "seed " + p.seed);
        assertEquals(Completion.OK, p.completionsA.getLast().status);
        p.assertCopied(4096, 8192, length);
    }

    // ---- agreement ----

    @RepeatedTest(10)
    @Requirement({"MR-SEAL-002", "MR-SEAL-010", "MR-SEAL-020"})
    void everythingWorksEncryptedOnABadNetwork(RepetitionInfo i) {
        Peers p = peers(900 + i.getCurrentRepetition());
        p.net.loss = 0.05;
        p.net.duplicate = 0.05;
        p.net.corrupt = 0.02;
        p.net.mark = 0.1;
        Tap tap = new Tap(p);
        p.connect();
        assertTrue(p.a.endpoint.isEncrypted(p.ab) && p.b.endpoint.isEncrypted(p.ba));
        assertTrue(p.eventsA.getFirst().encrypted && p.eventsB.getFirst().encrypted);
        assertTrue(p.eventsA.getFirst().text().endsWith(", encrypted"));
        p.postReceiveB(1, 4 << 20, 100_000, 1);
        p.post(p.request(Opcode.WRITE, 0, 0, 1_000_000, 0, 1));
        p.post(p.request(Opcode.SEND_IMM, 1, 1_000_000, 77_777, 0, 2));
        p.post(p.request(Opcode.READ_REQUEST, 2, 3 << 20, 50_000, 0, 3));
        p.post(p.request(Opcode.FETCH_ADD, 3, 5 << 20, 8, 6 << 20, 4));
        assertTrue(p.until(10_000_000_000L, () -> p.completionsA.size() == 4 && p.completionsB.size() == 1), "seed " + p.seed);
        p.assertCopied(0, 0, 1_000_000);
        p.assertCopied(1_000_000, 4 << 20, 77_777);
        p.a.endpoint.close(p.net.nowNs, p.ab);
        assertTrue(p.until(3_000_000_000L, () -> Peers.has(p.eventsA, Event.CLOSED) && Peers.has(p.eventsB, Event.CLOSED)));
        assertTrue(tap.seen.stream().allMatch(s -> s.type() == Type.SEALED || s.type() <= Type.REFUSE));
    }

    @Test
    @Requirement("MR-SEAL-010")
    void initAndAcceptAreRepeatedWithoutChange() {
        Peers p = peers(920);
        Tap tap = new Tap(p);
        // Nothing of B's but CHALLENGE gets through for a while; meanwhile B gets other connections, and another share to start with.
        long start = p.net.nowNs;
        p.net.filter = (d, plane, port) -> type(d) != Type.ACCEPT || p.net.nowNs - start > 400_000_000;
        p.ab = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        p.run(50_000_000);
        p.b.endpoint.connect(p.net.nowNs, p.a.config.localAddresses[0], 0);
        p.b.endpoint.connect(p.net.nowNs, p.a.config.localAddresses[0], 0);
        assertTrue(p.until(2_000_000_000L, () -> Peers.has(p.eventsA, Event.CONNECTED)));
        Set<String> inits = new HashSet<>();
        Set<String> accepts = new HashSet<>();
        int initCount = 0;
        int acceptCount = 0;
        for (Tap.Seen s : tap.of(true, Type.INIT)) {
            byte[] d = s.bytes().clone();
            Arrays.fill(d, 0, 4, (byte) 0);
            Arrays.fill(d, 32, 48, (byte) 0);
            inits.add(Arrays.toString(d));
            initCount++;
        }
        for (Tap.Seen s : tap.of(false, Type.ACCEPT)) {
            accepts.add(Arrays.toString(s.bytes()));
            acceptCount++;
        }
        assertTrue(initCount > 3 && acceptCount > 2);
        assertEquals(1, inits.size());
        assertEquals(1, accepts.size());
    }

    @Test
    @Requirement("MR-SEAL-003")
    void whoRequiresEncryptionRefusesWhoHasNone() {
        Peers p = attempt(new Peers(930, config(930, null, false), config(931, PSK, true)));
        assertEquals(Event.REFUSED, p.eventsA.getLast().kind);
        assertEquals(Reason.SECURITY, p.eventsA.getLast().reason);
        assertTrue(p.eventsA.getLast().text().contains("10.0.0.2:14791 refused the connection: SECURITY"), p.eventsA.getLast().text());
        assertEquals(0, p.b.endpoint.liveConnections());
    }

    @Test
    @Requirement({"MR-SEAL-006", "MR-PAR-013"})
    void whoRequiresEncryptionDoesNotTakeAPeerWithout() {
        Peers p = attempt(new Peers(932, config(932, PSK, true), config(933, null, false)));
        assertEquals(Event.REFUSED, p.eventsA.getLast().kind);
        assertEquals(Reason.SECURITY, p.eventsA.getLast().reason);
        assertTrue(p.eventsA.getLast().text().contains("the terms of peer 10.0.0.2:14791 cannot be met: SECURITY, it does not encrypt"), p.eventsA.getLast().text());
        assertEquals(0, p.a.endpoint.liveConnections());
        // It was told: its half-open connection does not wait for its time to end.
        assertEquals(Event.FAILED, p.eventsB.getLast().kind);
        assertEquals(Reason.SECURITY, p.eventsB.getLast().reason);
    }

    @Test
    @Requirement({"MR-SEAL-002", "MR-SEAL-003", "MR-SEAL-006"})
    void whoOffersEncryptionTakesWhatItCanHave() {
        byte[][] psks = {null, PSK};
        for (byte[] psk : psks) {
            for (boolean byInitiator : new boolean[] {false, true}) {
                Peers p = byInitiator ? new Peers(934, config(934, PSK, false), config(935, psk, false))
                        : new Peers(934, config(934, psk, false), config(935, PSK, false));
                attempt(p);
                assertEquals(Event.CONNECTED, p.eventsA.getLast().kind);
                assertEquals(psk != null, p.a.endpoint.isEncrypted(p.ab));
                assertEquals(psk != null, p.b.endpoint.isEncrypted(p.ba));
                assertWorks(p, 50_000);
            }
        }
    }

    @Test
    @Requirement("MR-SEAL-004")
    void anotherKeyIsRefusedAlsoWhereEncryptionIsOnlyOffered() {
        for (boolean require : new boolean[] {false, true}) {
            Peers p = attempt(new Peers(936, config(936, key(8), require), config(937, PSK, require)));
            assertEquals(Event.REFUSED, p.eventsA.getLast().kind);
            assertEquals(Reason.SECURITY, p.eventsA.getLast().reason);
            assertEquals(0, p.b.endpoint.liveConnections());
            assertTrue(p.eventsB.isEmpty());
        }
    }

    /** Where the value of SECURITY stands in an INIT or ACCEPT. */
    private static int security(byte[] datagram) {
        ByteBuffer b = ByteBuffer.wrap(datagram);
        int at = type(datagram) == Type.INIT ? 48 : 32;
        while (datagram[at] != Tlv.SECURITY) {
            at += Tlv.sizeOf(b.getShort(at + 2));
        }
        return at + Tlv.HEADER_LENGTH;
    }

    @Test
    @Requirement({"MR-SEAL-004", "MR-SEAL-010"})
    void anInitChangedOnTheWayIsRefused() {
        // One bit in every part that the network could want changed: nonce, tag, a parameter, the share, the proof.
        for (int where = 0; where < 5; where++) {
            Peers p = peers(940 + where);
            int w = where;
            p.net.change = d -> type(d) != Type.INIT ? d : Tap.changed(d, b -> {
                int at = w == 0 ? 20 : w == 1 ? 25 : w == 2 ? 48 + 7 : w == 3 ? security(d) + Tlv.KEY_SHARE : security(d) + Tlv.PROOF;
                b.put(at, (byte) (b.get(at) ^ 1));
            });
            attempt(p);
            assertFalse(Peers.has(p.eventsA, Event.CONNECTED), "changed part " + where);
            assertEquals(0, p.b.endpoint.liveConnections());
        }
    }

    @Test
    @Requirement("MR-SEAL-005")
    void anAcceptChangedOnTheWayIsForgedAndTheTrueOneIsTaken() {
        for (int where = 0; where < 6; where++) {
            Peers p = peers(950 + where);
            int w = where;
            int[] changed = {0};
            p.net.change = d -> type(d) != Type.ACCEPT || changed[0]++ >= 2 ? d : Tap.changed(d, b -> {
                int at = w == 0 ? 13 : w == 1 ? 25 : w == 2 ? 32 + 7 : w == 3 ? security(d) + Tlv.KEY_SHARE : w == 4 ? security(d) + Tlv.PROOF : 8;
                if (w == 5) {
                    // A share of small order: everybody knows what comes of it.
                    Arrays.fill(b.array(), security(d) + Tlv.KEY_SHARE, security(d) + Tlv.PROOF, (byte) 0);
                } else {
                    b.put(at, (byte) (b.get(at) ^ 1));
                }
            });
            attempt(p);
            assertEquals(Event.CONNECTED, p.eventsA.getLast().kind, "changed part " + where);
            assertEquals(2, p.a.endpoint.counters().forged);
            assertWorks(p, 10_000);
        }
    }

    @Test
    @Requirement({"MR-SEAL-003", "MR-SEAL-006"})
    void takingSecurityOutOnTheWayDoesNotLeadToAnUnencryptedConnection() {
        for (boolean ofInit : new boolean[] {true, false}) {
            Peers p = peers(960);
            p.net.change = d -> type(d) != (ofInit ? Type.INIT : Type.ACCEPT) ? d : Tap.changed(d, b -> b.put(security(d) - 4, (byte) 200));
            attempt(p);
            assertEquals(Event.REFUSED, p.eventsA.getLast().kind);
            assertEquals(Reason.SECURITY, p.eventsA.getLast().reason);
            assertFalse(Peers.has(p.eventsB, Event.ACCEPTED));
        }
    }

    @Test
    @Requirement("MR-SEAL-007")
    void anInitThatComesBackIsNotTakenForAPeers() {
        Peers p = peers(970);
        // B does not exist; somebody sends A's own packets back, and A, having the key, would like what it sees.
        p.net.kill(p.b);
        p.net.observer = (from, d, plane, port, to) -> {
            if (from == p.a && isHandshake(d)) {
                reflected.add(d.clone());
            }
        };
        p.ab = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        for (int i = 0; i < 50; i++) {
            p.run(10_000_000);
            for (byte[] d : List.copyOf(reflected)) {
                p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, d);
            }
            reflected.clear();
        }
        assertTrue(p.a.endpoint.counters().forged > 0);
        assertEquals(1, p.a.endpoint.liveConnections());
        assertTrue(p.eventsA.isEmpty());
    }

    private final List<byte[]> reflected = new ArrayList<>();

    @Test
    @Requirement({"MR-SEAL-008", "MR-SEAL-011"})
    void everyConnectionAndDirectionHasKeysOfItsOwn() {
        // The same seeds and secrets, so all is the same but what the source of private keys gives.
        Set<String> shares = new HashSet<>();
        Set<String> first = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            Peers p = peers(980);
            Tap tap = new Tap(p);
            p.connect();
            for (int type : new int[] {Type.INIT, Type.ACCEPT}) {
                byte[] d = tap.of(type == Type.INIT, type).getLast().bytes();
                shares.add(Arrays.toString(Arrays.copyOfRange(d, security(d) + Tlv.KEY_SHARE, security(d) + Tlv.PROOF)));
            }
            byte[] sealed = tap.of(true, Type.SEALED).getFirst().bytes();
            // Handed back to who made it, with its own CID and a number that is due, it does not open.
            long before = p.a.endpoint.counters().forged;
            byte[] turned = sealed.clone();
            ByteBuffer.wrap(turned).putInt(8, p.ab).putInt(0, 1000);
            tap.giveA(turned);
            assertEquals(before + 1, p.a.endpoint.counters().forged);
            first.add(Arrays.toString(sealed));
        }
        assertEquals(6, shares.size());
        assertEquals(3, first.size());
    }

    @Test
    void privateKeysAreForgottenWhenTheKeysAreMade() {
        Peers p = peers(982);
        Tap tap = new Tap(p);
        p.ab = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        Sealing a = p.a.endpoint.state().sealing;
        Sealing b = p.b.endpoint.state().sealing;
        assertTrue(a.holdsPrivateKey(p.a.endpoint.state().connectionOf(p.ab)));
        assertTrue(p.until(1_000_000_000L, () -> Peers.has(p.eventsA, Event.CONNECTED) && Peers.has(p.eventsB, Event.ACCEPTED)));
        p.ba = p.eventsB.getLast().connection;
        assertFalse(a.holdsPrivateKey(p.a.endpoint.state().connectionOf(p.ab)));
        assertFalse(b.holdsPrivateKey(p.b.endpoint.state().connectionOf(p.ba)));
        // And what needs them is over: INIT and ACCEPT again change nothing, whenever they come.
        for (Tap.Seen s : List.copyOf(tap.seen)) {
            p.net.inject(s.toB() ? p.b : p.a, 0, (s.toB() ? p.a : p.b).config.localAddresses[0], 2, s.bytes());
        }
        p.run(10_000_000);
        assertEquals(1, tap.of(false, Type.ACCEPT).stream().map(s -> Arrays.toString(s.bytes())).distinct().count());
        assertWorks(p, 5_000);
    }

    @Test
    void anInitThatIsDueWhenAcceptArrivesDoesNoHarm() {
        Peers p = peers(983);
        byte[][] accept = {null};
        p.net.filter = (d, plane, port) -> {
            if (type(d) == Type.ACCEPT) {
                accept[0] = d.clone();
                return false;
            }
            return true;
        };
        p.ab = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(p.until(1_000_000_000L, () -> accept[0] != null));
        // A CHALLENGE makes A want to send INIT once more; before it can, ACCEPT comes, and with it the end of the private key.
        long c = p.a.endpoint.state().connectionOf(p.ab);
        byte[] challenge = new byte[40];
        ByteBuffer.wrap(challenge).putInt(4, 0x1200_0000).putInt(8, p.ab).putLong(16, p.a.endpoint.state().slab.getLong(c + ConnectionRecord.NONCE)).putLong(24, 1);
        ByteBuffer.wrap(challenge).putInt(0, Tap.crc(challenge));
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, challenge);
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, accept[0]);
        p.net.filter = (d, plane, port) -> true;
        assertTrue(p.until(1_000_000_000L, () -> Peers.has(p.eventsA, Event.CONNECTED) && Peers.has(p.eventsB, Event.ACCEPTED)));
        p.ba = p.eventsB.getLast().connection;
        assertWorks(p, 5_000);
    }

    @Test
    @Requirement("MR-SEAL-001")
    void aKeyHas32Bytes() {
        for (int length : new int[] {0, 16, 31, 33}) {
            assertThrows(IllegalArgumentException.class, () -> new PskSecurity(new byte[length]));
        }
    }

    // ---- what does not get in ----

    /** A connection at rest, and all that it sent so far. */
    private static Tap atRest(Peers p) {
        Tap tap = new Tap(p);
        p.connect();
        assertWorks(p, 200_000);
        p.run(5_000_000);
        return tap;
    }

    /** What must not change when something is rejected, on the side of B. */
    private static String traces(Peers p) {
        ConnectionStats s = p.statsB();
        return s.packetsReceived + " " + s.acksReceived + " " + s.acksSent + " " + s.violations + " " + s.duplicates + " " + s.ecnMarks + " "
                + p.b.endpoint.liveConnections() + " " + p.b.endpoint.liveStreams();
    }

    @Test
    @Requirement({"MR-SEAL-023", "MR-SEAL-024"})
    void everyReplayedPacketIsDroppedWithoutTrace() {
        Peers p = peers(1000);
        Tap tap = atRest(p);
        List<Tap.Seen> toB = List.copyOf(tap.of(true, Type.SEALED));
        assertTrue(toB.size() > 100);
        String before = traces(p);
        for (Tap.Seen s : toB) {
            // Marked CE: a replay must not slow the sender down either.
            p.net.inject(p.b, s.plane(), p.a.config.localAddresses[0], 3, s.bytes());
        }
        assertEquals(toB.size(), p.b.endpoint.counters().replayed);
        assertEquals(before, traces(p));
        p.run(1_000_000);
        assertEquals(before, traces(p));
        assertWorks(p, 50_000);
    }

    @Test
    @Requirement({"MR-SEAL-023", "MR-SEAL-024", "MR-SEAL-025"})
    void oneBitChangedAnywhereIsDroppedWithoutTrace() {
        Peers p = peers(1001);
        Tap tap = atRest(p);
        // A packet that never arrived, so that nothing but the change speaks against it.
        byte[][] fresh = {null};
        p.net.filter = (d, plane, port) -> {
            if (fresh[0] == null && d[4] == 0x1b && ByteBuffer.wrap(d).getInt(8) == p.ba) {
                fresh[0] = d.clone();
                return false;
            }
            return true;
        };
        p.post(p.request(Opcode.WRITE, 3, 0, 100, 0, 9));
        p.run(3_000);
        String before = traces(p);
        int rejected = 0;
        for (int bit = 0; bit < 8 * fresh[0].length; bit++) {
            byte[] d = fresh[0].clone();
            d[bit / 8] ^= (byte) (1 << bit % 8);
            long counted = sum(p.b.endpoint.counters());
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 3, d);
            rejected += (int) (sum(p.b.endpoint.counters()) - counted);
        }
        assertEquals(8 * fresh[0].length, rejected);
        assertEquals(before, traces(p));
        // And unchanged it is taken: the window was not moved by any of them.
        p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, fresh[0]);
        assertNotEquals(before, traces(p));
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 2));
        assertEquals(0, tap.of(true, Type.DATA).size());
    }

    private static long sum(EndpointCounters c) {
        return c.forged + c.replayed + c.malformed + c.unknownConnection + c.checksumErrors + c.unexpected;
    }

    @Test
    @Requirement({"MR-SEAL-020", "MR-SEAL-026", "MR-SEAL-022"})
    void unsealedPacketsResetsAndUnknownLanesAreRejected() {
        Peers plain = new Peers(1002).connect();
        Tap plainTap = new Tap(plain);
        assertWorks(plain, 5_000);
        plain.run(1_000_000);
        Peers p = peers(1003);
        Tap tap = atRest(p);
        String before = traces(p);
        int given = 0;
        for (Tap.Seen s : plainTap.seen) {
            // As if the tag were known: whatever the checksum, it is not looked at.
            tap.giveB(Tap.changed(s.bytes(), b -> b.putInt(8, p.ba)));
            given++;
        }
        assertTrue(given > 5);
        assertEquals(given, p.b.endpoint.counters().forged);
        byte[] reset = new byte[36];
        reset[4] = 0x1a;
        reset[16] = 0x17;
        ByteBuffer.wrap(reset).putInt(20, p.ab);
        ByteBuffer.wrap(reset).putInt(0, Tap.crc(reset));
        tap.giveB(reset);
        assertEquals(given + 1, p.b.endpoint.counters().forged);
        byte[] lane = tap.of(true, Type.SEALED).getLast().bytes().clone();
        ByteBuffer.wrap(lane).putShort(6, (short) 0x00ff);
        tap.giveB(lane);
        assertEquals(given + 2, p.b.endpoint.counters().forged);
        long answers = tap.of(false, Type.RESET).size();
        ByteBuffer.wrap(lane).putInt(8, p.ba ^ 0x4000_0000);
        tap.giveB(lane);
        assertEquals(answers, tap.of(false, Type.RESET).size());
        assertEquals(1, p.b.endpoint.counters().unknownConnection);
        assertEquals(before, traces(p));
        assertWorks(p, 50_000);
    }

    @Test
    @Requirement("MR-SEAL-026")
    void sealedPacketsDoNotGetIntoAPlainConnection() {
        Peers p = new Peers(1004).connect();
        Tap tap = new Tap(p);
        byte[] d = new byte[60];
        d[4] = 0x1b;
        ByteBuffer.wrap(d).putInt(8, p.ba);
        tap.giveB(d);
        assertEquals(1, p.b.endpoint.counters().forged);
    }

    @Test
    @Requirement({"MR-SEAL-021", "MR-SEAL-022"})
    void noNumberOfALaneIsUsedTwice() {
        Peers p = peers(1005);
        p.net.loss = 0.1;
        Tap tap = new Tap(p);
        p.connect();
        for (int i = 0; i < 5; i++) {
            assertWorks(p, 300_000);
        }
        p.net.blockedPlane[1] = true;
        assertWorks(p, 300_000);
        for (boolean toB : new boolean[] {true, false}) {
            Set<Long> nonces = new HashSet<>();
            for (Tap.Seen s : tap.of(toB, Type.SEALED)) {
                assertTrue(nonces.add((long) s.u16(SealedHeader.LANE) << 32 | s.i32(0) & 0xffff_ffffL), () -> "lane " + s.u16(6) + " number " + s.i32(0));
                assertEquals(s.plane(), s.u16(SealedHeader.LANE) >> 8);
            }
            assertTrue(nonces.size() > 100);
        }
        assertTrue(p.statsA().retransmissions > 50);
    }

    @Test
    @Requirement("MR-SEAL-023")
    void theWindowIs512NumbersOfTheLane() {
        for (int behind : new int[] {510, 511, 512, 513}) {
            Peers p = peers(1006);
            p.connect();
            byte[][] held = {null};
            // One packet of lane 0 is held back, and nothing gets through on the lane that is more than so far ahead of it.
            p.net.filter = (d, plane, port) -> {
                if (d[4] != 0x1b || ByteBuffer.wrap(d).getInt(8) != p.ba || ByteBuffer.wrap(d).getShort(6) != 0) {
                    return true;
                }
                if (held[0] == null) {
                    held[0] = d.clone();
                    return false;
                }
                return ByteBuffer.wrap(d).getInt(0) - ByteBuffer.wrap(held[0]).getInt(0) <= behind;
            };
            for (int i = 0; i < 6; i++) {
                assertWorks(p, 1_000_000);
            }
            long replayed = p.b.endpoint.counters().replayed;
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, held[0]);
            assertEquals(behind < 512 ? 0 : 1, p.b.endpoint.counters().replayed - replayed, behind + " behind");
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, held[0]);
            assertEquals(behind < 512 ? 1 : 2, p.b.endpoint.counters().replayed - replayed);
            assertEquals(0, p.b.endpoint.counters().forged);
        }
    }

    // ---- life ----

    @Test
    void abortReachesThePeer() {
        Peers p = peers(1010).connect();
        p.a.endpoint.abort(p.net.nowNs, p.ab, Reason.APPLICATION_ABORT);
        assertTrue(p.until(100_000_000L, () -> Peers.has(p.eventsB, Event.FAILED)));
        assertEquals(Reason.APPLICATION_ABORT, p.eventsB.getLast().reason);
        p.run(200_000_000);
        assertEquals(0, p.b.endpoint.liveConnections());
    }

    @Test
    @Requirement("MR-SEAL-026")
    void aRestartedPeerIsFoundBySilenceAndCanBeCalledAgain() {
        Peers p = peers(1011).connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 1_000_000, 0, 1));
        p.run(30_000);
        p.b = p.net.replace(p.b, config(77, PSK, true), p.regionsB);
        long at = p.net.nowNs;
        assertTrue(p.until(3_000_000_000L, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertEquals(Reason.TIMEOUT, p.eventsA.getLast().reason);
        assertTrue(p.net.nowNs - at < 1_800_000_000L);
        p.eventsA.clear();
        p.eventsB.clear();
        p.completionsA.clear();
        p.connect();
        assertWorks(p, 100_000);
    }

    @Test
    @Requirement({"MR-SEAL-023", "MR-CON-021"})
    void packetsOfAFormerConnectionDoNotOpenInTheNext() {
        Peers p = peers(1012);
        Tap tap = atRest(p);
        List<Tap.Seen> old = List.copyOf(tap.of(true, Type.SEALED));
        p.a.endpoint.close(p.net.nowNs, p.ab);
        assertTrue(p.until(3_000_000_000L, () -> Peers.has(p.eventsA, Event.CLOSED)));
        p.run(200_000_000);
        p.eventsA.clear();
        p.eventsB.clear();
        p.connect();
        String before = traces(p);
        for (Tap.Seen s : old) {
            byte[] d = s.bytes().clone();
            ByteBuffer.wrap(d).putInt(8, p.ba);
            p.net.inject(p.b, s.plane(), p.a.config.localAddresses[0], 2, d);
            p.net.inject(p.b, s.plane(), p.a.config.localAddresses[0], 2, s.bytes());
        }
        assertEquals(before, traces(p));
        assertTrue(p.b.endpoint.counters().forged + p.b.endpoint.counters().replayed >= old.size());
        assertWorks(p, 1_000);
    }

    // ---- generations ----

    private static Peers shortKeys(long seed, int packets) {
        EndpointConfig a = config(seed, PSK, true);
        EndpointConfig b = config(seed + 1, PSK, true);
        a.keyPackets = packets;
        b.keyPackets = packets;
        // So slow that a key's packets take more than a round trip.
        a.lineRateKbps = 10_000_000;
        b.lineRateKbps = 10_000_000;
        return new Peers(seed, a, b);
    }

    @RepeatedTest(5)
    @Requirement({"MR-SEAL-030", "MR-SEAL-032"})
    void keysChangeUnderLossReorderingAndDuplication(RepetitionInfo i) {
        Peers p = shortKeys(1100 + i.getCurrentRepetition(), 40);
        p.net.loss = 0.1;
        p.net.duplicate = 0.1;
        p.net.jitterPerPortNs = 100_000;
        Tap tap = new Tap(p);
        p.connect();
        assertWorks(p, 2_000_000);
        assertWorks(p, 2_000_000);
        assertWorks(p, 2_000_000);
        Set<Integer> generations = new HashSet<>();
        tap.of(true, Type.SEALED).forEach(s -> generations.add(s.u8(SealedHeader.GENERATIONS) & 0xf));
        assertEquals(16, generations.size(), "all values were used, so they wrapped around");
    }

    @Test
    @Requirement("MR-SEAL-030")
    void theNextKeyWaitsForTheConfirmationOfThePresentOne() {
        Peers p = shortKeys(1110, 20);
        Tap tap = new Tap(p);
        p.connect();
        // B's answers are lost: A goes on with the generation it has, however many packets it seals.
        p.net.filter = (d, plane, port) -> ByteBuffer.wrap(d).getInt(8) == p.ba || d[4] != 0x1b;
        int generation = tap.of(true, Type.SEALED).getLast().u8(SealedHeader.GENERATIONS) & 0xf;
        tap.seen.clear();
        p.post(p.request(Opcode.WRITE, 0, 0, 1_000_000, 0, 1));
        p.run(500_000_000);
        List<Tap.Seen> sent = tap.of(true, Type.SEALED);
        assertTrue(sent.size() > 100);
        assertTrue((sent.getLast().u8(SealedHeader.GENERATIONS) & 0xf) - generation <= 1);
        p.net.filter = (d, plane, port) -> true;
        assertTrue(p.until(3_000_000_000L, () -> p.completionsA.size() == 1));
    }

    @Test
    @Requirement("MR-SEAL-032")
    void packetsOfTheGenerationBeforeOpenThoseBeforeThatDoNot() {
        Peers p = shortKeys(1120, 30);
        Tap tap = new Tap(p);
        p.connect();
        // Every 20th packet to B is held back.
        List<byte[]> held = new ArrayList<>();
        int[] n = {0};
        p.net.filter = (d, plane, port) -> {
            if (d[4] == 0x1b && ByteBuffer.wrap(d).getInt(8) == p.ba && n[0]++ % 20 == 0) {
                held.add(d.clone());
                return false;
            }
            return true;
        };
        assertWorks(p, 300_000);
        p.net.filter = (d, plane, port) -> true;
        // What is under way arrives; the newest was not held back, or B would not know of its generation.
        p.run(1_000_000);
        int now = tap.of(true, Type.SEALED).getLast().u8(SealedHeader.GENERATIONS) & 0xf;
        int taken = 0;
        int rejected = 0;
        for (byte[] d : held) {
            int behind = now - (d[5] & 0xf) & 0xf;
            long forged = p.b.endpoint.counters().forged;
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, d);
            boolean opened = p.b.endpoint.counters().forged == forged;
            assertEquals(behind <= 1, opened, "behind by " + behind);
            taken += opened ? 1 : 0;
            rejected += opened ? 0 : 1;
        }
        assertTrue(taken > 0 && rejected > 0, taken + " taken, " + rejected + " rejected");
    }
}
