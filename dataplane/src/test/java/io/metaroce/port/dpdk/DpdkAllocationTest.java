// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.metaroce.SteadyState;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Once warm, moving datagrams makes no garbage. */
class DpdkAllocationTest {
    private static final int BURST = 32;
    private static final int TURNS = 20_000;

    @BeforeAll
    static void environment() {
        DpdkTesting.start();
    }

    @Test
    void overIpv4() {
        check(InetAddress.ofLiteral("10.0.0.1"), 24);
    }

    @Test
    void overIpv6() {
        check(InetAddress.ofLiteral("2001:db8::1"), 64);
    }

    private static void check(InetAddress address, int prefix) {
        PlaneConfig plane = new PlaneConfig(DpdkTesting.newDevice("net_ring"), address, prefix);
        DpdkPort port = new DpdkPort(DpdkConfig.of(List.of(plane)).withDescriptors(256, 256).withTxSlots(64), System::nanoTime);
        RxBurst rx = new RxBurst(BURST);
        TxBurst tx = new TxBurst(BURST);
        NetAddress to = port.localAddress(0);
        long payload = Arena.global().allocate(4096, 64).address();
        assertEquals(0, SteadyState.bytesAPiece(0, () -> {
            assertEquals((long) TURNS * BURST, turns(port, rx, tx, to, payload, TURNS));
            return TURNS;
        }), "bytes a turn");
        port.release(tx);
        port.close();
    }

    private static long turns(DpdkPort port, RxBurst rx, TxBurst tx, NetAddress to, long payload, int turns) {
        long received = 0;
        for (int t = 0; t < turns; t++) {
            port.prepare(tx);
            for (int i = tx.count; i < BURST; i++) {
                tx.headerLength[i] = 64;
                tx.payload[i] = payload;
                tx.payloadLength[i] = 256;
                tx.plane[i] = 0;
                tx.sourcePort[i] = 50000 + i;
                tx.destinationHigh[i] = to.high();
                tx.destinationLow[i] = to.low();
                tx.destinationPort[i] = to.port();
            }
            tx.count = BURST;
            port.send(tx);
            do {
                port.receive(rx);
                received += rx.count;
            } while (rx.count > 0);
        }
        return received;
    }
}
