// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.state;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.cli.Quantity;
import io.metaroce.core.Clock;
import io.metaroce.core.CoreLoop;
import io.metaroce.core.PortFit;
import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.port.LoopbackPort;
import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Event;
import io.metaroce.transport.StateRecords;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Opens connections and streams between two endpoints of this process, over memory, and writes one word by every stream, each to a
 * place of its own: so both endpoints hold every stream. One thread.
 */
final class StateTrial implements AutoCloseable {
    /** Handshakes under way at a time, well below what a burst of queues holds. */
    private static final int CONNECTING = 64;
    private static final int WORK_REQUESTS = 16_384;
    private static final int PACKETS_OUT = 32_768;
    private static final int DOMAIN = 0;
    /** Without any progress for this long it has failed. */
    private static final long PATIENCE_NS = 20_000_000_000L;

    private final int connections;
    private final int streams;
    private final Arena arena = Arena.ofShared();
    private final LoopbackPort.Pair pair;
    private final CoreLoop left;
    private final CoreLoop right;
    private final MemoryRegion source;
    private final MemoryRegion target;
    private final NetAddress peer;
    private final int[] handles;
    private final WorkRequest work = new WorkRequest();
    private final Completion completion = new Completion();
    private final Event event = new Event();
    private final Map<String, String> figures = new LinkedHashMap<>();
    private int opened;
    private int asked;
    private long posted;
    private long completed;
    private long windows;
    private String fault = "";

