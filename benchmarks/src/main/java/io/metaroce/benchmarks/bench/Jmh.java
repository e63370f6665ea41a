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

/** One method of a JMH benchmark: time and bytes allocated for an operation. A fresh virtual machine in each round. */
record Jmh(String name, Class<?> benchmark, String method) implements Measured {
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
        TimeValue iteration = TimeValue.milliseconds(quick ? 100 : 500);
        Options options = new OptionsBuilder().include(benchmark.getName().replace(".", "\\.") + "\\." + method + "$").forks(1)
                .warmupIterations(quick ? 5 : 4).warmupTime(iteration).measurementIterations(5).measurementTime(iteration)
                .addProfiler(GCProfiler.class).output(log().toString()).build();
        Collection<RunResult> results = new Runner(options).run();
        if (results.size() != 1) {
            throw new IllegalStateException(results.size() + " results of " + method + "; see " + log());
        }
        RunResult result = results.iterator().next();
        return List.of(new Value("time", result.getPrimaryResult().getScoreUnit(), result.getPrimaryResult().getScore()),
                new Value("allocated", "B/op", allocated(result)));
    }

    /** What JMH itself allocates in an iteration shows as a few hundredths of a byte. */
    private static double allocated(RunResult result) {
        return result.getSecondaryResults().entrySet().stream().filter(e -> e.getKey().endsWith(ALLOCATED)).map(e -> (Result<?>) e.getValue())
                .mapToDouble(Result::getScore).findFirst().orElseThrow(() -> new IllegalStateException("JMH told nothing of allocation"));
    }

    private static Path log() {
        return Child.root().resolve("target/bench-jmh.log");
    }
}
