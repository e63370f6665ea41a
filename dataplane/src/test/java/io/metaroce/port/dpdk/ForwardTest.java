// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.metaroce.bindings.dpdk.Mbuf;
import io.metaroce.bindings.dpdk.Pmd;
import io.metaroce.bindings.dpdk.PmdCalls;
import io.metaroce.bindings.dpdk.generated.PmdShim;
import io.metaroce.bindings.dpdk.generated.mrpmd_rx;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Received frames sent on as they stand, on a device that hands back what is sent (net_ring). */
class ForwardTest {
    private static final int FRAMES = 40;
    private static final int POOL = 4095;

    private final MemorySegment burst = mrpmd_rx.allocate(Arena.global()).fill((byte) 0);
    private final TxStage stage = new TxStage();
    private final MemorySegment mbufs = Arena.global().allocate(ValueLayout.JAVA_LONG, PmdShim.MRPMD_MAX_BURST());
    private int port;
    private long pool;

    @BeforeAll
    static void environment() {
        DpdkTesting.start();
    }

    @BeforeEach
    void open() {
        String device = DpdkTesting.newDevice("net_ring");
        port = Pmd.addDevice(device);
        pool = Pmd.createPool("forward_" + device, POOL, 2048, 0, -1);
        Pmd.configure(port, new Pmd.Setup(pool, 0, 1500, 1, 256, 256, 0));
        Pmd.start(port);
    }

    @AfterEach
    void close() {
        while (PmdCalls.receive(port, 0, burst.address(), PmdShim.MRPMD_MAX_BURST()) > 0) {
            continue;
        }
        Pmd.close(port);
        assertEquals(0, Pmd.freePool(pool), "buffers that are missing");
    }

    /** Sends up to {@code count} new frames, each with its length as its first byte; returns how many were taken. */
    private int fill(int count) {
        int n = PmdCalls.alloc(pool, mbufs.address(), count);
        for (int i = 0; i < n; i++) {
            long mbuf = mbufs.getAtIndex(ValueLayout.JAVA_LONG, i);
            long frame = mbuf + PmdShim.mrpmd_data_offset();
            MemorySegment.ofAddress(frame).reinterpret(1).set(ValueLayout.JAVA_BYTE, 0, (byte) (60 + i));
            stage.set(i, mbuf, frame, 60 + i, 0, 0, 0);
        }
        int sent = PmdCalls.send(port, 0, stage.address(), n);
        PmdCalls.free(mbufs.address() + 8L * sent, n - sent);
        return sent;
    }

    private long mbuf(int i) {
        return Mbuf.of(burst.address(), i);
    }

    private int held() {
        return burst.get(ValueLayout.JAVA_INT, mrpmd_rx.count$offset());
    }

    private int receive(int most) {
        return PmdCalls.receive(port, 0, burst.address(), most);
    }

    @Test
    void whatIsSentOnComesBackAsItWas() {
        assertEquals(FRAMES, fill(FRAMES));
        for (int round = 0; round < 3; round++) {
            assertEquals(FRAMES, receive(64));
            for (int i = 0; i < FRAMES; i++) {
                assertEquals(60 + i, Mbuf.length(mbuf(i)));
                assertEquals(60 + i, MemorySegment.ofAddress(Mbuf.frame(mbuf(i))).reinterpret(1).get(ValueLayout.JAVA_BYTE, 0));
                assertFalse(Mbuf.isChained(mbuf(i)));
            }
            assertEquals(FRAMES, PmdCalls.forward(port, 0, burst.address(), FRAMES));
            assertEquals(0, held());
        }
    }

    @Test
    void whatTheDeviceDoesNotTakeStaysTheBursts() {
        fill(FRAMES);
        assertEquals(FRAMES, receive(64));
        long[] before = new long[FRAMES];
        for (int i = 0; i < FRAMES; i++) {
            before[i] = mbuf(i);
        }
        // The ring is filled but for a few places.
        int room = 7;
        while (fill(PmdShim.MRPMD_MAX_BURST()) > 0) {
            continue;
        }
        MemorySegment other = mrpmd_rx.allocate(Arena.global()).fill((byte) 0);
        assertEquals(room, PmdCalls.receive(port, 0, other.address(), room));
        assertEquals(room, PmdCalls.forward(port, 0, burst.address(), FRAMES));
        assertEquals(FRAMES - room, held());
        for (int i = 0; i < FRAMES - room; i++) {
            assertEquals(before[room + i], mbuf(i));
        }
        PmdCalls.release(other.address());
    }
}
