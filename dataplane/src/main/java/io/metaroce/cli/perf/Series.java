// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.transport.Endpoint;
import io.metaroce.transport.PathStats;

/**
 * What the client completed in each short interval of the measurement, and how many packets it sent on each plane: shows gaps that
 * averages hide. What happens is entered in the interval in which the loop saw it. Allocation-free after construction. Loop's thread.
 */
final class Series {
    /** Most intervals of a run. */
    static final int MAX_INTERVALS = 100_000;

    final long intervalNs;
    private final long[] bytes;
    private final long[][] planePackets;
    private final long[] countedPackets;
    private final PathStats path = new PathStats();
    private long startNs;
    private long countedBytes;
    private int current;

    Series(long intervalNs, long measureNs, int planes) {
        this.intervalNs = intervalNs;
        bytes = new long[intervals(intervalNs, measureNs)];
        planePackets = new long[planes][bytes.length];
        countedPackets = new long[planes];
    }

    /** Whole intervals of a measurement. */
    static int intervals(long intervalNs, long measureNs) {
        return Math.toIntExact(measureNs / intervalNs);
    }

    void start(long nowNs, Endpoint endpoint, int connection) {
        startNs = nowNs;
        count(endpoint, connection, -1);
    }

    /** Call in every turn of the measurement with the bytes completed in it so far. */
    void sample(long nowNs, long completedBytes, Endpoint endpoint, int connection) {
        int interval = (int) Math.min((nowNs - startNs) / intervalNs, bytes.length);
        if (interval != current) {
            count(endpoint, connection, current);
            current = interval;
        }
        if (interval < bytes.length) {
            bytes[interval] += completedBytes - countedBytes;
        }
        countedBytes = completedBytes;
    }

    /** Enters the packets sent since the last count in an interval, if it is one of the series. */
    private void count(Endpoint endpoint, int connection, int interval) {
        int paths = endpoint.pathCount(connection);
        for (int plane = 0; plane < planePackets.length; plane++) {
            long packets = 0;
            for (int i = 0; i < paths; i++) {
                endpoint.readPath(connection, i, path);
                packets += path.plane == plane ? path.packets : 0;
            }
            if (interval >= 0 && interval < bytes.length) {
                planePackets[plane][interval] = packets - countedPackets[plane];
            }
            countedPackets[plane] = packets;
        }
    }

    void putInto(JsonLine json, long startWallMillis) {
        json.openObject("intervals").put("start_wall_ms", startWallMillis).put("length_ms", intervalNs / 1e6).put("bytes", bytes);
        json.openArray("plane_packets");
        for (long[] packets : planePackets) {
            json.element(packets);
        }
        json.closeArray().close();
    }
}
