// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.metaroce.Requirement;
import io.metaroce.port.PortException;
import io.metaroce.port.udp.UdpConfig;
import io.metaroce.port.udp.UdpPort;
import io.metaroce.wire.NetAddress;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Planes come, go and move under two loops that exchange data over sockets of this machine. */
@Timeout(60)
class PlaneChangeOverUdpTest {
    private static NetAddress address(String host) {
        return NetAddress.of(InetAddress.ofLiteral(host), 0);
    }

    private static UdpPort port(NetAddress... planes) {
        UdpConfig udp = new UdpConfig(planes);
        udp.sourcePorts = 4;
        return new UdpPort(udp);
    }

    @Test
    @Requirement({"MR-MOVE-001", "MR-MOVE-002", "MR-MOVE-006"})
    void planesMoveComeAndGoUnderATransfer() {
        try (LoopPair pair = new LoopPair(port(address("127.0.7.1"), address("127.0.7.2"), null),
                port(address("127.0.7.11"), address("127.0.7.12"), null))) {
            CoreLoop a = pair.a;
            CoreLoop b = pair.b;
            pair.connect();
            pair.transfer(() -> { });
            // Another port, then another address.
            pair.transfer(() -> a.setPlane(1, address("127.0.7.2")));
            pair.assertUsed(1);
            pair.transfer(() -> b.setPlane(0, address("127.0.7.21")));
            pair.assertUsed(0);
            pair.transfer(() -> a.setPlane(2, address("127.0.7.3")));
            pair.transfer(() -> b.setPlane(2, address("127.0.7.13")));
            pair.assertUsed(2);
            pair.transfer(() -> b.removePlane(1));
            assertNull(b.port().localAddress(1));
            pair.transfer(() -> a.removePlane(0));
            pair.assertUsed(2);
            assertThrows(PortException.class, () -> b.setPlane(1, address("192.0.2.77")), "not an address of this machine");
            b.setPlane(1, address("127.0.7.12"));
            pair.assertUsed(1);
        }
    }
}
