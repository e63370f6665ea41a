// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.ProbeHeader;
import io.metaroce.wire.Rate16;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The receiver's share, requirement by requirement: how it is asked for, divided, told and kept. */
class ShareRequirementsTest {
    private static final long MS = 1_000_000;
    private static final long LINE = 100_000_000;
    private static final long RTT = 10_000;

    // ---- dividing, without a network ----

    private static final class Division {
        final EndpointState state;
        final ReceiverShare share;
        final long[] planes;
        long now = 1_000_000_000L;

        Division(int senders) {
            EndpointConfig config = Peers.config(1);
            config.maxConnections = senders;
            Peers p = new Peers(2101, config, Peers.config(2));
            state = Inside.state(p.a.endpoint);
            share = new ReceiverShare(state);
            planes = new long[senders];
            for (int i = 0; i < senders; i++) {
                planes[i] = state.plane(state.takeConnection(), 0);
                rtt(i, RTT);
            }
        }

        void rtt(int sender, long ns) {
            state.slab.putInt(planes[sender] + PlaneRecord.SRTT_NS, (int) ns);
        }

        void ask(int sender, long kbps) {
            share.onPacket(0, planes[sender], Rate16.encode(kbps), false, now);
        }

        long share(int sender) {
            return share.share(0, planes[sender], now);
        }
    }

    /** Water-filling by bisection of the level: shares none of the code under test. */
    private static double[] fair(double capacity, double[] demands) {
        double wanted = Arrays.stream(demands).sum();
        int n = demands.length;
        if (wanted <= capacity) {
            return Arrays.stream(demands).map(d -> d + (capacity - wanted) / n).toArray();
        }
        double low = 0;
        double high = capacity;
        for (int i = 0; i < 100; i++) {
            double level = (low + high) / 2;
            double sum = Arrays.stream(demands).map(d -> Math.min(d, level)).sum();
            if (sum > capacity) {
                high = level;
            } else {
                low = level;
            }
        }
        double level = low;
        return Arrays.stream(demands).map(d -> Math.min(d, level)).toArray();
    }

    @Test
    @Requirement({"MR-SHARE-010", "MR-SHARE-011"})
    void sharesAreMaxMinFairAndTheirSumIsTheCapacity() {
        Random random = new Random(3);
        for (int round = 0; round < 300; round++) {
            int n = 1 + random.nextInt(40);
            Division d = new Division(n);
            double[] demands = new double[n];
            for (int i = 0; i < n; i++) {
                long kbps = random.nextInt(3) == 0 ? 1 + random.nextInt(2_000_000) : 1 + random.nextInt((int) LINE);
                d.ask(i, kbps);
                demands[i] = Rate16.decode(Rate16.encode(kbps));
            }
            double[] fair = fair(LINE, demands);
            long sum = 0;
            for (int i = 0; i < n; i++) {
                sum += d.share(i);
                assertEquals(fair[i], d.share(i), 0.0001 * LINE, n + " senders, number " + i);
            }
            assertTrue(sum <= LINE, sum + " of " + LINE);
        }
    }

    /** A plane that is taken out of use and comes back is the same record, and its sender may well ask for the same. */
    @Test
    @Requirement("MR-SHARE-012")
    void whoLeftAndAsksForTheSameAgainIsASenderAgain() {
        Division d = new Division(2);
        d.ask(0, LINE);
        d.ask(1, LINE);
        assertEquals(LINE / 2, d.share(0));
        d.share.forget(0, d.planes[1]);
        assertEquals(LINE, d.share(0));
        d.ask(1, LINE);
        assertEquals(LINE / 2, d.share(0));
        assertEquals(LINE / 2, d.share(1));
    }

