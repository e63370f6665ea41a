// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.bindings.dpdk.Mbuf;
import io.metaroce.bindings.dpdk.Pmd;
import io.metaroce.bindings.dpdk.PmdCalls;
import io.metaroce.bindings.dpdk.generated.PmdShim;
import io.metaroce.bindings.dpdk.generated.mrpmd_rx;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** Whole frames into and out of a loopback device, past the port under test. */
final class RawFrames implements AutoCloseable {
    private final int port;
    private final long pool;
    private final TxStage stage = new TxStage();
    private final MemorySegment rx = mrpmd_rx.allocate(Arena.global());
    private final MemorySegment one = Arena.global().allocate(ValueLayout.JAVA_LONG);

    RawFrames(String device) {
        port = Pmd.findPort(device);
        pool = Pmd.createPool("raw_" + device, 511, 4352, 0, -1);
        rx.fill((byte) 0);
    }

    /** Puts a frame into the ring the port receives from. */
    void inject(byte[] frame) {
        if (PmdCalls.alloc(pool, one.address(), 1) != 1) {
            throw new IllegalStateException("no buffer");
        }
        long mbuf = one.get(ValueLayout.JAVA_LONG, 0);
        long data = mbuf + PmdShim.mrpmd_data_offset();
        MemorySegment.copy(frame, 0, MemorySegment.ofAddress(data).reinterpret(frame.length), ValueLayout.JAVA_BYTE, 0, frame.length);
        stage.set(0, mbuf, data, frame.length, 0, 0, 0);
        if (PmdCalls.send(port, 0, stage.address(), 1) != 1) {
            throw new IllegalStateException("ring full");
        }
    }

    /** Takes what the port has sent. */
    List<byte[]> drain() {
        List<byte[]> frames = new ArrayList<>();
        int n;
        while ((n = PmdCalls.receive(port, 0, rx.address(), 64)) > 0) {
            for (int i = 0; i < n; i++) {
                long mbuf = Mbuf.of(rx.address(), i);
                frames.add(MemorySegment.ofAddress(Mbuf.frame(mbuf)).reinterpret(Mbuf.length(mbuf)).toArray(ValueLayout.JAVA_BYTE));
            }
        }
        return frames;
    }

    @Override
    public void close() {
        PmdCalls.release(rx.address());
        Pmd.freePool(pool);
    }
}
