// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.crypto.PskSecurity;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Reason;
import io.metaroce.wire.SealedHeader;
import io.metaroce.wire.Tlv;
import io.metaroce.wire.Type;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Encrypted connections that are parked and resumed: with fresh keys, by nobody but their two ends. */
class ParkEncryptedTest {
    private static final long MS = 1_000_000;

    /** The real cryptography, which remembers what was sealed with which key. */
    private static final class Recording implements Security {
        private final PskSecurity real = new PskSecurity(new byte[PskSecurity.PSK_BYTES]);
        /** Key, generation, lane and number of all packets. */
        final Set<String> nonces = new HashSet<>();
        int keys;
        int forgotten;

        @Override
        public void initProof(long init, int length, long to) {
            real.initProof(init, length, to);
        }

        @Override
        public Exchange begin() {
            Exchange e = real.begin();
            return new Exchange() {
                @Override
                public void share(long to) {
                    e.share(to);
                }

                @Override
                public boolean agree(long share) {
                    return e.agree(share);
                }

                @Override
                public Keys keys(long transcript, int length, boolean initiator) {
                    return new Recorded(e.keys(transcript, length, initiator));
                }

                @Override
                public Keys keys(Keys former, long transcript, int length, boolean initiator) {
                    return new Recorded(e.keys(((Recorded) former).real, transcript, length, initiator));
                }
            };
        }

        private final class Recorded implements Keys {
            private final Keys real;
            private final int key = ++keys;
            private int generation;

            Recorded(Keys real) {
                this.real = real;
            }

            @Override
            public void acceptProof(long to) {
                real.acceptProof(to);
            }

            @Override
            public void resumeProof(long init, int length, long to) {
                real.resumeProof(init, length, to);
            }

            @Override
            public void seal(long header, int lane, int number, long first, int firstLength, long second, int secondLength, long to) {
                assertTrue(nonces.add(key + " " + generation + " " + lane + " " + number), "a nonce was used again");
                real.seal(header, lane, number, first, firstLength, second, secondLength, to);
            }

            @Override
            public boolean open(int generation, long header, int lane, int number, long sealed, int length, long to) {
                return real.open(generation, header, lane, number, sealed, length, to);
            }

            @Override
            public void nextSending() {
                generation++;
                real.nextSending();
            }

            @Override
            public void nextReceiving() {
                real.nextReceiving();
            }

            @Override
            public void forget() {
                forgotten++;
                real.forget();
            }
        }
    }

    private final Recording a = new Recording();
    private final Recording b = new Recording();
    private final Peers p = new Peers(70, config(70, a), config(71, b));
    private final Tap tap = new Tap(p);
    private int messages;

    private static EndpointConfig config(long seed, Security security) {
        EndpointConfig c = Peers.config(seed);
        c.maxParked = 4;
        c.security = security;
        c.requireEncryption = true;
        c.keyPackets = 20;
        return c;
    }

    private void park() {
        p.run(MS);
        assertTrue(p.a.endpoint.park(p.net.nowNs, p.ab));
        assertTrue(p.until(200 * MS, () -> p.a.endpoint.isParked(p.ab) && p.b.endpoint.isParked(p.ba)));
        assertTrue(p.a.endpoint.isEncrypted(p.ab) && p.b.endpoint.isEncrypted(p.ba));
    }

    private void post() {
        p.post(p.request(Opcode.WRITE, 0, 4_096L * messages, 50_000, 1 << 20, ++messages));
    }

    private void works() {
        post();
        assertTrue(p.until(1_000 * MS, () -> p.completionsA.size() == messages), () -> "message " + messages + ", " + p.eventsA.getLast().text());
        assertEquals(Completion.OK, p.completionsA.getLast().status);
        p.assertCopied(4_096L * (messages - 1), 1 << 20, 50_000);
    }

