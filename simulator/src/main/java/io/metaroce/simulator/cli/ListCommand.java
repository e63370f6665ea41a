// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import io.metaroce.cli.Main;
import io.metaroce.simulator.run.ScenarioFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code metaroce sim list}: the scenarios that come with the project. */
@Command(name = "list", mixinStandardHelpOptions = true, versionProvider = Main.Version.class,
        description = "Lists the scenarios that come with the project; 'sim run NAME' runs one, 'sim judge NAME' judges one with a '*'.")
public final class ListCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        for (Path file : ScenarioFile.all()) {
            String name = file.getFileName().toString();
            out.printf("%-24s %s %s%n", name.substring(0, name.length() - ScenarioFile.SUFFIX.length()), ScenarioFile.isJudged(file) ? "*" : " ",
                    ScenarioFile.read(file).name);
        }
        out.flush();
    }
}
