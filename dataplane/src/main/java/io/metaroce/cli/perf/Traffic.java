// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.transport.ConnectionStats;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.PathStats;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What one side of a connection did between two moments, as the transport counted it. */
final class Traffic {
    /**
     * One path as its sender sees it.
     *
     * @param packets sent in the interval
     * @param rttUs smoothed round-trip time at the interval's end, microseconds
     */
    record Path(int plane, int index, int sourcePort, long packets, double rttUs, String state) {
    }

    long packetsSent;
    long retransmissions;
    long spuriousRetransmissions;
    long timeouts;
    long ecnMarks;
    long probes;
    long deadPaths;
    long planeFailures;
    /** Parity packets sent; packets of the other side's that were made from its Parity packets. */
    long parities;
    long rebuilt;
    List<Path> paths = List.of();

    /** The beginning of an interval: what was counted up to then. */
    static final class Mark {
        private final ConnectionStats stats = new ConnectionStats();
        private final long[] pathPackets;

        Mark(Endpoint endpoint, int connection) {
            endpoint.readStats(connection, stats);
            pathPackets = new long[endpoint.pathCount(connection)];
            PathStats path = new PathStats();
            for (int i = 0; i < pathPackets.length; i++) {
                endpoint.readPath(connection, i, path);
                pathPackets[i] = path.packets;
            }
        }
    }

    /** What happened since the mark. */
    static Traffic since(Mark mark, Endpoint endpoint, int connection) {
        ConnectionStats now = new ConnectionStats();
        endpoint.readStats(connection, now);
        ConnectionStats then = mark.stats;
        Traffic t = new Traffic();
        t.packetsSent = now.packetsSent - then.packetsSent;
        t.retransmissions = now.retransmissions - then.retransmissions;
        t.spuriousRetransmissions = now.spuriousRetransmissions - then.spuriousRetransmissions;
        t.timeouts = now.timeouts - then.timeouts;
        t.ecnMarks = now.ecnMarks - then.ecnMarks;
        t.probes = now.probes - then.probes;
        t.deadPaths = now.deadPaths - then.deadPaths;
        t.planeFailures = now.planeFailures - then.planeFailures;
        t.parities = now.parities - then.parities;
        t.rebuilt = now.rebuilt - then.rebuilt;
        t.paths = new ArrayList<>();
        PathStats path = new PathStats();
        for (int i = 0; i < mark.pathPackets.length; i++) {
            endpoint.readPath(connection, i, path);
            t.paths.add(new Path(path.plane, path.index, path.sourcePort, path.packets - mark.pathPackets[i], path.rttUs,
                    path.stateName().toLowerCase(Locale.ROOT)));
        }
        return t;
    }

    void putInto(Message message) {
        StringBuilder list = new StringBuilder();
        for (Path p : paths) {
            list.append(list.isEmpty() ? "" : ",").append(String.format(Locale.ROOT, "%d:%d:%d:%d:%.2f:%s",
                    p.plane, p.index, p.sourcePort, p.packets, p.rttUs, p.state));
        }
        message.put("packets_sent", packetsSent).put("retransmissions", retransmissions).put("spurious", spuriousRetransmissions)
                .put("timeouts", timeouts).put("ecn_marks", ecnMarks).put("probes", probes).put("dead_paths", deadPaths)
                .put("plane_failures", planeFailures).put("parities", parities).put("rebuilt", rebuilt).put("paths", list);
    }

    static Traffic from(Message message) {
        Traffic t = new Traffic();
        t.packetsSent = message.number("packets_sent");
        t.retransmissions = message.number("retransmissions");
        t.spuriousRetransmissions = message.number("spurious");
        t.timeouts = message.number("timeouts");
        t.ecnMarks = message.number("ecn_marks");
        t.probes = message.number("probes");
        t.deadPaths = message.number("dead_paths");
        t.planeFailures = message.number("plane_failures");
        t.parities = message.number("parities");
        t.rebuilt = message.number("rebuilt");
        t.paths = new ArrayList<>();
        for (String item : message.text("paths").split(",")) {
            String[] f = item.split(":");
            if (f.length == 6) {
                t.paths.add(new Path(Integer.parseInt(f[0]), Integer.parseInt(f[1]), Integer.parseInt(f[2]), Long.parseLong(f[3]),
                        Double.parseDouble(f[4]), f[5]));
            }
        }
        return t;
    }
}
