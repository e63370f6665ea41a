// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * One method of a JMH benchmark: time and bytes allocated for an operation. A fresh virtual machine in each round, and in it many
 * iterations shorter than a turn of the processor: others on the machine can only add to their times, so the first decile counts.
 */
record Jmh(String name, Class<?> benchmark, String method) implements Measured {
    private static final int ITERATIONS = 100;
    private static final TimeValue ITERATION = TimeValue.milliseconds(5);
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    @Override
    public String group() {
        return "parts";
    }

    @Override
    public int rounds(boolean quick) {
        return quick ? 1 : 3;
    }

    @Override
    public List<Value> round(boolean quick) throws RunnerException {
        TimeValue warmUp = TimeValue.milliseconds(quick ? 150 : 500);
        Options options = new OptionsBuilder().include(benchmark.getName().replace(".", "\\.") + "\\." + method + "$").forks(1)
                .warmupIterations(4).warmupTime(warmUp).measurementIterations(quick ? ITERATIONS : 4 * ITERATIONS).measurementTime(ITERATION)
                .addProfiler(GCProfiler.class).output(log().toString()).build();
        Collection<RunResult> results = new Runner(options).run();
        if (results.size() != 1) {
            throw new IllegalStateException(results.size() + " results of " + method + "; see " + log());
        }
        RunResult result = results.iterator().next();
        return List.of(new Value("time", result.getPrimaryResult().getScoreUnit(), firstDecile(result)),
                new Value("allocated", "B/op", allocated(result)));
    }

    private static double firstDecile(RunResult result) {
        double[] times = result.getBenchmarkResults().stream().flatMap(b -> b.getIterationResults().stream())
                .mapToDouble(i -> i.getPrimaryResult().getScore()).sorted().toArray();
        return times[times.length / 10];
    }

    /** What JMH itself allocates in an iteration shows as hundredths of a byte, or as a byte where an operation is long. */
    private static double allocated(RunResult result) {
        return result.getSecondaryResults().entrySet().stream().filter(e -> e.getKey().endsWith(ALLOCATED)).map(e -> (Result<?>) e.getValue())
                .mapToDouble(Result::getScore).findFirst().orElseThrow(() -> new IllegalStateException("JMH told nothing of allocation"));
    }

    private static Path log() {
        return Child.root().resolve("target/bench-jmh.log");
    }
}
