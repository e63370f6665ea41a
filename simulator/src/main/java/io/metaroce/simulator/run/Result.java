// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import io.metaroce.simulator.workload.Flow;
import java.util.List;

/** What a run came to. Times in us, from the beginning of the workload. */
public final class Result {
    public String topology;
    public String workload;
    public long seed;
    public List<Flow> flows;
    /** Flows that were not complete when the time limit came. */
    public int unfinished;
    /** For people: how the connections of some unfinished flows stand. */
    public String unfinishedText = "";
    /** Completion of the last flow as the senders know it, and mean time from start to completion. */
    public double lastUs;
    public double meanUs;
    /** The same as the receivers know it: when all bytes are placed; known for flows that tell their receiver. */
    public double lastReceivedUs;
    /** Data packets, repeats included; repeats; repeats that were not needed. */
    public long packets;
    public long resent;
    public long spurious;
    public long timeouts;
    public long deadPaths;
    public long planeFailures;
    public long probes;
    public long acks;
    public long violations;
    /** In the fabric. */
    public long drops;
    public long losses;
    public long marks;
    public double deepestQueueBdp;
    public double deepestLateQueueBdp;
    public double bdpBytes;
    public double baseRttUs;
    /** Jain's index over the bytes that the flows had brought when asked for; 0: not asked for. */
    public double jain;
    /** When the first and the last connection gave a plane up; 0: none. */
    public double firstPlaneDownUs;
    public double lastPlaneDownUs;
    /** The simulator's own work. */
    public long events;
    public double cpuSeconds;

    public boolean isComplete() {
        return unfinished == 0;
    }

    /** Share of Data packets that were repeats, of those that had to be sent. */
    public double resentShare() {
        return packets == resent ? 0 : (double) resent / (packets - resent);
    }

    /** One object on one line. */
    public String json() {
        StringBuilder b = new StringBuilder("{");
        text(b, "topology", topology);
        text(b, "workload", workload);
        number(b, "seed", seed);
        number(b, "flows", flows.size());
        number(b, "unfinished", unfinished);
        number(b, "last_us", lastUs);
        number(b, "mean_us", meanUs);
        number(b, "last_received_us", lastReceivedUs);
        number(b, "packets", packets);
        number(b, "retransmissions", resent);
        number(b, "spurious_retransmissions", spurious);
        number(b, "timeouts", timeouts);
        number(b, "dead_paths", deadPaths);
        number(b, "plane_failures", planeFailures);
        number(b, "first_plane_down_us", firstPlaneDownUs);
        number(b, "last_plane_down_us", lastPlaneDownUs);
        number(b, "probes", probes);
        number(b, "acks", acks);
        number(b, "violations", violations);
        number(b, "drops", drops);
        number(b, "losses", losses);
        number(b, "ecn_marks", marks);
        number(b, "deepest_queue_bdp", deepestQueueBdp);
        number(b, "deepest_late_queue_bdp", deepestLateQueueBdp);
        number(b, "bdp_bytes", bdpBytes);
        number(b, "base_rtt_us", baseRttUs);
        number(b, "jain", jain);
        number(b, "events", events);
        number(b, "cpu_seconds", cpuSeconds);
        b.setCharAt(b.length() - 1, '}');
        return b.toString();
    }

    private static void text(StringBuilder b, String name, String value) {
        b.append('"').append(name).append("\":\"").append(value.replace("\\", "\\\\").replace("\"", "\\\"")).append("\",");
    }

    private static void number(StringBuilder b, String name, long value) {
        b.append('"').append(name).append("\":").append(value).append(',');
    }

    private static void number(StringBuilder b, String name, double value) {
        b.append('"').append(name).append("\":").append(String.format(java.util.Locale.ROOT, "%.4f", value)).append(',');
    }
}
