// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;

/**
 * The sender's half of congestion control, path by path (spec: "Sender control"): additive increase, a decrease by CE marks,
 * and a correction towards paths that are faster than the plane's mean. Loss without marks never cuts a window.
 */
final class Aimd {
    private static final float DELAY_SAMPLES = 4;
    /** A smaller part of marked packets is none: processors are slow with the smallest numbers. */
    private static final float LEAST_MARKED = 1e-6f;

    private final EndpointState state;
    private final Slab slab;
    private final Windows windows;
    private final FarPeers farPeers;

    Aimd(EndpointState state, Windows windows) {
        this.state = state;
        this.windows = windows;
        slab = state.slab;
        farPeers = new FarPeers(state, windows);
    }

    /**
     * @param acked packets newly acknowledged on the path, at least 1
     * @param marked how many of them were marked CE, 0 to {@code acked}
     * @param rttNs the sample, or 0 if there is none
     */
    void onAck(long connection, long plane, long path, int acked, int marked, int rttNs, float share, long nowNs) {
        float unit = slab.getFloat(plane + PlaneRecord.UNIT);
        float w = slab.getFloat(path + PathRecord.FACTOR) * unit;
        int paths = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        float fraction = (float) marked / acked;
        slab.putFloat(path + PathRecord.MARKED, smooth(slab.getFloat(path + PathRecord.MARKED), fraction, 0.25f));
        float planeMarked = smooth(slab.getFloat(plane + PlaneRecord.MARKED), fraction, 0.02f);
        slab.putFloat(plane + PlaneRecord.MARKED, planeMarked);
        boolean far = windows.isFar(connection, plane);

        float increase = Math.max(Limits.INCREASE_PER_RTT, Limits.INCREASE_PART * unit * paths);
        if (far) {
            w *= farPeers.leftOfWindows(connection, plane, acked, nowNs);
            increase = farPeers.increase(plane, increase, marked, nowNs);
            w += farPeers.growth(plane) * (acked - marked);
        }
        w += (acked - marked) * (increase / paths) / Math.max(w, 0.25f);
        // Marks on nearly everything come from the last hop, which the receiver's share already rules; or from a line between sites.
        boolean lastHop = !far && planeMarked > Limits.LAST_HOP_MARKED && share < Limits.LAST_HOP_SHARE;
        if (marked > 0 && !lastHop) {
            w -= (far ? Limits.FAR_DECREASE : Limits.CE_DECREASE) * marked * Math.min(1f, w);
        }
        if (rttNs > 0) {
            float scale = Math.max(slab.getInt(plane + PlaneRecord.MIN_RTT_NS), state.config.timerFloorNs);
            float excess = (rttNs - slab.getInt(plane + PlaneRecord.SRTT_NS)) / scale;
            // The correction of a whole window is that of a few packets: a run that comes back as one is one sample, not fifteen.
            float samples = acked * Math.min(1f, DELAY_SAMPLES / w);
            // Marked packets do not gain, however quick they were: of a full queue that drops, what gets through may well be quick.
            samples *= excess < 0 ? 1f - fraction : 1f;
            float gain = slab.getInt(path + PathRecord.ACKS) <= Limits.FIRST_PACKETS ? Limits.FIRST_DELAY_GAIN : Limits.DELAY_GAIN;
            w *= Math.clamp(1f - gain * samples * Math.clamp(excess, -1f, 1f), 0.5f, 2f);
        }
        windows.setFactor(plane, path, w / unit);
    }

    private static float smooth(float mean, float value, float gain) {
        float next = mean + gain * (value - mean);
        return next < LEAST_MARKED ? 0 : next;
    }
}
