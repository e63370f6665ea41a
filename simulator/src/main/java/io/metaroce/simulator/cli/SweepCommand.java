// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.cli.Main;
import io.metaroce.simulator.run.ScenarioFile;
import io.metaroce.simulator.run.Sweep;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code metaroce sim sweep}: a scenario over a grid. */
@Command(name = "sweep", mixinStandardHelpOptions = true, versionProvider = Main.Version.class,
        description = "Runs a scenario over a grid of values, on all cores. Each result is a line of JSON in the output file; started again with the same "
                + "file, it goes on where it was broken off. A changed scenario is noticed and run anew; another version of this program is not: begin a new file.")
public final class SweepCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "FILE", description = "A scenario file (TOML), or the name of one that 'sim list' shows.")
    private String file;

    @Option(names = "--set", paramLabel = "KEY=V,V,...", description = "An axis of the grid: a key of scenario files and its values. May be given often.")
    private List<String> axes = List.of();

    @Option(names = "--seeds", split = ",", description = "Seeds, instead of those of the scenario.")
    private List<Long> seeds;

    @Option(names = "--out", paramLabel = "FILE", required = true, description = "Where the lines of JSON go.")
    private Path out;

    @Option(names = "--csv", paramLabel = "FILE", description = "Also all results as CSV, in the order of the grid, when all are there.")
    private Path csv;

    @Option(names = "--threads", description = "Runs at a time (default: one for each processor).")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Override
    public Integer call() throws InterruptedException {
        Sweep sweep = new Sweep(ScenarioFile.find(file), grid(), seeds, out);
        ProgressBar bar = new ProgressBar(spec.commandLine().getErr(), System.console() != null, sweep.cells(), sweep.finished());
        sweep.run(threads, bar::show);
        bar.end();
        if (csv != null) {
            try {
                sweep.writeCsv(csv);
            } catch (IOException e) {
                throw new CliException(ExitCode.FAILED, "cannot write " + csv + ": " + e.getMessage());
            }
        }
        PrintWriter stdout = spec.commandLine().getOut();
        stdout.println(sweep.cells() + " results in " + out);
        stdout.flush();
        return ExitCode.OK;
    }

    private Map<String, List<String>> grid() {
        Map<String, List<String>> grid = new LinkedHashMap<>();
        for (String axis : axes) {
            int at = axis.indexOf('=');
            if (at < 1 || at == axis.length() - 1) {
                throw new CliException(ExitCode.USAGE, "--set " + axis + ": say KEY=VALUE,VALUE,...");
            }
            grid.put(axis.substring(0, at), Arrays.asList(axis.substring(at + 1).split(",")));
        }
        return grid;
    }
}
