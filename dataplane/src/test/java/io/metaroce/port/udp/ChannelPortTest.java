// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.port.PacketPort;
import io.metaroce.port.PortException;
import io.metaroce.port.PortFixture;
import io.metaroce.port.PortFixture.Datagram;
import io.metaroce.wire.NetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChannelPortTest {
    private static ChannelPort open(String... hosts) {
        return new ChannelPort(UdpPortTest.config(hosts), "as a test");
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.1,false", "::1,false", "127.0.0.1,true"})
    void carriesBothWaysWithAnyUdpPort(String host, boolean mixed) {
        try (PacketPort a = open(host); PacketPort b = mixed ? new UdpPort(UdpPortTest.config(host)) : open(host);
             PortFixture f = new PortFixture(64, 5)) {
            carry(f, a, b, mixed ? 2 : 0);
            carry(f, b, a, 0);
        }
    }

    private static void carry(PortFixture f, PacketPort from, PacketPort to, int ecn) {
        for (int i = 0; i < 20; i++) {
            f.add(from, 0, 1, to.localAddress(0), i, 12 + 200 * i);
        }
        f.sendAll(from);
        List<Datagram> got = f.receive(to, 20);
        NetAddress source = from.localAddress(0);
        for (int i = 0; i < 20; i++) {
            assertEquals(new Datagram(i, 12 + 200 * i, 0, ecn, new NetAddress(source.high(), source.low(), from.sourcePorts(0)[1])), got.get(i));
        }
        assertEquals(20, from.counters().txDatagrams);
        assertEquals(20, to.counters().rxDatagrams);
        assertEquals(from.counters().txBytes, to.counters().rxBytes);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 100})
    void planesAreServedInTurn(int capacity) {
        try (PacketPort a = open("127.0.0.1", "127.0.0.2"); PacketPort b = open("127.0.0.1", "127.0.0.2");
             PortFixture f = new PortFixture(60, capacity)) {
            for (int i = 0; i < 60; i++) {
                f.add(a, i / 30, i % 4, b.localAddress(i / 30), i, 1000);
            }
            f.sendAll(a);
            List<Datagram> got = f.receive(b, 60);
            Set<Integer> numbers = new HashSet<>();
            got.forEach(d -> numbers.add(d.number()));
            assertEquals(60, numbers.size());
            assertTrue(got.stream().limit(2L * capacity).anyMatch(d -> d.plane() == 1));
        }
    }

    @Test
    void dropsAndCountsWhatCannotBeSent() {
        try (PacketPort a = open("127.0.0.1"); PacketPort b = open("127.0.0.1"); PortFixture f = new PortFixture(8, 8)) {
            f.add(a, 0, 0, b.localAddress(0), 0, 65_508);
            f.add(a, 0, 0, UdpPortTest.address("::1"), 1, 100);
            f.add(a, 0, 0, b.localAddress(0), 2, 65_507);
            f.sendAll(a);
            assertEquals(2, a.counters().txErrors);
            assertEquals(2, f.receive(b, 1).getFirst().number());
        }
    }

    @Test
    void receiveBufferHoldsWhatItPromises() {
        try (PacketPort a = open("127.0.0.1"); PacketPort b = open("127.0.0.1"); PortFixture f = new PortFixture(64, 64)) {
            int promised = b.receiveBuffer(4160);
            for (int i = 0; i < promised; i++) {
                f.add(a, 0, 0, b.localAddress(0), i, 4160);
                if (f.tx.isFull()) {
                    f.sendAll(a);
                }
            }
            f.sendAll(a);
            assertEquals(promised, f.receive(b, promised).size());
        }
    }

    @Test
    void setUpErrorsNameThePlane() {
        try (PacketPort first = open("127.0.0.1")) {
            UdpConfig taken = new UdpConfig(UdpPortTest.address("127.0.0.2"), first.localAddress(0));
            assertEquals("plane 1 (" + first.localAddress(0) + "): cannot bind UDP port " + first.localAddress(0).port()
                + ": Address already in use", assertThrows(PortException.class, () -> new ChannelPort(taken, "")).getMessage());
        }
        String message = assertThrows(PortException.class, () -> open("203.0.113.7")).getMessage();
        assertEquals("plane 0 (203.0.113.7:0): cannot bind UDP port 0: Cannot assign requested address", message);
    }
}
