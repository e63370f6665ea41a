// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.SealedHeader;

/**
 * How many packets may be out on a plane of a connection (spec: "Windows"): the bandwidth-delay product, scaled by the
 * receiver's share, bounded by what the paths' own windows add up to and by what the peer can hold unread.
 */
final class Windows {
    /** UDP, IPv4 and Ethernet bytes around a datagram, for arithmetic on rates. */
    private static final int WIRE_OVERHEAD = 66;

    private final EndpointState state;
    private final Slab slab;

    Windows(EndpointState state) {
        this.state = state;
        slab = state.slab;
    }

    /** Line rate of this plane of a connection: the slower of both ends, kbit/s. */
    long lineKbps(long plane) {
        return slab.getInt(plane + PlaneRecord.LINE_KBPS) & 0xffff_ffffL;
    }

    /** What a Data packet with this payload takes of the line. */
    int bytesOnWire(long connection, int payload) {
        return payload + DataHeader.LENGTH + WIRE_OVERHEAD + (slab.getInt(connection + ConnectionRecord.SEALED) != 0 ? SealedHeader.OVERHEAD : 0);
    }

    /** Bandwidth-delay product in packets at the plane's least RTT. */
    float bdpPackets(long connection, long plane) {
        int packetBytes = bytesOnWire(connection, slab.getInt(connection + ConnectionRecord.PACKET_BYTES));
        return slab.getInt(plane + PlaneRecord.MIN_RTT_NS) * (float) lineKbps(plane) / (8e6f * packetBytes);
    }

    /** What may be out at most where the line is ours, in packets. */
    private float full(long connection, long plane) {
        return slab.getFloat(plane + PlaneRecord.UNIT) * slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
    }

    /** Whether a round trip takes so many packets that others must be asked for them step by step (spec: "Far peers"). */
    boolean isFar(long connection, long plane) {
        return full(connection, plane) > Limits.FAR_PACKETS;
    }

    /** Whether the plane has never met too many marks on the way to a far peer: then windows are doubled each round trip. */
    boolean isStarting(long plane) {
        return slab.getInt(plane + PlaneRecord.FAR_FOUND) == 0;
    }

    /** Window that the receiver's share alone would make, in packets. */
    float ofShare(long connection, long plane) {
        return full(connection, plane) * slab.getFloat(plane + PlaneRecord.SHARE);
    }

    /** Factor that path windows start with: 1, and the farther the peer the less. */
    float startFactor(long connection, long plane) {
        return Math.min(1f, Math.max(Limits.FAR_PACKETS / full(connection, plane), Limits.FAR_START));
    }

    /** What the windows of the plane's paths add up to, in packets. */
    float ofPaths(long plane) {
        return slab.getFloat(plane + PlaneRecord.UNIT) * slab.getFloat(plane + PlaneRecord.FACTOR_SUM);
    }

