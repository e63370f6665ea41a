// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.core.CoreLoop;
import io.metaroce.core.PortFit;
import io.metaroce.crypto.PskSecurity;
import io.metaroce.memory.RegionTable;
import io.metaroce.port.PlaneGate;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.wire.NetAddress;
import java.io.IOException;
import java.io.PrintWriter;

/** Runs a client from options to result. */
final class PerfClient {
    /** Says which application a connection is for: both ends of a perf run name it. "PERF" in ASCII. */
    static final int SERVICE = 0x50455246;
    /** Work requests of the conversation, beside those of the run. */
    static final int CONVERSATION_WORK = 16;
    private static final long SHOW_EVERY_MS = 1000;
    /** A loop ends milliseconds after its run; one that takes seconds is stuck in a driver and is left behind. */
    private static final int SHOWS_AFTER_END = 5;

    private final RunOptions run;
    private final PortOptions portOptions;
    private final PrintWriter err;
    private volatile ClientTask task;
    private volatile boolean stopRequested;

    PerfClient(RunOptions run, PortOptions portOptions, PrintWriter err) {
        this.run = run;
        this.portOptions = portOptions;
        this.err = err;
    }

    /** Ends the run early. Any thread, any time. */
    void requestStop() {
        stopRequested = true;
        ClientTask t = task;
        if (t != null) {
            t.requestStop();
        }
    }

    /**
     * @param cpu core for the loop, or null
     * @throws CliException with the one line that says what went wrong
     */
    Result run(NetAddress server, Integer cpu) throws InterruptedException {
        Plan plan = run.plan();
        PlaneGate port = new PlaneGate(Ports.client(portOptions, server));
        RunMemory memory;
        try {
            memory = new RunMemory(plan, portOptions.seed);
        } catch (OutOfMemoryError e) {
            port.close();
            throw new CliException(ExitCode.ENVIRONMENT, "no memory for the messages of the run: " + e.getMessage());
        }
        EndpointConfig config = Ports.config(portOptions);
        config.acceptConnections = false;
        config.maxConnections = 1;
        config.maxStreams = plan.streams() + 1;
        config.streamPool = plan.streams() + 1;
        config.maxWorkRequests = plan.streams() * Math.max(plan.depth(), plan.pingPong() ? plan.slots() : 0) + CONVERSATION_WORK;
        config.receiveQueueDepth = Plan.MAX_SLOTS;
        config.connectTimeoutNs = (long) (run.connectTimeout * 1e9);
        RegionTable regions = new RegionTable();
        CoreLoop loop = new CoreLoop(port, PortFit.fit(port, config), regions);
        loop.keepCore(portOptions.spin);
        ClientTask client = new ClientTask(loop, regions, memory, run, server, run.blockPlane, plane -> port.shut(plane, true));
        task = client;
        if (stopRequested) {
            client.requestStop();
        }
        LoopThread thread = new LoopThread(loop, client, cpu);
        thread.start();
        if (watch(thread, client.progress)) {
            // Order matters: no loop, then no port, then no memory that either could refer to.
            loop.close();
            client.free();
            thread.rethrow();
        }
        if (client.failure() != null) {
            throw client.failure();
        }
        Result result = client.result();
        result.port = portOptions.kind.toString();
        result.planes = port.planes();
        result.paths = port.planes() * portOptions.pathsPerPlane();
        result.mtu = config.payloadMtu;
        result.loss = portOptions.loss;
        result.seed = portOptions.seed;
        if (config.security instanceof PskSecurity security) {
            result.encrypted = true;
            result.ciphers = security.description();
        }
        return result;
    }

    /** Shows the run until its loop has ended; false if that hangs in the port after the run is over. */
    private boolean watch(LoopThread thread, Progress progress) throws InterruptedException {
        boolean show = !run.json || ProgressLine.errorIsTerminal();
        ProgressLine line = new ProgressLine(err);
        int showsAfterEnd = 0;
        while (!thread.join(SHOW_EVERY_MS)) {
            if (progress.phase.equals(ClientTask.OVER) && ++showsAfterEnd > SHOWS_AFTER_END) {
                err.println("the port does not close; going on without");
                return false;
            }
            if (show) {
                line.show(progress);
            }
        }
        line.end();
        return true;
    }

    /** Prints the result as the options ask and returns the exit code. */
    static int report(Result result, RunOptions run, PrintWriter out, PrintWriter err) {
        if (run.json) {
            out.println(Report.json(result));
            out.flush();
        } else {
            Report.table(result, out);
        }
        if (run.hdr != null) {
            try {
                Report.writeHdr(result, run.hdr);
            } catch (IOException e) {
                throw new CliException(ExitCode.ENVIRONMENT, "cannot write the latency log " + run.hdr + ": " + e.getMessage());
            }
        }
        if (result.verificationFailed()) {
            err.println("error: verification failed: " + (result.fault.isEmpty()
                    ? result.checkedInAll + " of " + result.sentInAll + " messages were found right" : result.fault));
            return ExitCode.FAILED;
        }
        return result.interrupted ? ExitCode.INTERRUPTED : ExitCode.OK;
    }
}
