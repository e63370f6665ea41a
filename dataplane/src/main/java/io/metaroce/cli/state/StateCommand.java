// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.state;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.cli.Main;
import io.metaroce.cli.Quantity;
import io.metaroce.transport.StateRecords;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code metaroce state}: what a connection, a path, a stream, ... costs in memory, by its layout and by trial. */
@Command(name = "state", mixinStandardHelpOptions = true, versionProvider = Main.Version.class, sortOptions = false,
        description = "Shows the memory that an endpoint keeps for each connection, path, stream, packet out and window, against the sizes "
                + "that the specification states; then opens the connections and streams on one endpoint, uses every stream by a message, and "
                + "shows what it took. Ends with 1 if a record is larger than stated or a message did not arrive as it was.")
public final class StateCommand implements Callable<Integer> {
    private static final int MAX_CONNECTIONS = 65_536;
    private static final int MAX_STREAMS = 16_000_000;

    @Spec
    private CommandSpec spec;

    @Option(names = "--connections", paramLabel = "N", defaultValue = "64", description = "Connections to open. Default: ${DEFAULT-VALUE}.")
    private int connections;

    @Option(names = "--streams", paramLabel = "N", defaultValue = "16",
            description = "Streams to open in each connection. Default: ${DEFAULT-VALUE}.")
    private int streams;

    @Option(names = "--planes", paramLabel = "N", defaultValue = "2", description = "Planes, 1 to 8. Default: ${DEFAULT-VALUE}.")
    private int planes;

    @Option(names = "--paths", paramLabel = "N", defaultValue = "4", description = "Paths of each plane, 1 to 256. Default: ${DEFAULT-VALUE}.")
    private int paths;

    @Override
    public Integer call() {
        range("--connections", connections, MAX_CONNECTIONS);
        range("--streams", streams, MAX_STREAMS / connections);
        range("--planes", planes, 8);
        range("--paths", paths, 256);
        PrintWriter out = spec.commandLine().getOut();
        StateTrial trial;
        try {
            trial = new StateTrial(connections, streams, planes, paths);
        } catch (OutOfMemoryError e) {
            throw new CliException(ExitCode.ENVIRONMENT, "no memory for the endpoints: " + e.getMessage());
        }
        try (trial) {
            long right = trial.run();
            List<StateRecords.Kind> kinds = trial.kinds();
            print(out, kinds, trial);
            out.flush();
            return right == trial.messages() && kinds.stream().allMatch(StateRecords.Kind::isWithin) ? ExitCode.OK : ExitCode.FAILED;
        }
    }

    private void range(String option, int value, int most) {
        if (value < 1 || value > most) {
            throw new ParameterException(spec.commandLine(), option + " " + value + " is outside 1.." + most);
        }
    }

    private static void print(PrintWriter out, List<StateRecords.Kind> kinds, StateTrial trial) {
        out.printf("%-28s %9s %9s %11s %11s %12s%n", "record of the endpoint", "bytes", "at most", "in use", "reserved", "reserved");
        for (StateRecords.Kind kind : kinds) {
            out.printf(Locale.ROOT, "%-28s %9d %9d %,11d %,11d %12s%s%n", kind.name(), kind.bytes(), kind.statedBytes(), kind.used(), kind.reserved(),
                    Quantity.formatBytes(kind.reservedBytes()), kind.isWithin() ? "" : "  LARGER THAN STATED");
        }
        out.println();
        trial.figures().forEach((name, value) -> out.printf("%-48s %s%n", name, value));
    }
}
