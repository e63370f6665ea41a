// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.bindings.dpdk.generated.mrpmd_tx;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bursts by hand, through the shim's own structures. */
final class RawFrames {
    private RawFrames() {
    }

    /** Puts a whole frame of {@code length} bytes at {@code data} in place {@code i} of a burst to send. */
    static void line(MemorySegment tx, int i, long mbuf, long data, int length) {
        tx.set(ValueLayout.JAVA_LONG, mrpmd_tx.mbuf$offset() + 8L * i, mbuf);
        tx.set(ValueLayout.JAVA_LONG, mrpmd_tx.frame$offset() + 8L * i, data);
        tx.set(ValueLayout.JAVA_INT, mrpmd_tx.header_length$offset() + 4L * i, length);
    }
}
