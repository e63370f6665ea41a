// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.cli.Main;
import io.metaroce.simulator.peer.Peers;
import io.metaroce.simulator.run.Batch;
import io.metaroce.simulator.run.Fairness;
import io.metaroce.simulator.run.Judgement;
import io.metaroce.simulator.run.Result;
import io.metaroce.simulator.run.Scenario;
import io.metaroce.simulator.run.ScenarioFile;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code metaroce sim judge}: the cases of a scenario, and whether its goals are reached. */
@Command(name = "judge", mixinStandardHelpOptions = true, versionProvider = Main.Version.class,
        description = "Runs the cases of a scenario, prints what its file wants shown, and judges MetaRoCE by the goals there: bounds for every seed, "
                + "comparisons with other transports by means over seeds; a transport that does not finish is worse. Exits with 1 if a goal is missed.")
public final class JudgeCommand implements Callable<Integer> {
    /** Windows of fairness that are printed. */
    private static final int MOST_WINDOWS = 12;

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "FILE", description = "A scenario file (TOML) with goals, or the name of one that 'sim list' shows with '*'.")
    private String file;

    @Option(names = "--only", paramLabel = "KEY=V,V,...", description = "Only cases that set this key to one of these values. May be given often.")
    private List<String> only = List.of();

    @Option(names = "--cases", split = ",", description = "Only cases whose name begins so.")
    private List<String> names = List.of();

    @Option(names = "--transports", split = ",", description = "Instead of those that the file compares with.")
    private List<String> transports;

    @Option(names = "--seeds", split = ",", description = "Seeds, instead of those of the scenario.")
    private List<Long> seeds;

    @Option(names = "--json", description = "One JSON object for each run, on one line, instead of the table.")
    private boolean json;

    @Option(names = "--threads", description = "Runs at a time (default: one for each processor, or one where time or memory is shown).")
    private int threads;

    private PrintWriter out;

    /** Measures that say nothing while flows are unfinished. */
    private static final List<String> OF_ALL = List.of("last_us", "mean_us", "goodput_gbps");

    @Override
    public Integer call() throws InterruptedException {
        out = spec.commandLine().getOut();
        Judgement judgement = new Judgement(ScenarioFile.find(file));
        if (transports != null) {
            transports.forEach(JudgeCommand::check);
            judgement.transports.clear();
            judgement.transports.add(Peers.OWN);
            transports.stream().filter(t -> !t.equals(Peers.OWN)).forEach(judgement.transports::add);
        }
        List<Judgement.Case> cases = judgement.cases.stream().filter(this::wanted).toList();
        if (cases.isEmpty()) {
            throw new CliException(ExitCode.USAGE, "no case is left; there are: " + judgement.cases.stream().map(Judgement.Case::name).toList());
        }
        int width = Math.max(4, cases.stream().mapToInt(c -> c.name().length()).max().orElseThrow());
        head(judgement, width);
        int missed = 0;
        int atATime = threads > 0 ? threads : judgement.alone ? 1 : Runtime.getRuntime().availableProcessors();
        try (Batch batch = new Batch(atATime)) {
            List<Map<String, List<Future<Result>>>> runs = new ArrayList<>();
            for (Judgement.Case c : cases) {
                Map<String, List<Future<Result>>> ofCase = new LinkedHashMap<>();
                List<Long> wanted = seeds == null ? judgement.scenario(c, Peers.OWN).seeds : seeds;
                List<Future<Result>> own = wanted.stream().map(seed -> batch.start(() -> judgement.scenario(c, Peers.OWN).run(seed))).toList();
                ofCase.put(Peers.OWN, own);
                for (String transport : judgement.transports) {
                    if (!transport.equals(Peers.OWN)) {
                        // Own runs come first in the queue, so what waits for them waits for something that runs.
                        ofCase.put(transport, IntStream.range(0, wanted.size()).mapToObj(
                                i -> batch.start(() -> judgement.scenario(c, transport, Batch.get(own.get(i))).run(wanted.get(i)))).toList());
                    }
                }
                runs.add(ofCase);
            }
            for (int i = 0; i < cases.size(); i++) {
                missed += judge(judgement, cases.get(i), runs.set(i, null), width) ? 0 : 1;
            }
        }
        if (!json) {
            out.printf("%d of %d cases pass%n", cases.size() - missed, cases.size());
            out.flush();
        }
        return missed == 0 ? ExitCode.OK : ExitCode.FAILED;
    }

    private static void check(String transport) {
        try {
            Peers.named(transport);
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, e.getMessage());
        }
    }

    private boolean wanted(Judgement.Case c) {
        for (String o : only) {
            int at = o.indexOf('=');
            if (at < 1 || at == o.length() - 1) {
                throw new CliException(ExitCode.USAGE, "--only " + o + ": say KEY=VALUE,VALUE,...");
            }
            String value = c.set().getOrDefault(o.substring(0, at), "").replace("\"", "");
            if (Arrays.stream(o.substring(at + 1).split(",")).noneMatch(v -> same(v, value))) {
                return false;
            }
        }
        return names.isEmpty() || names.stream().anyMatch(c.name()::startsWith);
    }

    private static boolean same(String a, String b) {
        try {
            return Double.parseDouble(a) == Double.parseDouble(b);
        } catch (NumberFormatException e) {
            return a.equals(b);
        }
    }

    private void head(Judgement judgement, int width) {
        if (json) {
            return;
        }
        out.println(ScenarioFile.read(judgement.file).name);
        out.printf("%-" + width + "s %-24s", "case", "transport");
        judgement.show.forEach(m -> out.printf(" %" + columnOf(m) + "s", m));
        out.println();
        out.flush();
    }

    private static int columnOf(String measure) {
        return Math.max(10, measure.length());
    }

    private boolean judge(Judgement judgement, Judgement.Case c, Map<String, List<Future<Result>>> runs, int width) throws InterruptedException {
        Map<String, List<Result>> others = new LinkedHashMap<>();
        for (Map.Entry<String, List<Future<Result>>> e : runs.entrySet()) {
            List<Result> results = new ArrayList<>();
            for (Future<Result> run : e.getValue()) {
                results.add(Batch.get(run));
            }
            others.put(e.getKey(), results);
        }
        if (json) {
            others.values().forEach(results -> results.forEach(r -> out.println(r.json())));
        } else {
            others.forEach((transport, results) -> print(judgement, c.name(), transport, results, width));
        }
        List<Result> own = others.remove(Peers.OWN);
        List<String> misses = judgement.misses(c, own, others);
        if (!json) {
            own.stream().filter(r -> r.fairness != null).max(Comparator.comparingDouble(r -> r.fairness.worstError())).ifPresent(this::printFairness);
            out.println("  " + (misses.isEmpty() ? "pass" : "MISS: " + String.join("; ", misses)));
        }
        out.flush();
        return misses.isEmpty();
    }

    private void print(Judgement judgement, String name, String transport, List<Result> results, int width) {
        out.printf("%-" + width + "s %-24s", name, transport);
        boolean complete = results.stream().allMatch(Result::isComplete);
        for (String m : judgement.show) {
            double value = Judgement.mean(results, m);
            out.printf(Locale.ROOT, " %" + columnOf(m) + "s", Double.isNaN(value) || !complete && OF_ALL.contains(m) ? "-"
                    : String.format(Locale.ROOT, Math.abs(value) >= 20 ? "%.1f" : "%.4f", value));
        }
        out.println(complete ? "" : "  " + Math.round(Judgement.mean(results, "unfinished")) + " unfinished");
    }

    /** Fairness over time; of the seed that did worst. */
    private void printFairness(Result r) {
        Fairness.Outcome f = r.fairness;
        int n = f.windows().size();
        int step = Math.max(1, (n + MOST_WINDOWS - 1) / MOST_WINDOWS);
        StringBuilder[] lines = {new StringBuilder("    at us      "), new StringBuilder("    pairs      "), new StringBuilder("    Jain       "),
            new StringBuilder("    worst error"), new StringBuilder("    used       ")};
        for (int i = 0; i < n; i += step) {
            Fairness.Window w = f.windows().get(i);
            lines[0].append(String.format(Locale.ROOT, " %7.0f", w.us()));
            lines[1].append(String.format(Locale.ROOT, " %7d", w.pairs()));
            lines[2].append(String.format(Locale.ROOT, " %7.4f", w.jain()));
            lines[3].append(String.format(Locale.ROOT, " %7.3f", w.worstError()));
            lines[4].append(String.format(Locale.ROOT, " %7.3f", w.utilisation()));
        }
        Arrays.stream(lines).forEach(out::println);
        out.printf(Locale.ROOT, "    seed %d: %d of %d windows off by more than 10 %%; worst: %s; %.0f %% of the time not judged%n", r.seed, f.wrong(),
                n, f.worst(), 100 * f.unjudged());
    }
}
