// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.cli.Main;
import io.metaroce.cli.Quantity;
import io.metaroce.core.Clock;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/** The forms in which a {@link Result} is shown. */
final class Report {
    private Report() {
    }

    /** One object on one line; the field names are part of the command's interface. */
    static String json(Result r) {
        Plan plan = r.plan;
        JsonLine j = new JsonLine().open()
                .put("version", Main.version()).put("port", r.port).put("op", plan.op().toString()).put("size", plan.size())
                .put("peer", r.peer).put("local", r.local).put("planes", r.planes).put("path_count", r.paths)
                .put("streams", plan.streams()).put("depth", plan.depth()).put("mtu", r.mtu).put("loss", r.loss).put("seed", r.seed)
                .put("integrity", r.integrity.toString()).put("encrypted", r.encrypted).put("ciphers", r.ciphers)
                .put("bidirectional", plan.bidirectional()).put("ping_pong", plan.pingPong())
                .put("seconds", r.seconds).put("bytes", r.bytes()).put("messages", r.messages)
                .put("goodput_gbps", r.goodputGbps()).put("messages_per_second", r.messagesPerSecond()).put("message_rate", r.messageRate)
                .put("verified", r.verified()).put("messages_in_all", r.sentInAll).put("messages_verified", r.checkedInAll)
                .put("interrupted", r.interrupted)
                .put("retransmissions", r.retransmissions()).put("spurious_retransmissions", r.spuriousRetransmissions())
                .put("timeouts", r.timeouts()).put("ecn_marks", r.ecnMarks())
                .put("dead_paths", r.client.deadPaths + r.server.deadPaths)
                .put("plane_failures", r.client.planeFailures + r.server.planeFailures)
                .put("parity_packets", r.client.parities + r.server.parities).put("rebuilt_packets", r.client.rebuilt + r.server.rebuilt)
                .put("longest_pause_us", r.longestPauseNs / 1e3);
        j.openObject("latency_us").put("p50", r.latencyUs(50)).put("p99", r.latencyUs(99)).put("p999", r.latencyUs(99.9))
                .put("max", r.latencyUs(100)).close();
        if (plan.pingPong()) {
            j.openObject("round_trip_us").put("p50", r.roundTripUs(50)).put("p99", r.roundTripUs(99))
                    .put("p999", r.roundTripUs(99.9)).put("max", r.roundTripUs(100)).close();
        }
        r.serverTimes.oneWayInto(j);
        r.clientTimes.stagesInto(j, "client");
        r.serverTimes.stagesInto(j, "server");
        j.openArray("paths");
        for (Result.PathRow row : r.pathRows()) {
            Traffic.Path p = row.path();
            j.openElement().put("sender", row.sender()).put("plane", p.plane()).put("index", p.index()).put("source_port", p.sourcePort())
                    .put("packets", p.packets()).put("share", row.share()).put("rtt_us", p.rttUs()).put("state", p.state()).close();
        }
        j.closeArray();
        if (r.series != null) {
            r.series.putInto(j, r.startWallMillis);
        }
        return j.close().toString();
    }

