// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Prefix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A few ready datagrams that do not wait for a connection's turn: challenges, refusals, resets, and what is said of a connection whose
 * state is about to go or whose address changes. What does not fit is dropped.
 */
final class ReplyQueue {
    private static final int CAPACITY = 64;
    private static final int BYTES = 256;

    private final MemorySegment memory = Arena.ofAuto().allocate((long) CAPACITY * BYTES, Slab.ALIGNMENT);
    private final int[] length = new int[CAPACITY];
    private final int[] plane = new int[CAPACITY];
    private final long[] high = new long[CAPACITY];
    private final long[] low = new long[CAPACITY];
    private final int[] port = new int[CAPACITY];
    private final EndpointState state;
    private final Slab slab;
    private int head;
    private int count;

    ReplyQueue(EndpointState state) {
        this.state = state;
        slab = state.slab;
    }

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

    /** Queues a packet of connection {@code c} that was written at {@link #open}, over a plane to where the peer is on it. */
    void commit(long c, long packet, int bytes, int planeNumber) {
        long to = state.plane(c, planeNumber);
        commit(c, packet, bytes, planeNumber, slab.getLong(to + PlaneRecord.REMOTE_HIGH), slab.getLong(to + PlaneRecord.REMOTE_LOW),
                slab.getInt(to + PlaneRecord.REMOTE_PORT));
    }

    /** The same to any address: sealed, or with the checksum of the peer's tag. Nothing is queued if no number to seal with is left. */
    void commit(long c, long packet, int bytes, int planeNumber, long addressHigh, long addressLow, int udpPort) {
        int whole = bytes;
        if (slab.getInt(c + ConnectionRecord.SEALED) != 0) {
            whole = state.sealing.sealInPlace(c, DataHeader.pathOf(planeNumber, 0), packet, bytes);
            if (whole == 0) {
                return;
            }
        } else {
            Prefix.checksum(packet, state.checksum.field(packet, bytes, slab.getInt(c + ConnectionRecord.REMOTE_TAG)));
        }
        commit(whole, planeNumber, addressHigh, addressLow, udpPort);
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
