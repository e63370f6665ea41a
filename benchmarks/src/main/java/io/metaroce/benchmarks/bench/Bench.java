// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import io.metaroce.cli.CliException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code scripts/bench}: measures, prints one table, appends JSON lines and draws. */
public final class Bench {
    private static final Path RESULTS = Child.root().resolve("benchmarks/results");

    private Bench() {
    }

    /** Exit code 0; 1 if something could not be measured that should have been; 2 for wrong arguments. */
    public static void main(String[] args) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(args));
        boolean quick = words.remove("--quick");
        String run = !words.isEmpty() && List.of("latency", "peers", "flood", "cost", "stages", "epsilon").contains(words.getFirst()) ? words.removeFirst() : "standard";
        double minutes = run.equals("epsilon") ? minutes(words, quick) : 0;
        // The script has built it.
        String lab = System.getProperty("metaroce.lab", "");
        List<Measured> there = switch (run) {
            case "latency" -> Latency.all(quick, RESULTS.resolve("hlog"));
            case "peers" -> lab.isEmpty() ? PeerCase.loopback(quick) : PeerCase.lab(quick, lab);
            case "flood" -> Flood.all();
            case "stages" -> StageCost.all();
            case "epsilon" -> Epsilon.all(minutes);
            case "cost" -> Cost.all(quick);
            default -> Standard.all();
        };
        List<Measured> all = selected(there, words);
        if (all.isEmpty() || words.stream().anyMatch(w -> w.startsWith("-"))) {
            System.err.println("error: no measurement is called like " + words + "; there are:");
            there.forEach(m -> System.err.println("  " + m.group() + ": " + m.name()));
            System.exit(2);
        }
        System.exit(run(lab.isEmpty() ? run : run + "-lab", quick, all));
    }

    /** What {@code --minutes} says, which it takes away: 10 without, and a third of one for a quick run. */
    static double minutes(List<String> words, boolean quick) {
        int at = words.indexOf("--minutes");
        if (at < 0) {
            return quick ? 1.0 / 3 : 10;
        }
        words.remove(at);
        try {
            double minutes = Double.parseDouble(words.remove(at));
            if (minutes > 0 && minutes <= 1_440) {
                return minutes;
            }
        } catch (IndexOutOfBoundsException | NumberFormatException e) {
            // Said below.
        }
        System.err.println("error: --minutes wants a number, at most 1440");
        System.exit(2);
        return 0;
    }

    /** Those whose group is named, or whose name contains one of the words; all without a word. */
    static <M extends Measured> List<M> selected(List<M> all, List<String> words) {
        return words.isEmpty() ? all : all.stream().filter(m -> words.stream().anyMatch(w -> m.group().equals(w) || m.name().contains(w))).toList();
    }

    private static int run(String run, boolean quick, List<? extends Measured> all) throws IOException, InterruptedException {
        Machine machine = Machine.here(System.getProperty("metaroce.commit", ""));
        List<Outcome> outcomes = new Rounds(quick, System.err).run(all);
        Results.heading(machine, System.out);
        if (run.equals("standard") || run.equals("stages")) {
            Results.table(outcomes, System.out);
        } else {
            Results.wideTable(outcomes, System.out);
        }
        Path file = RESULTS.resolve(run + ".jsonl");
        Results.append(file, machine, run, quick, outcomes);
        System.out.printf("%nappended to %s%n", file);
        try {
            Drawings drawings = new Drawings(RESULTS.resolve("plots"));
            if (run.equals("cost")) {
                drawings.curves(all.stream().map(Cost.class::cast).toList(), outcomes);
            } else {
                drawings.bars(run, outcomes);
            }
            System.out.printf("drawn in %s%n", RESULTS.resolve("plots"));
        } catch (CliException e) {
            System.out.println("not drawn: " + e.getMessage());
        }
        return outcomes.stream().anyMatch(o -> !o.failure().isEmpty()) ? 1 : 0;
    }
}