    static void table(Result r, PrintWriter out) {
        Plan plan = r.plan;
        out.printf(Locale.ROOT, "%n%s %s over %s to %s, %d plane%s, %d paths, %d stream%s, %d in flight each%s%s%s%s%n",
                plan.op(), Quantity.formatBytes(plan.size()), r.port, r.peer, r.planes, s(r.planes), r.paths, plan.streams(), s(plan.streams()),
                plan.depth(), plan.bidirectional() ? ", both directions" : "", plan.pingPong() ? ", ping-pong" : "", r.encrypted ? ", encrypted by " + r.ciphers : "",
                r.loss > 0 ? String.format(Locale.ROOT, ", %s %% injected loss", trim(r.loss * 100)) : "");
        row(out, "bytes", "%d (%s in %.2f s%s)", r.bytes(), Quantity.formatBytes(r.bytes()), r.seconds, r.interrupted ? ", interrupted" : "");
        row(out, "goodput", "%.3f Gb/s", r.goodputGbps());
        row(out, "messages", "%d, %.0f a second", r.messages, r.messagesPerSecond());
        row(out, plan.pingPong() ? "latency (one way)" : "latency", "p50 %.1f us, p99 %.1f us, p99.9 %.1f us, max %.1f us",
                r.latencyUs(50), r.latencyUs(99), r.latencyUs(99.9), r.latencyUs(100));
        if (plan.pingPong()) {
            row(out, "round trip", "p50 %.1f us, p99 %.1f us, p99.9 %.1f us, max %.1f us",
                    r.roundTripUs(50), r.roundTripUs(99), r.roundTripUs(99.9), r.roundTripUs(100));
        }
        if (r.serverTimes.oneWayNs.length > 0) {
            long[] ns = r.serverTimes.oneWayNs;
            row(out, "one way", "p50 %.1f us, p99 %.1f us, p99.9 %.1f us, max %.1f us", ns[0] / 1e3, ns[1] / 1e3, ns[2] / 1e3, ns[3] / 1e3);
        }
        row(out, "longest pause", "%.1f us", r.longestPauseNs / 1e3);
        row(out, "retransmissions", "%d, of these %d spurious", r.retransmissions(), r.spuriousRetransmissions());
        row(out, "timeouts", "%d", r.timeouts());
        row(out, "ECN marks", "%d", r.ecnMarks());
        row(out, "verified", "%s", verdict(r));
        out.printf(Locale.ROOT, "  %-8s %5s %5s %12s %12s %7s %11s  %s%n", "sender", "plane", "path", "source port", "packets", "share", "RTT us", "state");
        for (Result.PathRow row : r.pathRows()) {
            Traffic.Path p = row.path();
            out.printf(Locale.ROOT, "  %-8s %5d %5d %12d %12d %6.1f%% %11.1f  %s%n", row.sender(), p.plane(), p.index(), p.sourcePort(),
                    p.packets(), row.share() * 100, p.rttUs(), p.state());
        }
        out.flush();
    }

    /** A word or two on whether the contents were right. */
    static String verdict(Result r) {
        if (!r.plan.verify()) {
            return "not asked for";
        }
        if (r.verified()) {
            return "yes, all " + r.checkedInAll + " messages, warm-up included";
        }
        return "NO: " + (r.fault.isEmpty() ? r.checkedInAll + " of " + r.sentInAll + " messages were found right" : r.fault);
    }

    /** Writes the latencies of the measured interval as a one-interval HdrHistogram log, values in nanoseconds. */
    static void writeHdr(Result r, Path file) throws IOException {
        try (PrintStream stream = new PrintStream(Files.newOutputStream(file))) {
            HistogramLogWriter log = new HistogramLogWriter(stream);
            log.outputLogFormatVersion();
            log.outputComment("[metaroce perf " + r.plan.op() + ", " + r.plan.size() + " B, "
                    + (r.plan.pingPong() ? "round trips" : r.messageRate > 0 ? "due to completion" : "post to completion") + ", nanoseconds]");
            log.outputStartTime(r.startWallMillis);
            log.setBaseTime(r.startWallMillis);
            log.outputLegend();
            Histogram h = r.latency.copy();
            h.setStartTimeStamp(r.startWallMillis);
            h.setEndTimeStamp(Math.min(r.startWallMillis + (long) (r.seconds * 1e3), Clock.wallMillis()));
            log.outputIntervalHistogram(h);
        }
    }

    private static void row(PrintWriter out, String name, String format, Object... values) {
        out.printf(Locale.ROOT, "  %-18s %s%n", name, String.format(Locale.ROOT, format, values));
    }

    private static String s(int n) {
        return n == 1 ? "" : "s";
    }

    private static String trim(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }
}
