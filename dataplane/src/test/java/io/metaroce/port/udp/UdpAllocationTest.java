// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.SteadyState;
import io.metaroce.port.ImpairedPort;
import io.metaroce.port.ImpairmentConfig;
import io.metaroce.port.LoopbackPort;
import io.metaroce.port.PacketPort;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ports allocate nothing once they run. */
class UdpAllocationTest {
    private static final int TURNS = 5_000;

    private final RxBurst rx = new RxBurst(64);
    private final TxBurst tx = new TxBurst(64);
    private long received;

    @ParameterizedTest
    @CsvSource({"127.0.0.1,true", "::1,true", "127.0.0.1,false"})
    void udpPort(String host, boolean gso) {
        UdpConfig config = UdpPortTest.config(host);
        config.gso = gso;
        config.gro = gso;
        try (UdpPort port = new UdpPort(config)) {
            measure(port, port);
        }
    }

    @Test
    void impairedLoopback() {
        ImpairmentConfig impairments = ImpairmentConfig.parse("loss=1%,dup=1%,corrupt=1%,ce=1%,delay=1us,jitter=1us,blockpath=0/3@..1pkt");
        try (LoopbackPort.Pair pair = LoopbackPort.pair(1);
             ImpairedPort from = new ImpairedPort(pair.left(), impairments, 1, System::nanoTime)) {
            measure(from, pair.right());
        }
    }

    /** What is allocated and the compiler spares today, it may not spare tomorrow: it did not where it knew the code from an AOT cache. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.0.0.1 127.0.0.2"})
    void udpPortUncompiled(String hosts) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xint", "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow", "-cp", System.getProperty("java.class.path"), Uncompiled.class.getName(), hosts).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
    }

    /** A process of its own. */
    static final class Uncompiled {
        public static void main(String[] arguments) {
            try (UdpPort port = new UdpPort(UdpPortTest.config(arguments[0].split(" ")))) {
                new UdpAllocationTest().measure(port, port);
            }
        }
    }

    private void measure(PacketPort from, PacketPort to) {
        try (Arena arena = Arena.ofConfined()) {
            long payload = arena.allocate(4096).address();
            int[] ports = from.sourcePorts(0);
            NetAddress destination = to.localAddress(0);
            assertEquals(0, SteadyState.bytesAPiece(0, () -> {
                run(from, to, payload, ports, destination, TURNS);
                return TURNS;
            }), "bytes a turn");
            assertTrue(received > TURNS);
        }
    }

    private void run(PacketPort from, PacketPort to, long payload, int[] ports, NetAddress destination, int turns) {
        for (int turn = 0; turn < turns; turn++) {
            from.prepare(tx);
            while (tx.count < 8) {
                int i = tx.count++;
                tx.headerLength[i] = 64;
                tx.payload[i] = payload;
                tx.payloadLength[i] = 500 + (turn & 1);
                tx.plane[i] = 0;
                tx.sourcePort[i] = ports[i / 4];
                tx.destinationHigh[i] = destination.high();
                tx.destinationLow[i] = destination.low();
                tx.destinationPort[i] = destination.port();
            }
            from.send(tx);
            to.receive(rx);
            received += rx.count;
        }
    }
}
