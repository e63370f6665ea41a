// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.core.CoreLoop;
import io.metaroce.core.PortFit;
import io.metaroce.memory.RegionTable;
import io.metaroce.port.PacketPort;
import io.metaroce.transport.EndpointConfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code metaroce perf server}. */
@Command(name = "server", mixinStandardHelpOptions = true, versionProvider = io.metaroce.cli.Main.Version.class,
        sortOptions = false, description = "Serves perf clients, one after another or several at once, until Ctrl-C.")
final class ServerCommand implements Callable<Integer> {
    static final int MAX_CLIENTS = 16;
    static final int MAX_WORK_REQUESTS = 8192;
    static final String READY = "ready ";
    private static final long STOP_MS = 3000;
    /** How long a child process outlives Ctrl-C while its parent collects the last figures. */
    private static final long PARENT_MS = 4000;

    @Spec
    private CommandSpec spec;

    @Mixin
    private PortOptions portOptions;

    /** The process belongs to another, and ends when that closes its standard input. */
    @Option(names = "--child", hidden = true)
    private boolean child;

    private final CountDownLatch parentIsDone = new CountDownLatch(1);
    private volatile ServerTask task;
    private volatile boolean stopRequested;

    @Override
    public Integer call() throws Exception {
        PerfCommand.check(spec, portOptions::check);
        PerfCommand.check(spec, portOptions::checkKey);
        PrintWriter out = spec.commandLine().getOut();
        return Interrupt.guard(this::interrupted, child ? PARENT_MS + STOP_MS : STOP_MS, spec.commandLine().getErr(), () -> serve(out));
    }

    private int serve(PrintWriter out) throws InterruptedException {
        PacketPort port = Ports.server(portOptions);
        EndpointConfig config = Ports.config(portOptions);
        config.acceptConnections = true;
        config.acceptedDomain = Side.DOMAIN;
        config.maxConnections = MAX_CLIENTS;
        config.maxStreams = Plan.MAX_STREAMS + 1;
        config.streamPool = 2 * (Plan.MAX_STREAMS + 1);
        config.maxWorkRequests = MAX_WORK_REQUESTS;
        config.receiveQueueDepth = Plan.MAX_SLOTS;
        RegionTable regions = new RegionTable();
        CoreLoop loop = new CoreLoop(port, PortFit.fit(port, config), regions);
        loop.keepCore(portOptions.spin);
        ServerTask server = new ServerTask(loop, regions, portOptions.seed ^ 0x5eed, line -> {
            out.println(line);
            out.flush();
        });
        task = server;
        if (stopRequested) {
            server.requestStop();
        }
        LoopThread thread = new LoopThread(loop, server, portOptions.cpu);
        thread.start();
        out.println(READY + port.localAddress(0) + " (" + portOptions.kind + ", " + port.planes() + " plane" + (port.planes() == 1 ? "" : "s")
                + (portOptions.bind.isEmpty() && portOptions.kind == PortOptions.Kind.UDP ? ", this machine only; --bind for others" : "") + ")");
        out.flush();
        if (child) {
            Thread.ofPlatform().daemon().name("metaroce-parent").start(this::waitForParent);
        }
        while (!thread.join(1000)) {
            // Nothing to show: the loop's thread prints what happens.
        }
        loop.close();
        server.free();
        thread.rethrow();
        return 0;
    }

    private void interrupted() {
        stopRequested = true;
        if (child) {
            // Ctrl-C reaches parent and child alike; the parent still wants its figures from us.
            try {
                parentIsDone.await(PARENT_MS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                // Stops at once then.
            }
        }
        ServerTask t = task;
        if (t != null) {
            t.requestStop();
        }
    }

    private void waitForParent() {
        try {
            InputStream in = System.in;
            while (in.read() >= 0) {
                // The parent says nothing; only its end counts.
            }
        } catch (IOException e) {
            // As good as the end.
        }
        parentIsDone.countDown();
        stopRequested = true;
        ServerTask t = task;
        if (t != null) {
            t.requestStop();
        }
    }
}
