// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

class DpdkSettingsTest {
    @Test
    void planesAreParsed() {
        PlaneConfig p = PlaneConfig.parse("net_memif0,role=client,id=3@10.0.0.1/28@10.0.0.14#7");
        assertEquals("net_memif0,role=client,id=3", p.device());
        assertEquals(InetAddress.ofLiteral("10.0.0.1"), p.address());
        assertEquals(28, p.prefixLength());
        assertEquals(InetAddress.ofLiteral("10.0.0.14"), p.gateway());
        assertEquals(7, p.vlan());
        assertEquals(24, PlaneConfig.parse("0@10.0.0.1").prefixLength());
        assertEquals(64, PlaneConfig.parse("0000:01:00.0@2001:db8::1").prefixLength());
        assertEquals(new PlaneConfig("net_tap0", InetAddress.ofLiteral("fd00::1"), 48), PlaneConfig.parse("net_tap0@fd00::1/48"));
    }

    @Test
    void nonsenseIsRefusedByName() {
        for (String bad : new String[] {"", "net_ring0", "@10.0.0.1", "a@b", "a@10.0.0.1/33", "a@10.0.0.1/x", "a@10.0.0.1#4095", "a@10.0.0.1@fd00::1",
            "a@10.0.0.1@10.0.0.2@10.0.0.3"}) {
            assertThrows(IllegalArgumentException.class, () -> PlaneConfig.parse(bad), bad);
        }
        List<PlaneConfig> one = List.of(PlaneConfig.parse("0@10.0.0.1"));
        assertThrows(IllegalArgumentException.class, () -> DpdkConfig.of(List.of()));
        assertThrows(IllegalArgumentException.class, () -> DpdkConfig.of(one).withMtu(1000));
        assertThrows(IllegalArgumentException.class, () -> DpdkConfig.of(one).withUdpPort(0));
        assertThrows(IllegalArgumentException.class, () -> DpdkConfig.of(one).withSourcePorts(65000, 1000));
    }

    @Test
    void aBufferHoldsTheLargestFrame() {
        assertEquals(0, DpdkConfig.dataRoom(1500) % 64);
        assertTrue(DpdkConfig.dataRoom(1500) >= 1500 + 18);
        assertTrue(DpdkConfig.dataRoom(1280) >= 1280 + 18);
        assertTrue(DpdkConfig.DEFAULT_MTU >= DpdkConfig.mtuFor(4096));
    }

    @Test
    void hugepagesAreUsedWhereEnoughAreFree() {
        List<String> huge = EalArguments.complete(List.of(), 100, true, 62);
        assertTrue(huge.contains("--in-memory"));
        assertFalse(huge.contains("--no-huge"));
        assertEquals("124", huge.get(huge.indexOf("-m") + 1));
        assertTrue(huge.contains("--no-pci"));
        assertTrue(EalArguments.complete(List.of(), 100, true, 61).contains("--no-huge"));
        assertFalse(EalArguments.complete(List.of(), 100, false, 62).contains("--no-pci"));
    }

    @Test
    void whatIsGivenStays() {
        List<String> given = EalArguments.split("--vdev 'net_memif0,role=client' -m64 -l 1 --no-huge  --iova-mode=pa");
        assertEquals(List.of("--vdev", "net_memif0,role=client", "-m64", "-l", "1", "--no-huge", "--iova-mode=pa"), given);
        List<String> all = EalArguments.complete(given, 100, false, 0);
        assertEquals(given, all.subList(0, given.size()));
        assertEquals(List.of("--no-pci", "--no-telemetry"), all.subList(given.size(), all.size()));
        assertFalse(EalArguments.complete(List.of("-a", "0000:01:00.0"), 100, false, 0).contains("--no-pci"));
        assertThrows(IllegalArgumentException.class, () -> EalArguments.split("--vdev 'net"));
    }

    @Test
    void onlyTheNamedPciDevicesAreTouched() {
        List<PlaneConfig> planes = List.of(PlaneConfig.parse("0000:01:00.0@10.0.0.1"), PlaneConfig.parse("02:00.1@10.0.1.1"));
        List<String> all = EalArguments.complete(DpdkConfig.of(planes));
        assertEquals(List.of("-a", "0000:01:00.0", "-a", "02:00.1"), all.subList(0, 4));
        assertFalse(all.contains("--no-pci"));
        List<String> given = List.of("-a", "0000:01:00.0,arg=1");
        assertEquals(1, EalArguments.complete(DpdkConfig.of(planes).withEalArguments(given)).stream().filter("-a"::equals).count());
    }

    @Test
    void virtualDevicesGetBuffersForWholeFrames() {
        assertEquals("net_memif0,role=client,bsize=4288", DeviceArguments.complete("net_memif0,role=client", 4224));
        assertEquals("net_memif0,bsize=2048", DeviceArguments.complete("net_memif0,bsize=2048", 4224));
        assertEquals("net_af_packet0,iface=x,framesz=4352,blocksz=278528,framecnt=512", DeviceArguments.complete("net_af_packet0,iface=x", 4224));
        assertEquals("net_tap0", DeviceArguments.complete("net_tap0", 4224));
    }

    @Test
    void bothEndsOfAMemifLinkAgree() {
        PlaneConfig server = MemifPlanes.of("x", true, 2, 4224).get(1);
        PlaneConfig client = MemifPlanes.of("x", false, 2, 4224).get(1);
        assertEquals(server.device().replace("server", "client"), client.device());
        assertEquals(InetAddress.ofLiteral("10.102.0.1"), server.address());
        assertEquals(InetAddress.ofLiteral("10.102.0.2"), client.address());
    }
}
