// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.core.Clock;
import io.metaroce.core.CoreLoop;
import io.metaroce.core.PortFit;
import io.metaroce.core.Task;
import io.metaroce.memory.RegionTable;
import io.metaroce.port.ImpairedPort;
import io.metaroce.port.ImpairmentConfig;
import io.metaroce.port.LoopbackPort;
import io.metaroce.port.PacketPort;
import io.metaroce.port.PlaneGate;
import io.metaroce.transport.EndpointConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A perf client and server in one thread, turn by turn, over memory: nothing depends on how busy the machine is. */
final class InProcess implements AutoCloseable {
    final List<String> serverLog = new ArrayList<>();
    final PlaneGate clientPort;
    final CoreLoop clientLoop;
    final CoreLoop serverLoop;
    final ServerTask server;
    final ClientTask client;

    /** @param impairment as for --impair, of both sides; "" for none */
    InProcess(RunOptions run, int planes, String impairment) {
        this(run, planes, impairment, PerfClient.SERVICE);
    }

    InProcess(RunOptions run, int planes, String impairment, int serverService) {
        this(run, planes, impairment, serverService, null);
    }

    /** @param pskFile of both sides, or null */
    InProcess(RunOptions run, int planes, String impairment, int serverService, Path pskFile) {
        LoopbackPort.Pair pair = LoopbackPort.pair(planes);
        clientPort = new PlaneGate(impaired(pair.left(), impairment, 1));
        PacketPort serverPort = impaired(pair.right(), impairment, 2);
        PortOptions portOptions = new PortOptions();
        portOptions.kind = PortOptions.Kind.UDP;
        portOptions.planes = planes;
        portOptions.mtu = 4096;
        portOptions.rate = 100_000_000_000L;
        portOptions.seed = 1;
        portOptions.pskFile = pskFile;
        EndpointConfig clientConfig = PortFit.fit(clientPort, Ports.config(portOptions));
        EndpointConfig serverConfig = PortFit.fit(serverPort, Ports.config(portOptions));
        serverConfig.service = serverService;
        clientConfig.connectTimeoutNs = (long) (run.connectTimeout * 1e9);
        RegionTable clientRegions = new RegionTable();
        RegionTable serverRegions = new RegionTable();
        clientLoop = new CoreLoop(clientPort, clientConfig, clientRegions);
        serverLoop = new CoreLoop(serverPort, serverConfig, serverRegions);
        server = new ServerTask(serverLoop, serverRegions, 99, serverLog::add);
        client = new ClientTask(clientLoop, clientRegions, new RunMemory(run.plan(), 1), run, serverPort.localAddress(0), run.blockPlane,
                plane -> clientPort.shut(plane, true));
    }

    private static PacketPort impaired(PacketPort port, String impairment, long seed) {
        return impairment.isEmpty() ? port : new ImpairedPort(port, ImpairmentConfig.parse(impairment), seed, Clock::nowNs);
    }

    /** Options of a short run. */
    static RunOptions options(Op op, long size) {
        RunOptions run = new RunOptions();
        run.op = op;
        run.size = size;
        run.streams = 1;
        run.verify = true;
        run.warmup = 0.05;
        run.seconds = 0.2;
        run.connectTimeout = 3;
        return run;
    }

    /** Turns both loops until the client has ended. */
    void run() {
        turnUntil(clientLoop::isStopping, 20, server);
    }

    void turnUntil(BooleanSupplier condition, double seconds, Task serverTask) {
        long start = Clock.nowNs();
        while (!condition.getAsBoolean()) {
            assertTrue(Clock.nowNs() - start < seconds * 1e9, () -> "still " + client.progress.phase + " after " + seconds + " s");
            if (!clientLoop.isStopping()) {
                clientLoop.runOnce(client);
            }
            if (!serverLoop.isStopping()) {
                serverLoop.runOnce(serverTask);
            }
        }
        // The last words of whoever ended.
        clientLoop.runOnce((now, endpoint) -> false);
        serverLoop.runOnce((now, endpoint) -> false);
    }

    Result result() {
        if (client.failure() != null) {
            throw client.failure();
        }
        return client.result();
    }

    @Override
    public void close() {
        clientLoop.close();
        serverLoop.close();
        client.free();
        server.free();
    }
}
