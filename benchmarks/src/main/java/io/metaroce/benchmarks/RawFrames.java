// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.bindings.dpdk.Mbuf;
import io.metaroce.bindings.dpdk.PmdCalls;
import io.metaroce.bindings.dpdk.generated.PmdShim;
import io.metaroce.bindings.dpdk.generated.mrpmd_tx;
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
        for (int i = 0; i < n; i++) {
            long frame = Mbuf.frame(Mbuf.of(rx.address(), i));
            sum += Bytes.getU16(frame + ETHER_TYPE) + Bytes.getLong(frame + PAYLOAD);
        }
        return sum;
    }

    /** Lines up to {@code count} fresh frames of {@code length} bytes up in a burst to send; returns how many. */
    static int fresh(MemorySegment tx, long pool, int count, int length) {
        int n = PmdCalls.alloc(pool, tx.address() + mrpmd_tx.mbuf$offset(), count);
        for (int i = 0; i < n; i++) {
            long mbuf = tx.get(ValueLayout.JAVA_LONG, mrpmd_tx.mbuf$offset() + 8L * i);
            line(tx, i, mbuf, mbuf + PmdShim.mrpmd_data_offset(), length);
        }
        return n;
    }

    /** Puts a whole frame of {@code length} bytes at {@code data} in place {@code i} of a burst to send. */
    static void line(MemorySegment tx, int i, long mbuf, long data, int length) {
        tx.set(ValueLayout.JAVA_LONG, mrpmd_tx.mbuf$offset() + 8L * i, mbuf);
        tx.set(ValueLayout.JAVA_LONG, mrpmd_tx.frame$offset() + 8L * i, data);
        tx.set(ValueLayout.JAVA_INT, mrpmd_tx.header_length$offset() + 4L * i, length);
    }
}
