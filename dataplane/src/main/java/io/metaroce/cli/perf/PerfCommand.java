// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.core.Affinity;
import io.metaroce.crypto.PskFile;
import io.metaroce.wire.NetAddress;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code metaroce perf}: measures goodput and latency, between two machines or with {@code --local} between two processes. */
@Command(name = "perf", mixinStandardHelpOptions = true, versionProvider = io.metaroce.cli.Main.Version.class, sortOptions = false,
        description = "Measures goodput and latency of Write, Send and Read. Start 'perf server' on one machine and 'perf client HOST' "
                + "on another, or 'perf --local' for both as two processes on this one.",
        subcommands = {ServerCommand.class, ClientCommand.class, DemoCommand.class})
public final class PerfCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(names = "--local", description = "Starts the server as a second process here and measures against it.")
    private boolean local;

    @Mixin
    private RunOptions run;

    @Mixin
    private PortOptions portOptions;

    @Override
    public Integer call() throws Exception {
        if (!local) {
            throw new ParameterException(spec.commandLine(), "say 'server', 'client HOST', 'demo' or --local");
        }
        check(spec, portOptions::check);
        check(spec, () -> run.check(portOptions));
        check(spec, () -> PortOptions.require(portOptions.bind.isEmpty(), "--local chooses the addresses: leave out --bind"));
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        PerfClient client = new PerfClient(run, portOptions, err);
        return Interrupt.guard(client::requestStop, ClientCommand.STOP_MS, err, () -> PerfClient.report(runLocal(client, err), run, out, err));
    }

    private Result runLocal(PerfClient client, PrintWriter err) throws InterruptedException, IOException {
        if (!portOptions.encrypt || portOptions.pskFile != null) {
            return runPair(client, err);
        }
        portOptions.pskFile = PskFile.temporary();
        try {
            return runPair(client, err);
        } finally {
            Files.deleteIfExists(portOptions.pskFile);
        }
    }

    private Result runPair(PerfClient client, PrintWriter err) throws InterruptedException {
        // Several --local runs at once must not meet on one link.
        portOptions.link += "-" + ProcessHandle.current().pid();
        int[] cores = Affinity.allowed();
        Integer clientCpu = portOptions.cpu != null ? portOptions.cpu : cores.length < 2 ? null : Integer.valueOf(cores[0]);
        Integer serverCpu = otherCore(cores, clientCpu);
        try (LocalServer server = new LocalServer(serverOptions(serverCpu), err::println)) {
            NetAddress address = server.awaitReady();
            Result result = client.run(address, clientCpu);
            result.local = true;
            return result;
        }
    }

    /** The first core that is not the client's, so that the two loops never share one; null if there is no choice. */
    private static Integer otherCore(int[] cores, Integer clientCpu) {
        for (int core : cores) {
            if (clientCpu != null && core != clientCpu) {
                return core;
            }
        }
        return null;
    }

    private List<String> serverOptions(Integer cpu) {
        List<String> options = new ArrayList<>(List.of("--port", portOptions.kind.toString(),
                "--planes", Integer.toString(portOptions.planes),
                "--paths", Integer.toString(portOptions.planes * portOptions.pathsPerPlane()),
                "--mtu", Long.toString(portOptions.mtu),
                "--integrity", portOptions.integrity.toString(),
                "--rate", Long.toString(portOptions.rate()),
                "--loss", Double.toString(portOptions.loss),
                // Another seed, or both sides would lose packets in step.
                "--seed", Long.toString(portOptions.seed + 1)));
        if (portOptions.kind == PortOptions.Kind.DPDK) {
            options.addAll(List.of("--link", portOptions.link));
        }
        if (portOptions.eal != null) {
            options.add("--eal=" + portOptions.eal);
        }
        if (portOptions.udpPort != null || portOptions.kind == PortOptions.Kind.UDP) {
            // A free port, unless one was asked for: nobody needs to know it but the two of us.
            options.addAll(List.of("--udp-port", Integer.toString(portOptions.udpPort == null ? 0 : portOptions.udpPort)));
        }
        if (portOptions.impair != null) {
            options.addAll(List.of("--impair", portOptions.impair));
        }
        if (portOptions.pskFile != null) {
            options.addAll(List.of("--psk-file", portOptions.pskFile.toString()));
        }
        if (portOptions.spin) {
            options.add("--spin");
        }
        if (cpu != null) {
            options.addAll(List.of("--cpu", cpu.toString()));
        }
        return options;
    }

    /** Turns a complaint about options into a usage error. */
    static void check(CommandSpec spec, Runnable check) {
        try {
            check.run();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage());
        }
    }
}
