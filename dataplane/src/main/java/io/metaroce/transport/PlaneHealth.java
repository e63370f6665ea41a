// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.DataHeader;

/** Tells the end of a plane from that of one of its paths, and takes it for down by one decision (spec: "Plane failure"). */
final class PlaneHealth {
    private static final int PLANE_FLOORS = 10;

    private final EndpointState state;
    private final Slab slab;
    private final PathSender paths;
    private final PayloadSize size;

    PlaneHealth(EndpointState state, PathSender paths, PayloadSize size) {
        this.state = state;
        this.paths = paths;
        this.size = size;
        slab = state.slab;
    }

    /**
     * A host that was held up serves its planes one after the other when it goes on, and what is sent to the first of them meanwhile
     * is answered before the last has had its turn. So where hosts are slow, one proof is not enough.
     */
    static int proofsNeeded(EndpointConfig config) {
        return config.timerFloorNs == 0 ? 1 : 2;
    }

    /** Takes a plane that is up for down if that is due. */
    void check(long connection, long plane, int number, long nowNs) {
        if (slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.UP && isDead(connection, plane, number, nowNs)) {
            giveUp(connection, plane, number, nowNs);
        }
    }

    /** When the plane may become suspect, should nothing arrive; now while it is, as proof of that may come at any time. */
    long dueNs(long connection, long plane, int number, long nowNs) {
        if (slab.getInt(plane + PlaneRecord.STATE) != PlaneRecord.UP || slab.getInt(plane + PlaneRecord.IN_FLIGHT) == 0
                || slab.getInt(connection + ConnectionRecord.PLANES) == 1) {
            return Long.MAX_VALUE;
        }
        if (slab.getLong(plane + PlaneRecord.SUSPECT_NS) != 0) {
            return nowNs;
        }
        long due = slab.getLong(plane + PlaneRecord.LAST_PROGRESS_NS) + quietNs(plane) / 2 + 1;
        if (due - nowNs > 0) {
            return due;
        }
        long oldest = nowNs;
        for (int i = 0; i < slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE); i++) {
            long head = slab.getLong(state.path(connection, number, i) + PathRecord.OUT_HEAD);
            if (head != 0 && slab.getLong(head + PacketRecord.SENT_NS) - oldest < 0) {
                oldest = slab.getLong(head + PacketRecord.SENT_NS);
            }
        }
        return oldest + quietNs(plane) / 2 + 1;
    }

    /** Silence that ends a plane, if others prove that the peer lives. */
    private long quietNs(long plane) {
        return Math.max((long) (Limits.PLANE_DEAD_RTT * slab.getInt(plane + PlaneRecord.SRTT_NS)), PLANE_FLOORS * state.config.timerFloorNs);
    }

    private boolean isDead(long connection, long plane, int number, long nowNs) {
        if (slab.getInt(plane + PlaneRecord.IN_FLIGHT) == 0 || slab.getInt(connection + ConnectionRecord.PLANES) == 1) {
            return false;
        }
        long quiet = quietNs(plane);
        long silentNs = nowNs - slab.getLong(plane + PlaneRecord.LAST_PROGRESS_NS);
        if (silentNs <= quiet / 2) {
            return false;
        }
        long oldest = nowNs;
        int silentPaths = 0;
        for (int i = 0; i < slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE); i++) {
            long path = state.path(connection, number, i);
            long head = slab.getLong(path + PathRecord.OUT_HEAD);
            long since = head != 0 ? slab.getLong(head + PacketRecord.SENT_NS)
                    : isAsked(plane, path) ? slab.getLong(path + PathRecord.LAST_PROBE_NS) : nowNs;
            // A probe must have had its time, as planes are not equally long; of packets only the oldest has to.
            silentPaths += head != 0 || nowNs - since > quiet / 2 ? 1 : 0;
            oldest = since - oldest < 0 ? since : oldest;
        }
        silentNs = Math.min(silentNs, nowNs - oldest);
        // One silent path of several is that path's affair.
        if (silentNs <= quiet / 2 || silentPaths < Math.min(2, slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE))) {
            return false;
        }
        long suspectNs = slab.getLong(plane + PlaneRecord.SUSPECT_NS);
        if (suspectNs == 0) {
            slab.putLong(plane + PlaneRecord.SUSPECT_NS, nowNs);
            return false;
        }
        boolean proof = false;
        long slowestNs = 0;
        for (int p = 0; p < slab.getInt(connection + ConnectionRecord.PLANES); p++) {
            if (p == number) {
                continue;
            }
            long other = state.plane(connection, p);
            long newestNs = slab.getLong(other + PlaneRecord.NEWEST_ACKED_NS);
            // What is sent in the turn in which it becomes suspect is sent after that.
            proof |= newestNs - suspectNs >= 0;
            if (newestNs - oldest >= 0) {
                // Where queues grow, the plane's own smoothed RTT is of a time when they were short.
                slowestNs = Math.max(slowestNs, slab.getLong(other + PlaneRecord.LAST_PROGRESS_NS) - newestNs);
            }
        }
        if (proof && nowNs - suspectNs >= PLANE_FLOORS * state.config.timerFloorNs) {
            // The next proof must be newer than this one.
            slab.putLong(plane + PlaneRecord.SUSPECT_NS, nowNs);
            slab.addInt(plane + PlaneRecord.PROOFS, 1);
        }
        return slab.getInt(plane + PlaneRecord.PROOFS) >= proofsNeeded(state.config)
                && silentNs > Math.max(quiet, (long) (Limits.PLANE_DEAD_RTT * slowestNs));
    }

    /** Whether the path has a probe out, and nothing was heard of its plane since. */
    private boolean isAsked(long plane, long path) {
        return slab.getInt(path + PathRecord.STATE) != PathRecord.PROBING && slab.getInt(path + PathRecord.PROBES_OUT) > 0
                && slab.getLong(path + PathRecord.LAST_PROBE_NS) - slab.getLong(plane + PlaneRecord.LAST_PROGRESS_NS) >= 0;
    }

    /**
     * Of a plane with few packets, only one path may have any out when it ends. Nobody would learn of the others before what that path
     * had was sent there and lost again, on one after the other; so they are asked.
     */
    void askNeighbours(long connection, long plane, long silentPath) {
        if (slab.getInt(connection + ConnectionRecord.PLANES) == 1) {
            return;
        }
        int number = DataHeader.planeOf(slab.getInt(silentPath + PathRecord.NUMBER));
        int asked = 0;
        for (int i = 0; i < slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE) && asked < Limits.NEIGHBOURS_ASKED; i++) {
            long path = state.path(connection, number, i);
            if (path != silentPath && slab.getInt(path + PathRecord.STATE) == PathRecord.GOOD && slab.getInt(path + PathRecord.IN_FLIGHT) == 0
                    && !isAsked(plane, path)) {
                paths.wantProbe(connection, path);
                asked++;
            }
        }
    }

    /**
     * A plane whose last path has died is down, too, and so is one that was suspect when a path of it died, {@code proven} by what
     * arrived elsewhere: its other paths would die one after the other.
     */
    void onPathDead(long connection, long plane, long dead, boolean proven, long nowNs) {
        int number = DataHeader.planeOf(slab.getInt(dead + PathRecord.NUMBER));
        if (slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.UP && slab.getInt(connection + ConnectionRecord.PLANES) > 1
                && (proven && slab.getLong(plane + PlaneRecord.SUSPECT_NS) != 0 || allAreProbing(connection, number))) {
            giveUp(connection, plane, number, nowNs);
        }
    }

    private boolean allAreProbing(long connection, int number) {
        for (int i = 0; i < slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE); i++) {
            if (slab.getInt(state.path(connection, number, i) + PathRecord.STATE) != PathRecord.PROBING) {
                return false;
            }
        }
        return true;
    }

    /** One decision for all paths of the plane. */
    private void giveUp(long connection, long plane, int number, long nowNs) {
        slab.putInt(plane + PlaneRecord.STATE, PlaneRecord.DOWN);
        size.onPlane(connection);
        state.statsOf(connection).planeFailures++;
        for (int i = 0; i < slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE); i++) {
            long path = state.path(connection, number, i);
            if (slab.getInt(path + PathRecord.STATE) != PathRecord.PROBING) {
                paths.evacuate(connection, plane, path, nowNs);
            }
        }
    }
}
