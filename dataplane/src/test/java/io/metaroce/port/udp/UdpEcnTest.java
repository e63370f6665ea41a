// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.metaroce.transport.RxBurst;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ECN bits that others set reach the receiver, datagram by datagram. */
class UdpEcnTest {
    @ParameterizedTest
    @CsvSource({"127.0.0.1,INET,true", "127.0.0.1,INET,false", "::1,INET6,true"})
    void marksAreReadPerDatagram(String host, StandardProtocolFamily family, boolean gro) throws IOException {
        UdpConfig config = UdpPortTest.config(host);
        config.gro = gro;
        try (UdpPort port = new UdpPort(config); DatagramChannel channel = DatagramChannel.open(family)) {
            InetSocketAddress to = new InetSocketAddress(host, port.localAddress(0).port());
            byte[] marks = {0, 1, 2, 3, 3, 2, 0};
            for (byte mark : marks) {
                // Bits above ECN are the DSCP's and must not disturb.
                channel.setOption(StandardSocketOptions.IP_TOS, 0x28 | mark);
                channel.send(ByteBuffer.allocate(200), to);
            }
            RxBurst burst = new RxBurst(16);
            int seen = 0;
            for (int attempt = 0; seen < marks.length && attempt < 1000; attempt++) {
                port.receive(burst);
                for (int i = 0; i < burst.count; i++) {
                    assertEquals(marks[seen++], burst.ecn[i]);
                }
            }
            assertEquals(marks.length, seen);
        }
    }
}
