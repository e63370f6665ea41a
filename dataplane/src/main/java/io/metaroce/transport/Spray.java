// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;

/**
 * Chooses the path of the next packets (spec: "Spray"): the plane with the most room for its window, in it the path with the
 * least in flight for its weight, randomised so that senders do not fall into step.
 */
final class Spray {
    private static final float EPSILON = 1e-4f;
    /** More than what any path has out for its window. */
    private static final float LAST_CHOICE = 1e6f;

    private final EndpointState state;
    private final Slab slab;
    private final Windows windows;
    private final Outgoing out;
    /* Results of the last choice. */
    long plane;
    int planeNumber;
    long path;
    /** Packets that may go on the path now. */
    int room;
    /** There was none, and the port of a plane that might have had one is busy. */
    boolean waitsForPort;
    private long picked;
    private int wanted;
    private final Prng random;

    Spray(EndpointState state, Windows windows, Outgoing out) {
        this.state = state;
        this.windows = windows;
        this.out = out;
        slab = state.slab;
        random = state.random;
    }

    /**
     * Chooses a path with room for at least one packet; false if there is none now.
     *
     * @param wanted packets that could go on it, at least 1. Where runs pay, a run is not started while it would be shorter than
     *     half of what it could be and acknowledgements that make room are still to come.
     */
    boolean choose(long connection, int wanted, long nowNs) {
        int planes = slab.getInt(connection + ConnectionRecord.PLANES);
        int bytes = slab.getInt(connection + ConnectionRecord.ROUTE_BYTES);
        boolean runs = state.config.runLength > 1;
        boolean patient = runs && slab.getInt(connection + ConnectionRecord.IN_FLIGHT) > 0;
        // Of several connections another one may have room where this one has not: then ports have always something to do.
        boolean alone = !state.backlogs.areSeveral();
        float best = Float.MAX_VALUE;
        this.wanted = wanted;
        waitsForPort = false;
        path = 0;
        for (int p = 0; p < planes; p++) {
            long candidate = state.plane(connection, p);
            if (alone && out.isPortBusy(p)) {
                waitsForPort = true;
                continue;
            }
            if (slab.getInt(candidate + PlaneRecord.STATE) != PlaneRecord.UP || slab.getInt(candidate + PlaneRecord.PROVEN_BYTES) < bytes || isPaced(connection, candidate, nowNs)) {
                continue;
            }
            float window = windows.window(connection, candidate, nowNs);
            int inFlight = slab.getInt(candidate + PlaneRecord.IN_FLIGHT);
            float load = planes == 1 ? 0 : (inFlight + random.nextFloat()) / window;
            if (load >= best || inFlight >= whole(window) || !pick(connection, candidate, p, window)) {
                continue;
            }
            int free = 1;
            if (runs) {
                int limit = limit(candidate, picked, activeScale(connection, window));
                free = Math.min(whole(window) - inFlight, limit - slab.getInt(picked + PathRecord.IN_FLIGHT));
                int worthwhile = Math.min(Math.min(state.config.runLength, wanted), Math.min(limit, whole(window))) / 2;
                if (patient && free < worthwhile) {
                    continue;
                }
            }
            best = load;
            plane = candidate;
            planeNumber = p;
            path = picked;
            room = Math.max(1, free);
        }
        waitsForPort &= path == 0;
        return path != 0;
    }

    /** Packets that may go on this very path now; 0 if it is not good or its plane not up. */
    int roomOf(long connection, long ofPlane, long ofPath, long nowNs) {
        if (slab.getInt(ofPath + PathRecord.STATE) != PathRecord.GOOD || slab.getInt(ofPlane + PlaneRecord.STATE) != PlaneRecord.UP
                || slab.getInt(ofPlane + PlaneRecord.PROVEN_BYTES) < slab.getInt(connection + ConnectionRecord.ROUTE_BYTES)
                || isPaced(connection, ofPlane, nowNs)) {
            return 0;
        }
        return repairRoom(connection, ofPlane, ofPath, nowNs);
    }

    /**
     * Packets that this path may repeat now. Its state does not hold repairs back, but windows do: where a full queue drops what it cannot
     * mark, repairs that go at once would be dropped again and again and keep it full. Pacing does where it stands for a window of less
     * than a packet, and towards far peers.
     */
    int repairRoom(long connection, long ofPlane, long ofPath, long nowNs) {
        float window = windows.window(connection, ofPlane, nowNs);
        if ((Windows.isTiny(window) || windows.isFar(connection, ofPlane)) && isPaced(connection, ofPlane, nowNs)) {
            return 0;
        }
        int planeRoom = whole(window) - slab.getInt(ofPlane + PlaneRecord.IN_FLIGHT);
        int pathRoom = limit(ofPlane, ofPath, activeScale(connection, window)) - slab.getInt(ofPath + PathRecord.IN_FLIGHT);
        return Math.max(0, Math.min(planeRoom, pathRoom));
    }

