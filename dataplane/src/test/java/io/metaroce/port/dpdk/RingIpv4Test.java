// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static io.metaroce.port.dpdk.Packets.PEER_MAC;
import static io.metaroce.port.dpdk.Packets.arp;
import static io.metaroce.port.dpdk.Packets.flipped;
import static io.metaroce.port.dpdk.Packets.ipv4;
import static io.metaroce.port.dpdk.Packets.pattern;
import static io.metaroce.port.dpdk.Packets.pseudoV4;
import static io.metaroce.port.dpdk.Packets.slice;
import static io.metaroce.port.dpdk.Packets.tagged;
import static io.metaroce.port.dpdk.Packets.udp;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.NetAddress;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The port as an IPv4 host on a device that hands back what is sent (net_ring). */
class RingIpv4Test {
    private static final int LOCAL = 0x0a000001;
    private static final int PEER = 0x0a000009;
    private static final int GATEWAY = 0x0a0000fe;
    private static final int PORT = 14791;

    private PortDriver driver;
    private RawFrames raw;
    private long mac;

    @BeforeAll
    static void environment() {
        DpdkTesting.start();
    }

    @BeforeEach
    void open() {
        String device = DpdkTesting.newDevice("net_ring");
        PlaneConfig plane = new PlaneConfig(device, address(LOCAL), 24, address(GATEWAY), 0);
        DpdkPort port = new DpdkPort(DpdkConfig.of(List.of(plane)).withDescriptors(256, 256).withTxSlots(128).withNeighbours(16), System::nanoTime);
        driver = new PortDriver(port, 64);
        raw = new RawFrames(device);
        List<byte[]> announcement = raw.drain();
        assertEquals(1, announcement.size());
        mac = Packets.mac(announcement.get(0), 6);
    }

    @AfterEach
    void close() {
        if (raw != null) {
            raw.drain();
            raw.close();
            driver.close();
        }
    }