    @Test
    @Requirement("MR-SHARE-011")
    void marksTakeFromTheCapacity() {
        Division d = new Division(4);
        for (int i = 0; i < 400; i++) {
            d.share.onPacket(0, d.planes[i % 4], Rate16.encode(LINE), true, d.now);
        }
        d.now += 2 * RTT;
        long sum = 0;
        for (int i = 0; i < 4; i++) {
            sum += d.share(i);
        }
        assertEquals(0.75 * LINE, sum, 0.01 * LINE, "all marked");
        for (int i = 0; i < 45; i++) {
            d.share.onPacket(0, d.planes[i % 4], Rate16.encode(LINE), false, d.now);
        }
        d.now += 2 * RTT;
        assertEquals(LINE * (1 - 0.25 * Math.pow(63 / 64.0, 45)) / 4, d.share(0), 0.01 * LINE);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 64, 65, 200})
    @Requirement("MR-SHARE-010")
    void theMoreSendersTheMorePacketsTheMeanOfMarksIsOver(int senders) {
        Division d = new Division(senders);
        for (int i = 0; i < senders; i++) {
            d.ask(i, LINE);
        }
        double memory = Math.max(64, senders * senders / 64.0);
        for (int i = 0; i < 300; i++) {
            d.share.onPacket(0, d.planes[i % senders], Rate16.encode(LINE), true, d.now);
        }
        d.now += RTT + 1;
        double marked = 1 - Math.pow(1 - 1 / memory, 300);
        assertEquals(LINE * (1 - 0.25 * marked) / senders, d.share(0), 1e-4 * LINE / senders);
    }

    @Test
    @Requirement("MR-SHARE-012")
    void itIsDividedAgainWhenSendersComeGoOrChangeTheirMinds() {
        Division d = new Division(3);
        d.ask(0, LINE);
        assertEquals(LINE, d.share(0), 1);
        d.ask(1, LINE);
        assertEquals(LINE / 2, d.share(0), 1, "one joins");
        d.ask(2, LINE);
        assertEquals(LINE / 3, d.share(0), 1);
        d.ask(1, LINE / 10);
        assertEquals(LINE * 0.45, d.share(0), 0.001 * LINE, "a demand falls");
        d.ask(1, LINE / 10 + LINE / 100);
        assertEquals(LINE * 0.45, d.share(0), 0.001 * LINE, "by less than 2 % of the line");
        d.now += RTT + 1;
        assertEquals(LINE * 0.445, d.share(0), 0.001 * LINE, "but once an RTT");
        d.ask(1, LINE / 5);
        assertEquals(LINE * 0.4, d.share(0), 0.001 * LINE);
        d.ask(2, 0);
        assertEquals(LINE * 0.8, d.share(0), 0.001 * LINE, "one leaves");
        d.share.forget(0, d.planes[1]);
        assertEquals(LINE, d.share(0), 1, "with its connection");
    }

    @Test
    @Requirement("MR-SHARE-013")
    void aSenderOfWhichNothingComesLeaves() {
        Division d = new Division(2);
        d.ask(0, LINE);
        d.ask(1, LINE);
        assertEquals(LINE / 2, d.share(0), 1);
        d.now += 4 * RTT;
        d.ask(0, LINE);
        assertEquals(LINE / 2, d.share(0), 1, "four RTT are not too long");
        d.now += RTT + 1;
        d.ask(0, LINE);
        assertEquals(LINE, d.share(0), 1);
        d.ask(1, LINE);
        assertEquals(LINE / 2, d.share(0), 1, "it may come back with the same demand");
    }

    /** Of many senders each sends once in many RTT. */
    @Test
    @Requirement("MR-SHARE-013")
    void aSenderOfManyIsActiveUntilItsTurn() {
        int senders = 600;
        Division d = new Division(senders);
        long turnNs = senders * 8_000_000L * d.state.config.payloadMtu / LINE;
        assertTrue(4 * turnNs > 8 * RTT);
        for (int i = 0; i < senders; i++) {
            d.ask(i, LINE);
        }
        d.now += 4 * turnNs;
        d.ask(0, LINE);
        assertEquals(LINE / senders, d.share(0), 1);
        d.now += RTT + 1;
        d.ask(0, LINE);
        assertEquals(LINE, d.share(0), 1);
    }

    @Test
    @Requirement("MR-SHARE-013")
    void aDistantSenderIsNotForgottenAtThePaceOfANearOne() {
        Division d = new Division(2);
        d.rtt(1, 100 * RTT);
        d.ask(1, LINE);
        d.now += 300 * RTT;
        d.ask(0, LINE);
        assertEquals(LINE / 2, d.share(0), 1);
        d.now += 101 * RTT;
        d.ask(0, LINE);
        assertEquals(LINE, d.share(0), 1);
    }

    /** Soak seed 67162: a near sender's RTT was over between two shares told in one turn, and together they were more than the line. */
    @Test
    @Requirement({"MR-SHARE-011", "MR-SHARE-012"})
    void sharesToldAtOneTimeAreOfOneDivision() {
        Division d = new Division(2);
        d.rtt(0, 100 * RTT);
        d.ask(0, LINE / 2);
        d.ask(1, LINE / 10);
        d.share(0);
        d.now += RTT + 1;
        d.ask(0, LINE / 2 - LINE / 100);
        d.ask(1, LINE / 10 + LINE / 100);
        long sum = d.share(0) + d.share(1);
        assertTrue(sum <= LINE, sum + " of " + LINE);
        d.now += 1;
        assertEquals(LINE / 10 + LINE / 100 + 0.2 * LINE, d.share(1), 0.001 * LINE, "the near one is told first in the next turn");
    }

    @Test
    @Requirement("MR-SHARE-014")
    void whoDoesNotAskIsToldWhatItWouldGet() {
        Division d = new Division(3);
        assertEquals(LINE, d.share(2));
        d.ask(0, LINE);
        assertEquals(LINE / 2, d.share(2));
        d.ask(1, LINE);
        assertEquals(LINE / 3, d.share(2));
    }

    // ---- told and kept, in conversation ----

    private Peers p;
    private Tap tap;

    private void connect(EndpointConfig a, EndpointConfig b) {
        p = new Peers(2102, a, b);
        tap = new Tap(p);
        p.connect();
        p.run(MS);
        tap.seen.clear();
    }

    private void connect() {
        connect(Peers.config(1), Peers.config(2));
    }

    /** What all may start with falls with their number, so that all together never bring more than a few times the line. */
    @Test
    @Requirement("MR-SHARE-016")
    void everyAcknowledgementTellsWhatToStartWith() {
        connect();
        for (int connections = 1; connections <= 6; connections++) {
            tap.seen.clear();
            p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, connections));
            p.run(MS);
            long expected = Math.min(LINE, (long) (Limits.START_OVERLAP * LINE / connections));
            assertEquals(expected, Rate16.decode(tap.acksToA().getLast().u16(AckHeader.START_SHARE)), expected / 1_000.0, connections + " connections");
            p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
            p.run(10 * MS);
        }
    }

    @Test
    @Requirement({"MR-SHARE-014", "MR-SHARE-015"})
    void everyAcknowledgementTellsAShareThatHolds() {
        for (long delay : new long[] {4_000, 400_000, 30_000_000}) {
            p = new Peers(2102);
            tap = new Tap(p);
            p.net.delayNs = delay;
            p.connect();
            p.post(p.request(Opcode.WRITE, 0, 0, 4_000_000, 0, 1));
            assertTrue(p.until(3_000 * MS, () -> p.completionsA.size() == 1));
            EndpointState b = Inside.state(p.b.endpoint);
            long rtt = b.slab.getInt(b.plane(b.connectionOf(p.ba), 0) + PlaneRecord.SRTT_NS);
            int n = 0;
            for (Tap.Seen s : tap.acksToA()) {
                assertEquals(AckHeader.HAS_SHARE, s.u8(5));
                s.blocks().forEach(x -> assertEquals(DataHeader.planeOf(x.path()), s.u8(AckHeader.PLANE)));
                long share = Rate16.decode(s.u16(AckHeader.SHARE));
                assertTrue(share > 0 && share <= LINE);
                assertTrue(s.u16(AckHeader.SHARE_VALIDITY_US) * 1_000L >= Math.min(4 * rtt * 9 / 10, 65_535_000), "delay " + delay);
                n += s.blocks().size();
            }
            assertTrue(n > 10);
        }
    }

    @Test
    @Requirement("MR-SHARE-001")
    void dataAsksForWhatWaitsWithinARoundTrip() {
        connect();
        EndpointState a = Inside.state(p.a.endpoint);
        long c = a.connectionOf(p.ab);
        // Two packets wait, over 10 us: 1.6 Gb/s. Fifty of them: more than the line carries in that time.
        for (int packets : new int[] {2, 5, 500}) {
            p.run(MS);
            tap.seen.clear();
            long[] expected = new long[2];
            for (int i = 0; i < 2; i++) {
                expected[i] = Math.min(LINE, packets * 1_024 * 8L * 1_000_000 / a.slab.getInt(a.plane(c, i) + PlaneRecord.SRTT_NS));
            }
            p.post(p.request(Opcode.WRITE, 0, 0, packets * 1_024, 0, packets));
            p.run(0);
            // Of the first turn.
            for (Tap.Seen s : tap.dataToB().subList(0, Math.min(16, tap.dataToB().size()))) {
                boolean last = s.ssn() == tap.dataToB().getFirst().ssn() + packets - 1;
                assertEquals(last ? 0 : Rate16.encode(expected[s.plane()]), s.u16(DataHeader.DEMAND), packets + " packets");
            }
            assertFalse(tap.dataToB().isEmpty());
            p.run(10 * MS);
            assertEquals(0, tap.dataToB().stream().filter(s -> !s.isRepeat()).toList().getLast().u16(DataHeader.DEMAND), "nothing waits behind it");
        }
    }

    /** Two connections of one host with far more than the line could take. */
    @Test
    @Requirement({"MR-SHARE-002", "MR-SHARE-021"})
    void connectionsThatDivideALineAskForWhatTheyCouldUse() {
        connect();
        int second = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(p.until(10 * MS, () -> Inside.state(p.a.endpoint).slab.getInt(Inside.state(p.a.endpoint).connectionOf(second) + ConnectionRecord.STATE) == ConnectionRecord.ESTABLISHED));
        EndpointState a = Inside.state(p.a.endpoint);
        int[] name = {p.ab, second};
        float[] share = {0.7f, 0.1f};
        a.config.minWindowPackets = 1;
        Windows windows = new Windows(a);
        for (int k = 0; k < 2; k++) {
            WorkRequest wr = p.request(Opcode.WRITE, 0, 0, 4_000_000, 0, k);
            for (int i = 0; i < 2; i++) {
                long plane = a.plane(a.connectionOf(name[k]), i);
                a.slab.putFloat(plane + PlaneRecord.UNIT, 25);
                a.slab.putFloat(plane + PlaneRecord.START_SHARE, 0.001f);
                windows.startAnew(a.connectionOf(name[k]), plane);
                float packets = windows.window(a.connectionOf(name[k]), plane, p.net.nowNs);
                assertEquals(k == 0 ? 1 : Limits.START_SPREAD, packets, 1e-4, "to start with, the more where several send");
                if (k == 1) {
                    a.slab.putFloat(plane + PlaneRecord.START_SHARE, 0);
                    windows.startAnew(a.connectionOf(name[k]), plane);
                    assertEquals(Limits.START_SPREAD * Limits.START_PACKETS, windows.window(a.connectionOf(name[k]), plane, p.net.nowNs), 1e-4);
                }
                a.slab.putFloat(plane + PlaneRecord.SHARE, share[k]);
                a.slab.putLong(plane + PlaneRecord.SHARE_EXPIRES_NS, p.net.nowNs + MS);
            }
            assertEquals(Endpoint.OK, p.a.endpoint.post(name[k], wr));
            if (k == 0) {
                assertEquals(Endpoint.OK, p.a.endpoint.post(second, wr));
            }
        }
        tap.seen.clear();
        p.run(0);
        long other = a.slab.getInt(a.connectionOf(second) + ConnectionRecord.REMOTE_CID);
        for (int plane = 0; plane < 2; plane++) {
            int of = plane;
            assertEquals(Rate16.encode((long) (0.9 * LINE)), lastDemand(s -> s.i32(8) != other && s.plane() == of), "what the other was not given");
            assertEquals(Rate16.encode(LINE / 2), lastDemand(s -> s.i32(8) == other && s.plane() == of), "its part at least");
        }
    }

    /** A demand of almost nothing would be granted, and what is posted next would wait for that share to run out. */
    @Test
    @Requirement("MR-SHARE-001")
    void whatADeadPathLeavesIsAPacketAtLeast() {
        connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 0));
        p.run(MS);
        int dead = tap.dataToB().getLast().sourcePort();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA && (d[4] & 15) != Type.PROBE || port != dead;
        p.post(p.request(Opcode.WRITE, 0, 0, 60_000, 0, 1));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 2));
        assertTrue(p.statsA().deadPaths > 0);
        List<Tap.Seen> again = tap.dataToB().stream().filter(s -> s.isRepeat() && s.u16(DataHeader.DEMAND) != 0).toList();
        assertTrue(again.size() > 2, again.size() + "");
        again.forEach(s -> assertTrue(Rate16.decode(s.u16(DataHeader.DEMAND)) > 1_000, Rate16.decode(s.u16(DataHeader.DEMAND)) + " kbit/s"));
    }

    private int lastDemand(java.util.function.Predicate<Tap.Seen> which) {
        return tap.dataToB().stream().filter(which).toList().getLast().u16(DataHeader.DEMAND);
    }

    @Test
    @Requirement({"MR-SHARE-003", "MR-SHARE-001"})
    void probesOfThoseThatWaitForNothingAskForNothing() {
        connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 20_000, 0, 1));
        p.run(2_000 * MS);
        assertTrue(tap.of(true, Type.PROBE).size() > 4, "keepalives");
        tap.of(true, Type.PROBE).forEach(s -> assertEquals(0, s.u16(ProbeHeader.DEMAND)));
        // With something waiting they ask for it.
        tap.seen.clear();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        p.post(p.request(Opcode.WRITE, 0, 0, 4_000_000, 0, 2));
        p.run(50_000);
        assertTrue(tap.of(true, Type.PROBE).size() > 4);
        tap.of(true, Type.PROBE).forEach(s -> assertTrue(s.u16(ProbeHeader.DEMAND) != 0));
    }

    @Test
    @Requirement({"MR-SHARE-020", "MR-SHARE-021"})
    void theLastShareToldForAPlaneRulesThere() {
        connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 1));
        p.run(MS);
        byte[] ack = tap.acksToA().getLast().bytes();
        EndpointState a = Inside.state(p.a.endpoint);
        long c = a.connectionOf(p.ab);
        Windows windows = new Windows(a);
        for (int i = 0; i < 2; i++) {
            a.slab.putFloat(a.plane(c, i) + PlaneRecord.UNIT, 100);
        }
        for (long[] told : new long[][] {{0, LINE / 4, LINE / 2}, {0, LINE / 2, LINE / 8}, {1, LINE / 8, LINE / 4}, {0, LINE / 16, LINE / 1_000}}) {
            float other = windows.window(c, a.plane(c, 1 - (int) told[0]), p.net.nowNs);
            p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, Tap.changed(withoutBlocks(ack), d -> {
                d.put(AckHeader.PLANE, (byte) told[0]);
                d.putShort(AckHeader.SHARE, (short) Rate16.encode(told[1])).putShort(AckHeader.SHARE_VALIDITY_US, (short) 100)
                        .putShort(AckHeader.START_SHARE, (short) Rate16.encode(told[2]));
            }));
            assertEquals(400.0 * told[1] / LINE, windows.window(c, a.plane(c, (int) told[0]), p.net.nowNs + 100_000), 0.4 * told[1] / LINE, "as exact as Rate16");
            double packets = Math.clamp(Limits.START_PACKETS_IN_ALL / 2.0 * told[2] / LINE, 1, Limits.START_PACKETS);
            assertEquals(Math.max(Math.max(packets, p.a.config.minWindowPackets), 400.0 * told[2] / LINE), windows.window(c, a.plane(c, (int) told[0]), p.net.nowNs + 100_001), 0.4 * told[2] / LINE + 0.01,
                    "then it is over, and the start share in force");
            assertEquals(other, windows.window(c, a.plane(c, 1 - (int) told[0]), p.net.nowNs), 0.01);
        }
        // Without the flag nothing is told.
        float before = windows.window(c, a.plane(c, 0), p.net.nowNs);
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, Tap.changed(withoutBlocks(ack), d -> d.put(5, (byte) 0).putShort(AckHeader.SHARE, (short) Rate16.encode(1))));
        assertEquals(before, windows.window(c, a.plane(c, 0), p.net.nowNs));
    }

    private static byte[] withoutBlocks(byte[] ack) {
        return Tap.resized(ack, AckHeader.LENGTH, d -> d.put(6, (byte) 0).put(7, (byte) 0));
    }

    @Test
    @Requirement({"MR-SHARE-010", "MR-SHARE-020"})
    void sendersOfOneReceiverEndUpWithEqualParts() {
        Peers q = new Peers(2103, Peers.config(1), Peers.config(2));
        TestNetwork.Host[] more = new TestNetwork.Host[3];
        int[] handles = new int[4];
        handles[0] = q.a.endpoint.connect(q.net.nowNs, q.b.config.localAddresses[0], 0);
        for (int i = 0; i < 3; i++) {
            more[i] = q.net.add(Peers.config(10 + i), q.regionsA);
            handles[i + 1] = more[i].endpoint.connect(q.net.nowNs, q.b.config.localAddresses[0], 0);
        }
        q.run(10 * MS);
        long[] bytes = new long[4];
        q.net.observer = (from, d, plane, port, to) -> {
            if ((d[4] & 15) == Type.ACK && from == q.b) {
                long share = Rate16.decode(ByteBuffer.wrap(d).getShort(AckHeader.SHARE) & 0xffff);
                for (int i = 0; i < 4; i++) {
                    if (ByteBuffer.wrap(d).getInt(8) == handles[i]) {
                        bytes[i] = share;
                    }
                }
            }
        };
        for (int round = 0; round < 8; round++) {
            for (int i = 0; i < 4; i++) {
                Endpoint e = i == 0 ? q.a.endpoint : more[i - 1].endpoint;
                assertEquals(Endpoint.OK, e.post(handles[i], q.request(Opcode.WRITE, round, 0, 1_000_000, 0, round)));
            }
        }
        q.run(200_000);
        for (long share : bytes) {
            assertEquals(LINE / 4, share, 0.02 * LINE);
        }
    }
}
