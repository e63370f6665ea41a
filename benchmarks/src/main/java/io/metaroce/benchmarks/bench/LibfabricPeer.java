// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** libfabric, by fi_pingpong: one message in flight, averages alone. It wants a number of messages, so a short run finds how many fill the time. */
record LibfabricPeer(String provider) implements Peer {
    private static final int SECONDS = 60;
    private static final int FIRST = 50;
    private static final String PROGRAM = "fi_pingpong";

    @Override
    public String name() {
        return "libfabric " + provider + ", 1 in flight";
    }

    @Override
    public String missing() {
        return Child.has(PROGRAM) ? null : "fi_pingpong is not installed (Debian: libfabric-bin)";
    }

    @Override
    public List<Value> measure(Net net, int size, double seconds) throws IOException, InterruptedException {
        double us = row(run(net, size, FIRST))[1];
        Ends ends = Ends.forAtLeast(seconds, (long) Math.clamp(seconds * 1e6 / Math.max(1, 2 * us), FIRST, 1e6), messages -> run(net, size, messages));
        double[] row = row(ends);
        return List.of(Peer.throughput(row[0] / 1e3), Peer.latency("average", row[1]), Peer.cpu(ends, row[0] / 1e3));
    }

    private Ends run(Net net, int size, long messages) throws IOException, InterruptedException {
        String port = Integer.toString(Net.freePort());
        List<String> both = List.of(PROGRAM, "-p", provider, "-e", "rdm", "-I", Long.toString(messages), "-S", Integer.toString(size));
        return Ends.run(net, with(both, "-B", port), null, true, with(both, "-P", port, net.server()), Map.of(), SECONDS);
    }

    private static List<String> with(List<String> command, String... more) {
        return Stream.concat(command.stream(), Arrays.stream(more)).toList();
    }

    /** MB/s and microseconds a message, of the last line. Small rates are told with two digits alone, so they are computed. */
    static double[] row(Ends ends) {
        String[] words = Child.last(ends.client()).split("\\s+");
        if (words.length != 8 || !words[6].matches("[0-9.]+")) {
            throw new IllegalStateException("no figures of fi_pingpong: " + Child.last(ends.client()));
        }
        double us = Double.parseDouble(words[6]);
        return new double[] {bytes(words[0]) / us, us};
    }

    /** 64, 4k, 1m. */
    private static double bytes(String text) {
        double number = Double.parseDouble(text.replaceAll("[^0-9.]", ""));
        return text.endsWith("m") ? number * (1 << 20) : text.endsWith("k") ? number * (1 << 10) : number;
    }
}
