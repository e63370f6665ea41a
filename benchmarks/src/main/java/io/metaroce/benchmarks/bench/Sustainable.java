// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Writes of one size over UDP on loopback, as many as the machine takes: the rate that loads of {@link Latency} are parts of. */
final class Sustainable implements Measured {
    private static final int SECONDS = 60;

    private final int size;
    private double perSecond;

    Sustainable(int size) {
        this.size = size;
    }

    @Override
    public String group() {
        return "latency";
    }

    @Override
    public String name() {
        return "Write " + Sizes.text(size) + ", as fast as possible";
    }

    @Override
    public int rounds(boolean quick) {
        return quick ? 1 : 5;
    }

    /** Messages a second in the last round. */
    double perSecond() {
        if (perSecond == 0) {
            throw new IllegalStateException("the sustainable rate is not known");
        }
        return perSecond;
    }

    int size() {
        return size;
    }

    @Override
    public List<Value> round(boolean quick) throws IOException, InterruptedException {
        perSecond = 0;
        perSecond = Child.field(perf(quick, List.of()), "messages_per_second");
        return List.of(new Value("rate", "messages/s", perSecond));
    }

    /** One run with further options; contents are not checked, which would be the application's work; loops keep their cores. */
    String perf(boolean quick, List<String> options) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("perf", "--local", "--spin", "--json", "--no-verify", "--op", "write", "--size", Integer.toString(size),
                "--warmup", quick ? "1" : "2", "--seconds", quick ? "1" : "3"));
        arguments.addAll(options);
        return Child.output(SECONDS, Child.metaroce(arguments.toArray(String[]::new)));
    }
}
