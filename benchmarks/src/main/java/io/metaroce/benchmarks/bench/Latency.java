// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How long Writes with immediate take from when they are due to their arrival and to their completion, at a part of the rate just found sustainable. Each round leaves an
 * HdrHistogram log.
 */
final class Latency implements Measured {
    private static final int[] SIZES = {8, 512, 4 << 10, 64 << 10, 1 << 20};
    private static final int[] QUICK_SIZES = {8, 64 << 10};
    private static final int[] LOADS = {10, 50, 90};

    private final Sustainable most;
    private final int percent;
    private final Path logs;
    private int round;

    Latency(Sustainable most, int percent, Path logs) {
        this.most = most;
        this.percent = percent;
        this.logs = logs;
    }

    /** For each size the sustainable rate, then its parts. */
    static List<Measured> all(boolean quick, Path logs) {
        List<Measured> all = new ArrayList<>();
        for (int size : quick ? QUICK_SIZES : SIZES) {
            Sustainable most = new Sustainable(size);
            all.add(most);
            for (int load : LOADS) {
                all.add(new Latency(most, load, logs));
            }
        }
        return all;
    }

    @Override
    public String group() {
        return "latency";
    }

    @Override
    public String name() {
        return "Write " + Sizes.text(most.size()) + " at " + percent + " %";
    }

    @Override
    public int rounds(boolean quick) {
        return most.rounds(quick);
    }

    @Override
    public List<Value> round(boolean quick) throws IOException, InterruptedException {
        double rate = most.perSecond() * percent / 100;
        Files.createDirectories(logs);
        Path log = logs.resolve("write-" + most.size() + "-at-" + percent + "-round-" + ++round + ".hlog");
        String json = most.perf(quick, List.of("--message-rate", String.format(Locale.ROOT, "%.3f", rate), "--one-way", "--hdr", log.toString()));
        if (!Files.exists(log)) {
            throw new IOException("no log " + log);
        }
        return List.of(new Value("p50", "us", Child.field(json, "p50")), new Value("p99", "us", Child.field(json, "p99")),
                new Value("p99.9", "us", Child.field(json, "p999")), new Value("most", "us", Child.field(json, "max")),
                new Value("one way p50", "us", Child.field(json, "one_way_p50")), new Value("one way p99", "us", Child.field(json, "one_way_p99")),
                new Value("one way p99.9", "us", Child.field(json, "one_way_p999")),
                new Value("of the rate asked for", "%", 100 * Child.field(json, "messages_per_second") / rate));
    }
}