    /** The path of this plane with least in flight for its window; false if none has room. */
    private boolean pick(long connection, long candidate, int number, float window) {
        int paths = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        int active = active(paths, window);
        long first = state.path(connection, number, 0);
        float unit = slab.getFloat(candidate + PlaneRecord.UNIT) * paths / active;
        // Least loaded first, without a branch that depends on the loads: they can't be predicted. Room, and how slow it is, are looked at afterwards.
        int noise = random.nextInt();
        long least = leastLoaded(first, paths, active, noise, Float.MAX_VALUE);
        float slowNs = Limits.SLOW_PATH * slab.getInt(candidate + PlaneRecord.SRTT_NS);
        if (least != Long.MAX_VALUE && slab.getInt(first + (least & 0xffff) * PathRecord.BYTES + PathRecord.SRTT_NS) > slowNs && ends(connection)) {
            least = leastLoaded(first, paths, active, noise, slowNs);
        }
        picked = first + (least & 0xffff) * PathRecord.BYTES;
        return least != Long.MAX_VALUE && hasRoom(picked, unit) || pickWithRoom(first, paths, active, unit);
    }

    /** What goes on a slow path now would be the last to arrive. */
    private boolean ends(long connection) {
        return wanted < slab.getInt(connection + ConnectionRecord.PLANES) * windows.bdpPackets(connection, state.plane(connection, 0));
    }

    /**
     * Load, as the bits of a positive float, above the index of the path; {@code Long.MAX_VALUE} if no path is good.
     *
     * @param noise one draw that serves all paths: the rest is a linear congruence
     * @param slowNs paths with a longer RTT come last
     */
    private long leastLoaded(long first, int paths, int active, int noise, float slowNs) {
        boolean spares = slowNs < Float.MAX_VALUE;
        long least = Long.MAX_VALUE;
        long at = first;
        for (int i = 0, good = 0; i < paths && good < active; i++, at += PathRecord.BYTES) {
            if (slab.getInt(at + PathRecord.STATE) == PathRecord.GOOD) {
                good++;
                noise = noise * 0x19660d + 0x3c6ef35f;
                float load = (slab.getInt(at + PathRecord.IN_FLIGHT) + (noise >>> 8) * 0x1p-24f) * slab.getFloat(at + PathRecord.INVERSE_FACTOR);
                load += spares && slab.getInt(at + PathRecord.SRTT_NS) > slowNs ? LAST_CHOICE : 0;
                least = Math.min(least, (long) Float.floatToRawIntBits(load) << 32 | i);
            }
        }
        return least;
    }

    /** The least loaded has no room; another one of smaller load but for the noise may. */
    private boolean pickWithRoom(long first, int paths, int active, float unit) {
        float best = Float.MAX_VALUE;
        picked = 0;
        long at = first;
        for (int i = 0, good = 0; i < paths && good < active; i++, at += PathRecord.BYTES) {
            if (slab.getInt(at + PathRecord.STATE) == PathRecord.GOOD) {
                good++;
                float load = slab.getInt(at + PathRecord.IN_FLIGHT) * slab.getFloat(at + PathRecord.INVERSE_FACTOR);
                if (load < best && hasRoom(at, unit)) {
                    best = load;
                    picked = at;
                }
            }
        }
        return picked != 0;
    }

    /** Packets that may be out where a window is not a whole number: less than one beyond it. */
    private static int whole(float window) {
        return (int) Math.ceil(window - EPSILON);
    }

    /** At least one packet may be out on a path, and less than a packet beyond its window. */
    private boolean hasRoom(long at, float unit) {
        int inFlight = slab.getInt(at + PathRecord.IN_FLIGHT);
        return (inFlight == 0 || inFlight < slab.getFloat(at + PathRecord.FACTOR) * unit - EPSILON) && spanFree(at);
    }

    /** A small window uses few paths, so that each carries enough to be told healthy. */
    private static int active(int paths, float window) {
        return Math.clamp((long) Math.ceil(window), Math.min(2, paths), paths);
    }

    private float activeScale(long connection, float window) {
        int paths = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        return (float) paths / active(paths, window);
    }

    private int limit(long ofPlane, long ofPath, float scale) {
        float w = slab.getFloat(ofPath + PathRecord.FACTOR) * slab.getFloat(ofPlane + PlaneRecord.UNIT) * scale;
        return Math.max(1, whole(w));
    }

    private boolean spanFree(long at) {
        long head = slab.getLong(at + PathRecord.OUT_HEAD);
        return head == 0
                || slab.getInt(at + PathRecord.NEXT_PSN) - slab.getInt(head + PacketRecord.PSN) < Limits.PSN_WINDOW - 1;
    }

    private boolean isPaced(long connection, long candidate, long nowNs) {
        long next = slab.getLong(candidate + PlaneRecord.NEXT_TX_NS);
        if (next == 0 || next - nowNs <= 0) {
            return false;
        }
        state.wakeBy(connection, next);
        return true;
    }
}
