// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.LARGER_WORK;
import static io.metaroce.transport.ConnectionRecord.PACKET_BYTES;
import static io.metaroce.transport.ConnectionRecord.ROUTE_BYTES;
import static io.metaroce.transport.PlaneRecord.PROVEN_BYTES;
import static io.metaroce.transport.PlaneRecord.REFUTED_BYTES;
import static io.metaroce.transport.PlaneRecord.SIZE_TRIES;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Opcode;

/**
 * How much payload a packet carries (spec: "Payload size"): what is safe at first, then the most that padded probes prove for all
 * planes in use. A message keeps the size that it began with, so a plane that carries less is not used while such a message lives.
 */
final class PayloadSize {
    /** The search ends when it is known as exactly as this, bytes. */
    private static final int STEP = 32;

    private final EndpointState state;
    private final Slab slab;
    private final Windows windows;

    PayloadSize(EndpointState state, Windows windows) {
        this.state = state;
        this.windows = windows;
        slab = state.slab;
    }

    /** The connection has new paths, of which nothing is known. */
    void open(long c) {
        int safe = safe(c);
        for (int p = 0; p < slab.getInt(c + ConnectionRecord.PLANES); p++) {
            long plane = state.plane(c, p);
            slab.putInt(plane + PROVEN_BYTES, safe);
            search(c, plane);
        }
        slab.putInt(c + PACKET_BYTES, safe);
        slab.putLong(c + ConnectionRecord.STUCK_SINCE_NS, 0);
        keepLarger(c);
    }

    private int limit(long c) {
        return slab.getInt(c + ConnectionRecord.PAYLOAD_MTU);
    }

    private int safe(long c) {
        return Math.min(limit(c), state.config.safePayload);
    }

    /** The plane is new, or elsewhere, or carries less than it did: it is measured, and not used until then if others carry more. */
    void measure(long c, long plane) {
        slab.putInt(plane + PROVEN_BYTES, safe(c));
        search(c, plane);
        settle(c);
    }

    private void search(long c, long plane) {
        slab.putInt(plane + REFUTED_BYTES, limit(c) + 1);
        slab.putInt(plane + SIZE_TRIES, 0);
        if (isSearching(c, plane)) {
            lookAgain(c);
        }
    }

    private boolean isSearching(long c, long plane) {
        return slab.getInt(plane + REFUTED_BYTES) - slab.getInt(plane + PROVEN_BYTES) > STEP || mayCarryWork(c, plane);
    }

    /** Whether it is open if the plane carries what messages under way need. */
    private boolean mayCarryWork(long c, long plane) {
        int needed = slab.getInt(c + ROUTE_BYTES);
        return slab.getInt(plane + PROVEN_BYTES) < needed && needed < slab.getInt(plane + REFUTED_BYTES);
    }

    /** The most that could be is tried first: where nothing is in the way, one round trip settles it. Then what is needed. */
    private int candidate(long c, long plane) {
        int refuted = slab.getInt(plane + REFUTED_BYTES);
        if (refuted > limit(c)) {
            return limit(c);
        }
        return mayCarryWork(c, plane) ? slab.getInt(c + ROUTE_BYTES) : (slab.getInt(plane + PROVEN_BYTES) + refuted) / 2;
    }

    /** Probes of this length so far: what is needed may change, and with it what is tried. */
    private int tries(long plane, int length) {
        int tried = slab.getInt(plane + SIZE_TRIES);
        return tried >>> 8 == length ? tried & 0xff : 0;
    }

    /** Sends the next padded probe where one is due. Returns false if messages wait for a route of their size for too long. */
    boolean onTimer(long c, PathSender paths, long nowNs) {
        boolean more = false;
        int perPlane = slab.getInt(c + ConnectionRecord.PATHS_PER_PLANE);
        for (int p = 0; p < slab.getInt(c + ConnectionRecord.PLANES); p++) {
            long plane = state.plane(c, p);
            if (slab.getInt(plane + PlaneRecord.STATE) != PlaneRecord.UP) {
                continue;
            }
            if (!isSearching(c, plane)) {
                more |= tryAgain(c, plane, nowNs);
                continue;
            }
            more = true;
            // Seldom used by data, whose acknowledgements would hide the answer.
            long path = state.path(c, p, perPlane - 1);
            if (slab.getInt(path + PathRecord.STATE) != PathRecord.GOOD) {
                continue;
            }
            long patience = 2L * Math.max(slab.getInt(plane + PlaneRecord.SRTT_NS), Math.max(state.config.timerFloorNs, Limits.SIZE_PATIENCE_NS));
            boolean out = slab.getInt(path + PathRecord.LAST_PAD) != 0;
            if (out && nowNs - slab.getLong(path + PathRecord.LAST_PROBE_NS) < patience) {
                state.wakeBy(c, slab.getLong(path + PathRecord.LAST_PROBE_NS) + patience);
                continue;
            }
            int length = candidate(c, plane);
            if (tries(plane, length) == Limits.SIZE_TRIES) {
                slab.putInt(plane + REFUTED_BYTES, length);
                settle(c);
                if (!isSearching(c, plane)) {
                    tryAgain(c, plane, nowNs);
                    continue;
                }
                length = candidate(c, plane);
            }
            slab.putInt(plane + SIZE_TRIES, length << 8 | tries(plane, length) + 1);
            slab.putInt(path + PathRecord.PAD, length);
            paths.wantProbe(c, path);
            state.wakeBy(c, nowNs + patience);
        }
        boolean isStuck = slab.getInt(c + LARGER_WORK) > 0 && !anyCarries(c, slab.getInt(c + ROUTE_BYTES));
        if (!isStuck) {
            slab.putLong(c + ConnectionRecord.STUCK_SINCE_NS, 0);
        } else if (slab.getLong(c + ConnectionRecord.STUCK_SINCE_NS) == 0) {
            slab.putLong(c + ConnectionRecord.STUCK_SINCE_NS, nowNs);
        } else if (nowNs - slab.getLong(c + ConnectionRecord.STUCK_SINCE_NS) >= state.config.peerTimeoutNs) {
            return false;
        }
        if (isStuck) {
            state.wakeBy(c, nowNs + 10 * Limits.SIZE_PATIENCE_NS);
        }
        slab.putInt(c + ConnectionRecord.SIZE_NEWS, more || isStuck ? 1 : 0);
        return true;
    }

