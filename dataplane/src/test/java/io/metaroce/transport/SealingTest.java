// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Reason;
import io.metaroce.wire.SealedHeader;
import io.metaroce.wire.Type;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What takes millions of packets to see, with cryptography that costs nothing: the tag is all ones, or wrong. */
class SealingTest {
    private static final class Nothing implements Security, Security.Exchange, Security.Keys {
        int sendingGenerations;

        @Override
        public void initProof(long init, int length, long to) {
            Bytes.zero(to, PROOF_BYTES);
        }

        @Override
        public Exchange begin() {
            return this;
        }

        @Override
        public void share(long to) {
            Bytes.zero(to, SHARE_BYTES);
        }

        @Override
        public boolean agree(long share) {
            return true;
        }

        @Override
        public Keys keys(long transcript, int length, boolean initiator) {
            return this;
        }

        @Override
        public Keys keys(Keys former, long transcript, int length, boolean initiator) {
            return this;
        }

        @Override
        public void resumeProof(long init, int length, long to) {
            Bytes.zero(to, PROOF_BYTES);
        }

        @Override
        public void acceptProof(long to) {
            Bytes.zero(to, PROOF_BYTES);
        }

        @Override
        public void seal(long header, int lane, int number, long first, int firstLength, long second, int secondLength, long to) {
            Bytes.copy(first, to, firstLength);
            Bytes.putLong(to + firstLength, -1);
            Bytes.putLong(to + firstLength + 8, -1);
        }

        @Override
        public boolean open(int generation, long header, int lane, int number, long sealed, int length, long to) {
            Bytes.copy(sealed, to, length - SealedHeader.TAG_LENGTH);
            return Bytes.getLong(sealed + length - 8) == -1;
        }

        @Override
        public void nextSending() {
            sendingGenerations++;
        }

        @Override
        public void nextReceiving() {
        }

        @Override
        public void forget() {
        }
    }

    private final Nothing nothing = new Nothing();
    private final Peers p = new Peers(1, config(1), config(2)).connect();
    private final long memory = Arena.global().allocate(4096, 64).address();

    private EndpointConfig config(long seed) {
        EndpointConfig c = Peers.config(seed);
        c.security = seed == 1 ? nothing : new Nothing();
        c.keyPackets = 1000;
        return c;
    }

    private int probe(Sealing sealing, long c) {
        Prefix.write(memory, Type.PROBE, 1);
        return sealing.seal(c, 0, memory, 32, 0, 0, memory + 1024);
    }

    @Test
    @Requirement({"MR-SEAL-030", "MR-SEAL-031"})
    void aKeyThatIsNeverConfirmedSealsTwoToThe24AndNoMore() {
        EndpointState state = p.a.endpoint.state();
        long c = state.connectionOf(p.ab);
        // As many as are left of the present key: what has been sealed before has been confirmed or not, but no packet comes in now.
        int sealed = 0;
        int generations = nothing.sendingGenerations;
        while (probe(state.sealing, c) != 0) {
            assertTrue(++sealed <= Limits.KEY_PACKETS_MAX + 1000);
        }
        assertTrue(sealed > Limits.KEY_PACKETS_MAX - 1000);
        assertTrue(nothing.sendingGenerations - generations <= 1);
        assertEquals(0, probe(state.sealing, c));
        assertTrue(p.until(100_000_000, () -> Peers.has(p.eventsA, Event.FAILED)));
        assertEquals(Reason.SECURITY, p.eventsA.getLast().reason);
        assertEquals(0, p.a.endpoint.liveConnections());
    }