    private static InetAddress address(int a) {
        try {
            return InetAddress.getByAddress(ByteBuffer.allocate(4).putInt(a).array());
        } catch (java.net.UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private static NetAddress net(int a, int port) {
        return NetAddress.of(address(a), port);
    }

    private byte[] datagram(int tos, int fragment, int options, byte[] data, boolean checksum) {
        return ipv4(mac, PEER_MAC, tos, fragment, 17, PEER, LOCAL, options, udp(5555, PORT, data, pseudoV4(PEER, LOCAL), checksum));
    }

    private void accepted(byte[] frame, byte[] data, int ecn) {
        raw.inject(frame);
        List<PortDriver.Datagram> got = driver.receive();
        assertEquals(1, got.size());
        assertArrayEquals(data, got.get(0).data());
        assertEquals(ecn, got.get(0).ecn());
        assertEquals(net(PEER, 5555), got.get(0).from());
    }

    private void dropped(String why, byte[] frame) {
        long before = driver.port.counters().rxDropped;
        raw.inject(frame);
        assertEquals(0, driver.receive().size(), why);
        assertEquals(before + 1, driver.port.counters().rxDropped, why);
    }

    /** Answers the port's question for an address, which must be in the ring. */
    private void answer(int ip) {
        List<byte[]> frames = raw.drain();
        assertEquals(1, frames.size());
        ByteBuffer b = ByteBuffer.wrap(frames.get(0));
        assertEquals(0x0806, b.getShort(12));
        assertEquals(1, b.getShort(20));
        assertEquals(ip, b.getInt(38));
        raw.inject(arp(mac, 2, PEER_MAC, ip, mac, LOCAL));
        driver.receive();
    }

    @Test
    void sendsToItselfAfterAskingForItsOwnAddress() {
        byte[] header = pattern(64);
        byte[] payload = pattern(4096);
        driver.add(0, 50001, net(LOCAL, PORT), header, payload);
        driver.send();
        assertEquals(0, driver.tx.count);
        List<PortDriver.Datagram> got = driver.receive(1, 1000);
        assertEquals(1, got.size());
        assertArrayEquals(header, slice(got.get(0).data(), 0, 64));
        assertArrayEquals(payload, slice(got.get(0).data(), 64, 4096));
        assertEquals(2, got.get(0).ecn(), "ECT(0)");
        assertEquals(net(LOCAL, 50001), got.get(0).from());
    }

    @Test
    @Requirement({"MR-ENC-002", "MR-ENC-012"})
    void whatGoesOutIsAWellFormedFrame() {
        driver.add(0, 50007, net(PEER, 700), pattern(64), pattern(100));
        driver.send();
        answer(PEER);
        List<byte[]> frames = raw.drain();
        assertEquals(1, frames.size(), "the parked frame leaves once the address is known");
        byte[] f = frames.get(0);
        ByteBuffer b = ByteBuffer.wrap(f);
        assertEquals(42 + 164, f.length);
        assertEquals(PEER_MAC, Packets.mac(f, 0));
        assertEquals(mac, Packets.mac(f, 6));
        assertEquals(0x4502, b.getShort(14) & 0xffff);
        assertEquals(28 + 164, b.getShort(16));
        assertEquals(0x4000, b.getShort(20), "don't fragment");
        assertEquals(0xffff, Packets.sum(f, 14, 20, 0), "header checksum");
        assertEquals(LOCAL, b.getInt(26));
        assertEquals(PEER, b.getInt(30));
        assertEquals(50007, b.getShort(34) & 0xffff);
        assertEquals(700, b.getShort(36));
        assertEquals(8 + 164, b.getShort(38));
        assertEquals(0, b.getShort(40), "no UDP checksum over IPv4");
        assertArrayEquals(pattern(64), slice(f, 42, 64));
        assertArrayEquals(pattern(100), slice(f, 106, 100));
        assertEquals(1, driver.port.counters().txDatagrams);
        assertEquals(164, driver.port.counters().txBytes);
    }

    @Test
    void datagramsOfEveryKindArrive() {
        byte[] data = pattern(333);
        accepted(datagram(0, 0, 0, data, false), data, 0);
        accepted(datagram(0, 0, 0, data, true), data, 0);
        accepted(datagram(3, 0x4000, 0, data, true), data, 3);
        accepted(datagram(0xb9, 0, 0, data, true), data, 1);
        accepted(datagram(2, 0, 12, data, true), data, 2);
        accepted(datagram(2, 0, 40, data, true), data, 2);
        accepted(tagged(datagram(2, 0, 0, data, true), 0x6000), data, 2);
        byte[] tiny = {7};
        accepted(java.util.Arrays.copyOf(datagram(0, 0, 0, tiny, true), 60), tiny, 0);
        assertEquals(0, driver.port.counters().rxDropped);
        assertEquals(8, driver.port.counters().rxDatagrams);
    }

    @Test
    void everythingElseIsDroppedAndCounted() {
        byte[] good = datagram(0, 0, 0, pattern(100), true);
        dropped("IP checksum", flipped(good, 24));
        dropped("IP source", flipped(good, 28));
        dropped("UDP checksum", flipped(good, 41));
        dropped("payload", flipped(good, 100));
        dropped("last byte", flipped(good, good.length - 1));
        dropped("first fragment", datagram(0, 0x2000, 0, pattern(100), true));
        dropped("later fragment", datagram(0, 0x0010, 0, pattern(100), true));
        dropped("someone else's MAC", flipped(good, 5));
        dropped("someone else's address", ipv4(mac, PEER_MAC, 0, 0, 17, PEER, LOCAL + 1, 0, udp(1, PORT, pattern(9), 0, false)));
        dropped("another port", ipv4(mac, PEER_MAC, 0, 0, 17, PEER, LOCAL, 0, udp(1, PORT + 1, pattern(9), 0, false)));
        dropped("TCP", ipv4(mac, PEER_MAC, 0, 0, 6, PEER, LOCAL, 0, pattern(40)));
        dropped("truncated", java.util.Arrays.copyOf(good, good.length - 1));
        dropped("shorter than IP", java.util.Arrays.copyOf(good, 20));
        dropped("foreign VLAN", tagged(good, 77));
        dropped("IPv6 on an IPv4 plane", Packets.ipv6(mac, PEER_MAC, 0, 17, 64, new byte[16], new byte[16], pattern(30)));
        dropped("unknown type", Packets.ethernet(60, mac, PEER_MAC, 0x88cc).array());
        byte[] longUdp = ipv4(mac, PEER_MAC, 0, 0, 17, PEER, LOCAL, 0, udp(1, PORT, pattern(9), 0, false));
        longUdp[39] += 1;
        dropped("UDP longer than IP", longUdp);
        assertEquals(0, driver.port.counters().rxDatagrams);
        assertEquals(7, driver.port.counters().rxForeign, "MAC, address, port, TCP, VLAN, IPv6, unknown type");
    }

    @Test
    void aPlaneThatBringsOnlyWhatIsDroppedIsAskedForLittle() {
        byte[] good = datagram(2, 0, 0, pattern(64), false);
        byte[] foreign = ipv4(mac, PEER_MAC, 0, 0, 17, PEER, LOCAL, 0, udp(1, PORT + 1, pattern(9), 0, false));
        for (int i = 0; i < 200; i++) {
            raw.inject(foreign);
        }
        assertEquals(List.of(64, 32, 16, 8, 8), droppedByCall(5));
        for (int i = 0; i < 20; i++) {
            driver.receive();
        }
        assertEquals(200, driver.port.counters().rxDropped);
        // What the endpoint has no use for counts as well.
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 20; k++) {
                raw.inject(good);
            }
            assertEquals(8, driver.receive().size());
            driver.rx.useless[0] += 8;
        }
        // Use has it take all again; one in eight is enough.
        List<Integer> sizes = new java.util.ArrayList<>();
        for (int i = 0; i < 3; i++) {
            sizes.add(driver.receive().size());
            driver.rx.useless[0] += sizes.getLast() * 7 / 8;
        }
        assertEquals(List.of(8, 16, 12), sizes);
    }

