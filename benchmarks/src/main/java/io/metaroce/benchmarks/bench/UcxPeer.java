// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** UCX over TCP, by ucx_perftest. It wants a number of messages, so a short run finds how many fill the time. */
record UcxPeer(String throughputTest, String latencyTest) implements Peer {
    private static final int SECONDS = 90;
    private static final String PROGRAM = "ucx_perftest";
    private static final double MEBI = 1 << 20;

    @Override
    public String name() {
        return "UCX tcp, " + (throughputTest.startsWith("tag") ? "tag" : "put");
    }

    @Override
    public String missing() {
        return Child.has(PROGRAM) ? null : "ucx_perftest is not installed (Debian: ucx-utils)";
    }

    @Override
    public List<Value> measure(Net net, int size, double seconds) throws IOException, InterruptedException {
        List<Value> values = new ArrayList<>();
        long first = Math.clamp((16L << 20) / size, 100, 20_000);
        double bytes = bandwidth(row(run(net, throughputTest, size, first, 50)));
        Ends stream = Ends.forAtLeast(seconds, (long) Math.clamp(bytes * seconds / size, 100, 20e6), messages -> run(net, throughputTest, size, messages, 50));
        double gigabytes = bandwidth(row(stream)) / 1e9;
        values.add(Peer.throughput(gigabytes));
        double us = row(run(net, latencyTest, size, Math.min(first, 1_000), 50))[2];
        // A round trip takes two of these; one run for each percentile.
        long messages = (long) Math.clamp(seconds * 1e6 / 3 / Math.max(0.1, 2 * us), 100, 1e6);
        for (double rank : new double[] {50, 99, 99.9}) {
            String percentile = rank == Math.rint(rank) ? "p" + (int) rank : "p" + rank;
            values.add(Peer.latency(percentile, row(run(net, latencyTest, size, messages, rank))[1]));
        }
        values.add(Peer.cpu(stream, gigabytes));
        return values;
    }

    private static Ends run(Net net, String test, int size, long messages, double rank) throws IOException, InterruptedException {
        String port = Integer.toString(Net.freePort());
        return Ends.run(net, List.of(PROGRAM, "-p", port), null, true, List.of(PROGRAM, net.server(), "-p", port, "-t", test, "-s", Integer.toString(size),
                "-n", Long.toString(messages), "-w", Long.toString(Math.max(10, messages / 20)), "-R", Double.toString(rank), "-f"), environment(net), SECONDS);
    }

    /** What tells UCX to use TCP over the network's interface. */
    static Map<String, String> environment(Net net) {
        return Map.of("UCX_TLS", "tcp", "UCX_NET_DEVICES", net.device(), "UCX_WARN_UNUSED_ENV_VARS", "n");
    }

    /** Bytes a second. */
    private static double bandwidth(double[] row) {
        return row[5] * MEBI;
    }

    /** Last row of the table: iterations, percentile, average and overall latency, average and overall MiB/s, and messages a second. */
    static double[] row(Ends ends) {
        return ends.client().lines().map(l -> l.replace("Final:", "").strip()).filter(l -> l.matches("[0-9]+(\\s+[0-9.]+){7}")).reduce((a, b) -> b)
                .map(l -> Arrays.stream(l.split("\\s+")).mapToDouble(Double::parseDouble).toArray())
                .orElseThrow(() -> new IllegalStateException("no figures of ucx_perftest: " + Child.last(ends.client())));
    }
}
