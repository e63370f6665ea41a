// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.benchmarks.capture.Floods;
import io.metaroce.port.udp.UdpConfig;
import io.metaroce.port.udp.UdpPort;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.NetAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.util.SplittableRandom;

/** Sends datagrams that a receiver has to drop over UDP, while the last word on standard input is "start": {@code UdpFlood KIND HOST:PORT}. */
final class UdpFlood {
    private static final int SOURCE_PORTS = 16;
    private static final int BURST = 64;

    private static volatile boolean started;

    private UdpFlood() {
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int colon = args[1].lastIndexOf(':');
        NetAddress to = NetAddress.of(InetAddress.getByName(args[1].substring(0, colon)), Integer.parseInt(args[1].substring(colon + 1)));
        Thread.ofPlatform().daemon().start(UdpFlood::listen);
        UdpConfig config = new UdpConfig(NetAddress.of(InetAddress.getByName("127.0.0.9"), 0));
        config.sourcePorts = SOURCE_PORTS;
        // Each a packet of its own, as strangers' are.
        config.gso = false;
        SplittableRandom random = new SplittableRandom(1);
        try (UdpPort port = new UdpPort(config)) {
            TxBurst burst = new TxBurst(BURST);
            for (int sent = 0; ; ) {
                if (!started) {
                    Thread.sleep(1);
                    continue;
                }
                port.prepare(burst);
                for (int i = burst.count; i < BURST; i++) {
                    byte[] datagram = Floods.datagram(args[0], sent++, random);
                    Bytes.put(datagram, 0, burst.header[i], datagram.length);
                    burst.headerLength[i] = datagram.length;
                    burst.payloadLength[i] = 0;
                    burst.plane[i] = 0;
                    burst.sourcePort[i] = port.sourcePorts(0)[i % SOURCE_PORTS];
                    burst.destinationHigh[i] = to.high();
                    burst.destinationLow[i] = to.low();
                    burst.destinationPort[i] = to.port();
                }
                burst.count = BURST;
                port.send(burst);
            }
        }
    }

    private static void listen() {
        try {
            for (int c = System.in.read(), before = '\n'; c >= 0; before = c, c = System.in.read()) {
                // "start" and "stop" differ in their third letter.
                if (before == 't' && (c == 'a' || c == 'o')) {
                    started = c == 'a';
                }
            }
        } catch (IOException e) {
            // As good as the end.
        }
        System.exit(0);
    }
}