    private List<Integer> droppedByCall(int calls) {
        List<Integer> each = new java.util.ArrayList<>();
        for (int i = 0; i < calls; i++) {
            long before = driver.port.counters().rxDropped;
            driver.receive();
            each.add((int) (driver.port.counters().rxDropped - before));
        }
        return each;
    }

    @Test
    void answersArp() {
        raw.inject(arp(0xffff_ffff_ffffL, 1, PEER_MAC, PEER, 0, LOCAL));
        assertEquals(0, driver.receive().size());
        List<byte[]> frames = raw.drain();
        assertEquals(1, frames.size());
        assertArrayEquals(arp(PEER_MAC, 2, mac, LOCAL, PEER_MAC, PEER), java.util.Arrays.copyOf(frames.get(0), 60));
        raw.inject(arp(0xffff_ffff_ffffL, 1, PEER_MAC, PEER, 0, LOCAL + 5));
        driver.receive();
        assertEquals(0, raw.drain().size(), "not our address");
        driver.add(0, 50000, net(PEER, 1), pattern(64), new byte[0]);
        driver.send();
        assertEquals(0x0800, ByteBuffer.wrap(raw.drain().get(0)).getShort(12), "who asks is known");
    }

    @Test
    void aGratuitousArpMovesAKnownNeighbour() {
        driver.add(0, 50000, net(PEER, 1), pattern(64), new byte[0]);
        driver.send();
        answer(PEER);
        raw.drain();
        raw.inject(arp(0xffff_ffff_ffffL, 1, PEER_MAC + 1, PEER, 0, PEER));
        driver.receive();
        driver.add(0, 50000, net(PEER, 1), pattern(64), new byte[0]);
        driver.send();
        assertEquals(PEER_MAC + 1, Packets.mac(raw.drain().get(0), 0));
    }