    StateTrial(int connections, int streams, int planes, int paths) {
        this.connections = connections;
        this.streams = streams;
        long before = resident();
        handles = new int[connections];
        pair = LoopbackPort.pair(planes);
        RegionTable leftRegions = new RegionTable();
        RegionTable rightRegions = new RegionTable();
        MemorySegment words = arena.allocate(8 * messages(), 64);
        for (long i = 0; i < messages(); i++) {
            words.setAtIndex(ValueLayout.JAVA_LONG, i, word(i));
        }
        source = leftRegions.register(DOMAIN, words, 0);
        target = rightRegions.register(DOMAIN, arena.allocate(8 * messages(), 64), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
        peer = pair.right().localAddress(0);
        long started = resident();
        left = new CoreLoop(pair.left(), config(pair.left(), paths, 1), leftRegions);
        right = new CoreLoop(pair.right(), config(pair.right(), paths, 2), rightRegions);
        figure("words to be written, and where to", Quantity.formatBytes(16 * messages()));
        figure("an endpoint's state, reserved", Quantity.formatBytes(right.endpoint().stateBytes()));
        figure("resident: before, with words, with 2 endpoints", Quantity.formatBytes(before) + ", " + Quantity.formatBytes(started) + ", "
                + Quantity.formatBytes(resident()));
    }

    private EndpointConfig config(LoopbackPort port, int paths, long seed) {
        EndpointConfig config = new EndpointConfig();
        config.maxConnections = connections;
        config.maxStreams = streams;
        config.streamPool = Math.toIntExact(messages());
        config.maxWorkRequests = WORK_REQUESTS;
        config.maxPacketsOut = PACKETS_OUT;
        config.pathsPerPlane = paths;
        config.seed = seed;
        config.secret = seed;
        return PortFit.fit(port, config);
    }

    long messages() {
        return (long) connections * streams;
    }

    /** Different for every stream, and never 0. */
    private static long word(long i) {
        return (i + 1) * 0x9e3779b97f4a7c15L;
    }

    /** Does it all; returns how many words arrived as they were sent. */
    long run() {
        long start = Clock.nowNs();
        until(() -> opened == connections, this::connect);
        long connected = Clock.nowNs();
        long residentConnected = resident();
        long heap = allocated();
        until(() -> completed == messages(), this::write);
        long allocated = allocated() - heap;
        long done = Clock.nowNs();
        long arrived = 0;
        for (long i = 0; i < messages(); i++) {
            arrived += target.segment().getAtIndex(ValueLayout.JAVA_LONG, i) == word(i) ? 1 : 0;
        }
        Endpoint endpoint = right.endpoint();
        figure("connections open", String.format(Locale.ROOT, "%,d in %.2f s, %.1f us each", endpoint.liveConnections(), (connected - start) / 1e9,
                (connected - start) / 1e3 / connections));
        figure("streams in use", String.format(Locale.ROOT, "%,d in %.2f s, %.0f ns each, opened by a message at both ends",
                endpoint.liveStreams(), (done - connected) / 1e9, (double) (done - connected) / messages()));
        figure("words that arrived as they were sent", String.format(Locale.ROOT, "%,d of %,d", arrived, messages()));
        figure("memory of a stream", String.format(Locale.ROOT, "%.0f B with its place in the table, %.0f B with all that is reserved",
                streamBytes(), (double) endpoint.stateBytes() / messages()));
        figure("out-of-order windows and queues in use", String.format(Locale.ROOT, "%,d at most, %,d at the end", windows, endpoint.liveWindows()));
        figure("resident: connected, all streams used", Quantity.formatBytes(residentConnected) + ", " + Quantity.formatBytes(resident()));
        figure("allocated on the heap while streams were opened", Quantity.formatBytes(allocated));
        return arrived;
    }

    private double streamBytes() {
        double bytes = 0;
        for (StateRecords.Kind kind : kinds()) {
            bytes += kind.name().equals("stream") || kind.name().contains("table of streams") ? kind.reservedBytes() : 0;
        }
        return bytes / messages();
    }

    private boolean connect(long nowNs, Endpoint endpoint) {
        boolean worked = false;
        while (asked < connections && asked - opened < CONNECTING) {
            handles[asked++] = endpoint.connect(nowNs, peer, DOMAIN);
            worked = true;
        }
        while (endpoint.pollEvent(event)) {
            if (event.kind == Event.CONNECTED) {
                opened++;
            } else {
                fault = event.text();
            }
            worked = true;
        }
        return worked;
    }

    private boolean write(long nowNs, Endpoint endpoint) {
        boolean worked = false;
        while (endpoint.pollCompletion(completion)) {
            if (completion.status == Completion.OK) {
                completed++;
            } else {
                fault = "a Write on stream " + completion.stream + " has status " + completion.status;
            }
            worked = true;
        }
        while (endpoint.pollEvent(event)) {
            fault = event.text();
        }
        while (posted < messages() && post(endpoint)) {
            posted++;
            worked = true;
        }
        windows = Math.max(windows, right.endpoint().liveWindows());
        return worked;
    }

    /** Stream by stream in one connection after the other. */
    private boolean post(Endpoint endpoint) {
        work.opcode = Opcode.WRITE;
        work.stream = (int) (posted % streams);
        work.localAddress = source.address() + 8 * posted;
        work.localKey = source.key();
        work.length = 8;
        work.remoteAddress = target.address() + 8 * posted;
        work.remoteKey = target.key();
        work.wrId = posted;
        int outcome = endpoint.post(handles[(int) (posted / streams)], work);
        if (outcome != Endpoint.OK && outcome != Endpoint.QUEUE_FULL) {
            fault = "the endpoint rejects a Write with code " + outcome;
        }
        return outcome == Endpoint.OK;
    }

    /** Turns both loops, the left one with this application. */
    private void until(java.util.function.BooleanSupplier done, io.metaroce.core.Task application) {
        long last = Clock.nowNs();
        while (!done.getAsBoolean()) {
            boolean worked = left.runOnce(application);
            worked |= right.runOnce(StateTrial::discard);
            long nowNs = Clock.nowNs();
            last = worked ? nowNs : last;
            if (nowNs - last > PATIENCE_NS) {
                fault = "nothing moves any more";
            }
            if (!fault.isEmpty()) {
                throw new CliException(ExitCode.FAILED, fault + " (" + opened + " connections open, " + completed + " messages complete)");
            }
        }
    }

    private static final Event IGNORED = new Event();

    private static boolean discard(long nowNs, Endpoint endpoint) {
        while (endpoint.pollEvent(IGNORED)) {
            // Connections that came; what goes wrong shows at the other end.
        }
        return false;
    }

    /** The endpoint that was connected to. */
    List<StateRecords.Kind> kinds() {
        return right.endpoint().stateRecords();
    }

    Map<String, String> figures() {
        return figures;
    }

    private void figure(String name, String value) {
        figures.put(name, value);
    }

    /** Bytes of this process in memory; 0 where the system does not tell. */
    private static long resident() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
                }
            }
        } catch (IOException e) {
            // No such file on this system.
        }
        return 0;
    }

    /** Bytes that this thread has allocated on the heap so far. */
    private static long allocated() {
        return ManagementFactory.getThreadMXBean() instanceof com.sun.management.ThreadMXBean beans ? beans.getCurrentThreadAllocatedBytes() : 0;
    }

    @Override
    public void close() {
        pair.close();
        arena.close();
    }
}
