// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.CHECK_NS;
import static io.metaroce.transport.ConnectionRecord.CONFIRMED;
import static io.metaroce.transport.ConnectionRecord.IN_FLIGHT;
import static io.metaroce.transport.ConnectionRecord.KEEPALIVES;
import static io.metaroce.transport.ConnectionRecord.KEEPALIVE_TX_NS;
import static io.metaroce.transport.ConnectionRecord.LAST_RX_NS;
import static io.metaroce.transport.ConnectionRecord.SICK_PATHS;

import io.metaroce.memory.Slab;
import io.metaroce.wire.DataHeader;

/**
 * What time alone tells of an established connection: silent paths are probed and given up, a silent peer is lost; of planes see
 * {@link PlaneHealth} (spec: "Tail loss", "Dead path", "Keepalive").
 */
final class Health {
    private final EndpointState state;
    private final Slab slab;
    private final PathSender paths;
    private final StreamSender sender;
    private final ReadResponder reads;
    private final PlaneHealth planeHealth;
    /* Results of the last check: when what is out now may be late, and how long what is sent from now on cannot be. */
    private long dueNs;
    private long graceNs;

    Health(EndpointState state, PathSender paths, StreamSender sender, ReadResponder reads, PayloadSize size) {
        this.state = state;
        this.paths = paths;
        this.sender = sender;
        this.reads = reads;
        planeHealth = new PlaneHealth(state, paths, size);
        slab = state.slab;
    }

    /** Does what is due; returns false if the peer counts as lost. Schedules the next look. */
    boolean onTimer(long connection, long nowNs) {
        long silentNs = nowNs - slab.getLong(connection + LAST_RX_NS);
        if (silentNs >= state.config.peerTimeoutNs && slab.getInt(connection + KEEPALIVES) >= Limits.KEEPALIVES_TO_DEATH
                && isOwnTimeGood(silentNs, nowNs)) {
            return false;
        }
        keepalive(connection, silentNs, nowNs);
        long ackDeadline = slab.getLong(connection + ConnectionRecord.ACK_DEADLINE);
        if (ackDeadline != 0) {
            if (ackDeadline - nowNs <= 0) {
                state.makeUrgent(connection);
            } else {
                state.wakeBy(connection, ackDeadline);
            }
        }
        long waitersNs = slab.getLong(connection + ConnectionRecord.WAITERS_NS);
        if (waitersNs != 0) {
            if (waitersNs - nowNs <= 0) {
                waitingStreams(connection, nowNs);
            } else {
                state.wakeBy(connection, waitersNs);
            }
        }
        if (slab.getInt(connection + ConnectionRecord.NAK_COUNT) > 0) {
            repeatNaks(connection, nowNs);
        }
        wakePaced(connection, nowNs);
        if (slab.getInt(connection + IN_FLIGHT) > 0 || slab.getInt(connection + SICK_PATHS) > 0) {
            if (slab.getLong(connection + CHECK_NS) - nowNs <= 0) {
                check(connection, nowNs);
                slab.putLong(connection + CHECK_NS, nextCheckNs(connection, nowNs));
            }
            state.wakeBy(connection, slab.getLong(connection + CHECK_NS));
        }
        return true;
    }

    /** Whether this end ran as it should when the peer was silent: else the answer may lie unread in its own queues. */
    private boolean isOwnTimeGood(long silentNs, long nowNs) {
        return nowNs - state.heldUpNs >= Limits.KEEPALIVE_NS || silentNs >= Limits.HELD_UP_TIMEOUTS * state.config.peerTimeoutNs;
    }

    /**
     * When something may be late that is out now, or that is sent from now on; while nothing is out, when the next route is to be tried,
     * which may be long from now. What is suspected already is looked at often.
     */
    private long nextCheckNs(long connection, long nowNs) {
        int rttNs = slab.getInt(state.plane(connection, 0) + PlaneRecord.MIN_RTT_NS);
        long soonNs = nowNs + Math.max(rttNs / 4, Math.max(1_000, state.config.timerFloorNs / 2));
        if (slab.getInt(connection + IN_FLIGHT) > 0) {
            // A little after it may be late: to ask at the first moment finds more queues that grew than packets that were lost.
            long endNs = nowNs + graceNs;
            return Math.max(soonNs, Math.min(Math.min(dueNs, endNs) + rttNs / 8, endNs));
        }
        return dueNs == Long.MAX_VALUE ? soonNs : Math.max(soonNs, dueNs);
    }

