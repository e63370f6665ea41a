// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.Rate16;

/**
 * The receiver's half of congestion control (spec: "Receiver share"): per plane, inbound capacity is shared max-min fairly over
 * the senders that state a demand; what small demands leave goes to the others, and what nobody asks for is spread equally.
 */
final class ReceiverShare {

    private final EndpointState state;
    private final Slab slab;
    private final int[] activeCount;
    private final boolean[] stale;
    private final long[] computedNs;
    private final long[] toldNs;
    private final float[] marked;

    ReceiverShare(EndpointState state) {
        this.state = state;
        slab = state.slab;
        int planes = state.config.planes();
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
        if (demandCode != slab.getInt(plane + PlaneRecord.DEMAND_CODE)) {
            slab.putInt(plane + PlaneRecord.DEMAND_CODE, demandCode);
            ask(planeNumber, plane, Math.min(Rate16.decode(demandCode), state.config.rateKbps(planeNumber)));
        }
        long sender = sender(planeNumber, plane);
        if (sender != 0) {
            slab.putLong(sender + SenderRecord.LAST_DATA_NS, nowNs);
        }
    }

    /** The sender states another demand, kbit/s, 0 to the line's rate. */
    private void ask(int planeNumber, long plane, long demand) {
        if (demand == 0) {
            forget(planeNumber, plane);
            return;
        }
        long sender = sender(planeNumber, plane);
        if (sender == 0) {
            sender = join(planeNumber, plane);
        } else if (Math.abs(demand - demand(sender)) > state.config.rateKbps(planeNumber) / 50) {
            stale[planeNumber] = true;
        }
        slab.putInt(sender + SenderRecord.DEMAND_KBPS, (int) demand);
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
        long sender = sender(planeNumber, plane);
        if (sender != 0) {
            return granted(sender);
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
        if (slab.getInt(plane + PlaneRecord.SENDER) != 0) {
            leave(planeNumber, plane);
        }
    }

    /** What it is granted is known from the next division on, which is before it is told. */
    private long join(int planeNumber, long plane) {
        long sender = state.sender(planeNumber, activeCount[planeNumber]++);
        slab.putInt(plane + PlaneRecord.SENDER, activeCount[planeNumber]);
        slab.putLong(sender + SenderRecord.PLANE, plane);
        stale[planeNumber] = true;
        return sender;
    }

    /** The last one moves to its place. Should it ask for the same again, it joins again. */
    private void leave(int planeNumber, long plane) {
        int place = slab.getInt(plane + PlaneRecord.SENDER);
        long last = state.sender(planeNumber, --activeCount[planeNumber]);
        slab.putInt(slab.getLong(last + SenderRecord.PLANE) + PlaneRecord.SENDER, place);
        Bytes.copy(last, state.sender(planeNumber, place - 1), SenderRecord.BYTES);
        slab.putInt(plane + PlaneRecord.SENDER, 0);
        slab.putInt(plane + PlaneRecord.DEMAND_CODE, 0);
        stale[planeNumber] = true;
    }

    /** Water-filling: whoever asks for less than an equal part gets what it asks; the rest is divided again. */
    private void compute(int planeNumber, long nowNs) {
        computedNs[planeNumber] = nowNs;
        dropSilent(planeNumber, nowNs);
        stale[planeNumber] = false;
        int count = activeCount[planeNumber];
        if (count == 0) {
            return;
        }
        long end = state.sender(planeNumber, count);
        // In doubles, which hold every rate: rounded up as a float, it would be more than the line.
        long capacity = (long) (state.config.rateKbps(planeNumber) * (1.0 - Limits.CE_DRAIN * marked[planeNumber]));
        long most = capacity / count;
        long extra = 0;
        for (int served = 0; ; ) {
            int small = 0;
            long left = capacity;
            for (long s = state.sender(planeNumber, 0); s < end; s += SenderRecord.BYTES) {
                long demand = demand(s);
                if (demand <= most) {
                    small++;
                    left -= demand;
                }
            }
            if (small == count) {
                extra = left / count;
                break;
            }
            most = left / (count - small);
            if (small == served) {
                break;
            }
            served = small;
        }
        for (long s = state.sender(planeNumber, 0); s < end; s += SenderRecord.BYTES) {
            slab.putInt(s + SenderRecord.GRANTED_KBPS, (int) (Math.min(demand(s), most) + extra));
        }
    }

    /** Whoever was not heard of for too long asks for nothing any more (MR-SHARE-013). */
    private void dropSilent(int planeNumber, long nowNs) {
        long turnNs = Limits.SHARE_AGE_PACKETS * activeCount[planeNumber] * 8_000_000L * state.config.payloadMtu / state.config.rateKbps(planeNumber);
        for (int i = activeCount[planeNumber] - 1; i >= 0; i--) {
            long sender = state.sender(planeNumber, i);
            long silentNs = nowNs - slab.getLong(sender + SenderRecord.LAST_DATA_NS);
            if (silentNs > turnNs) {
                long plane = slab.getLong(sender + SenderRecord.PLANE);
                if (silentNs > Limits.SHARE_AGE_RTT * Math.max(slab.getInt(plane + PlaneRecord.SRTT_NS), state.config.timerFloorNs)) {
                    leave(planeNumber, plane);
                }
            }
        }
    }

    /** The record of this sender, or 0 if it asks for nothing. */
    private long sender(int planeNumber, long plane) {
        int place = slab.getInt(plane + PlaneRecord.SENDER);
        return place == 0 ? 0 : state.sender(planeNumber, place - 1);
    }

    private long demand(long sender) {
        return slab.getInt(sender + SenderRecord.DEMAND_KBPS) & 0xffff_ffffL;
    }

    private long granted(long sender) {
        return slab.getInt(sender + SenderRecord.GRANTED_KBPS) & 0xffff_ffffL;
    }

    int active(int planeNumber) {
        return activeCount[planeNumber];
    }
}
