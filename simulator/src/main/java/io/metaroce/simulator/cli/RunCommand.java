// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import io.metaroce.cli.ExitCode;
import io.metaroce.cli.Main;
import io.metaroce.simulator.peer.Peers;
import io.metaroce.simulator.run.Result;
import io.metaroce.simulator.run.Scenario;
import io.metaroce.simulator.run.ScenarioFile;
import io.metaroce.simulator.workload.Flow;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code metaroce sim run}: one scenario, with all its seeds. */
@Command(name = "run", mixinStandardHelpOptions = true, versionProvider = Main.Version.class,
        description = "Runs a scenario. Exits with 1 if a flow was not complete at its time limit.")
public final class RunCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "FILE", description = "A scenario file (TOML), or the name of one that 'sim list' shows.")
    private String file;

    @Option(names = "--seeds", split = ",", description = "Seeds, instead of those of the scenario.")
    private List<Long> seeds;

    @Option(names = "--transport", description = "Instead of the scenario's: " + Peers.HELP + ".")
    private String transport;

    @Option(names = "--json", description = "One JSON object for each seed, on one line.")
    private boolean json;

    @Option(names = "--flows", description = "Also one line for each flow: source, destination, bytes, start, completion, goodput.")
    private boolean flows;

    @Mixin
    private PlotOptions plots;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        Scenario scenario = ScenarioFile.read(ScenarioFile.find(file));
        if (transport != null) {
            scenario.transport = transport;
        }
        plots.prepare(scenario);
        List<Result> results = new ArrayList<>();
        boolean complete = true;
        for (long seed : seeds == null ? scenario.seeds : seeds) {
            Result r = scenario.run(seed);
            complete &= r.isComplete();
            results.add(r);
            if (json) {
                out.println(r.json());
            } else {
                print(out, r);
            }
            if (flows) {
                r.flows.forEach(f -> print(out, f));
            }
            out.flush();
        }
        plots.draw(results);
        return complete ? ExitCode.OK : ExitCode.FAILED;
    }

    private static void print(PrintWriter out, Result r) {
        out.printf(Locale.ROOT, "%s on %s, seed %d%n", r.workload, r.topology, r.seed);
        out.printf(Locale.ROOT, "  last flow %.1f us, mean %.1f us, %d of %d flows unfinished%n", r.lastUs, r.meanUs, r.unfinished, r.flows.size());
        out.printf(Locale.ROOT, "  %d packets, %.2f %% sent again, %d of them without need; %d timeouts, %d dead paths, %d plane failures%n",
                r.packets, 100 * r.resentShare(), r.spurious, r.timeouts, r.deadPaths, r.planeFailures);
        out.printf(Locale.ROOT, "  fabric: %d dropped, %d lost, %d marked; deepest queue %.2f BDP, %.2f after 6 RTT (BDP %.0f B, RTT %.2f us)%n",
                r.drops, r.losses, r.marks, r.deepestQueueBdp, r.deepestLateQueueBdp, r.bdpBytes, r.baseRttUs);
        r.unfinishedText.lines().forEach(line -> out.println("  unfinished: " + line));
        if (r.jain > 0) {
            out.printf(Locale.ROOT, "  Jain's index %.4f%n", r.jain);
        }
        out.printf(Locale.ROOT, "  simulated in %.1f s of CPU: %.1f million events a second, %.2f us a packet%n", r.cpuSeconds,
                r.events / r.cpuSeconds / 1e6, r.cpuSeconds * 1e6 / Math.max(1, r.packets));
    }

    private static void print(PrintWriter out, Flow f) {
        if (f.sentPs == Flow.NEVER) {
            out.printf(Locale.ROOT, "  %d -> %d %d B unfinished%n", f.source, f.destination, f.bytes);
            return;
        }
        out.printf(Locale.ROOT, "  %d -> %d %d B from %.3f us in %.3f us, %.2f Gb/s%n", f.source, f.destination, f.bytes, f.startedPs / 1e6,
                f.completionPs() / 1e6, f.bytes * 8e3 / f.completionPs());
    }
}
