// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli;

import io.metaroce.cli.perf.PerfCommand;
import io.metaroce.cli.state.StateCommand;
import java.io.PrintWriter;
import java.util.ServiceLoader;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code metaroce} command. */
@Command(name = "metaroce", mixinStandardHelpOptions = true, versionProvider = Main.Version.class,
        description = "RDMA over lossy Ethernet: the tools of MetaRoCE for Java.",
        subcommands = {PerfCommand.class, StateCommand.class},
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:success",
            "1:the run failed, or contents were not what was sent",
            "2:wrong options",
            "3:the peer is unreachable, refused, is incompatible or was lost",
            "4:this machine is not ready: port in use, no permission, no hugepages, DPDK absent",
            "130:ended by Ctrl-C"})
public final class Main implements Runnable {
    @Spec
    private CommandSpec spec;

    public static void main(String[] args) {
        int code = run(args, new PrintWriter(System.out, true), new PrintWriter(System.err, true));
        System.exit(code);
    }

    /** The whole command without the exit: for {@link #main} and tests. */
    static int run(String[] args, PrintWriter out, PrintWriter err) {
        CommandLine line = new CommandLine(new Main());
        ServiceLoader.load(Extension.class).forEach(e -> line.addSubcommand(e.command()));
        line.setOut(out).setErr(err);
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setParameterExceptionHandler((problem, rest) -> usageError(problem));
        line.setExecutionExceptionHandler((problem, command, result) -> {
            if (problem instanceof CliException expected) {
                err.println("error: " + expected.getMessage());
                return expected.exitCode();
            }
            // Anything else is a fault of this program: the trace is wanted.
            err.println("error: internal fault: " + problem);
            problem.printStackTrace(err);
            return ExitCode.FAILED;
        });
        return line.execute(args);
    }

    private static int usageError(ParameterException problem) {
        CommandLine command = problem.getCommandLine();
        command.getErr().println("error: " + problem.getMessage().lines().findFirst().orElse("wrong options")
                + " (see " + command.getCommandSpec().qualifiedName() + " --help)");
        return ExitCode.USAGE;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a subcommand is missing");
    }

    /** Name and version, from the jar's manifest. */
    public static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"metaroce " + version()};
        }
    }

    /** The version as built, or "development" when run from a class directory. */
    public static String version() {
        String version = Main.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