    /** Parks, and keeps the INIT by which A calls from B until {@link #release}. */
    private byte[] capture() {
        park();
        byte[][] call = new byte[1][];
        p.net.filter = (d, plane, port) -> {
            if ((d[4] & 0xf) == Type.INIT) {
                call[0] = d.clone();
                return false;
            }
            return true;
        };
        post();
        assertTrue(p.until(100 * MS, () -> call[0] != null));
        return call[0];
    }

    private void release() {
        p.net.filter = (d, plane, port) -> true;
    }

    private static int tlv(int type, byte[] datagram, int at) {
        while (datagram[at] != type) {
            at += 4 + (ByteBuffer.wrap(datagram).getShort(at + 2) + 3 & ~3);
        }
        return at;
    }

    private static byte[] changed(byte[] handshake, Consumer<byte[]> change) {
        byte[] d = handshake.clone();
        change.accept(d);
        ByteBuffer.wrap(d).putInt(0, Tap.crc(d));
        return d;
    }

    /** What B has, and how often it refused somebody. */
    private String stateOfB() {
        return p.b.endpoint.isParked(p.ba) + " " + p.b.endpoint.liveConnections() + " " + p.b.endpoint.counters().refusalsSent;
    }

    private void droppedByB(byte[] datagram) {
        String before = stateOfB();
        long forged = p.b.endpoint.counters().forged;
        tap.giveB(datagram);
        assertEquals(before, stateOfB());
        assertEquals(forged + 1, p.b.endpoint.counters().forged);
    }

    @Test
    @Requirement({"MR-CON-064", "MR-SEAL-020", "MR-SEAL-021", "MR-SEAL-040", "MR-SEAL-043"})
    void itGoesOnWithFreshKeysEachTime() {
        p.connect();
        for (int round = 0; round < 5; round++) {
            works();
            park();
            p.run(2_000 * MS);
            assertEquals(1 + round, a.keys);
        }
        works();
        assertTrue(p.a.endpoint.isEncrypted(p.ab));
        assertEquals(6, a.keys);
        assertEquals(5, a.forgotten, "none but the present keys are left");
        assertEquals(5, b.forgotten);
        assertTrue(tap.seen.stream().allMatch(s -> s.type() <= Type.REFUSE || s.type() == Type.SEALED), "nothing in the clear");
        assertFalse(p.a.endpoint.state().sealing.holdsPrivateKey(p.a.endpoint.state().named(p.ab)));
        // 5 rounds of at least 13 packets and a key for 20: generations were changed, too.
        assertTrue(a.nonces.size() > 70);
        assertEquals(1, p.eventsA.size());
        assertEquals(0, p.a.endpoint.counters().forged + p.b.endpoint.counters().forged);
    }

    @Test
    @Requirement("MR-SEAL-041")
    void whoSawTheHandshakeButHasNoKeysCannotResume() {
        p.connect();
        works();
        byte[] init = capture();
        int security = tlv(Tlv.SECURITY, init, 48);
        // Without SECURITY: its TLV becomes one that is ignored.
        droppedByB(changed(init, d -> d[security] = 0));
        for (int bit = 0; bit < 8 * 64; bit += 7) {
            int at = bit;
            // Share and proof, bit by bit.
            droppedByB(changed(init, d -> d[security + 8 + at / 8] ^= (byte) (1 << at % 8)));
        }
        droppedByB(changed(init, d -> d[13] ^= 1));
        droppedByB(changed(init, d -> d[tlv(Tlv.SERVICE, d, 48) + 7] ^= 1));
        // Every other holder of the PSK can make this proof.
        droppedByB(changed(init, d -> {
            byte[] t = d.clone();
            Arrays.fill(t, 0, 4, (byte) 0);
            Arrays.fill(t, 30, 48, (byte) 0);
            Arrays.fill(t, security + 4 + Tlv.PROOF, security + 4 + Tlv.PROOF + 32, (byte) 0);
            long at = Arena.ofAuto().allocate(2048, 8).address();
            Bytes.put(t, 0, at, t.length);
            new PskSecurity(new byte[PskSecurity.PSK_BYTES]).initProof(at, t.length, at + 1024);
            Bytes.get(at + 1024, d, security + 4 + Tlv.PROOF, 32);
        }));
        release();
        assertTrue(p.until(500 * MS, () -> p.completionsA.size() == messages), "the real caller is not disturbed");
        works();
    }

