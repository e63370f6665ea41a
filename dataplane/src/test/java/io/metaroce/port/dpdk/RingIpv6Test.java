// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static io.metaroce.port.dpdk.Packets.PEER_MAC;
import static io.metaroce.port.dpdk.Packets.flipped;
import static io.metaroce.port.dpdk.Packets.icmpV6;
import static io.metaroce.port.dpdk.Packets.ipv6;
import static io.metaroce.port.dpdk.Packets.pattern;
import static io.metaroce.port.dpdk.Packets.pseudoV6;
import static io.metaroce.port.dpdk.Packets.slice;
import static io.metaroce.port.dpdk.Packets.tagged;
import static io.metaroce.port.dpdk.Packets.udp;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.metaroce.Requirement;
import io.metaroce.wire.NetAddress;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The port as an IPv6 host, on a VLAN, on a device that hands back what is sent (net_ring). */
class RingIpv6Test {
    private static final InetAddress LOCAL = InetAddress.ofLiteral("2001:db8::1:2:3");
    private static final InetAddress PEER = InetAddress.ofLiteral("2001:db8::9");
    private static final InetAddress SOLICITED_NODE = InetAddress.ofLiteral("ff02::1:ff02:3");
    private static final InetAddress ALL_NODES = InetAddress.ofLiteral("ff02::1");
    private static final int PORT = 14791;
    private static final int VLAN = 42;

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
        DpdkPort port = new DpdkPort(DpdkConfig.of(List.of(new PlaneConfig(device, LOCAL, 64, null, VLAN))).withDescriptors(256, 256).withTxSlots(128), System::nanoTime);
        driver = new PortDriver(port, 64);
        raw = new RawFrames(device);
        List<byte[]> announcement = raw.drain();
        assertEquals(1, announcement.size());
        mac = Packets.mac(announcement.get(0), 6);
        assertEquals(0x3333_0000_0001L, Packets.mac(announcement.get(0), 0));
    }

    @AfterEach
    void close() {
        if (raw != null) {
            raw.drain();
            raw.close();
            driver.close();
        }
    }

    private void inject(byte[] untagged) {
        raw.inject(tagged(untagged, VLAN));
    }

    private static byte[] bytes(InetAddress a) {
        return a.getAddress();
    }

    private byte[] datagram(int trafficClass, byte[] data) {
        byte[] udp = udp(5555, PORT, data, pseudoV6(bytes(PEER), bytes(LOCAL)), true);
        return ipv6(mac, PEER_MAC, trafficClass, 17, 64, bytes(PEER), bytes(LOCAL), udp);
    }

    private void dropped(String why, byte[] untagged) {
        long before = driver.port.counters().rxDropped;
        inject(untagged);
        assertEquals(0, driver.receive().size(), why);
        assertEquals(before + 1, driver.port.counters().rxDropped, why);
    }

    private byte[] discovery(int type, int flags, InetAddress target, int option, InetAddress from, InetAddress to, long toMac, int hops) {
        ByteBuffer m = ByteBuffer.allocate(option == 0 ? 24 : 32).putInt(type << 24).putInt(flags).put(bytes(target));
        if (option != 0) {
            m.put((byte) option).put((byte) 1).putShort((short) (PEER_MAC >>> 32)).putInt((int) PEER_MAC);
        }
        return ipv6(toMac, PEER_MAC, 0, 58, hops, bytes(from), bytes(to), icmpV6(bytes(from), bytes(to), m.array()));
    }

    private void checkIcmp(byte[] frame) {
        int length = ByteBuffer.wrap(frame).getShort(22);
        int sum = Packets.sum(frame, 58, length, pseudoV6(slice(frame, 26, 16), slice(frame, 42, 16)) + 58 + length);
        assertEquals(0xffff, sum, "ICMPv6 checksum");
    }

    @Test
    void sendsToItselfAfterAskingForItsOwnAddress() {
        byte[] payload = pattern(4096);
        driver.add(0, 50001, NetAddress.of(LOCAL, PORT), pattern(64), payload);
        driver.send();
        List<PortDriver.Datagram> got = driver.receive(1, 1000);
        assertEquals(1, got.size());
        assertArrayEquals(payload, slice(got.get(0).data(), 64, 4096));
        assertEquals(2, got.get(0).ecn(), "ECT(0)");
        assertEquals(NetAddress.of(LOCAL, 50001), got.get(0).from());
    }

    @Test
    @Requirement("MR-ENC-004")
    void whatGoesOutIsAWellFormedTaggedFrameWithAChecksum() {
        driver.add(0, 50007, NetAddress.of(PEER, 700), pattern(64), pattern(101));
        driver.send();
        byte[] question = raw.drain().get(0);
        assertEquals(0x3333_ff00_0009L, Packets.mac(question, 0));
        assertEquals(0x8100_002a, ByteBuffer.wrap(question).getInt(12));
        checkIcmp(question);
        assertEquals(255, question[25] & 0xff);
        assertArrayEquals(bytes(PEER), slice(question, 66, 16));
        inject(discovery(136, 0x60000000, PEER, 2, PEER, LOCAL, mac, 255));
        driver.receive();
        byte[] f = raw.drain().get(0);
        ByteBuffer b = ByteBuffer.wrap(f);
        assertEquals(66 + 165, f.length);
        assertEquals(PEER_MAC, Packets.mac(f, 0));
        assertEquals(0x8100_002a, b.getInt(12));
        assertEquals(0x6020_0000, b.getInt(18), "version 6, ECT(0)");
        assertEquals(8 + 165, b.getShort(22));
        assertArrayEquals(bytes(PEER), slice(f, 42, 16));
        assertEquals(0xffff, Packets.sum(f, 58, 173, pseudoV6(bytes(LOCAL), bytes(PEER)) + 17 + 173), "UDP checksum");
        assertArrayEquals(pattern(101), slice(f, 66 + 64, 101));
    }

    @Test
    void receivesAndChecks() {
        byte[] data = pattern(301);
        for (int ecn = 0; ecn < 4; ecn++) {
            inject(datagram(0xb8 | ecn, data));
            PortDriver.Datagram got = driver.receive().get(0);
            assertArrayEquals(data, got.data());
            assertEquals(ecn, got.ecn());
            assertEquals(NetAddress.of(PEER, 5555), got.from());
        }
        byte[] good = datagram(0, data);
        dropped("payload", flipped(good, 80));
        dropped("last byte", flipped(good, good.length - 1));
        dropped("source address", flipped(good, 30));
        dropped("no checksum", ipv6(mac, PEER_MAC, 0, 17, 64, bytes(PEER), bytes(LOCAL), udp(1, PORT, data, 0, false)));
        dropped("other address", ipv6(mac, PEER_MAC, 0, 17, 64, bytes(PEER), bytes(PEER), udp(1, PORT, data, 0, true)));
        dropped("truncated", java.util.Arrays.copyOf(good, good.length - 1));
        dropped("extension header", ipv6(mac, PEER_MAC, 0, 60, 64, bytes(PEER), bytes(LOCAL), pattern(40)));
        long before = driver.port.counters().rxDropped;
        raw.inject(good);
        raw.inject(tagged(good, VLAN + 1));
        driver.receive();
        assertEquals(before + 2, driver.port.counters().rxDropped, "untagged, other VLAN");
    }

    @Test
    void answersSolicitations() {
        inject(discovery(135, 0, LOCAL, 1, PEER, SOLICITED_NODE, 0x3333_ff02_0003L, 255));
        driver.receive();
        byte[] f = raw.drain().get(0);
        assertEquals(PEER_MAC, Packets.mac(f, 0));
        checkIcmp(f);
        assertEquals(0x8800_0000, ByteBuffer.wrap(f).getInt(58) & 0xffff_0000);
        assertEquals(0x6000_0000, ByteBuffer.wrap(f).getInt(62), "solicited, override");
        assertArrayEquals(bytes(LOCAL), slice(f, 66, 16));
        assertEquals(mac, Packets.mac(f, 84));
        // Who asks is known from then on.
        driver.add(0, 50000, NetAddress.of(PEER, 1), pattern(64), new byte[0]);
        driver.send();
        assertEquals(66 + 64, raw.drain().get(0).length);
    }

    @Test
    void defendsItsAddress() {
        inject(discovery(135, 0, LOCAL, 0, InetAddress.ofLiteral("::"), SOLICITED_NODE, 0x3333_ff02_0003L, 255));
        driver.receive();
        byte[] f = raw.drain().get(0);
        assertEquals(0x3333_0000_0001L, Packets.mac(f, 0));
        assertArrayEquals(bytes(ALL_NODES), slice(f, 42, 16));
        checkIcmp(f);
    }

    @Test
    void discoveryFromElsewhereIsIgnored() {
        dropped("hop limit", discovery(135, 0, LOCAL, 1, PEER, SOLICITED_NODE, 0x3333_ff02_0003L, 254));
        dropped("another target", discovery(135, 0, PEER, 1, PEER, SOLICITED_NODE, 0x3333_ff02_0003L, 255));
        dropped("checksum", flipped(discovery(135, 0, LOCAL, 1, PEER, SOLICITED_NODE, 0x3333_ff02_0003L, 255), 60));
        assertEquals(0, raw.drain().size());
    }

    @Test
    void answersPing() {
        byte[] echo = ByteBuffer.allocate(8 + 777).putInt(0x80000000).putInt(0x12345678).put(pattern(777)).array();
        inject(ipv6(mac, PEER_MAC, 0, 58, 64, bytes(PEER), bytes(LOCAL), icmpV6(bytes(PEER), bytes(LOCAL), echo)));
        driver.receive();
        byte[] f = raw.drain().get(0);
        assertEquals(58 + echo.length, f.length);
        assertEquals(129, f[58] & 0xff);
        checkIcmp(f);
        assertArrayEquals(slice(echo, 4, echo.length - 4), slice(f, 62, echo.length - 4));
    }
}
