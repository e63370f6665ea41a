// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Rate16;

/**
 * The receiver's half of congestion control (spec: "Receiver share"): per plane, inbound capacity is shared max-min fairly over
 * the senders that state a demand; what small demands leave goes to the others, and what nobody asks for is spread equally.
 */
final class ReceiverShare {

    private final EndpointState state;
    private final Slab slab;
    private final long[] activeHead;
    private final int[] activeCount;
    private final boolean[] stale;
    private final long[] computedNs;
    private final long[] toldNs;
    private final float[] marked;

    ReceiverShare(EndpointState state) {
        this.state = state;
        slab = state.slab;
        int planes = state.config.planes();
        activeHead = new long[planes];
        activeCount = new int[planes];
        stale = new boolean[planes];
        computedNs = new long[planes];
        toldNs = new long[planes];
        marked = new float[planes];
    }

    /**
     * Packets that the mean of marks is over. Many senders hear of their shares one after the other, a round of as many packets later: a mean
     * that follows the queue more quickly than they do lets it swing between full and empty.
     */
    private static float memory(float senders) {
        return Math.clamp(senders * senders / Limits.CE_MEMORY, Limits.CE_MEMORY, Limits.CE_MEMORY_MAX);
    }

    /** A data packet or probe of this connection came in on the plane, stating its demand. */
    void onPacket(int planeNumber, long plane, int demandCode, boolean ce, long nowNs) {
        marked[planeNumber] += ((ce ? 1f : 0f) - marked[planeNumber]) / memory(activeCount[planeNumber]);
        slab.putLong(plane + PlaneRecord.LAST_DATA_NS, nowNs);
        if (demandCode == slab.getInt(plane + PlaneRecord.DEMAND_CODE)) {
            return;
        }
        long before = demand(plane);
        slab.putInt(plane + PlaneRecord.DEMAND_CODE, demandCode);
        long demand = Rate16.decode(demandCode);
        boolean active = isActive(plane);
        if (demand > 0 && !active) {
            join(planeNumber, plane);
        } else if (demand == 0 && active) {
            leave(planeNumber, plane);
        } else if (Math.abs(demand - before) > state.config.rateKbps(planeNumber) / 50) {
            stale[planeNumber] = true;
        }
    }

    /**
     * The share to tell this sender, kbit/s. Time alone never divides again between two shares told at the same time: senders of
     * different RTT would then hold parts of different divisions.
     */
    long share(int planeNumber, long plane, long nowNs) {
        boolean due = nowNs != toldNs[planeNumber] && nowNs - computedNs[planeNumber] > slab.getInt(plane + PlaneRecord.SRTT_NS);
        toldNs[planeNumber] = nowNs;
        if (stale[planeNumber] || due) {
            compute(planeNumber, nowNs);
        }
        if (isActive(plane)) {
            return granted(plane);
        }
        // Not asking: what it would get if it joined.
        return state.config.rateKbps(planeNumber) / (activeCount[planeNumber] + 1);
    }

    /**
     * What each connection may start with, kbit/s: they have been given nothing yet, so all of them may start at once, but that is rare
     * where they are many, and a queue takes some of it where they are few.
     */
    long startShare(int planeNumber) {
        long rate = state.config.rateKbps(planeNumber);
        return Math.min(rate, (long) (Limits.START_OVERLAP * rate / Math.max(1, state.connections.used())));
    }

    /** The same for a connection that is being made, on any plane. */
    long startShare() {
        long least = Long.MAX_VALUE;
        for (int p = 0; p < state.config.planes(); p++) {
            least = Math.min(least, startShare(p));
        }
        return least;
    }

    void forget(int planeNumber, long plane) {
        if (isActive(plane)) {
            leave(planeNumber, plane);
        }
    }

