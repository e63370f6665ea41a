// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import io.metaroce.simulator.plot.Plots;
import io.metaroce.simulator.run.Result;
import io.metaroce.simulator.run.Scenario;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** Options of commands that draw what they ran. */
public final class PlotOptions {
    @Option(names = "--plots", paramLabel = "DIR", description = "Draws, as SVG and PNG: the distribution of completion times; for each run goodput by "
            + "flow, rate by spine, queues and windows over time.")
    private Path directory;

    @Option(names = "--trace-us", description = "Interval of what is drawn over time (default: ${DEFAULT-VALUE} us, or the scenario's).",
            defaultValue = "2")
    private double traceUs;

    /** Before the runs. */
    void prepare(Scenario scenario) {
        if (directory != null && scenario.traceUs == 0) {
            scenario.traceUs = traceUs;
        }
    }

    /** After them. */
    void draw(List<Result> results) {
        if (directory != null) {
            Plots plots = new Plots(directory);
            plots.completions(results);
            results.forEach(plots::overTime);
        }
    }
}
