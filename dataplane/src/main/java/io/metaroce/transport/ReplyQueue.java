// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A few ready datagrams to addresses that have no connection: challenges, refusals, resets. What does not fit is dropped. */
final class ReplyQueue {
    private static final int CAPACITY = 64;
    private static final int BYTES = 256;

    private final MemorySegment memory = Arena.ofAuto().allocate((long) CAPACITY * BYTES, Slab.ALIGNMENT);
    private final int[] length = new int[CAPACITY];
    private final int[] plane = new int[CAPACITY];
    private final long[] high = new long[CAPACITY];
    private final long[] low = new long[CAPACITY];
    private final int[] port = new int[CAPACITY];
    private int head;
    private int count;

    /** Where the next reply is to be written, zeroed, or 0 when the queue is full. */
    long open() {
        if (count == CAPACITY) {
            return 0;
        }
        long at = at((head + count) % CAPACITY);
        Bytes.zero(at, BYTES);
        return at;
    }

    /** Queues what was written at {@link #open}. */
    void commit(int bytes, int planeNumber, long addressHigh, long addressLow, int udpPort) {
        int i = (head + count++) % CAPACITY;
        length[i] = bytes;
        plane[i] = planeNumber;
        high[i] = addressHigh;
        low[i] = addressLow;
        port[i] = udpPort;
    }

    boolean isEmpty() {
        return count == 0;
    }

    void drain(Outgoing out) {
        while (count > 0 && !out.isFull()) {
            out.stray(at(head), length[head], plane[head], high[head], low[head], port[head]);
            head = (head + 1) % CAPACITY;
            count--;
        }
    }

    private long at(int i) {
        return memory.address() + (long) i * BYTES;
    }
}
