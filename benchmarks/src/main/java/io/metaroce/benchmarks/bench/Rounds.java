// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs measurements in alternating rounds: every one once, then every one again. */
final class Rounds {
    private final boolean quick;
    private final PrintStream progress;

    Rounds(boolean quick, PrintStream progress) {
        this.quick = quick;
        this.progress = progress;
    }

    /** Outcomes in the order of the measurements, at least one of each. A measurement that fails once is not tried again. */
    List<Outcome> run(List<? extends Measured> all) throws InterruptedException {
        Map<Measured, List<List<Value>>> figures = new LinkedHashMap<>();
        Map<Measured, Outcome> without = new LinkedHashMap<>();
        int most = 0;
        for (Measured m : all) {
            figures.put(m, new ArrayList<>());
            if (m.missing() != null) {
                without.put(m, Outcome.absent(m, m.missing()));
            } else {
                most = Math.max(most, m.rounds(quick));
            }
        }
        for (int round = 0; round < most; round++) {
            for (Measured m : all) {
                if (!without.containsKey(m) && round < m.rounds(quick)) {
                    progress.printf("round %d of %d: %s, %s%n", round + 1, m.rounds(quick), m.group(), m.name());
                    try {
                        figures.get(m).add(checked(m.round(quick)));
                    } catch (InterruptedException e) {
                        throw e;
                    } catch (Exception e) {
                        without.put(m, Outcome.failed(m, String.valueOf(e.getMessage() == null ? e : e.getMessage())));
                    }
                }
            }
        }
        List<Outcome> outcomes = new ArrayList<>();
        for (Measured m : all) {
            if (without.containsKey(m)) {
                outcomes.add(without.get(m));
            } else {
                outcomes.addAll(Outcome.of(m, figures.get(m)));
            }
        }
        return outcomes;
    }

    private static List<Value> checked(List<Value> values) {
        if (values.isEmpty() || values.stream().anyMatch(v -> !Double.isFinite(v.number()) || v.number() < 0)) {
            throw new IllegalStateException("no figure, or one that cannot be: " + values);
        }
        return values;
    }
}
