// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.bindings.dpdk.Pmd;
import io.metaroce.port.PortException;
import io.metaroce.wire.NetAddress;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Planes of a port that are opened, moved and closed while it runs, on devices that hand back what is sent (net_ring). */
class PlaneLifeTest {
    private PortDriver driver;

    @BeforeAll
    static void environment() {
        DpdkTesting.start();
    }

    @AfterEach
    void close() {
        if (driver != null) {
            driver.close();
        }
    }

    private DpdkPort open(PlaneConfig... planes) {
        DpdkPort port = new DpdkPort(DpdkConfig.of(Arrays.asList(planes)).withDescriptors(128, 128).withTxSlots(64).withNeighbours(16), System::nanoTime);
        driver = new PortDriver(port, 16);
        return port;
    }

    private static PlaneConfig plane(String device, String host) {
        return PlaneConfig.parse(device + "@" + host);
    }

    private static NetAddress at(String host, int port) {
        return NetAddress.of(InetAddress.ofLiteral(host), port);
    }

    /** Sends a datagram to the plane's own address and expects it back. */
    private void carries(int plane, String host) {
        byte[] data = Packets.pattern(100);
        driver.add(plane, 50000, driver.port.localAddress(plane), data, new byte[0]);
        driver.send();
        List<PortDriver.Datagram> got = driver.receive(1, 1000);
        assertEquals(1, got.size(), "plane " + plane);
        assertArrayEquals(data, got.get(0).data());
        assertEquals(plane, got.get(0).plane());
        assertEquals(at(host, 50000), got.get(0).from());
    }

    @Test
    void aPlaneComesMovesAndGoes() {
        DpdkPort port = open(plane(DpdkTesting.newDevice("net_ring"), "10.0.0.1"), null);
        carries(0, "10.0.0.1");
        assertNull(port.localAddress(1));
        assertFalse(port.isUp(1));
        String device = DpdkTesting.newDevice("net_ring");
        port.assign(1, plane(device, "10.0.1.1/16"));
        for (int round = 0; round < 3; round++) {
            port.setPlane(1, at("10.0.1.1", 0));
            assertEquals(at("10.0.1.1", DpdkConfig.DEFAULT_UDP_PORT), port.localAddress(1));
            assertTrue(port.isUp(1));
            carries(1, "10.0.1.1");
            int number = Pmd.findPort(device);
            port.setPlane(1, at("10.0.9.9", 4000));
            assertEquals(number, Pmd.findPort(device));
            assertEquals(at("10.0.9.9", 4000), port.localAddress(1));
            carries(1, "10.0.9.9");
            port.removePlane(1);
            assertNull(port.localAddress(1));
            assertFalse(Pmd.hasPort(device), "the device left DPDK");
            carries(0, "10.0.0.1");
        }
        port.removePlane(1);
    }

    @Test
    void whereItWasNothingArrivesAnyMore() {
        DpdkPort port = open(plane(DpdkTesting.newDevice("net_ring"), "10.0.0.1"));
        carries(0, "10.0.0.1");
        NetAddress before = port.localAddress(0);
        driver.add(0, 50000, before, new byte[64], new byte[0]);
        driver.send();
        port.setPlane(0, at("10.0.0.2", 0));
        assertEquals(0, driver.receive(1, 20).size(), "waited in the ring, for an address that is gone");
        carries(0, "10.0.0.2");
    }

    @Test
    void theLinkIsToldTheNewAddress() {
        String device = DpdkTesting.newDevice("net_ring");
        DpdkPort port = open(plane(device, "10.0.0.1"));
        try (RawFrames raw = new RawFrames(device)) {
            raw.drain();
            port.setPlane(0, at("10.0.0.2", 0));
            List<byte[]> told = raw.drain();
            assertEquals(1, told.size());
            assertArrayEquals(new byte[] {10, 0, 0, 2}, Packets.slice(told.get(0), Frame.ETHERNET_LENGTH + Arp.SENDER_IP, 4));
        }
    }

    @Test
    void anotherDeviceTakesThePlaceOfOne() {
        String first = DpdkTesting.newDevice("net_ring");
        String second = DpdkTesting.newDevice("net_ring");
        DpdkPort port = open(plane(first, "10.0.0.1"));
        port.assign(0, plane(second, "2001:db8::1"));
        carries(0, "10.0.0.1");
        port.setPlane(0, at("2001:db8::1", 0));
        assertFalse(Pmd.hasPort(first));
        carries(0, "2001:db8::1");
    }

    @Test
    void aDeviceThatDpdkHasAlreadyIsTaken() {
        DpdkPort port = open(plane(DpdkTesting.newDevice("net_ring"), "10.0.0.1"), null);
        String device = DpdkTesting.newDevice("net_ring");
        int number = Pmd.addDevice(device);
        port.assign(1, plane(Integer.toString(number), "10.0.1.1"));
        port.setPlane(1, at("10.0.1.1", 0));
        assertEquals(device, port.device(1).device());
        carries(1, "10.0.1.1");
    }

    @Test
    void whatCannotBeHadLeavesThePlaneClosedAndTheOthersAsTheyAre() {
        String device = DpdkTesting.newDevice("net_ring");
        DpdkPort port = open(plane(device, "10.0.0.1"), null);
        assertThrows(PortException.class, () -> port.setPlane(1, at("10.0.1.1", 0)), "nobody assigned a device");
        port.assign(1, plane(device, "10.0.1.1"));
        assertThrows(PortException.class, () -> port.setPlane(1, at("10.0.1.1", 0)), "plane 0 has that device");
        for (String none : List.of("net_nosuch0", "0000:ff:1f.7", "4711")) {
            port.assign(1, plane(none, "10.0.1.1"));
            PortException e = assertThrows(PortException.class, () -> port.setPlane(1, at("10.0.1.1", 0)));
            assertTrue(e.getMessage().contains(none), e.getMessage());
            assertNull(port.localAddress(1));
        }
        carries(0, "10.0.0.1");
        assertThrows(PortException.class, () -> port.setPlane(0, at("2001:db8::1", 0)), "prefix and gateway are of IPv4");
        carries(0, "10.0.0.1");
    }

    @Test
    void aPortThatPromisedChecksumsKeepsToIpv6() {
        DpdkPort port = open(plane(DpdkTesting.newDevice("net_ring"), "2001:db8::1"));
        assertTrue(port.sendsUdpChecksum());
        port.assign(0, plane(DpdkTesting.newDevice("net_ring"), "10.0.0.1"));
        assertThrows(PortException.class, () -> port.setPlane(0, at("10.0.0.1", 0)));
        carries(0, "2001:db8::1");
    }
}
