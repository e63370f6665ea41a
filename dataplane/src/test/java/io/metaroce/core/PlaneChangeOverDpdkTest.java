// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.port.dpdk.DpdkConfig;
import io.metaroce.port.dpdk.DpdkPort;
import io.metaroce.port.dpdk.DpdkTesting;
import io.metaroce.port.dpdk.PlaneConfig;
import io.metaroce.wire.NetAddress;
import java.net.InetAddress;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Planes come, go and move under two loops that exchange data over shared memory: devices are plugged and unplugged under traffic. */
@Timeout(60)
class PlaneChangeOverDpdkTest {
    private static final String LINK = "planes-" + ProcessHandle.current().pid();
    private static final int UDP_PORT = 14791;

    @BeforeAll
    static void environment() {
        DpdkTesting.start();
    }

    private static String host(int plane, int last) {
        return "10.77." + plane + "." + last;
    }

    private static NetAddress address(int plane, int last) {
        return NetAddress.of(InetAddress.ofLiteral(host(plane, last)), UDP_PORT);
    }

    private static PlaneConfig plane(int plane, boolean server) {
        String device = DpdkTesting.newDevice("net_memif") + ",role=" + (server ? "server" : "client") + ",id=" + plane
                + ",socket-abstract=yes,socket=" + LINK + ",rsize=9";
        return PlaneConfig.parse(device + "@" + host(plane, server ? 1 : 2));
    }

    private static DpdkPort port(PlaneConfig... planes) {
        return new DpdkPort(DpdkConfig.of(Arrays.asList(planes)).withDescriptors(512, 512).withTxSlots(256).withNeighbours(16)
                .withSourcePorts(50000, 4), System::nanoTime);
    }

    @Test
    @Requirement({"MR-MOVE-001", "MR-MOVE-002", "MR-MOVE-006"})
    void planesMoveComeAndGoUnderATransfer() {
        DpdkPort ofA = port(plane(0, true), plane(1, true), null);
        DpdkPort ofB = port(plane(0, false), plane(1, false), null);
        try (LoopPair pair = new LoopPair(ofA, ofB)) {
            CoreLoop a = pair.a;
            CoreLoop b = pair.b;
            pair.connect();
            pair.assertUsed(0);
            pair.assertUsed(1);
            pair.transfer(() -> a.setPlane(1, address(1, 7)));
            pair.assertUsed(1);
            pair.transfer(() -> b.setPlane(0, address(0, 8)));
            pair.assertUsed(0);
            ofA.assign(2, plane(2, true));
            ofB.assign(2, plane(2, false));
            pair.transfer(() -> a.setPlane(2, address(2, 1)));
            pair.transfer(() -> b.setPlane(2, address(2, 2)));
            pair.assertUsed(2);
            assertTrue(ofA.isUp(2) && ofB.isUp(2));
            pair.transfer(() -> b.removePlane(1));
            assertNull(ofB.localAddress(1));
            pair.transfer(() -> a.removePlane(0));
            pair.assertUsed(2);
            b.setPlane(1, address(1, 2));
            pair.assertUsed(1);
        }
    }
}
