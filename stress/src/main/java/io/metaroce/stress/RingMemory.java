// SPDX-License-Identifier: Apache-2.0
package io.metaroce.stress;

import io.metaroce.ring.SpscRing;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/** Memory for the rings of test states: the harness makes states by the ten thousand, native memory is not made that fast. */
final class RingMemory {
    private static final int RECORD = 16;
    private static final long BYTES = 256;
    /** Far more than the states alive at a time. */
    private static final int SLOTS = 1 << 18;
    private static final MemorySegment ALL = Arena.global().allocate(BYTES * SLOTS, 64);
    private static final AtomicInteger NEXT = new AtomicInteger();

    private RingMemory() {
    }

    /** An empty ring of {@code capacity} (1 to 4) records of two longs. */
    static SpscRing ring(int capacity) {
        long slot = NEXT.getAndIncrement() & SLOTS - 1;
        MemorySegment memory = ALL.asSlice(slot * BYTES, SpscRing.bytes(RECORD, capacity));
        memory.fill((byte) 0);
        return new SpscRing(memory, RECORD, capacity);
    }
}
