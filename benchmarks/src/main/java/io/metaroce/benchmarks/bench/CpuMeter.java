// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Processor time of some processes with all their children, looked at again and again while they run; the cores they used are those of the
 * later part of the run, when everyone is warm and moves data.
 */
final class CpuMeter {
    private static final double TICKS = 100;
    private static final double FROM = 0.6;
    private static final double TO = 0.95;

    private record Sample(long ns, double seconds) {
    }

    private final List<Process> processes;
    private final List<Sample> samples = new ArrayList<>();

    CpuMeter(Process... processes) {
        this.processes = List.of(processes);
    }

    void sample() {
        double sum = 0;
        for (Process p : processes) {
            sum += Stream.concat(Stream.of(p.toHandle()), p.descendants()).mapToDouble(h -> seconds(h.pid())).sum();
        }
        samples.add(new Sample(System.nanoTime(), sum));
    }

    /** Processor seconds a second, of all processes together; not a number if the run was too short to tell. */
    double cores() {
        if (samples.size() < 4) {
            return Double.NaN;
        }
        long first = samples.getFirst().ns();
        long length = samples.getLast().ns() - first;
        Sample from = at(first + (long) (length * FROM));
        Sample to = at(first + (long) (length * TO));
        return Math.max(0, to.seconds() - from.seconds()) * 1e9 / Math.max(1, to.ns() - from.ns());
    }

    /** From the first sample to the last. */
    double seconds() {
        return samples.isEmpty() ? 0 : (samples.getLast().ns() - samples.getFirst().ns()) * 1e-9;
    }

    private Sample at(long ns) {
        return samples.stream().filter(s -> s.ns() - ns >= 0).findFirst().orElse(samples.getLast());
    }

    /** User and system time of a process; 0 if it is gone. */
    private static double seconds(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS;
        } catch (IOException e) {
            return 0;
        }
    }
}