    @Test
    @Requirement("MR-SEAL-041")
    void aConnectionThatIsNotParkedIsNotTakenOverEither() {
        p.connect();
        works();
        byte[] init = capture();
        release();
        assertTrue(p.until(500 * MS, () -> p.completionsA.size() == messages));
        p.run(MS);
        // The secrets of the live connection, which everyone on the path saw, and whatever proof.
        EndpointState state = p.b.endpoint.state();
        long c = state.named(p.ba);
        byte[] forged = changed(init, d -> {
            int resume = tlv(Tlv.RESUME, d, 48);
            ByteBuffer.wrap(d).putInt(resume + 8, state.slab.getInt(c + ConnectionRecord.LOCAL_TAG))
                    .putLong(resume + 12, state.slab.getLong(c + ConnectionRecord.NONCE)).putLong(16, 77);
        });
        droppedByB(forged);
        assertEquals(ConnectionRecord.ESTABLISHED, state.slab.getInt(c + ConnectionRecord.STATE));
        works();
    }

    @Test
    @Requirement({"MR-SEAL-040", "MR-SEAL-041"})
    void aReplayedCallHasNoEffect() {
        p.connect();
        works();
        byte[] init = capture();
        release();
        assertTrue(p.until(500 * MS, () -> p.completionsA.size() == messages));
        int keys = b.keys;
        for (int round = 0; round < 2; round++) {
            // Of a live connection, then of the same when it is parked again.
            String before = p.b.endpoint.isParked(p.ba) + " " + p.b.endpoint.liveConnections();
            tap.giveB(init);
            p.run(50 * MS);
            assertEquals(before, p.b.endpoint.isParked(p.ba) + " " + p.b.endpoint.liveConnections());
            assertEquals(keys, b.keys);
            if (round == 0) {
                park();
            }
        }
        works();
        assertEquals(1, p.eventsB.size());
    }

    @Test
    @Requirement("MR-SEAL-042")
    void anAcceptThatIsNotProvenIsNotBelieved() {
        p.connect();
        works();
        park();
        byte[][] accept = new byte[1][];
        p.net.filter = (d, plane, port) -> {
            accept[0] = (d[4] & 0xf) == Type.ACCEPT ? d.clone() : accept[0];
            return (d[4] & 0xf) != Type.ACCEPT;
        };
        post();
        assertTrue(p.until(100 * MS, () -> accept[0] != null));
        int security = tlv(Tlv.SECURITY, accept[0], 32);
        long forged = p.a.endpoint.counters().forged;
        tap.giveA(changed(accept[0], d -> d[security] = 0));
        tap.giveA(changed(accept[0], d -> d[security + 8 + 40] ^= 1));
        tap.giveA(changed(accept[0], d -> d[15] ^= 1));
        assertEquals(forged + 3, p.a.endpoint.counters().forged);
        assertEquals(1, p.eventsA.size());
        release();
        assertTrue(p.until(500 * MS, () -> p.completionsA.size() == messages));
    }

