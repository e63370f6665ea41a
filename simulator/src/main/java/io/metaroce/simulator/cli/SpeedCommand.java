// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import io.metaroce.cli.ExitCode;
import io.metaroce.cli.Main;
import io.metaroce.simulator.run.Result;
import io.metaroce.simulator.run.Scenario;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code metaroce sim speed}: what the simulator itself costs. */
@Command(name = "speed", mixinStandardHelpOptions = true, versionProvider = Main.Version.class,
        description = {"Measures the simulator: events a second, CPU time of a packet, memory, each beside its goal and htsim's figures.",
                "Two inputs of a million packets each, an all-to-all of 64 hosts with 4,032 flows and a permutation, with the same seed in every round;"
                        + " results must be the same to the last digit. The first round is cold: the virtual machine compiles meanwhile. Of the others"
                        + " the median counts. CPU time is that of the simulating thread. Exits with 1 if a goal is missed."})
public final class SpeedCommand implements Callable<Integer> {
    private static final double MEGABYTES_OF_MIB = (1 << 20) / 1e6;
    private static final double GOAL_EVENTS = 3e6;
    private static final double GOAL_US = 5;
    private static final double GOAL_MEGABYTES = 200;
    /** Fields that are about the run and not its result. */
    private static final Set<String> COSTS = Set.of("cpu_seconds", "wall_seconds", "resident_mib");

    @Spec
    private CommandSpec spec;

    @Option(names = "--rounds", description = "Rounds of each input after the cold one (default: ${DEFAULT-VALUE}).")
    private int rounds = 3;

    @Option(names = "--megabytes", description = "Payload of each input in MiB: what is shorter than the default measures compilers (default: ${DEFAULT-VALUE}).")
    private int mebibytes = 4_032;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        out.printf("%-34s %9s %9s %9s %9s %9s %9s%n", "", "packets", "ev/packet", "M ev/s", "us/packet", "cold", "MB");
        boolean passes = true;
        for (String pattern : List.of("all-to-all", "permutation")) {
            Scenario s = new Scenario();
            s.pattern = pattern;
            s.bytes = (long) mebibytes * (1 << 20) / (pattern.equals("all-to-all") ? 64 * 63 : 64);
            passes &= measure(out, s, pattern.equals("all-to-all"));
        }
        out.printf(Locale.ROOT, "%-34s %9s %9s %9.1f %9.1f %9s %9.0f%n", "goal", "", "", GOAL_EVENTS / 1e6, GOAL_US, "", GOAL_MEGABYTES);
        out.printf("%-34s %9s %9s %9s %9s %9s %9s%n", "htsim, on another machine", "", "14-18", "1.7-4.1", "to 8.5", "", "62-86");
        out.println(passes ? "all goals are met" : "MISS");
        out.flush();
        return passes ? ExitCode.OK : ExitCode.FAILED;
    }

    private boolean measure(PrintWriter out, Scenario scenario, boolean isFirst) {
        Result cold = scenario.run(1);
        // Later ones add what the collector has not yet found of earlier ones.
        double megabytes = isFirst ? cold.residentMib * MEGABYTES_OF_MIB : Double.NaN;
        List<Result> warm = new ArrayList<>();
        boolean same = cold.isComplete();
        for (int i = 0; i < Math.max(1, rounds); i++) {
            Result r = scenario.run(1);
            same &= outcome(r).equals(outcome(cold));
            warm.add(r);
        }
        warm.sort(Comparator.comparingDouble(r -> r.cpuSeconds));
        Result median = warm.get(warm.size() / 2);
        double events = median.events / median.cpuSeconds;
        double us = median.cpuSeconds * 1e6 / median.packets;
        out.printf(Locale.ROOT, "%-34s %9d %9.1f %9.2f %9.2f %9.2f %9s%s%n", scenario.pattern + " of " + cold.flows.size() + " flows", median.packets,
                (double) median.events / median.packets, events / 1e6, us, cold.cpuSeconds * 1e6 / cold.packets,
                Double.isNaN(megabytes) ? "-" : String.format(Locale.ROOT, "%.0f", megabytes), same ? "" : "  NOT THE SAME");
        out.flush();
        return same && events >= GOAL_EVENTS && us <= GOAL_US && !(megabytes > GOAL_MEGABYTES);
    }

    private static String outcome(Result r) {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, Object> field : r.fields().entrySet()) {
            if (!COSTS.contains(field.getKey())) {
                text.append(field).append('\n');
            }
        }
        r.flows.forEach(f -> text.append(f.startedPs).append(' ').append(f.sentPs).append('\n'));
        return text.toString();
    }
}
