// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;

/**
 * How windows towards a far peer find the rate of a line between sites, and follow it (spec: "Far peers"): they double until packets are
 * marked, come back to what arrived, and grow faster the longer nothing was marked.
 */
final class FarPeers {
    private final Slab slab;
    private final Windows windows;

    FarPeers(EndpointState state, Windows windows) {
        slab = state.slab;
        this.windows = windows;
    }

    /** Packets by which a window grows for each that was acknowledged unmarked, beside the increase. */
    float growth(long plane) {
        return windows.isStarting(plane) ? Limits.FAR_GROWTH : 0;
    }

    /**
     * Counts what arrives while windows are doubled, and ends that when too many packets are marked: windows are cut to make the rate of the last
     * part of a round trip, in which the line was full. What is out beyond that is lost already, or will be.
     *
     * @param acked packets newly acknowledged, at least 1
     * @return what is left of each window: 1 but where they were cut
     */
    float leftOfWindows(long connection, long plane, int acked, long nowNs) {
        if (!windows.isStarting(plane)) {
            return 1;
        }
        int counted = slab.addInt(plane + PlaneRecord.FAR_COUNTED, acked);
        long elapsedNs = Integer.toUnsignedLong((int) nowNs - slab.getInt(plane + PlaneRecord.FAR_SINCE_NS));
        int rttNs = slab.getInt(plane + PlaneRecord.MIN_RTT_NS);
        if (elapsedNs * Limits.FAR_PARTS < rttNs) {
            return 1;
        }
        slab.putInt(plane + PlaneRecord.FAR_SINCE_NS, (int) nowNs);
        slab.putInt(plane + PlaneRecord.FAR_COUNTED, 0);
        // In a longer time than a round trip there were pauses.
        if (slab.getFloat(plane + PlaneRecord.MARKED) <= Limits.FAR_MARKED || elapsedNs > rttNs) {
            return 1;
        }
        slab.putInt(plane + PlaneRecord.FAR_FOUND, 1);
        slab.putLong(plane + PlaneRecord.FAR_MARKED_NS, nowNs);
        float arrived = counted * (float) rttNs / elapsedNs;
        float left = Math.min(1, arrived / Limits.FAR_PACE / windows.ofPaths(plane));
        windows.scale(connection, plane, left);
        return left;
    }

    /**
     * Packets by which all windows of the plane together may grow in a round trip: no more than a part of what they are, as many small senders would
     * else fill the line in one; and the longer nothing was marked the more, as others may have left.
     *
     * @param usual the same towards a near peer
     */
    float increase(long plane, float usual, int marked, long nowNs) {
        float bounded = Math.min(usual, Limits.FAR_INCREASE * windows.ofPaths(plane));
        if (windows.isStarting(plane)) {
            return bounded;
        }
        if (marked > 0) {
            slab.putLong(plane + PlaneRecord.FAR_MARKED_NS, nowNs);
        }
        float rounds = (nowNs - slab.getLong(plane + PlaneRecord.FAR_MARKED_NS)) / (float) slab.getInt(plane + PlaneRecord.SRTT_NS);
        return bounded * (1 + Limits.FAR_HASTE * Math.clamp(rounds - 1, 0, Limits.FAR_HASTE_ROUNDS));
    }
}