    @Test
    @Requirement("MR-SEAL-043")
    void replaysForAParkedConnectionAreAnsweredSeldomAndChangeNothing() {
        p.connect();
        works();
        park();
        List<Tap.Seen> all = tap.of(true, Type.SEALED);
        String before = stateOfB();
        long start = p.net.nowNs;
        tap.seen.clear();
        for (Tap.Seen s : all) {
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, s.bytes());
        }
        p.run(MS / 2);
        assertTrue(all.size() > 10 && tap.of(false, Type.SEALED).size() == 1, "one PARK_ACK for all of them");
        assertTrue(p.net.nowNs - start < MS);
        assertEquals(0, tap.of(true, Type.SEALED).size(), "PARK_ACK has no answer");
        // Nor does what does not open, or is not sealed, have one.
        p.run(5 * MS);
        tap.seen.clear();
        byte[] broken = all.getLast().bytes().clone();
        broken[20] ^= 1;
        long forged = p.b.endpoint.counters().forged;
        tap.giveB(broken);
        byte[] clear = new byte[20];
        ByteBuffer.wrap(clear).put(4, (byte) 0x18).putInt(8, ByteBuffer.wrap(broken).getInt(8)).putInt(12, 5);
        tap.giveB(clear);
        assertEquals(forged + 2, p.b.endpoint.counters().forged);
        assertEquals(0, tap.seen.size());
        assertEquals(before, stateOfB());
        works();
    }

    @Test
    @Requirement({"MR-SEAL-024", "MR-SEAL-040"})
    void packetsOfBeforeDoNotOpenAfterwards() {
        p.connect();
        works();
        park();
        List<Tap.Seen> before = tap.of(true, Type.SEALED);
        works();
        p.run(MS);
        EndpointState state = p.b.endpoint.state();
        int cid = state.slab.getInt(state.named(p.ba) + ConnectionRecord.LOCAL_CID);
        long rejected = p.b.endpoint.counters().forged + p.b.endpoint.counters().replayed;
        for (Tap.Seen s : before) {
            byte[] d = s.bytes().clone();
            ByteBuffer.wrap(d).putInt(8, cid).putInt(SealedHeader.NUMBER, 1_000 + ByteBuffer.wrap(d).getInt(SealedHeader.NUMBER));
            tap.giveB(d);
        }
        assertEquals(rejected + before.size(), p.b.endpoint.counters().forged + p.b.endpoint.counters().replayed);
        works();
    }

    @Test
    @Requirement({"MR-CON-055", "MR-SEAL-043"})
    void anAbortReachesAParkedPeer() {
        p.connect();
        works();
        park();
        p.a.endpoint.abort(p.net.nowNs, p.ab, Reason.APPLICATION_ABORT);
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsB, Event.FAILED)));
        assertEquals(Reason.APPLICATION_ABORT, p.eventsB.getLast().reason);
        assertEquals(0, p.a.endpoint.parkedConnections() + p.b.endpoint.parkedConnections());
        assertEquals(a.keys, a.forgotten);
        assertEquals(b.keys, b.forgotten);
    }

    @Test
    @Requirement("MR-SEAL-044")
    void anAbortWhileResumingSaysNothing() {
        p.connect();
        works();
        capture();
        tap.seen.clear();
        p.a.endpoint.abort(p.net.nowNs, p.ab, Reason.APPLICATION_ABORT);
        release();
        p.run(50 * MS);
        assertEquals(0, tap.seen.size());
        assertEquals(a.keys, a.forgotten);
        // B finds out when it calls.
        WorkRequest wr = p.request(Opcode.SEND, 0, 0, 100, 0, 1);
        wr.localAddress = p.memoryB.address();
        wr.localKey = p.memoryB.key();
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, wr));
        assertTrue(p.until(500 * MS, () -> Peers.has(p.eventsB, Event.FAILED)));
        assertEquals(Reason.PEER_RESTARTED, p.eventsB.getLast().reason);
    }

    @Test
    @Requirement("MR-CON-064")
    void aConnectionInTheClearStaysSo() {
        EndpointConfig left = config(80, new Recording());
        EndpointConfig right = config(81, null);
        left.requireEncryption = false;
        right.requireEncryption = false;
        Peers q = new Peers(80, left, right).connect();
        q.run(MS);
        assertFalse(q.a.endpoint.isEncrypted(q.ab));
        assertTrue(q.a.endpoint.park(q.net.nowNs, q.ab));
        assertTrue(q.until(100 * MS, () -> q.a.endpoint.isParked(q.ab)));
        Tap seen = new Tap(q);
        q.post(q.request(Opcode.WRITE, 0, 0, 5_000, 0, 1));
        assertTrue(q.until(100 * MS, () -> q.completionsA.size() == 1));
        assertEquals(0, seen.of(true, Type.SEALED).size());
        assertFalse(q.a.endpoint.isEncrypted(q.ab));
    }
}
