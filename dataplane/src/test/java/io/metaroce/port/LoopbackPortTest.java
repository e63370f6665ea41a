// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.port.PortFixture.Datagram;
import io.metaroce.wire.NetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoopbackPortTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8})
    void carriesBothWaysInOrder(int planes) {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(planes); PortFixture f = new PortFixture(64, 10)) {
            carry(f, pair.left(), pair.right());
            carry(f, pair.right(), pair.left());
        }
    }

    private static void carry(PortFixture f, LoopbackPort from, LoopbackPort to) {
        int last = from.planes() - 1;
        for (int i = 0; i < 40; i++) {
            f.add(from, i < 20 ? 0 : last, i % 16, to.localAddress(i < 20 ? 0 : last), i, 64 + 137 * i);
        }
        from.send(f.tx);
        assertEquals(0, f.tx.count);
        List<Datagram> got = f.receive(to, 40);
        for (Datagram d : got) {
            int plane = d.number() < 20 ? 0 : last;
            NetAddress source = from.localAddress(plane);
            assertEquals(new Datagram(d.number(), 64 + 137 * d.number(), plane, 2,
                new NetAddress(source.high(), source.low(), from.sourcePorts(plane)[d.number() % 16])), d);
        }
        assertEquals(40, got.stream().map(Datagram::number).distinct().count());
        List<Integer> first = got.stream().map(Datagram::number).filter(n -> n < 20).toList();
        assertEquals(first.stream().sorted().toList(), first);
    }

    @Test
    void aFullQueueDropsAndTheReceiverCounts() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1, 1 << 16); PortFixture f = new PortFixture(64, 64)) {
            for (int round = 0; round < 20; round++) {
                int fits = pair.right().receiveBuffer(4160);
                f.poll(pair.right(), new ArrayList<>());
                for (int i = 0; i < fits + 10; i++) {
                    f.add(pair.left(), 0, 0, pair.right().localAddress(0), i, 4160);
                }
                pair.left().send(f.tx);
                List<Datagram> got = new ArrayList<>();
                f.poll(pair.right(), got);
                assertTrue(got.size() >= fits, got.size() + " came of " + fits + " that fit");
            }
            PortCounters sent = pair.left().counters();
            PortCounters received = pair.right().counters();
            assertTrue(received.rxDropped > 0);
            assertEquals(sent.txDatagrams, received.rxDatagrams + received.rxDropped);
        }
    }

    @Test
    void framesStayUntilTheNextReceive() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1, 1 << 16); PortFixture f = new PortFixture(8, 8)) {
            f.add(pair.left(), 0, 0, pair.right().localAddress(0), 7, 4160);
            pair.left().send(f.tx);
            pair.right().receive(f.rx);
            // The queue is filled up and over: the frame in hand must not be touched.
            for (int i = 0; i < 40; i++) {
                f.add(pair.left(), 0, 0, pair.right().localAddress(0), 100 + i, 4160);
                pair.left().send(f.tx);
            }
            assertEquals(7, f.read(0).number());
        }
    }

    @Test
    void whatHasNoReceiverIsAnError() {
        try (LoopbackPort.Pair pair = LoopbackPort.pair(2); PortFixture f = new PortFixture(8, 8)) {
            f.add(pair.left(), 0, 0, pair.right().localAddress(1), 1, 100);
            pair.left().send(f.tx);
            assertEquals(1, pair.left().counters().txErrors);
            assertEquals(101, pair.left().counters().lastErrno);
            f.add(pair.left(), 0, 0, pair.right().localAddress(0), 2, LoopbackPort.MAX_DATAGRAM + 1);
            pair.left().send(f.tx);
            assertEquals(2, pair.left().counters().txErrors);
            assertEquals(90, pair.left().counters().lastErrno);
        }
        assertEquals("number of planes is 9, outside 1..8", assertThrows(PortException.class, () -> LoopbackPort.pair(9)).getMessage());
    }

    @Test
    void oneEndMayCloseFirst() {
        LoopbackPort.Pair pair = LoopbackPort.pair(1);
        try (PortFixture f = new PortFixture(8, 8)) {
            pair.left().close();
            f.add(pair.right(), 0, 0, pair.left().localAddress(0), 1, 100);
            pair.right().send(f.tx);
        }
        pair.close();
        pair.close();
    }

    @Test
    void twoThreadsMayOwnTheEnds() throws InterruptedException {
        int total = 50_000;
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1, 1 << 18); PortFixture a = new PortFixture(16, 16);
             PortFixture b = new PortFixture(16, 16)) {
            Thread sender = new Thread(() -> {
                for (int i = 0; i < total; i++) {
                    a.add(pair.left(), 0, 0, pair.right().localAddress(0), i, 64 + i % 300);
                    if (a.tx.isFull() || i == total - 1) {
                        pair.left().send(a.tx);
                    }
                }
            });
            sender.start();
            int last = -1;
            List<Datagram> got = new ArrayList<>();
            boolean ended;
            do {
                ended = !sender.isAlive();
                got.clear();
                b.poll(pair.right(), got);
                for (Datagram d : got) {
                    assertTrue(d.number() > last);
                    assertEquals(64 + d.number() % 300, d.length());
                    last = d.number();
                }
            } while (!ended || !got.isEmpty());
            sender.join();
            assertEquals(total, pair.right().counters().rxDatagrams + pair.right().counters().rxDropped);
        }
    }
}
