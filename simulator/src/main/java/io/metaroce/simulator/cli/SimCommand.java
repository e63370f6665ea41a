// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import io.metaroce.cli.Main;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code metaroce sim}: the transport on simulated fabrics. */
@Command(name = "sim", mixinStandardHelpOptions = true, versionProvider = Main.Version.class,
        description = "Runs the transport in virtual time, on fabrics of simulated switches and links.",
        subcommands = {RunCommand.class, CompareCommand.class, SweepCommand.class, ListCommand.class, StandardCommand.class, JudgeCommand.class,
                SpeedCommand.class})
public final class SimCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "say 'run FILE', 'compare FILE', 'sweep FILE', 'judge FILE', 'list', 'standard' or 'speed'");
    }
}