    /** Of a plane that is down, the first path alone keeps trying. */
    private boolean triesRoutes(long plane, int index) {
        int state = slab.getInt(plane + PlaneRecord.STATE);
        return state == PlaneRecord.UP || state == PlaneRecord.DOWN && index == 0;
    }

    private void keepalive(long connection, long silentNs, long nowNs) {
        if (slab.getInt(connection + CONFIRMED) == 0) {
            // The responder may not know yet that ACCEPT arrived, should the first probe be lost.
            if (nowNs - slab.getLong(connection + ConnectionRecord.LAST_TX_NS) >= Limits.INIT_RETRY_NS) {
                paths.wantProbe(connection, state.path(connection, state.firstPlaneUp(connection), 0));
            }
            state.wakeBy(connection, nowNs + Limits.INIT_RETRY_NS);
        }
        if (silentNs < Limits.KEEPALIVE_NS) {
            slab.putInt(connection + KEEPALIVES, 0);
            state.wakeBy(connection, slab.getLong(connection + LAST_RX_NS) + Limits.KEEPALIVE_NS);
            return;
        }
        if (slab.getInt(connection + KEEPALIVES) == 0 || nowNs - slab.getLong(connection + KEEPALIVE_TX_NS) >= Limits.KEEPALIVE_NS) {
            slab.addInt(connection + KEEPALIVES, 1);
            slab.putLong(connection + KEEPALIVE_TX_NS, nowNs);
            int total = slab.getInt(connection + ConnectionRecord.PLANES) * slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
            // One path a plane: a peer that lives must answer on one of them.
            for (int i = slab.getInt(connection + KEEPALIVES) % slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE); i < total;
                    i += slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE)) {
                long path = state.path(connection, 0, i);
                if (slab.getInt(path + PathRecord.STATE) != PathRecord.DORMANT) {
                    paths.wantProbe(connection, path);
                }
            }
        }
        long next = Math.min(slab.getLong(connection + KEEPALIVE_TX_NS) + Limits.KEEPALIVE_NS,
                slab.getLong(connection + LAST_RX_NS) + state.config.peerTimeoutNs);
        state.wakeBy(connection, Math.max(next, nowNs + 1_000_000));
    }

    /** What pacing held back goes when its time has come; the timer that has just gone off may have been for something earlier. */
    private void wakePaced(long connection, long nowNs) {
        boolean waits = slab.getInt(connection + ConnectionRecord.UNSENT_PACKETS) != 0 || slab.getLong(connection + ConnectionRecord.ORPHAN_HEAD) != 0;
        for (int p = 0; p < slab.getInt(connection + ConnectionRecord.PLANES); p++) {
            long plane = state.plane(connection, p);
            long next = waits || slab.getInt(plane + PlaneRecord.RTX_PACKETS) != 0 ? slab.getLong(plane + PlaneRecord.NEXT_TX_NS) : 0;
            if (next != 0 && next - nowNs <= 0) {
                state.makeReady(connection);
            } else if (next != 0) {
                state.wakeBy(connection, next);
            }
        }
    }

    /** The acknowledgement that told of a failed stream may be lost, and the peer have nothing out whose probes would bring another one. */
    private void repeatNaks(long connection, long nowNs) {
        long due = slab.getLong(connection + ConnectionRecord.NAK_REPEAT_NS);
        if (due - nowNs <= 0) {
            state.tellNow(connection);
            long delay = Math.min(2L * slab.getInt(connection + ConnectionRecord.NAK_DELAY_NS), Limits.NAK_REPEAT_MAX_NS);
            slab.putInt(connection + ConnectionRecord.NAK_DELAY_NS, (int) delay);
            due = nowNs + delay;
            slab.putLong(connection + ConnectionRecord.NAK_REPEAT_NS, due);
        }
        state.wakeBy(connection, due);
    }

    /**
     * Looks at all streams for those that wait for credit, or to answer a Read. The more streams, the rarer, so that a few that wait for
     * long cost the others nothing that counts.
     */
    private void waitingStreams(long connection, long nowNs) {
        slab.putLong(connection + ConnectionRecord.WAITERS_NS, 0);
        long next = Long.MAX_VALUE;
        int streams = 0;
        for (long s = slab.getLong(connection + ConnectionRecord.ALL_STREAMS); s != 0; s = slab.getLong(s + StreamRecord.NEXT_OF_CONNECTION)) {
            streams++;
            if (slab.getInt(s + StreamRecord.READS_DUE) > 0) {
                reads.answer(s);
            }
            long due = slab.getLong(s + StreamRecord.CREDIT_ASK_NS);
            if (due != 0 && due - nowNs <= 0) {
                sender.creditPauseEnded(s, nowNs);
                due = slab.getLong(s + StreamRecord.CREDIT_ASK_NS);
            }
            if (due != 0) {
                next = Math.min(next, due);
            }
        }
        if (next != Long.MAX_VALUE) {
            state.lookAtWaiters(connection, next);
        }
        long lookNs = slab.getLong(connection + ConnectionRecord.WAITERS_NS);
        if (lookNs != 0) {
            lookNs = Math.max(lookNs, nowNs + streams * Limits.WAITER_LOOK_NS);
            slab.putLong(connection + ConnectionRecord.WAITERS_NS, lookNs);
            state.wakeBy(connection, lookNs);
        }
    }

    // ---- paths ----

    private void check(long connection, long nowNs) {
        dueNs = Long.MAX_VALUE;
        graceNs = Long.MAX_VALUE;
        int planes = slab.getInt(connection + ConnectionRecord.PLANES);
        for (int p = 0; p < planes; p++) {
            long plane = state.plane(connection, p);
            if (slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.ABSENT) {
                continue;
            }
            planeHealth.check(connection, plane, p, nowNs);
            dueNs = Math.min(dueNs, planeHealth.dueNs(connection, plane, p, nowNs));
            graceNs = Math.min(graceNs, state.graceNs(plane));
            int perPlane = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
            // Behind the last path with packets out nothing is to be found, unless routes are tried.
            int left = slab.getInt(plane + PlaneRecord.IN_FLIGHT);
            for (int i = 0; i < perPlane && (left > 0 || slab.getInt(connection + SICK_PATHS) > 0); i++) {
                long path = state.path(connection, p, i);
                left -= slab.getInt(path + PathRecord.IN_FLIGHT);
                if (slab.getInt(path + PathRecord.STATE) == PathRecord.PROBING) {
                    if (triesRoutes(plane, i)) {
                        retryRoute(connection, plane, path, nowNs);
                        dueNs = Math.min(dueNs, slab.getLong(path + PathRecord.STATE_SINCE_NS) + patience(plane, path) + 1);
                    }
                } else if (slab.getInt(path + PathRecord.IN_FLIGHT) > 0) {
                    dueNs = Math.min(dueNs, checkPath(connection, plane, path, nowNs));
                }
            }
        }
    }

    private int probesToDeath() {
        return state.config.timerFloorNs == 0 ? Limits.PROBES_TO_DEATH : Limits.PROBES_TO_DEATH_SLOW;
    }

    private int probesToDeathAlone() {
        return state.config.timerFloorNs == 0 ? Limits.PROBES_TO_DEATH_ALONE : Limits.PROBES_TO_DEATH_ALONE_SLOW;
    }

    /** Whether the peer has probed for so long for what was acknowledged that our acknowledgements must be lost, all of them. */
    boolean isUnheard(long plane, long waitingNs) {
        long rtt = Math.max(slab.getInt(plane + PlaneRecord.SRTT_NS), state.config.timerFloorNs);
        return waitingNs > (long) (probesToDeath() * Limits.PROBE_AGAIN_RTT * rtt);
    }

    /**
     * The peer hears nothing of us on this plane. Paths with packets out are judged by these; the others, which carry acknowledgements
     * alone, all take other routes, one of which may be heard.
     */
    void leaveIdleRoutes(long connection, int planeNumber, long plane, long nowNs) {
        for (int i = 0; i < slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE); i++) {
            long path = state.path(connection, planeNumber, i);
            if (slab.getInt(path + PathRecord.STATE) == PathRecord.GOOD && slab.getInt(path + PathRecord.IN_FLIGHT) == 0) {
                paths.evacuate(connection, plane, path, nowNs);
            }
        }
    }

    /** Returns when the path is to be looked at again, should nothing arrive. */
    private long checkPath(long connection, long plane, long path, long nowNs) {
        long rtt = Math.max(slab.getInt(path + PathRecord.SRTT_NS),
                Math.max(slab.getInt(plane + PlaneRecord.MIN_RTT_NS), slab.getInt(plane + PlaneRecord.SRTT_NS)));
        int probes = slab.getInt(path + PathRecord.PROBES_OUT);
        long floor = state.config.timerFloorNs;
        if (probes == 0) {
            long patience = Math.max((long) (Limits.PROBE_AFTER_RTT * rtt), floor + state.config.ackDelayNs);
            long head = slab.getLong(path + PathRecord.OUT_HEAD);
            long atNs = Math.min(slab.getLong(path + PathRecord.LAST_TX_NS) + patience, slab.getLong(head + PacketRecord.SENT_NS) + 4 * patience);
            if (atNs - nowNs <= 0) {
                paths.wantProbe(connection, path);
            }
            return atNs;
        }
        // Probes without an answer come ever slower while nothing else moves either: then the peer is silent, not the path.
        boolean early = state.expectsLoss();
        // Early repeats are close together: one of them does not count.
        int counted = early ? probes - 1 : probes;
        float pause = early && probes <= Limits.EARLY_REPEATS ? Limits.EARLY_AGAIN_RTT : Limits.PROBE_AGAIN_RTT;
        long once = Math.max((long) (pause * rtt), floor + state.config.ackDelayNs);
        long again = Math.max(once, Math.min(once << Math.clamp(counted - Limits.PROBES_TO_DEATH, 0, 10), Limits.PROBING_MAX_NS));
        long atNs = slab.getLong(path + PathRecord.LAST_PROBE_NS) + again;
        if (atNs - nowNs > 0) {
            return atNs;
        }
        boolean alone = probes >= probesToDeathAlone();
        if (alone || counted >= probesToDeath() && othersProgressed(connection, slab.getLong(path + PathRecord.LAST_PROBE_NS))
                && slab.addInt(path + PathRecord.PROOFS, 1) >= PlaneHealth.proofsNeeded(state.config)) {
            state.statsOf(connection).timeouts++;
            paths.evacuate(connection, plane, path, nowNs);
            planeHealth.onPathDead(connection, plane, path, !alone, nowNs);
        } else {
            paths.wantProbe(connection, path);
            witness(connection, path);
            planeHealth.askNeighbours(connection, plane, path);
        }
        return nowNs;
    }

    /**
     * Where nothing is out that could prove that the peer lives, another path is probed, too: on another plane, or on the same one if
     * there is no other. What is silent may hold up all the rest, by order or credit, so that nothing else is sent by itself.
     */
    private void witness(long connection, long path) {
        int planes = slab.getInt(connection + ConnectionRecord.PLANES);
        int perPlane = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        int own = DataHeader.planeOf(slab.getInt(path + PathRecord.NUMBER));
        for (int p = 0; p < planes; p++) {
            if (p == own && planes > 1 || p != own && slab.getInt(state.plane(connection, p) + PlaneRecord.IN_FLIGHT) > 0) {
                continue;
            }
            for (int i = 0; i < perPlane; i++) {
                long other = state.path(connection, p, i);
                if (other != path && slab.getInt(other + PathRecord.STATE) == PathRecord.GOOD
                        && slab.getInt(other + PathRecord.IN_FLIGHT) == 0) {
                    paths.wantProbe(connection, other);
                    return;
                }
            }
        }
    }

    /**
     * Whether something sent at {@code sinceNs} or later is known to have arrived on any path. A peer that was held up answers path by
     * path when it goes on; only what was sent later still proves that it had the time to answer everywhere.
     */
    private boolean othersProgressed(long connection, long sinceNs) {
        for (int p = 0; p < slab.getInt(connection + ConnectionRecord.PLANES); p++) {
            if (slab.getLong(state.plane(connection, p) + PlaneRecord.NEWEST_ACKED_NS) - sinceNs >= 0) {
                return true;
            }
        }
        return false;
    }

    private void retryRoute(long connection, long plane, long path, long nowNs) {
        if (nowNs - slab.getLong(path + PathRecord.STATE_SINCE_NS) > patience(plane, path)) {
            paths.newRoute(connection, plane, path, nowNs);
        }
    }

    /** How long a route is given to answer before another one is tried. */
    private long patience(long plane, long path) {
        long rtt = Math.max(slab.getInt(plane + PlaneRecord.SRTT_NS), state.config.timerFloorNs);
        return Math.min(3 * rtt << Math.min(slab.getInt(path + PathRecord.ATTEMPTS), 12), Limits.PROBING_MAX_NS);
    }
}
