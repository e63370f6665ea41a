// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.cli.Main;
import io.metaroce.simulator.peer.Peers;
import io.metaroce.simulator.run.Batch;
import io.metaroce.simulator.run.Records;
import io.metaroce.simulator.run.Result;
import io.metaroce.simulator.run.Scenario;
import io.metaroce.simulator.run.ScenarioFile;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code metaroce sim compare}: one scenario, several transports, one table. */
@Command(name = "compare", mixinStandardHelpOptions = true, versionProvider = Main.Version.class,
        description = "Runs a scenario with several transports and seeds: a table with a line for each transport, means over the seeds. "
                + "Transports: " + Peers.HELP + ". Where a flow was not complete at the scenario's time limit, 'last' is only of those that were, "
                + "and the exit code is 1.")
public final class CompareCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "FILE", description = "A scenario file (TOML), or the name of one that 'sim list' shows.")
    private String file;

    @Option(names = "--transports", split = ",", description = "Transports with their switches (default: ${DEFAULT-VALUE}).",
            defaultValue = "metaroce,rocev2+dcqcn+pfc,rocev2+dcqcn")
    private List<String> transports;

    @Option(names = "--seeds", split = ",", description = "Seeds, instead of those of the scenario.")
    private List<Long> seeds;

    @Option(names = "--json", description = "One JSON object for each run, on one line, instead of the table.")
    private boolean json;

    @Option(names = "--csv", description = "One line of CSV for each run, after a first line with names, instead of the table.")
    private boolean csv;

    @Option(names = "--threads", description = "Runs at a time (default: one for each processor).")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Mixin
    private PlotOptions plots;

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        Scenario scenario = ScenarioFile.read(ScenarioFile.find(file));
        plots.prepare(scenario);
        List<Result> all = new ArrayList<>();
        List<Long> wanted = seeds == null ? scenario.seeds : seeds;
        boolean complete = true;
        try (Batch batch = new Batch(threads)) {
            List<List<Future<Result>>> runs = new ArrayList<>();
            for (String transport : transports) {
                Scenario s = with(scenario, transport);
                runs.add(wanted.stream().map(seed -> batch.start(() -> s.run(seed))).toList());
            }
            boolean first = true;
            for (List<Future<Result>> ofOne : runs) {
                List<Result> results = new ArrayList<>();
                for (Future<Result> run : ofOne) {
                    results.add(Batch.get(run));
                }
                all.addAll(results);
                complete &= results.stream().allMatch(Result::isComplete);
                print(out, results, first, scenario);
                first = false;
            }
        }
        plots.draw(all);
        return complete ? ExitCode.OK : ExitCode.FAILED;
    }

    private static Scenario with(Scenario scenario, String transport) {
        Scenario s = scenario.copy();
        s.transport = transport;
        try {
            Peers.named(transport);
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, e.getMessage());
        }
        return s;
    }

    private void print(PrintWriter out, List<Result> results, boolean first, Scenario scenario) {
        if (json) {
            results.forEach(r -> out.println(r.json()));
        } else if (csv) {
            if (first) {
                out.println(Records.csvHead(results.getFirst().fields()));
            }
            results.forEach(r -> out.println(Records.csv(r.fields())));
        } else {
            if (first) {
                Result r = results.getFirst();
                out.printf(Locale.ROOT, "%s%s on %s, %d seeds%n", scenario.name.isEmpty() ? "" : scenario.name + ": ", r.workload, r.topology,
                        results.size());
                out.printf("%-26s %10s %10s %10s %8s %9s %9s %9s %8s %9s %10s%n", "transport", "last us", "mean us", "Gb/s", "resent %", "marks",
                        "drop+trim", "timeouts", "queue", "held KiB", "unfinished");
            }
            out.printf(Locale.ROOT, "%-26s %10.1f %10.1f %10.1f %8.2f %9.0f %9.0f %9.1f %8.2f %9.1f %10.0f%n", results.getFirst().transport,
                    mean(results, r -> r.lastUs), mean(results, r -> r.meanUs), mean(results, Result::goodputGbps),
                    mean(results, r -> 100 * r.resentShare()), mean(results, r -> r.marks), mean(results, r -> r.drops + r.trims),
                    mean(results, r -> r.timeouts), mean(results, r -> r.deepestQueueBdp), mean(results, r -> r.reorderBytes / 1024.0),
                    mean(results, r -> r.unfinished));
        }
        out.flush();
    }

    private static double mean(List<Result> results, ToDoubleFunction<Result> what) {
        return results.stream().mapToDouble(what).average().orElseThrow();
    }
}
