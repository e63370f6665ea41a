// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.bindings.dpdk.generated.mrpmd_tx;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Frames lined up for one send call: a {@code mrpmd_tx}, there as long as this object. One thread. */
final class TxStage {
    private static final long MBUF = mrpmd_tx.mbuf$offset();
    private static final long FRAME = mrpmd_tx.frame$offset();
    private static final long PAYLOAD = mrpmd_tx.payload$offset();
    private static final long HEADER_LENGTH = mrpmd_tx.header_length$offset();
    private static final long PAYLOAD_LENGTH = mrpmd_tx.payload_length$offset();
    private static final long FLAGS = mrpmd_tx.flags$offset();

    private final MemorySegment memory = mrpmd_tx.allocate(Arena.ofAuto());

    long address() {
        return memory.address();
    }

    void set(int i, long mbuf, long frame, int headerLength, long payload, int payloadLength, int flags) {
        MemorySegment m = memory;
        m.set(ValueLayout.JAVA_LONG, MBUF + 8L * i, mbuf);
        m.set(ValueLayout.JAVA_LONG, FRAME + 8L * i, frame);
        m.set(ValueLayout.JAVA_LONG, PAYLOAD + 8L * i, payload);
        m.set(ValueLayout.JAVA_INT, HEADER_LENGTH + 4L * i, headerLength);
        m.set(ValueLayout.JAVA_INT, PAYLOAD_LENGTH + 4L * i, payloadLength);
        m.set(ValueLayout.JAVA_INT, FLAGS + 4L * i, flags);
    }

    long mbuf(int i) {
        return memory.get(ValueLayout.JAVA_LONG, MBUF + 8L * i);
    }
}
