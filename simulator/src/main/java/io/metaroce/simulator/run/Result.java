// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import io.metaroce.simulator.host.HostTransport;
import io.metaroce.simulator.peer.Peers;
import io.metaroce.simulator.workload.Flow;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a run came to. Times in us, from the beginning of the workload. */
public final class Result {
    private static final double MIB = 1 << 20;

    public String transport = Peers.OWN;
    public String topology;
    public String workload;
    public long seed;
    public List<Flow> flows;
    /** What happened over time, if asked for; or null. */
    public Trace trace;
    /** How rates compared with fair ones, if asked for; or null. */
    public Fairness.Outcome fairness;
    /** Bytes of state that the host with most of it, and all hosts together, have reserved. */
    public long stateBytesMost;
    public long stateBytesAll;
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
    /** Parity packets, and packets that were lost and made from them. */
    public long parities;
    public long rebuilt;
    public long probes;
    public long acks;
    public long violations;
    /** Most bytes that a receiver held because earlier ones were missing. */
    public long reorderBytes;
    /** In the fabric. */
    public long drops;
    public long losses;
    public long marks;
    public long trims;
    public long pauses;
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
    public double wallSeconds;
    /** Memory of the whole process when the run was over, other runs at the same time included. */
    public double residentMib;

    void take(HostTransport.Counters c) {
        packets = c.packets;
        resent = c.resent;
        spurious = c.spurious;
        timeouts = c.timeouts;
        deadPaths = c.deadPaths;
        planeFailures = c.planeFailures;
        parities = c.parities;
        rebuilt = c.rebuilt;
        probes = c.probes;
        acks = c.acks;
        violations = c.violations;
        reorderBytes = c.reorderBytes;
    }

    public boolean isComplete() {
        return unfinished == 0;
    }

    /** Share of Data packets that were repeats, of those that had to be sent. */
    public double resentShare() {
        return packets == resent ? 0 : (double) resent / (packets - resent);
    }

    /** Payload of all complete flows over the time of the last one, Gb/s. */
    public double goodputGbps() {
        long bytes = 0;
        for (Flow f : flows) {
            bytes += f.sentPs == Flow.NEVER ? 0 : f.bytes;
        }
        return lastUs == 0 ? 0 : bytes * 8e-3 / lastUs;
    }

    /** All of it but the single flows, by name, in a fixed order: texts, long and double numbers. */
    public Map<String, Object> fields() {
        Map<String, Object> f = new LinkedHashMap<>();
        f.put("transport", transport);
        f.put("topology", topology);
        f.put("workload", workload);
        f.put("seed", seed);
        f.put("flows", (long) flows.size());
        f.put("unfinished", (long) unfinished);
        f.put("last_us", lastUs);
        f.put("mean_us", meanUs);
        f.put("last_received_us", lastReceivedUs);
        f.put("goodput_gbps", goodputGbps());
        f.put("packets", packets);
        f.put("retransmissions", resent);
        f.put("spurious_retransmissions", spurious);
        f.put("timeouts", timeouts);
        f.put("dead_paths", deadPaths);
        f.put("plane_failures", planeFailures);
        f.put("first_plane_down_us", firstPlaneDownUs);
        f.put("last_plane_down_us", lastPlaneDownUs);
        f.put("parity_packets", parities);
        f.put("rebuilt_packets", rebuilt);
        f.put("probes", probes);
        f.put("acks", acks);
        f.put("violations", violations);
        f.put("reorder_bytes", reorderBytes);
        f.put("drops", drops);
        f.put("losses", losses);
        f.put("ecn_marks", marks);
        f.put("trims", trims);
        f.put("pauses", pauses);
        f.put("deepest_queue_bdp", deepestQueueBdp);
        f.put("deepest_late_queue_bdp", deepestLateQueueBdp);
        f.put("bdp_bytes", bdpBytes);
        f.put("base_rtt_us", baseRttUs);
        f.put("jain", jain);
        f.put("events", events);
        f.put("cpu_seconds", cpuSeconds);
        f.put("wall_seconds", wallSeconds);
        f.put("resident_mib", residentMib);
        f.put("state_mib_of_a_host", stateBytesMost / MIB);
        f.put("state_mib_in_all", stateBytesAll / MIB);
        if (fairness != null) {
            f.put("fair_error_first", fairness.firstError());
            f.put("fair_error_worst", fairness.worstError());
            f.put("fair_error_mean", fairness.meanError());
            f.put("fair_worst_jain", fairness.worstJain());
            f.put("fair_utilisation", fairness.meanUtilisation());
            f.put("fair_least_utilisation", fairness.leastUtilisation());
            f.put("fair_windows", (long) fairness.windows().size());
            f.put("fair_unjudged", fairness.unjudged());
            f.put("window_mib", fairness.peakWindowBytes() / MIB);
        }
        return f;
    }

    /** One object on one line. */
    public String json() {
        return Records.json(fields());
    }
}
