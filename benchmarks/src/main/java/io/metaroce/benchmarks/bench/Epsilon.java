// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Minutes at full rate without a garbage collector: both ends run with Epsilon and a heap of {@link #HEAP_MIB} MiB, so that whatever allocates
 * in a loop ends them. One round.
 *
 * @param port udp or dpdk
 */
record Epsilon(String port, int seconds) implements Measured {
    private static final int HEAP_MIB = 256;
    private static final int MORE_SECONDS = 60;

    static List<Measured> all(double minutes) {
        int seconds = (int) Math.max(1, Math.round(60 * minutes));
        return List.of(new Epsilon("udp", seconds), new Epsilon("dpdk", seconds));
    }

    @Override
    public String group() {
        return "epsilon";
    }

    @Override
    public String name() {
        return (port.equals("udp") ? "UDP" : "DPDK memif") + ", Write 64 KiB, " + seconds + " s";
    }

    @Override
    public String missing() {
        return port.equals("udp") ? null : Child.missingDpdk();
    }

    @Override
    public int rounds(boolean quick) {
        return 1;
    }

    @Override
    public List<Value> round(boolean quick) throws IOException, InterruptedException {
        Path logs = Files.createTempDirectory("metaroce-epsilon");
        String options = "-XX:-UseSerialGC -XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC -Xms" + HEAP_MIB + "m -Xmx" + HEAP_MIB + "m -XX:EpsilonPrintHeapSteps=1000"
                + " -Xlog:gc:file=" + logs + "/%p.log";
        String json = Child.output(seconds + MORE_SECONDS, Map.of("METAROCE_JAVA_OPTIONS", options), Child.metaroce("perf", "--local", "--spin", "--json", "--no-verify", "--port", port,
                "--size", "64K", "--warmup", "5", "--seconds", Integer.toString(seconds)));
        List<Double> used = new ArrayList<>();
        List<Path> files;
        try (Stream<Path> all = Files.list(logs)) {
            files = all.toList();
        }
        for (Path file : files) {
            used.add(usedMib(Files.readString(file)));
            Files.delete(file);
        }
        Files.delete(logs);
        if (used.size() != 2) {
            throw new IOException(used.size() + " logs of two processes");
        }
        return List.of(new Value("throughput", "GB/s", Child.field(json, "goodput_gbps") / 8), new Value("messages", "million", Child.field(json, "messages") / 1e6),
                new Value("heap used in all, larger end", "MiB", Math.max(used.get(0), used.get(1))));
    }

    /** What the last line of Epsilon's log says is used. */
    static double usedMib(String log) {
        double number = Child.number(log, "([0-9]+)[KMG] \\([0-9.]+%\\) used");
        String unit = log.substring(0, log.lastIndexOf(" used")).replaceAll("(?s).* [0-9]+([KMG]) \\([0-9.]+%\\)$", "$1");
        return unit.equals("K") ? number / 1024 : unit.equals("G") ? number * 1024 : number;
    }
}
