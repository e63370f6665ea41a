// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.bindings.dpdk.PmdCalls;
import io.metaroce.bindings.dpdk.generated.PmdShim;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.Bytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Header buffers: mbufs, or plain memory while the pool is empty. One thread.
 *
 * <p>A header buffer is an mbuf's data; the headers below it go into the mbuf's headroom, so the transport header is written where it
 * is sent from. All mbufs come from one pool, so an mbuf is found from its header buffer by subtraction and no table is kept.
 */
final class TxBuffers {
    private static final int BATCH = PmdShim.MRPMD_MAX_BURST();

    private final long pool;
    private final int dataOffset;
    private final MemorySegment mbufs = Arena.global().allocate(ValueLayout.JAVA_LONG, BATCH);

    /** Stand-ins for an empty pool: made at set-up, so that a burst always gets its headers. */
    private final long spareBase;
    private final long spareEnd;
    private final int[] spares;
    private int spareCount;

    TxBuffers(Pools pools, int slots) {
        pool = pools.transmit;
        dataOffset = pools.dataOffset;
        spareBase = Arena.global().allocate((long) slots * TxBurst.HEADER_ROOM, 64).address();
        spareEnd = spareBase + (long) slots * TxBurst.HEADER_ROOM;
        spares = new int[slots];
        for (int i = 0; i < slots; i++) {
            spares[i] = i;
        }
        spareCount = slots;
    }

    /** Gives every slot from {@code burst.count} on that has none a header buffer. */
    void fill(TxBurst burst) {
        int need = 0;
        for (int i = burst.count; i < burst.capacity; i++) {
            need += burst.header[i] == 0 ? 1 : 0;
        }
        int slot = burst.count;
        while (need > 0) {
            int want = Math.min(need, BATCH);
            int got = PmdCalls.alloc(pool, mbufs.address(), want);
            for (int k = 0; k < got; k++) {
                slot = nextEmpty(burst, slot);
                burst.header[slot] = mbufs.getAtIndex(ValueLayout.JAVA_LONG, k) + dataOffset;
            }
            need -= got;
            if (got < want) {
                break;
            }
        }
        for (; need > 0; need--) {
            slot = nextEmpty(burst, slot);
            burst.header[slot] = takeSpare();
        }
    }

    private static int nextEmpty(TxBurst burst, int slot) {
        while (burst.header[slot] != 0) {
            slot++;
        }
        return slot;
    }

    private long takeSpare() {
        if (spareCount == 0) {
            throw new IllegalStateException("more than " + spares.length + " slots are prepared: raise DpdkConfig.txSlots");
        }
        return spareBase + (long) spares[--spareCount] * TxBurst.HEADER_ROOM;
    }

    /** Whether a header buffer is a stand-in and cannot be sent from. */
    boolean isSpare(long header) {
        return header >= spareBase && header < spareEnd;
    }

    /** Moves a header from a stand-in to an mbuf; returns the new header buffer, or 0 if the pool is still empty. */
    long promote(long header, int length) {
        long to = allocate();
        if (to != 0) {
            Bytes.copy(header, to, length);
            spares[spareCount++] = (int) ((header - spareBase) / TxBurst.HEADER_ROOM);
        }
        return to;
    }

    /** One mbuf's data address, or 0. */
    long allocate() {
        return PmdCalls.alloc(pool, mbufs.address(), 1) == 1 ? mbufs.get(ValueLayout.JAVA_LONG, 0) + dataOffset : 0;
    }

    long mbufOf(long data) {
        return data - dataOffset;
    }

    void free(long mbuf) {
        mbufs.set(ValueLayout.JAVA_LONG, 0, mbuf);
        PmdCalls.free(mbufs.address(), 1);
    }

    /** Gives back the header buffers of a burst that will not be used again on this port. */
    void reclaim(TxBurst burst) {
        for (int i = 0; i < burst.capacity; i++) {
            long header = burst.header[i];
            if (isSpare(header)) {
                spares[spareCount++] = (int) ((header - spareBase) / TxBurst.HEADER_ROOM);
            } else if (header != 0) {
                free(mbufOf(header));
            }
            burst.header[i] = 0;
        }
    }
}
