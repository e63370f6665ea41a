// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.port.PortFixture.Datagram;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** ImpairedPort over LoopbackPort, with the test's own clock. */
class ImpairedPortTest {
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final int COUNT = 20_000;

    private long nowNs = 5_000_000;

    private ImpairedPort impair(PacketPort inner, String text, long seed) {
        return new ImpairedPort(inner, ImpairmentConfig.parse(text), seed, () -> nowNs);
    }

    /** Sends numbered datagrams of one size in bursts of 50 through {@code from} and returns the numbers that come, in order. */
    private static List<Integer> pass(PacketPort from, PacketPort to, PortFixture f, int count) {
        List<Datagram> got = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            f.add(from, 0, i / 4 % 16, to.localAddress(0), i, 200);
            if (i % 50 == 49) {
                from.send(f.tx);
                f.poll(to, got);
                f.poll(to, got);
            }
        }
        return got.stream().map(Datagram::number).toList();
    }

    private List<Integer> passPair(String text, long seed, ImpairmentCounters[] counters) {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1); ImpairedPort from = impair(pair.left(), text, seed);
             PortFixture f = new PortFixture(64, 64)) {
            List<Integer> got = pass(from, pair.right(), f, COUNT);
            counters[0] = from.impairments();
            return got;
        }
    }

    @Test
    void losesItsShareInOrderAndTheSameForASeed() {
        ImpairmentCounters[] counters = new ImpairmentCounters[1];
        List<Integer> got = passPair("loss=10%", 1, counters);
        assertEquals(COUNT * 0.1, counters[0].lost, COUNT * 0.01);
        assertEquals(COUNT - counters[0].lost, got.size());
        assertEquals(got.stream().sorted().toList(), got);
        assertEquals(got, passPair("loss=10%", 1, counters));
        assertNotEquals(got, passPair("loss=10%", 2, counters));
    }

    @Test
    void zeroAndOneAreExact() {
        ImpairmentCounters[] counters = new ImpairmentCounters[1];
        assertEquals(COUNT, passPair("loss=0", 1, counters).size());
        assertEquals(0, passPair("loss=1", 1, counters).size());
        assertEquals(COUNT, counters[0].lost);
    }

    @Test
    void duplicates() {
        ImpairmentCounters[] counters = new ImpairmentCounters[1];
        List<Integer> got = passPair("dup=5%", 3, counters);
        assertEquals(COUNT * 0.05, counters[0].duplicated, COUNT * 0.01);
        assertEquals(COUNT + counters[0].duplicated, got.size());
        assertEquals(COUNT, new HashSet<>(got).size());
    }

    @Test
    void corruptsOneBitAndNeverTheSendersMemory() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1); ImpairedPort from = impair(pair.left(), "corrupt=1", 4);
             PortFixture f = new PortFixture(64, 64)) {
            int damagedHeaders = 0;
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 50; i++) {
                    f.add(from, 0, 0, pair.right().localAddress(0), i, 200);
                }
                from.send(f.tx);
                pair.right().receive(f.rx);
                assertEquals(50, f.rx.count);
                for (int i = 0; i < f.rx.count; i++) {
                    int flipped = differences(f, i);
                    assertEquals(1, flipped & 0xffff);
                    damagedHeaders += flipped >> 16;
                }
            }
            assertEquals(1000, from.impairments().corrupted);
            // 64 of 200 bytes are header.
            assertEquals(320, damagedHeaders, 60);
            from.close();
        }
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1); PortFixture f = new PortFixture(64, 64)) {
            // A fixture's payload is checked against its pattern on receipt: clean after a damaged run through the same memory.
            try (ImpairedPort from = impair(new Shared(pair.left()), "corrupt=1,delay=1us", 4)) {
                f.add(from, 0, 0, pair.right().localAddress(0), 1, 4160);
                from.send(f.tx);
            }
            f.add(pair.left(), 0, 0, pair.right().localAddress(0), 2, 4160);
            pair.left().send(f.tx);
            assertEquals(1, f.receive(pair.right(), 1).size());
        }
    }

    /** Bits that differ from what was sent, and in the high half how many of them lie in the header. */
    private static int differences(PortFixture f, int entry) {
        int bits = 0;
        int inHeader = 0;
        for (int b = 0; b < 200; b++) {
            byte sent = b < 4 ? (byte) (b == 0 ? entry : 0) : b < 64 ? (byte) entry : PortFixture.pattern(b - 64);
            int flipped = Integer.bitCount((ALL.get(ValueLayout.JAVA_BYTE, f.rx.address[entry] + b) ^ sent) & 0xff);
            bits += flipped;
            inHeader += b < 64 ? flipped : 0;
        }
        return bits | inHeader << 16;
    }

    @Test
    void delaysByTheClock() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1); ImpairedPort from = impair(pair.left(), "delay=100us", 5);
             PortFixture f = new PortFixture(64, 64)) {
            List<Datagram> got = new ArrayList<>();
            f.add(from, 0, 0, pair.right().localAddress(0), 0, 200);
            from.send(f.tx);
            nowNs += 60_000;
            f.add(from, 0, 0, pair.right().localAddress(0), 1, 200);
            from.send(f.tx);
            nowNs += 39_999;
            from.receive(f.rx);
            f.poll(pair.right(), got);
            assertEquals(0, got.size());
            nowNs += 1;
            from.receive(f.rx);
            f.poll(pair.right(), got);
            assertEquals(List.of(0), got.stream().map(Datagram::number).toList());
            nowNs += 60_000;
            from.send(f.tx);
            f.poll(pair.right(), got);
            assertEquals(List.of(0, 1), got.stream().map(Datagram::number).toList());
            assertEquals(2, from.impairments().delayed);
        }
    }

    @Test
    void jitterAndSkewReorderPathsButNeverWithinOne() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1); ImpairedPort from = impair(pair.left(), "delay=20us,jitter=30us,skew=200us,dup=1%", 6);
             PortFixture f = new PortFixture(64, 64)) {
            List<Datagram> got = new ArrayList<>();
            int count = 5000;
            for (int i = 0; i < count; i++) {
                f.add(from, 0, i % 16, pair.right().localAddress(0), i, 64 + i % 500);
                nowNs += 500;
                from.send(f.tx);
                f.poll(pair.right(), got);
            }
            nowNs += 1_000_000;
            while (got.size() < count + from.impairments().duplicated) {
                from.receive(f.rx);
                f.poll(pair.right(), got);
            }
            List<Integer> all = got.stream().map(Datagram::number).toList();
            assertNotEquals(all.stream().sorted().toList(), all);
            for (int port : from.sourcePorts(0)) {
                List<Integer> path = got.stream().filter(d -> d.source().port() == port).map(Datagram::number).toList();
                assertEquals(path.stream().sorted().toList(), path);
            }
            assertTrue(from.impairments().duplicated > 20);
        }
    }

    @Test
    void whatCannotBeHeldIsLost() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1); ImpairedPort from = impair(pair.left(), "delay=1us,held=10", 7);
             PortFixture f = new PortFixture(64, 64)) {
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 15; i++) {
                    f.add(from, 0, 0, pair.right().localAddress(0), i, 200);
                }
                from.send(f.tx);
                nowNs += 1000;
                from.receive(f.rx);
                assertEquals(10, f.receive(pair.right(), 10).size());
            }
            assertEquals(15, from.impairments().overflowed);
        }
    }

    @Test
    void aBlockedPlaneCarriesNothingEitherWay() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(2); ImpairedPort left = impair(pair.left(), "loss=0", 8);
             PortFixture f = new PortFixture(64, 64)) {
            LoopbackPort right = pair.right();
            left.blockPlane(1, true);
            both(f, left, right);
            assertEquals(List.of(0), f.receive(right, 1).stream().map(Datagram::number).toList());
            both(f, right, left);
            assertEquals(List.of(0), f.receive(left, 1).stream().map(Datagram::number).toList());
            assertEquals(2, left.impairments().blocked);
            left.blockPlane(1, false);
            both(f, left, right);
            assertEquals(2, f.receive(right, 2).size());
            left.blockPath(0, 0, true);
            both(f, left, right);
            assertEquals(List.of(1), f.receive(right, 1).stream().map(Datagram::number).toList());
        }
    }

    private static void both(PortFixture f, PacketPort from, PacketPort to) {
        f.add(from, 0, 0, to.localAddress(0), 0, 100);
        f.add(from, 1, 0, to.localAddress(1), 1, 100);
        from.send(f.tx);
    }

    @Test
    void plannedOutagesFollowTimeAndCount() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(2);
             ImpairedPort left = impair(pair.left(), "blockplane=0@1ms..3ms,blockpath=1/0@2pkt..4pkt", 9); PortFixture f = new PortFixture(64, 64)) {
            List<Integer> onPlane0 = new ArrayList<>();
            List<Integer> onPlane1 = new ArrayList<>();
            for (int ms = 0; ms < 6; ms++) {
                both(f, left, pair.right());
                List<Datagram> got = new ArrayList<>();
                f.poll(pair.right(), got);
                for (Datagram d : got) {
                    (d.plane() == 0 ? onPlane0 : onPlane1).add(ms);
                }
                nowNs += 1_000_000;
            }
            assertEquals(List.of(0, 3, 4, 5), onPlane0);
            assertEquals(List.of(0, 1, 4, 5), onPlane1);
        }
    }

    @Test
    void outagesOfWhatDoesNotExistAreRefused() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(2)) {
            assertEquals("impairment: plane 2 to block is outside 0..1",
                assertThrows(IllegalArgumentException.class, () -> impair(pair.left(), "blockplane=2", 1)).getMessage());
            assertEquals("impairment: path 1/16 to block is outside 0..15",
                assertThrows(IllegalArgumentException.class, () -> impair(pair.left(), "blockpath=1/16", 1)).getMessage());
        }
    }

    @Test
    void marksWhatItReceives() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1); ImpairedPort to = impair(pair.right(), "ce=25%", 10);
             PortFixture f = new PortFixture(64, 64)) {
            int marked = 0;
            for (int round = 0; round < 40; round++) {
                for (int i = 0; i < 50; i++) {
                    f.add(pair.left(), 0, 0, to.localAddress(0), i, 100);
                }
                pair.left().send(f.tx);
                to.receive(f.rx);
                for (int i = 0; i < f.rx.count; i++) {
                    marked += f.rx.ecn[i] == 3 ? 1 : 0;
                }
            }
            assertEquals(500, marked, 80);
            assertEquals(marked, to.impairments().marked);
        }
    }

    @Test
    void whatWasLetThroughIsNotJudgedAgain() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1); PortFixture f = new PortFixture(64, 64)) {
            Reluctant inner = new Reluctant(pair.left(), 3);
            ImpairedPort from = impair(inner, "loss=50%,corrupt=20%", 11);
            for (int i = 0; i < 64; i++) {
                f.add(from, 0, 0, pair.right().localAddress(0), i, 200);
            }
            from.send(f.tx);
            long lost = from.impairments().lost;
            long corrupted = from.impairments().corrupted;
            assertEquals(64 - lost - 3, f.tx.count);
            for (int i = 0; i < 40; i++) {
                from.send(f.tx);
            }
            assertEquals(lost, from.impairments().lost);
            assertEquals(corrupted, from.impairments().corrupted);
            assertEquals(64 - lost, pair.left().counters().txDatagrams);
            from.close();
        }
    }

    @Test
    void delayedDatagramsWaitForAReluctantPort() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1); PortFixture f = new PortFixture(64, 64)) {
            ImpairedPort from = impair(new Reluctant(pair.left(), 3), "delay=1us", 12);
            for (int i = 0; i < 50; i++) {
                f.add(from, 0, i % 2, pair.right().localAddress(0), i, 300);
            }
            from.send(f.tx);
            nowNs += 1000;
            List<Datagram> got = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                from.send(f.tx);
                f.poll(pair.right(), got);
            }
            assertEquals(50, got.size());
            List<Integer> even = got.stream().map(Datagram::number).filter(n -> n % 2 == 0).toList();
            assertEquals(even.stream().sorted().toList(), even);
            from.close();
        }
    }

    /** Leaves the inner port open when closed. */
    private static class Shared implements PacketPort {
        final PacketPort inner;

        Shared(PacketPort inner) {
            this.inner = inner;
        }

        @Override public int planes() { return inner.planes(); }
        @Override public NetAddress localAddress(int plane) { return inner.localAddress(plane); }
        @Override public int[] sourcePorts(int plane) { return inner.sourcePorts(plane); }
        @Override public int maxDatagram(int plane) { return inner.maxDatagram(plane); }
        @Override public int preferredRun() { return inner.preferredRun(); }
        @Override public int receiveBuffer(int datagramBytes) { return inner.receiveBuffer(datagramBytes); }
        @Override public void receive(RxBurst burst) { inner.receive(burst); }
        @Override public void prepare(TxBurst burst) { inner.prepare(burst); }
        @Override public void send(TxBurst burst) { inner.send(burst); }
        @Override public PortCounters counters() { return inner.counters(); }
        @Override public void close() { }
    }

    /** Takes a few datagrams a call. */
    private static final class Reluctant extends Shared {
        private final int limit;

        Reluctant(PacketPort inner, int limit) {
            super(inner);
            this.limit = limit;
        }

        @Override
        public void send(TxBurst burst) {
            int all = burst.count;
            int now = Math.min(limit, all);
            burst.count = now;
            inner.send(burst);
            for (int i = now; i < all; i++) {
                burst.swap(i - now, i);
            }
            burst.count = all - now;
        }
    }
}
