// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.dpdk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.bindings.dpdk.generated.PmdShim;
import io.metaroce.bindings.dpdk.generated.mrpmd_rx;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A thread that polls for ever must not keep the collector out. */
class SafepointTest {
    private static final AtomicBoolean stop = new AtomicBoolean();

    @BeforeAll
    static void environment() {
        DpdkPresence.require();
        Pmd.startEnvironment(List.of("--no-huge", "--no-shconf", "-m", "32", "--no-pci", "--iova-mode=va", "--no-telemetry"), -1, 4);
    }

    @Test
    void aPollLoopLetsTheCollectorIn() throws InterruptedException {
        int port = Pmd.addDevice("net_ring0");
        long pool = Pmd.createPool("safepoint", 511, 2048, 0, -1);
        Pmd.configure(port, new Pmd.Setup(pool, 0, 1500, 1, 64, 64, 0));
        Pmd.start(port);
        MemorySegment rx = mrpmd_rx.allocate(Arena.global());
        rx.fill((byte) 0);
        Thread poller = new Thread(() -> poll(port, pool, rx));
        poller.setDaemon(true);
        poller.start();
        Thread.sleep(1500);   // compiled by now
        Thread collector = new Thread(System::gc);
        collector.setDaemon(true);
        collector.start();
        boolean collected = collector.join(java.time.Duration.ofSeconds(5));
        stop.set(true);
        poller.join(TimeUnit.SECONDS.toMillis(5));
        assertTrue(collected, "the collector waits for the poll loop");
        Pmd.close(port);
        Pmd.freePool(pool);
    }

    private static void poll(int port, long pool, MemorySegment rx) {
        long somewhere = rx.address() + mrpmd_rx.mbuf$offset();
        // Plain reads would be hoisted: a poller that cannot be stopped is what is tested, so it is asked now and then only.
        for (long turn = 0; turn % (1 << 20) != 0 || !stop.get(); turn++) {
            PmdCalls.receive(port, 0, rx.address(), PmdShim.MRPMD_MAX_BURST());
            PmdCalls.forward(port, 0, rx.address(), 0);
            PmdCalls.alloc(pool, somewhere, 0);
            PmdCalls.sum16(somewhere, 8);
        }
    }
}
