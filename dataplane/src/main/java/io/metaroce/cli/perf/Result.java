// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** What a run found. Figures are of the measured interval; those of both sides are added up unless said otherwise. */
final class Result {
    Plan plan;
    String port = "";
    String peer = "";
    int planes;
    int paths;
    int mtu;
    double loss;
    long seed;
    PortOptions.Integrity integrity = PortOptions.Integrity.FULL;
    boolean encrypted;
    /** Whose ciphers our side has, with {@link #encrypted}. */
    String ciphers = "";
    /** Whether both sides ran on this machine as the client's processes. */
    boolean local;
    /** Ended early by Ctrl-C. */
    boolean interrupted;

    /** Messages a second that were asked for; 0: as many as possible. */
    double messageRate;

    double seconds;
    long messages;
    /** Ping-pong: latencies are whole round trips here. Nanoseconds. */
    Histogram latency = new Histogram(3);
    /** Longest pause between two completions, nanoseconds. */
    long longestPauseNs;
    long startWallMillis;
    /** Null unless asked for. */
    Series series;

    /** Messages of the whole run, warm-up included, and those that the targets found right. */
    long sentInAll;
    long checkedInAll;
    /** What went wrong in verification, or "". */
    String fault = "";

    Traffic client = new Traffic();
    Traffic server = new Traffic();
    Times clientTimes = new Times(null, null);
    Times serverTimes = new Times(null, null);

    long bytes() {
        return messages * plan.size();
    }

    double goodputGbps() {
        return seconds > 0 ? bytes() * 8 / seconds / 1e9 : 0;
    }

    double messagesPerSecond() {
        return seconds > 0 ? messages / seconds : 0;
    }

    /** True only if every message of the run was checked at its target and right. */
    boolean verified() {
        return plan.verify() && sentInAll > 0 && checkedInAll == sentInAll && fault.isEmpty();
    }

    /** Whether the run counts as failed because of its contents. */
    boolean verificationFailed() {
        return plan.verify() && !verified();
    }

    /** One row of the path table: a path and who sends on it. */
    record PathRow(String sender, Traffic.Path path, double share) {
    }

    /** The paths that carried data: the client's, for a Read the server's, for both directions both. */
    List<PathRow> pathRows() {
        List<PathRow> rows = new ArrayList<>();
        if (plan.op() != Op.READ || plan.bidirectional()) {
            addRows(rows, "client", client);
        }
        if (plan.op() == Op.READ || plan.bidirectional() || plan.pingPong()) {
            addRows(rows, "server", server);
        }
        return rows;
    }

    private static void addRows(List<PathRow> rows, String sender, Traffic traffic) {
        long all = traffic.paths.stream().mapToLong(Traffic.Path::packets).sum();
        for (Traffic.Path path : traffic.paths) {
            rows.add(new PathRow(sender, path, all == 0 ? 0 : (double) path.packets() / all));
        }
    }

    long retransmissions() {
        return client.retransmissions + server.retransmissions;
    }

    long spuriousRetransmissions() {
        return client.spuriousRetransmissions + server.spuriousRetransmissions;
    }

    long timeouts() {
        return client.timeouts + server.timeouts;
    }

    long ecnMarks() {
        return client.ecnMarks + server.ecnMarks;
    }

    /** Microseconds below which this part of the messages lay; one way where the run was ping-pong. */
    double latencyUs(double percentile) {
        double ns = percentile >= 100 ? latency.getMaxValue() : latency.getValueAtPercentile(percentile);
        return ns / (plan.pingPong() ? 2 : 1) / 1e3;
    }

    double roundTripUs(double percentile) {
        return (percentile >= 100 ? latency.getMaxValue() : latency.getValueAtPercentile(percentile)) / 1e3;
    }
}
