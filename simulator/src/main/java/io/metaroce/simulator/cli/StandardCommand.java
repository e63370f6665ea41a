// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import io.metaroce.cli.ExitCode;
import io.metaroce.cli.Main;
import io.metaroce.simulator.run.Standard;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code metaroce sim standard}: the goals of the project, row by row. */
@Command(name = "standard", mixinStandardHelpOptions = true, versionProvider = Main.Version.class,
        description = "Measures the project's goals for congestion, loss and failure: for each the bound, what the best peer reaches on the same "
                + "inputs, the goal, what was reached, and whether it passes. Exits with 1 if one is missed.")
public final class StandardCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(names = "--quick", description = "One seed, and without the largest fabrics.")
    private boolean quick;

    @Option(names = "--rows", split = ",", description = "Only rows whose name begins so: 1, 2a, ...")
    private List<String> only = List.of();

    @Option(names = "--threads", description = "Runs at a time (default: one for each processor).")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        out.printf("%-4s %-58s %9s %9s %9s %9s %9s%n", "row", "", "bound", "best peer", "goal", "ours", "worst");
        int missed = 0;
        int count = 0;
        try (Standard standard = new Standard(quick, threads)) {
            List<Standard.Row> rows = standard.rows().stream().filter(r -> only.isEmpty() || only.stream().anyMatch(r.name()::startsWith)).toList();
            standard.start(rows);
            for (Standard.Row row : rows) {
                Standard.Outcome o = standard.measure(row);
                count++;
                missed += o.passes() ? 0 : 1;
                out.printf(Locale.ROOT, "%-4s %-58s %9s %9s %9s %9s %9s  %s%s%n", row.name(), row.what(), number(row.bound()), number(row.bestPeer()),
                        number(row.goal()), number(o.mean()), number(o.worst()), o.passes() ? "pass" : "MISS", o.remark());
                out.flush();
            }
        }
        out.printf("%d of %d rows pass%n", count - missed, count);
        out.flush();
        return missed == 0 ? ExitCode.OK : ExitCode.FAILED;
    }

    private static String number(double value) {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, value >= 20 ? "%.1f" : "%.4f", value);
    }
}
