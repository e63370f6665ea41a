// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.bindings.libc.generated.Libc;
import io.metaroce.port.PacketPort;
import io.metaroce.port.PortException;
import io.metaroce.port.PortFixture;
import io.metaroce.port.PortFixture.Datagram;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** UdpPort over the loopback interface. */
class UdpPortTest {
    private static final int ECT0 = 2;
    private static final int USUAL = 4160;

    static NetAddress address(String host) {
        try {
            return NetAddress.of(InetAddress.getByName(host), 0);
        } catch (java.net.UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    static UdpConfig config(String... hosts) {
        UdpConfig config = new UdpConfig(Arrays.stream(hosts).map(UdpPortTest::address).toList());
        config.sourcePorts = 4;
        return config;
    }

    private static List<Integer> numbers(List<Datagram> datagrams) {
        return datagrams.stream().map(Datagram::number).toList();
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.1,true,true", "127.0.0.1,true,false", "127.0.0.1,false,true", "127.0.0.1,false,false",
        "::1,true,true", "::1,true,false", "::1,false,false"})
    @Requirement("MR-ENC-012")
    void carriesRunsWithSourceEcnAndContent(String host, boolean gso, boolean gro) {
        UdpConfig config = config(host);
        config.gso = gso;
        config.gro = gro;
        try (UdpPort a = new UdpPort(config); UdpPort b = new UdpPort(config); PortFixture f = new PortFixture(64, 64)) {
            NetAddress to = b.localAddress(0);
            int[] lengths = {USUAL, USUAL, USUAL, 100, USUAL, USUAL, 12, 12, 12, 1500, 65, 64, 63};
            for (int i = 0; i < lengths.length; i++) {
                f.add(a, 0, 1, to, i, lengths[i]);
            }
            f.sendAll(a);
            List<Datagram> got = f.receive(b, lengths.length);
            NetAddress source = address(host);
            for (int i = 0; i < lengths.length; i++) {
                NetAddress from = new NetAddress(source.high(), source.low(), a.sourcePorts(0)[1]);
                assertEquals(new Datagram(i, lengths[i], 0, ECT0, from), got.get(i));
            }
            assertEquals(lengths.length, a.counters().txDatagrams);
            assertEquals(Arrays.stream(lengths).sum(), a.counters().txBytes);
            assertEquals(lengths.length, b.counters().rxDatagrams);
            assertEquals(Arrays.stream(lengths).sum(), b.counters().rxBytes);
            assertEquals(0, a.counters().txErrors + b.counters().rxDropped);
            assertEquals(gso ? 15 : 1, a.preferredRun());
        }
    }

    @Test
    void keepsOrderWithinASourcePortAcrossManyBursts() {
        UdpConfig config = config("127.0.0.1", "127.0.0.2");
        try (UdpPort a = new UdpPort(config); UdpPort b = new UdpPort(config); PortFixture f = new PortFixture(64, 48)) {
            int[] sizes = {USUAL, USUAL, 700, 64, USUAL};
            List<Datagram> got = new ArrayList<>();
            int number = 0;
            for (int burst = 0; burst < 20; burst++) {
                while (!f.tx.isFull()) {
                    int plane = number % 2;
                    f.add(a, plane, number / 3 % 4, b.localAddress(plane), number, sizes[number % sizes.length]);
                    number++;
                }
                f.sendAll(a);
                f.poll(b, got);
            }
            got.addAll(f.receive(b, number - got.size()));
            assertEquals(number, got.size());
            for (int plane = 0; plane < 2; plane++) {
                for (int port : a.sourcePorts(plane)) {
                    int p = plane;
                    List<Integer> one = got.stream().filter(d -> d.plane() == p && d.source().port() == port).map(Datagram::number).toList();
                    assertEquals(one.stream().sorted().toList(), one);
                    assertTrue(one.size() > 100);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 16, 100})
    void leftoversSurviveSmallReceiveBursts(int capacity) {
        UdpConfig config = config("127.0.0.1", "127.0.0.2");
        try (UdpPort a = new UdpPort(config); UdpPort b = new UdpPort(config);
             PortFixture f = new PortFixture(60, capacity)) {
            for (int i = 0; i < 60; i++) {
                f.add(a, i / 30, 0, b.localAddress(i / 30), i, USUAL);
            }
            f.sendAll(a);
            List<Datagram> got = f.receive(b, 60);
            assertEquals(60, got.size());
            assertEquals(60, new HashSet<>(numbers(got)).size());
        }
    }

    @Test
    void aBusyPlaneDoesNotKeepOthersOut() {
        UdpConfig config = config("127.0.0.1", "127.0.0.2");
        try (UdpPort a = new UdpPort(config); UdpPort b = new UdpPort(config); PortFixture f = new PortFixture(64, 16)) {
            for (int i = 0; i < 60; i++) {
                f.add(a, 0, 0, b.localAddress(0), i, 1000);
            }
            f.add(a, 1, 0, b.localAddress(1), 60, 1000);
            f.sendAll(a);
            List<Datagram> got = new ArrayList<>();
            f.poll(b, got);
            f.poll(b, got);
            assertTrue(numbers(got).contains(60), "plane 1 waited for more than one burst of plane 0");
        }
    }

    /** With one plane nothing stands between a call and its socket, which may be gone. */
    @Test
    void theOnlyPlaneIsQuietWhileClosedAndReceivesAgain() {
        try (UdpPort a = new UdpPort(config("127.0.0.1")); UdpPort b = new UdpPort(config("127.0.0.1")); PortFixture f = new PortFixture(8, 8)) {
            b.removePlane(0);
            List<Datagram> got = new ArrayList<>();
            f.poll(b, got);
            assertEquals(0, b.counters().lastErrno);
            assertEquals(List.of(), got);
            b.setPlane(0, address("127.0.0.1"));
            f.add(a, 0, 0, b.localAddress(0), 7, 100);
            f.sendAll(a);
            assertEquals(List.of(7), numbers(f.receive(b, 1)));
        }
    }

    @Test
    void aClosedPortRefusesToMove() {
        UdpPort port = new UdpPort(config("127.0.0.1"));
        TxBurst tx = new TxBurst(4);
        port.prepare(tx);
        port.close();
        port.close();
        assertThrows(IllegalStateException.class, () -> port.receive(new RxBurst(4)));
        assertThrows(IllegalStateException.class, () -> port.send(tx));
    }

    @Test
    void dropsAndCountsWhatCannotBeSent() {
        try (UdpPort a = new UdpPort(config("127.0.0.1")); UdpPort b = new UdpPort(config("127.0.0.1"));
             PortFixture f = new PortFixture(8, 8)) {
            NetAddress to = b.localAddress(0);
            f.add(a, 0, 0, to, 0, 65_508);
            f.add(a, 0, 0, to, 1, 100);
            f.sendAll(a);
            assertEquals(1, a.counters().txErrors);
            assertEquals(Libc.EMSGSIZE(), a.counters().lastErrno);
            f.add(a, 0, 0, address("::1"), 2, 100);
            f.sendAll(a);
            assertEquals(2, a.counters().txErrors);
            assertEquals(Libc.EAFNOSUPPORT(), a.counters().lastErrno);
            // A destination port of 0 is refused by the kernel: first as a run, then each datagram by itself.
            f.add(a, 0, 0, new NetAddress(to.high(), to.low(), 0), 3, 100);
            f.add(a, 0, 0, new NetAddress(to.high(), to.low(), 0), 4, 100);
            f.add(a, 0, 0, to, 5, 65_507);
            f.sendAll(a);
            assertEquals(4, a.counters().txErrors);
            assertEquals(Libc.EINVAL(), a.counters().lastErrno);
            assertEquals(List.of(1, 5), numbers(f.receive(b, 2)));
            assertEquals(15, a.preferredRun());
        }
    }

    @Test
    void countsWhatTheKernelDroppedForWantOfBuffer() {
        UdpConfig small = config("127.0.0.1");
        small.receiveBufferBytes = 8192;
        try (UdpPort a = new UdpPort(config("127.0.0.1")); UdpPort b = new UdpPort(small); PortFixture f = new PortFixture(64, 64)) {
            for (int round = 0; round < 4; round++) {
                for (int i = 0; i < 64; i++) {
                    f.add(a, 0, i % 2, b.localAddress(0), i, 1000);
                }
                f.sendAll(a);
            }
            List<Datagram> got = new ArrayList<>();
            f.poll(b, got);
            // The count travels with the next datagram that gets through.
            f.add(a, 0, 0, b.localAddress(0), 999, 100);
            f.sendAll(a);
            got.addAll(f.receive(b, 1));
            assertEquals(999, got.getLast().number());
            assertTrue(b.counters().rxDropped > 0);
        }
    }

    @ParameterizedTest
    @CsvSource({"64,true", "4160,true", "64,false", "4160,false"})
    void receiveBufferHoldsWhatItPromises(int length, boolean gro) {
        UdpConfig config = config("127.0.0.1");
        config.receiveBufferBytes = 1 << 20;
        config.gro = gro;
        config.gso = gro;
        try (UdpPort a = new UdpPort(config); UdpPort b = new UdpPort(config); PortFixture f = new PortFixture(64, 64)) {
            int promised = b.receiveBuffer(length);
            for (int i = 0; i < promised; i++) {
                f.add(a, 0, 0, b.localAddress(0), i, length);
                if (f.tx.isFull()) {
                    f.sendAll(a);
                }
            }
            f.sendAll(a);
            assertEquals(promised, f.receive(b, promised).size());
        }
    }

    @Test
    void describesItsPlanes() {
        try (UdpPort port = new UdpPort(config("127.0.0.1", "::1", "127.0.0.3"))) {
            assertEquals(3, port.planes());
            Set<Integer> ports = new HashSet<>();
            for (int plane = 0; plane < 3; plane++) {
                assertNotEquals(0, port.localAddress(plane).port());
                for (int p : port.sourcePorts(plane)) {
                    ports.add(p << 2 | plane);
                    assertTrue(p > 0);
                }
                assertEquals(port.localAddress(plane).isIpv4() ? 65_507 : 65_488, port.maxDatagram(plane));
            }
            assertEquals(12, ports.size());
            assertTrue(port.description().contains("3 plane(s) of 4 source ports"), port.description());
        }
    }

    @Test
    void aPlaneIsNamedWhenItsPortIsInUse() {
        try (UdpPort first = new UdpPort(config("127.0.0.1"))) {
            UdpConfig taken = new UdpConfig(address("127.0.0.2"), first.localAddress(0));
            String message = assertThrows(PortException.class, () -> new UdpPort(taken)).getMessage();
            assertEquals("plane 1 (" + first.localAddress(0) + "): UDP port " + first.localAddress(0).port()
                + " is in use on this address", message);
        }
    }

    @ParameterizedTest
    @CsvSource({"203.0.113.7,plane 0 (203.0.113.7:0): not an address of this machine",
        "2001:db8::7,plane 0 ([2001:db8:0:0:0:0:0:7]:0): not an address of this machine",
        "0.0.0.0,plane 0: 0.0.0.0:0 is a wildcard; name the address that peers shall send to"})
    void anAddressThatCannotBeBoundIsNamed(String host, String message) {
        assertEquals(message, assertThrows(PortException.class, () -> new UdpPort(config(host))).getMessage());
    }

    @Test
    void limitsAreChecked() {
        UdpConfig none = new UdpConfig();
        assertEquals("number of planes is 0, outside 1..8",
            assertThrows(PortException.class, () -> new UdpPort(none)).getMessage());
        UdpConfig config = config("127.0.0.1");
        config.sourcePorts = 257;
        assertEquals("source ports of a plane is 257, outside 1..256",
            assertThrows(PortException.class, () -> new UdpPort(config)).getMessage());
    }

    @Test
    void closingTwiceIsHarmlessAndFreesThePort() {
        UdpPort port = new UdpPort(config("127.0.0.1"));
        NetAddress was = port.localAddress(0);
        port.close();
        port.close();
        try (PacketPort again = new UdpPort(new UdpConfig(was))) {
            assertEquals(was, again.localAddress(0));
        }
    }
}