    /** Multiplies all path windows of the plane. */
    void scale(long connection, long plane, float by) {
        long first = state.path(connection, (int) ((plane - state.plane(connection, 0)) / PlaneRecord.BYTES), 0);
        for (int i = 0; i < slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE); i++) {
            long path = first + (long) i * PathRecord.BYTES;
            setFactor(plane, path, slab.getFloat(path + PathRecord.FACTOR) * by);
        }
    }

    /** Rate that share and paths' windows make, as a part of the line; what the peer holds unread bounds what is out, not the rate. */
    float windowRate(long connection, long plane) {
        return Math.min(ofShare(connection, plane), ofPaths(plane)) / bdpPackets(connection, plane)
                * slab.getInt(plane + PlaneRecord.MIN_RTT_NS) / slab.getInt(plane + PlaneRecord.SRTT_NS);
    }

    /** Call when the least RTT changed: the unit follows, and with it every path window. */
    void refreshUnit(long connection, long plane) {
        float full = Math.max(Limits.WINDOW_BDP * bdpPackets(connection, plane), state.config.minWindowPackets);
        slab.putFloat(plane + PlaneRecord.UNIT, full / slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE));
        if (slab.getLong(plane + PlaneRecord.SHARE_EXPIRES_NS) == PlaneRecord.NEVER) {
            startAnew(connection, plane);
        }
    }

    /** Nobody vouches for a share, yet or any more: the start share is in force, or what some packets need if that is more. */
    void startAnew(long connection, long plane) {
        float full = full(connection, plane);
        float least = Math.max(startPackets(plane), state.config.minWindowPackets) / full;
        slab.putFloat(plane + PlaneRecord.SHARE, Math.min(1f, Math.max(slab.getFloat(plane + PlaneRecord.START_SHARE), least)));
        slab.putLong(plane + PlaneRecord.SHARE_EXPIRES_NS, PlaneRecord.NEVER);
    }

    private float startPackets(long plane) {
        float start = slab.getFloat(plane + PlaneRecord.START_SHARE);
        // It tells how many the receiver's connections are.
        return start > 0 ? Math.clamp(Limits.START_PACKETS_IN_ALL * start / Limits.START_OVERLAP, 1f, Limits.START_PACKETS) : Limits.START_PACKETS;
    }

    /** A rate as a fraction of the line, 0 to 1. */
    static float fraction(long kbps, long lineKbps) {
        return Math.min(1f, kbps / (float) lineKbps);
    }

    /** The receiver has told its share of a plane, and what to start with when that is over; 0: as before. */
    void setShare(long plane, long kbps, long startKbps, long expiresNs) {
        slab.putFloat(plane + PlaneRecord.SHARE, fraction(kbps, lineKbps(plane)));
        slab.putLong(plane + PlaneRecord.SHARE_EXPIRES_NS, expiresNs);
        if (startKbps > 0) {
            slab.putFloat(plane + PlaneRecord.START_SHARE, fraction(startKbps, lineKbps(plane)));
        }
    }

    /** Whether a {@link #window} would be less than the one packet that may always be out: then pacing rules in its place. */
    static boolean isTiny(float window) {
        return window == 1f;
    }

    /** Packets that may be out on this plane, at least 1. */
    float window(long connection, long plane, long nowNs) {
        float unit = slab.getFloat(plane + PlaneRecord.UNIT);
        float full = unit * slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        long expiresNs = slab.getLong(plane + PlaneRecord.SHARE_EXPIRES_NS);
        if (expiresNs != PlaneRecord.NEVER && expiresNs - nowNs < 0) {
            startAnew(connection, plane);
        }
        float share = slab.getFloat(plane + PlaneRecord.SHARE);
        float most = Math.min(full, slab.getInt(connection + ConnectionRecord.PEER_BUFFER));
        float w = most * share;
        if (share < 1f && state.backlogs.areSeveral()) {
            w = Math.min(most, w + beyondShare(connection, plane, w));
        }
        w = Math.min(w, ofPaths(plane));
        if (slab.getInt(plane + PlaneRecord.MEASURED_NS) != 0 && slab.getLong(plane + PlaneRecord.MIN_RTT_SINCE_NS) - nowNs > 0) {
            w = Math.min(w, Limits.MIN_RTT_PACKETS);
        }
        return Math.max(w, 1f);
    }

    /**
     * What may be out beyond the window that the share makes, in packets, where several connections divide our line. A window of just that
     * leaves the line idle whenever one of them waits; so there is some more of it until a queue tells that nothing is idle. While no share
     * is in force, the packets to start with are more, as they come thinner.
     */
    private float beyondShare(long connection, long plane, float window) {
        if (slab.getLong(plane + PlaneRecord.SHARE_EXPIRES_NS) == PlaneRecord.NEVER) {
            return Math.max(0, Limits.START_SPREAD * startPackets(plane) - window);
        }
        if (window < 1) {
            // Pacing rules in its place.
            return 0;
        }
        float queue = slab.getInt(plane + PlaneRecord.SRTT_NS) / (float) slab.getInt(plane + PlaneRecord.MIN_RTT_NS) - 1;
        return Math.min(Limits.WINDOW_SLACK / slab.getInt(connection + ConnectionRecord.PLANES), 2 * window) * Math.max(0, 1 - queue);
    }

    /**
     * An RTT sample. The least RTT holds for a while; when it is old it is measured anew, with so few packets out that no queue of our
     * own making can hide in it: else a window that fills a queue would take the queue for distance, and grow with it.
     */
    void sample(long connection, long plane, int rttNs, long nowNs) {
        if (slab.getLong(plane + PlaneRecord.MIN_RTT_SINCE_NS) == PlaneRecord.GUESSED) {
            firstSample(connection, plane, rttNs, nowNs);
            return;
        }
        int smoothed = slab.getInt(plane + PlaneRecord.SRTT_NS);
        slab.putInt(plane + PlaneRecord.SRTT_NS, smoothed + (rttNs - smoothed) / 8);
        int measured = slab.getInt(plane + PlaneRecord.MEASURED_NS);
        if (measured != 0) {
            measured = Math.min(rttNs, measured);
            slab.putInt(plane + PlaneRecord.MEASURED_NS, measured);
            if (nowNs - slab.getLong(plane + PlaneRecord.MIN_RTT_SINCE_NS) >= 0) {
                setLeast(connection, plane, measured, nowNs);
            }
        } else if (rttNs < slab.getInt(plane + PlaneRecord.MIN_RTT_NS)) {
            setLeast(connection, plane, rttNs, nowNs);
        } else if (nowNs - slab.getLong(plane + PlaneRecord.MIN_RTT_SINCE_NS) > Limits.MIN_RTT_WINDOW_NS) {
            slab.putInt(plane + PlaneRecord.MEASURED_NS, rttNs);
            slab.putLong(plane + PlaneRecord.MIN_RTT_SINCE_NS,
                    nowNs + Limits.MIN_RTT_ROUNDS * Math.max(smoothed, state.config.timerFloorNs));
        }
    }

    /** What was guessed is forgotten: a handshake with a repeated packet may have taken a thousand round trips. */
    private void firstSample(long connection, long plane, int rttNs, long nowNs) {
        slab.putInt(plane + PlaneRecord.SRTT_NS, rttNs);
        setLeast(connection, plane, rttNs, nowNs);
        for (int p = 0; p < slab.getInt(connection + ConnectionRecord.PLANES); p++) {
            long other = state.plane(connection, p);
            if (slab.getLong(other + PlaneRecord.MIN_RTT_SINCE_NS) == PlaneRecord.GUESSED) {
                slab.putInt(other + PlaneRecord.SRTT_NS, rttNs);
                setLeast(connection, other, rttNs, PlaneRecord.GUESSED);
            }
        }
    }

    private void setLeast(long connection, long plane, int rttNs, long nowNs) {
        slab.putInt(plane + PlaneRecord.MIN_RTT_NS, Math.max(1, rttNs));
        slab.putLong(plane + PlaneRecord.MIN_RTT_SINCE_NS, nowNs);
        slab.putInt(plane + PlaneRecord.MEASURED_NS, 0);
        float before = startFactor(connection, plane);
        refreshUnit(connection, plane);
        float by = startFactor(connection, plane) / before;
        if (by != 1f && isStarting(plane)) {
            // It is not as far as it seemed, or farther: as if that had been known from the start.
            scale(connection, plane, by);
        }
    }

    /** Sets a path's factor within bounds and keeps the plane's sum. */
    void setFactor(long plane, long path, float factor) {
        float least = Limits.MIN_FACTOR_PACKETS / slab.getFloat(plane + PlaneRecord.UNIT);
        float bounded = Math.max(Math.min(factor, Limits.MAX_FACTOR), Math.min(least, 1f));
        float old = slab.getFloat(path + PathRecord.FACTOR);
        slab.putFloat(path + PathRecord.FACTOR, bounded);
        slab.putFloat(path + PathRecord.INVERSE_FACTOR, 1 / bounded);
        slab.putFloat(plane + PlaneRecord.FACTOR_SUM, slab.getFloat(plane + PlaneRecord.FACTOR_SUM) + bounded - old);
    }
}