    @Test
    void answersPing() {
        byte[] echo = ByteBuffer.allocate(8 + 1001).putInt(0x08000000).putInt(0x12345678).put(pattern(1001)).array();
        ByteBuffer.wrap(echo).putShort(2, (short) ~Packets.sum(echo, 0, echo.length, 0));
        byte[] request = ipv4(mac, PEER_MAC, 0, 0, 1, PEER, LOCAL, 4, echo);
        raw.inject(request);
        driver.receive();
        byte[] reply = raw.drain().get(0);
        assertEquals(34 + echo.length, reply.length);
        assertEquals(PEER_MAC, Packets.mac(reply, 0));
        assertEquals(0xffff, Packets.sum(reply, 14, 20, 0));
        assertEquals(PEER, ByteBuffer.wrap(reply).getInt(30));
        assertEquals(0xffff, Packets.sum(reply, 34, echo.length, 0));
        assertEquals(0, reply[34]);
        assertArrayEquals(slice(echo, 4, echo.length - 4), slice(reply, 38, echo.length - 4));
        dropped("a corrupt ping", flipped(request, request.length - 3));
        assertEquals(0, raw.drain().size());
    }

    @Test
    void anUnreachableHostIsAskedForThenGivenUp() {
        driver.add(0, 50000, net(PEER, 1), pattern(64), pattern(8));
        driver.send();
        long endNs = System.nanoTime() + 4_000_000_000L;
        while (driver.port.counters().txErrors == 0 && System.nanoTime() - endNs < 0) {
            driver.idle(10);   // the device hands the questions back: they must not be taken for answers
        }
        assertEquals(1, driver.port.counters().txErrors);
        assertEquals(PlaneOutput.EHOSTUNREACH, driver.port.counters().lastErrno);
        assertEquals(1 + Neighbours.ASK_TRIES, driver.port.deviceStats(0).txPackets(), "announcement and questions");
    }

    @Test
    void whatIsNotOnTheLinkGoesToTheGateway() {
        driver.add(0, 50000, net(0xc0a80101, 1), pattern(64), pattern(8));
        driver.send();
        answer(GATEWAY);
        byte[] f = raw.drain().get(0);
        assertEquals(PEER_MAC, Packets.mac(f, 0));
        assertEquals(0xc0a80101, ByteBuffer.wrap(f).getInt(30));
    }

    @Test
    void impossibleDatagramsAreDroppedAndTheOthersGo() {
        raw.inject(arp(mac, 1, PEER_MAC, PEER, 0, LOCAL));
        driver.receive();
        raw.drain();
        driver.add(0, 50000, net(PEER, 1), pattern(64), pattern(driver.port.maxDatagram(0) - 63));
        driver.add(0, 50000, net(PEER, 2), pattern(64), pattern(driver.port.maxDatagram(0) - 64));
        driver.add(0, 50000, new NetAddress(1, 2, 3), pattern(64), pattern(8));
        driver.add(0, 50000, net(PEER, 4), pattern(1024), new byte[0]);
        driver.send();
        assertEquals(0, driver.tx.count);
        List<byte[]> frames = raw.drain();
        assertEquals(2, frames.size());
        assertEquals(DpdkConfig.DEFAULT_MTU + 14, frames.get(0).length);
        assertEquals(42 + 1024, frames.get(1).length);
        assertEquals(2, driver.port.counters().txErrors);
    }

    @Test
    void aFullRingLeavesTheRestInOrder() {
        raw.inject(arp(mac, 1, mac, LOCAL, 0, LOCAL));   // as if it had asked itself
        driver.receive();
        raw.drain();
        int sent = 0;
        while (driver.tx.count < 50 && sent < 5000) {
            while (!driver.tx.isFull()) {
                driver.add(0, 50000, net(LOCAL, PORT), ByteBuffer.allocate(64).putInt(sent++).array(), new byte[0]);
            }
            driver.send();
        }
        assertTrue(driver.tx.count >= 50, "the device never filled");
        assertTrue(driver.port.counters().txBusy > 0);
        int next = 0;
        long endNs = System.nanoTime() + 3_000_000_000L;
        while (next < sent && System.nanoTime() - endNs < 0) {
            for (PortDriver.Datagram d : driver.receive()) {
                assertEquals(next++, ByteBuffer.wrap(d.data()).getInt(0));
            }
            driver.port.prepare(driver.tx);
            driver.send();
        }
        assertEquals(sent, next);
        assertEquals(sent, driver.port.counters().txDatagrams);
        assertEquals(sent * 64L, driver.port.counters().txBytes);
    }
}
