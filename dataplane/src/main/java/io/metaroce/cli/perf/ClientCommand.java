// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.wire.NetAddress;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code metaroce perf client HOST}. */
@Command(name = "client", mixinStandardHelpOptions = true, versionProvider = io.metaroce.cli.Main.Version.class, sortOptions = false,
        description = "Runs a measurement against a perf server.")
final class ClientCommand implements Callable<Integer> {
    static final long STOP_MS = 4000;

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "HOST[:PORT]", description = "The server. IPv6 with a port: [ADDRESS]:PORT.")
    private String host;

    @Mixin
    private RunOptions run;

    @Mixin
    private PortOptions portOptions;

    @Override
    public Integer call() throws Exception {
        PerfCommand.check(spec, portOptions::check);
        PerfCommand.check(spec, portOptions::checkKey);
        PerfCommand.check(spec, () -> run.check(portOptions));
        PerfCommand.check(spec, () -> PortOptions.require(!run.oneWay, "--one-way needs --local: two machines have no clock in common"));
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        PerfClient client = new PerfClient(run, portOptions, err);
        return Interrupt.guard(client::requestStop, STOP_MS, err, () -> {
            NetAddress server = Addresses.peer(host, portOptions.udpPort == null ? Addresses.DEFAULT_UDP_PORT : portOptions.udpPort);
            return PerfClient.report(client.run(server, portOptions.cpu), run, out, err);
        });
    }
}
