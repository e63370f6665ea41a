// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import io.metaroce.transport.TxBurst;
import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * Header buffers for bursts of ports that leave them with their slot for good: assigned at a burst's first sight, permuted by
 * {@link TxBurst#swap} from then on.
 */
public final class HeaderSlabs {
    private static final int CACHE_LINE = 64;

    private final Arena arena;
    private TxBurst[] known = new TxBurst[0];
    private TxBurst last;

    public HeaderSlabs(Arena arena) {
        this.arena = arena;
    }

    /** Returns true if the burst was seen for the first time; only then something is allocated. */
    public boolean prepare(TxBurst burst) {
        return burst != last && prepareUnlikeLast(burst);
    }

    private boolean prepareUnlikeLast(TxBurst burst) {
        last = burst;
        for (TxBurst seen : known) {
            if (seen == burst) {
                return false;
            }
        }
        known = Arrays.copyOf(known, known.length + 1);
        known[known.length - 1] = burst;
        long slab = arena.allocate((long) burst.capacity * TxBurst.HEADER_ROOM, CACHE_LINE).address();
        for (int i = burst.count; i < burst.capacity; i++) {
            burst.header[i] = slab + (long) i * TxBurst.HEADER_ROOM;
        }
        return true;
    }
}