    /** A route may get wider: after a while the search begins again. Returns whether it will. */
    private boolean tryAgain(long c, long plane, long nowNs) {
        int proven = slab.getInt(plane + PROVEN_BYTES);
        if (proven + STEP >= limit(c) && proven >= slab.getInt(c + ROUTE_BYTES)) {
            return false;
        }
        int waitMs = slab.getLong(c + ConnectionRecord.STUCK_SINCE_NS) != 0 ? Limits.SIZE_RAISE_STUCK_MS : Limits.SIZE_RAISE_MS;
        int nowMs = (int) (nowNs / 1_000_000);
        int at = slab.getInt(plane + PlaneRecord.RAISE_MS);
        if (at == 0 || at - nowMs > waitMs) {
            at = nowMs + waitMs == 0 ? 1 : nowMs + waitMs;
            slab.putInt(plane + PlaneRecord.RAISE_MS, at);
        }
        if (at - nowMs <= 0) {
            slab.putInt(plane + PlaneRecord.RAISE_MS, 0);
            search(c, plane);
        } else {
            state.wakeBy(c, nowNs + (at - nowMs) * 1_000_000L);
        }
        return true;
    }

    private boolean anyCarries(long c, int bytes) {
        for (int p = 0; p < slab.getInt(c + ConnectionRecord.PLANES); p++) {
            long plane = state.plane(c, p);
            if (slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.UP && slab.getInt(plane + PROVEN_BYTES) >= bytes) {
                return true;
            }
        }
        return false;
    }

    /** A probe that stood for so much payload was answered. */
    void onProven(long c, long plane, int bytes) {
        if (bytes > slab.getInt(plane + PROVEN_BYTES)) {
            slab.putInt(plane + PROVEN_BYTES, bytes);
            slab.putInt(plane + SIZE_TRIES, 0);
            slab.putInt(plane + REFUTED_BYTES, Math.max(slab.getInt(plane + REFUTED_BYTES), bytes + 1));
            settle(c);
            // Even if the size stays: the plane may carry it again, and something wait for that.
            state.makeReady(c);
            if (isSearching(c, plane)) {
                lookAgain(c);
            }
        }
    }

    /** A path has a route again: a search that had none to ask, or whose plane was down, goes on. */
    void onRoute(long c) {
        lookAgain(c);
    }

    private void lookAgain(long c) {
        slab.putInt(c + ConnectionRecord.SIZE_NEWS, 1);
        state.wakeBy(c, state.nowNs);
    }

    /** A plane is in use no more, or again: the others may carry more, or it less. */
    void onPlane(long c) {
        settle(c);
        lookAgain(c);
    }

    /** No route of the plane carries what was proven, though shorter packets get through. */
    void onNarrow(long c, long plane) {
        slab.putInt(c + ConnectionRecord.SIZE_NEWS, 1);
        measure(c, plane);
    }

    /** Messages that begin now get the most that all planes in use carry. */
    private void settle(long c) {
        int size = slab.getInt(c + PACKET_BYTES);
        int most = limit(c) + 1;
        for (int p = 0; p < slab.getInt(c + ConnectionRecord.PLANES); p++) {
            long plane = state.plane(c, p);
            int proven = slab.getInt(plane + PROVEN_BYTES);
            // One that is still being measured and carries less than we use now is not in use.
            if (slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.UP && (proven >= size || !isSearching(c, plane))) {
                most = Math.min(most, proven);
            }
        }
        if (most > limit(c) || most == size) {
            return;
        }
        slab.putInt(c + PACKET_BYTES, most);
        keepLarger(c);
        for (int p = 0; p < slab.getInt(c + ConnectionRecord.PLANES); p++) {
            windows.refreshUnit(c, state.plane(c, p));
        }
        state.makeReady(c);
    }

    /** Counts the messages that began with larger packets: until they are complete, a route must carry those. */
    private void keepLarger(long c) {
        int size = slab.getInt(c + PACKET_BYTES);
        int larger = 0;
        int largest = size;
        for (long s = slab.getLong(c + ConnectionRecord.ALL_STREAMS); s != 0; s = slab.getLong(s + StreamRecord.NEXT_OF_CONNECTION)) {
            for (long head = slab.getLong(s + StreamRecord.WORK_HEAD), i = 0; i < 2; i++, head = slab.getLong(s + StreamRecord.RESPONSE_HEAD)) {
                for (long work = head; work != 0; work = slab.getLong(work + WorkRecord.NEXT)) {
                    if (Opcode.fixedPayload(slab.getInt(work + WorkRecord.OPCODE)) == 0 && slab.getInt(work + WorkRecord.PACKET_BYTES) > size) {
                        larger++;
                        largest = Math.max(largest, slab.getInt(work + WorkRecord.PACKET_BYTES));
                    }
                }
            }
        }
        slab.putInt(c + LARGER_WORK, larger);
        slab.putInt(c + ROUTE_BYTES, largest);
        if (larger > 0) {
            lookAgain(c);
        }
    }
}