    @Test
    @Requirement("MR-SEAL-033")
    void tooManyForgeriesEndTheConnection() {
        EndpointState state = p.a.endpoint.state();
        state.sealing.countForgeries(state.connectionOf(p.ab), Limits.FORGERIES_MAX - 2);
        byte[] d = new byte[60];
        d[4] = 0x1b;
        Bytes.putInt(memory, p.ab);
        Bytes.get(memory, d, 8, 4);
        for (int i = 1; i <= 2; i++) {
            d[3] = (byte) (200 + i);
            assertEquals(1, p.a.endpoint.liveConnections());
            p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, d);
            p.run(10_000);
            assertEquals(i, p.a.endpoint.counters().forged);
        }
        assertEquals(Event.FAILED, p.eventsA.getLast().kind);
        assertEquals(Reason.SECURITY, p.eventsA.getLast().reason);
        assertEquals(0, p.a.endpoint.liveConnections());
    }

    /** The window of numbers against one that remembers everything. */
    @Test
    @Requirement({"MR-SEAL-021", "MR-SEAL-023"})
    void replayWindowAgainstAModel() {
        EndpointState state = p.a.endpoint.state();
        long c = state.connectionOf(p.ab);
        int lane = DataHeader.pathOf(1, 3);
        SplittableRandom random = new SplittableRandom(5);
        for (int start : new int[] {1, Integer.MAX_VALUE - 3000, -3000}) {
            Set<Integer> opened = new HashSet<>();
            // A lane jumps ahead to the start; from there on numbers come in some order, some of them twice, across the wrap.
            int top = start;
            assertTrue(open(state.sealing, c, lane, start));
            opened.add(start);
            for (int i = 0; i < 20_000; i++) {
                int number = top + random.nextInt(-700, random.nextInt(50) == 0 ? 700 : 4);
                boolean fresh = number - start >= 0 && top - number < 512 && opened.add(number);
                if (number - start < 0) {
                    continue;
                }
                long replayed = state.counters.replayed;
                assertEquals(fresh, open(state.sealing, c, lane, number), "number " + number + ", top " + top);
                assertEquals(fresh ? 0 : 1, state.counters.replayed - replayed);
                top = number - top > 0 ? number : top;
            }
        }
    }

    /** A peer that has the keys and no manners: any bytes inside, of any length. No exception, no memory touched, no state beyond the limits. */
    @Test
    void arbitraryPacketsInsideAreDroppedOrHarmless() {
        p.a.config.maxViolations = Integer.MAX_VALUE;
        SplittableRandom random = new SplittableRandom(9);
        int counted = 0;
        for (int i = 0; i < 200_000; i++) {
            int plain = random.nextInt(4) == 0 ? 4 + random.nextInt(2_000) : 4 + 4 * random.nextInt(12);
            byte[] d = new byte[SealedHeader.LENGTH + plain + SealedHeader.TAG_LENGTH];
            random.nextBytes(d);
            // Inside, where the packet begins: mostly the right version, and any type but CLOSE, which would end it, as it should.
            int type = random.nextInt(16);
            d[12] = (byte) (random.nextInt(8) == 0 ? random.nextInt(16) << 4 | type : 0x10 | type);
            if (type == Type.CLOSE) {
                continue;
            }
            ByteBuffer.wrap(d).putInt(0, 1_000 + i).putInt(4, 0x1b00_0000).putInt(8, p.ab).putLong(d.length - 8, -1);
            long violations = p.statsA().violations;
            p.net.inject(p.a, 0, p.b.config.localAddresses[0], random.nextInt(4), d);
            if (d[12] >>> 4 != 1 || (type < Type.DATA || type > Type.CLOSE_ACK) && (type < Type.PARK || type > Type.PARITY)) {
                assertEquals(violations + 1, p.statsA().violations, "byte " + d[12]);
                counted++;
            }
            if (i % 100 == 0) {
                p.run(10_000);
            }
        }
        assertTrue(counted > 50_000);
        assertEquals(1, p.a.endpoint.liveConnections());
        p.a.endpoint.abort(p.net.nowNs, p.ab, Reason.APPLICATION_ABORT);
        p.poll();
        assertEquals(0, p.a.endpoint.liveConnections() + p.a.endpoint.liveStreams() + p.a.endpoint.livePackets() + p.a.endpoint.liveWindows());
    }

    private boolean open(Sealing sealing, long c, int lane, int number) {
        SealedHeader.write(memory, number, 0, 0, lane, p.ab);
        Bytes.zero(memory + 12, 32);
        Bytes.putLong(memory + 12 + 24, -1);
        return sealing.open(c, memory, 44) != 0;
    }
}
