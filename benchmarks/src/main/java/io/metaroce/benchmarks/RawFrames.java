// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.bindings.dpdk.Mbuf;
import io.metaroce.bindings.dpdk.generated.mrpmd_rx;
import io.metaroce.bindings.dpdk.generated.mrpmd_tx;
import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.wire.Bytes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bursts by hand, through the shim's own structures. */
final class RawFrames {
    /** Ethernet type, and where a payload begins behind Ethernet, IPv4 and UDP. */
    private static final int ETHER_TYPE = 12;
    private static final int PAYLOAD = 42;

    private RawFrames() {
    }

    /** Reads a little of the headers of the first {@code n} frames received, so that somebody has. */
    static long look(MemorySegment rx, int n) {
        long sum = 0;
        long mbufs = rx.address() + mrpmd_rx.mbuf$offset();
        for (int i = 0; i < n; i++) {
            long frame = Mbuf.frame(RawMemory.getLong(mbufs + 8L * i));
            sum += Bytes.getU16(frame + ETHER_TYPE) + Bytes.getLong(frame + PAYLOAD);
        }
        return sum;
    }

    /** Puts a whole frame of {@code length} bytes at {@code data} in place {@code i} of a burst to send. */
    static void line(MemorySegment tx, int i, long mbuf, long data, int length) {
        tx.set(ValueLayout.JAVA_LONG, mrpmd_tx.mbuf$offset() + 8L * i, mbuf);
        tx.set(ValueLayout.JAVA_LONG, mrpmd_tx.frame$offset() + 8L * i, data);
        tx.set(ValueLayout.JAVA_INT, mrpmd_tx.header_length$offset() + 4L * i, length);
    }
}
