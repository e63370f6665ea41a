// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * All rounds of one metric, or why there are none.
 *
 * @param metric empty where nothing was measured
 * @param rounds figures in the order in which they were taken
 * @param absent why this machine does not measure it, or ""
 * @param failure why it was not measured although it should have been, or ""
 */
record Outcome(String group, String name, String metric, String unit, List<Double> rounds, String absent, String failure) {

    static Outcome absent(Measured m, String why) {
        return new Outcome(m.group(), m.name(), "", "", List.of(), why, "");
    }

    static Outcome failed(Measured m, String why) {
        return new Outcome(m.group(), m.name(), "", "", List.of(), "", why);
    }

    /** One outcome for each metric of the rounds. */
    static List<Outcome> of(Measured m, List<List<Value>> rounds) {
        List<Outcome> all = new ArrayList<>();
        for (int i = 0; i < rounds.getFirst().size(); i++) {
            Value first = rounds.getFirst().get(i);
            int at = i;
            all.add(new Outcome(m.group(), m.name(), first.metric(), first.unit(), rounds.stream().map(r -> r.get(at).number()).toList(), "", ""));
        }
        return all;
    }

    boolean isMeasured() {
        return !rounds.isEmpty();
    }

    /** The middle one, or the mean of the middle two. */
    double median() {
        double[] sorted = sorted();
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }

    double least() {
        return sorted()[0];
    }

    double most() {
        return sorted()[rounds.size() - 1];
    }

    private double[] sorted() {
        double[] sorted = rounds.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        return sorted;
    }
}
