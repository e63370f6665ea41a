// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** State of one path of ours; a snapshot filled by {@link Endpoint#readPath}. */
public final class PathStats {
    public int plane;
    /** Number of the path within its plane. */
    public int index;
    public int sourcePort;
    /** How often the path has changed its route. */
    public int epoch;
    public int state;
    public boolean planeDown;
    /** Part of the plane's line rate that the peer lets us send at, 0 to 1. */
    public double planeShare;
    /** Data packets sent on it, repeats included. */
    public long packets;
    public long retransmissions;
    public double rttUs;
    /** Window in packets. */
    public double window;
    /** Packets out. */
    public int inflight;

    public String stateName() {
        if (planeDown) {
            return "down";
        }
        return switch (state) {
            case PathRecord.GOOD -> "good";
            case PathRecord.PROBING -> "probing";
            case PathRecord.DORMANT -> "dormant";
            default -> "draining";
        };
    }
}