    private void join(int planeNumber, long plane) {
        long head = activeHead[planeNumber];
        slab.putLong(plane + PlaneRecord.ACTIVE_NEXT, head);
        slab.putLong(plane + PlaneRecord.ACTIVE_PREVIOUS, plane);
        if (head != 0) {
            slab.putLong(head + PlaneRecord.ACTIVE_PREVIOUS, plane);
        }
        activeHead[planeNumber] = plane;
        activeCount[planeNumber]++;
        stale[planeNumber] = true;
    }

    private void leave(int planeNumber, long plane) {
        long next = slab.getLong(plane + PlaneRecord.ACTIVE_NEXT);
        long previous = slab.getLong(plane + PlaneRecord.ACTIVE_PREVIOUS);
        boolean first = previous == plane;
        if (first) {
            activeHead[planeNumber] = next;
        } else {
            slab.putLong(previous + PlaneRecord.ACTIVE_NEXT, next);
        }
        if (next != 0) {
            slab.putLong(next + PlaneRecord.ACTIVE_PREVIOUS, first ? next : previous);
        }
        slab.putLong(plane + PlaneRecord.ACTIVE_PREVIOUS, 0);
        slab.putInt(plane + PlaneRecord.GRANTED_KBPS, 0);
        activeCount[planeNumber]--;
        stale[planeNumber] = true;
    }

    /** Water-filling: whoever asks for less than an equal part gets what it asks; the rest is divided again. */
    private void compute(int planeNumber, long nowNs) {
        computedNs[planeNumber] = nowNs;
        long turnNs = Limits.SHARE_AGE_PACKETS * activeCount[planeNumber] * 8_000_000L * state.config.payloadMtu / state.config.rateKbps(planeNumber);
        for (long p = activeHead[planeNumber]; p != 0; ) {
            long next = slab.getLong(p + PlaneRecord.ACTIVE_NEXT);
            slab.putInt(p + PlaneRecord.GRANTED_KBPS, 0);
            long rttNs = Math.max(slab.getInt(p + PlaneRecord.SRTT_NS), state.config.timerFloorNs);
            if (nowNs - slab.getLong(p + PlaneRecord.LAST_DATA_NS) > Math.max(Limits.SHARE_AGE_RTT * rttNs, turnNs)) {
                leave(planeNumber, p);
                slab.putInt(p + PlaneRecord.DEMAND_CODE, 0);
            }
            p = next;
        }
        stale[planeNumber] = false;
        int open = activeCount[planeNumber];
        if (open == 0) {
            return;
        }
        // In doubles, which hold every rate: rounded up as a float, it would be more than the line.
        long left = (long) (state.config.rateKbps(planeNumber) * (1.0 - Limits.CE_DRAIN * marked[planeNumber]));
        boolean changed = true;
        while (changed && open > 0) {
            changed = false;
            long equal = left / open;
            for (long p = activeHead[planeNumber]; p != 0; p = slab.getLong(p + PlaneRecord.ACTIVE_NEXT)) {
                long demand = demand(p);
                if (granted(p) == 0 && demand <= equal) {
                    slab.putInt(p + PlaneRecord.GRANTED_KBPS, (int) demand);
                    left -= demand;
                    open--;
                    changed = true;
                }
            }
        }
        long equal = open > 0 ? left / open : 0;
        long extra = open > 0 ? 0 : left / activeCount[planeNumber];
        for (long p = activeHead[planeNumber]; p != 0; p = slab.getLong(p + PlaneRecord.ACTIVE_NEXT)) {
            long granted = granted(p);
            slab.putInt(p + PlaneRecord.GRANTED_KBPS, (int) (granted == 0 ? equal : granted + extra));
        }
    }

    private boolean isActive(long plane) {
        return slab.getLong(plane + PlaneRecord.ACTIVE_PREVIOUS) != 0;
    }

    private long demand(long plane) {
        return Rate16.decode(slab.getInt(plane + PlaneRecord.DEMAND_CODE));
    }

    private long granted(long plane) {
        return slab.getInt(plane + PlaneRecord.GRANTED_KBPS) & 0xffff_ffffL;
    }

    int active(int planeNumber) {
        return activeCount[planeNumber];
    }
}
