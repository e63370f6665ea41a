// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.port.PacketPort;
import io.metaroce.port.PortException;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class UdpPortsTest {
    @Test
    void prefersForeignCalls() {
        try (PacketPort port = UdpPorts.open(UdpPortTest.config("127.0.0.1"))) {
            assertInstanceOf(UdpPort.class, port);
            assertTrue(port.description().startsWith("UDP sockets through foreign calls, 1 plane(s) of 4 source ports"), port.description());
        }
    }

    @Test
    void saysWhyItIsTheSlowOne() {
        UdpConfig config = UdpPortTest.config("127.0.0.1");
        config.foreignCalls = false;
        try (PacketPort port = UdpPorts.open(config)) {
            assertInstanceOf(ChannelPort.class, port);
            assertEquals("UDP through java.nio channels, 1 plane(s) of 4 source ports, slower and blind to congestion marks "
                + "(foreign calls are switched off)", port.description());
        }
    }

    @Test
    void refusedNativeAccessIsExplained() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(List.of(System.getProperty("java.home") + "/bin/java", "--illegal-native-access=deny",
            "-cp", System.getProperty("java.class.path"), Opener.class.getName())).redirectErrorStream(true).start();
        assertEquals("access to native memory is refused: start java with --enable-native-access=ALL-UNNAMED",
            new String(process.getInputStream().readAllBytes()).strip());
        process.waitFor();
    }

    /** Opens a port in a process of its own. */
    static final class Opener {
        public static void main(String[] args) {
            try (PacketPort port = UdpPorts.open(UdpPortTest.config("127.0.0.1"))) {
                System.out.println(port.description());
            } catch (PortException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
