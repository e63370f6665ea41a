// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.core.Clock;
import io.metaroce.core.CoreLoop;
import io.metaroce.core.Task;
import io.metaroce.memory.RegionTable;
import io.metaroce.transport.Completion;
import io.metaroce.transport.ConnectionStats;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.Event;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Reason;
import java.util.function.IntConsumer;

/**
 * The client of a run, as a state machine on the loop's thread: connect, agree, warm up, measure, drain, compare counts, close.
 * Stops the loop when it is done; then {@link #result} or {@link #failure} holds what came of it.
 */
final class ClientTask implements Task {
    /** {@link Progress#phase} once result or failure are there. */
    static final String OVER = "over";

    private static final long AGREE_NS = 15_000_000_000L;
    private static final long DRAIN_NS = 10_000_000_000L;
    private static final long RESULT_NS = 12_000_000_000L;
    private static final long CLOSE_NS = 500_000_000L;

    private enum Phase { START, CONNECTING, AGREEING, WARMING_UP, MEASURING, DRAINING, COMPARING, CLOSING, OVER }

    private final CoreLoop loop;
    private final RegionTable regions;
    private final RunMemory memory;
    private final Plan plan;
    private final NetAddress server;
    private final long warmupNs;
    private final long measureNs;
    private final long iterations;
    private final Double messageRate;
    private final PlaneBlock planeBlock;
    private final IntConsumer planeBlocker;
    private final Completion completion = new Completion();
    private final Event event = new Event();
    private final ConnectionStats stats = new ConnectionStats();

    final Progress progress = new Progress();
    private final Result result = new Result();
    private CliException failure;
    private Phase phase = Phase.START;
    private long phaseStartNs;
    private int connection = -1;
    private Side side;
    private boolean planeBlocked;
    private long nextProgressNs;
    private long nowNs;
    private Message serverResult;
    private volatile boolean stopRequested;

    /** @param planeBlocker blocks a plane of the port, for {@code planeBlock}; both may be null */
    ClientTask(CoreLoop loop, RegionTable regions, RunMemory memory, RunOptions options, NetAddress server,
            PlaneBlock planeBlock, IntConsumer planeBlocker) {
        this.loop = loop;
        this.regions = regions;
        this.memory = memory;
        this.plan = memory.plan;
        this.server = server;
        this.planeBlock = planeBlock;
        this.planeBlocker = planeBlocker;
        warmupNs = (long) (options.warmup * 1e9);
        measureNs = options.iterations != null ? Long.MAX_VALUE : (long) (options.seconds() * 1e9);
        iterations = options.iterations != null ? options.iterations : Long.MAX_VALUE;
        messageRate = options.messageRate;
        result.messageRate = messageRate == null ? 0 : messageRate;
        if (options.intervals != null) {
            result.series = new Series(options.intervals, measureNs, loop.port().planes());
        }
        result.plan = plan;
        result.peer = server.toString();
    }

    /** Ends the run early, with a result for what was measured. Any thread. */
    void requestStop() {
        stopRequested = true;
    }

    /** After the loop has ended: what was found, or null. */
    Result result() {
        return failure == null ? result : null;
    }

    /** After the loop has ended: why there is no result, or null. */
    CliException failure() {
        return failure;
    }

    /** After the loop has ended and its port is closed: frees the memory. */
    void free() {
        if (side == null) {
            memory.close();
        } else {
            side.free();
        }
    }

    @Override
    public boolean poll(long now, Endpoint endpoint) {
        nowNs = now;
        if (phase == Phase.START) {
            connection = endpoint.connect(now, server, Side.DOMAIN);
            enter(Phase.CONNECTING);
            return true;
        }
        boolean worked = false;
        while (phase != Phase.OVER && endpoint.pollEvent(event)) {
            onEvent(endpoint);
            worked = true;
        }
        while (endpoint.pollCompletion(completion)) {
            if (side != null) {
                side.onCompletion(now, completion);
            }
            worked = true;
        }
        if (side != null && phase != Phase.OVER) {
            worked |= side.poll(now);
            for (Message m; (m = side.conversation.poll()) != null; ) {
                onMessage(m);
            }
        }
        advance(endpoint);
        return worked;
    }

    private void onEvent(Endpoint endpoint) {
        switch (event.kind) {
            case Event.CONNECTED -> {
                result.integrity = PortOptions.Integrity.of(endpoint.integrity(connection));
                side = new Side(endpoint, regions, connection);
                Offer offer = side.prepare(plan, memory, true, plan.pingPong() ? this::onPong : null);
                Message hello = plan.toMessage();
                offer.putInto(hello);
                side.conversation.send(hello);
                enter(Phase.AGREEING);
            }
            case Event.REFUSED -> fail(ExitCode.PEER, event.text());
            case Event.FAILED -> {
                if (phase == Phase.CONNECTING && event.reason == Reason.TIMEOUT) {
                    fail(ExitCode.PEER, "peer " + server + " is unreachable: no answer within "
                            + (nowNs - phaseStartNs + 500_000) / 1_000_000 + " ms (is 'metaroce perf server' running there?)");
                } else if (phase == Phase.CLOSING) {
                    finish();
                } else {
                    fail(ExitCode.PEER, event.text());
                }
            }
            case Event.CLOSED -> {
                if (phase == Phase.CLOSING) {
                    finish();
                } else {
                    fail(ExitCode.PEER, "peer " + server + " closed the connection before the run was over");
                }
            }
            case Event.STREAM_FAILED -> fail(ExitCode.FAILED, event.text());
            default -> { }
        }
    }

    private void onMessage(Message m) {
        try {
            switch (m.word) {
                case Message.READY -> {
                    side.addInitiator(Offer.from(m, plan));
                    if (messageRate != null) {
                        side.initiator.follow(new Schedule(messageRate));
                    }
                    side.initiator.start(nowNs);
                    if (plan.pingPong()) {
                        for (int stream = 1; stream <= plan.streams(); stream++) {
                            side.initiator.owe(nowNs, stream);
                        }
                    }
                    enter(Phase.WARMING_UP);
                }
                case Message.SORRY -> fail(ExitCode.PEER, "peer " + server + " refused the run: " + m.text("text"));
                case Message.RESULT -> serverResult = m;
                default -> fail(ExitCode.PEER, "peer " + server + " said '" + m.word + "', which this version does not know");
            }
        } catch (IllegalArgumentException e) {
            fail(ExitCode.PEER, "peer " + server + " is not compatible: " + e.getMessage());
        }
    }

    /** Ping-pong: an answer has arrived and was found right or wrong. */
    private void onPong(int stream) {
        Initiator initiator = side.initiator;
        initiator.count(nowNs, nowNs - initiator.lastPostNs(stream));
        if (phase == Phase.WARMING_UP || phase == Phase.MEASURING) {
            initiator.owe(nowNs, stream);
        }
    }

    private void advance(Endpoint endpoint) {
        long inPhaseNs = nowNs - phaseStartNs;
        switch (phase) {
            case CONNECTING, AGREEING -> {
                if (stopRequested) {
                    fail(ExitCode.INTERRUPTED, "interrupted before the run began");
                } else if (phase == Phase.AGREEING && inPhaseNs > AGREE_NS) {
                    fail(ExitCode.PEER, "peer " + server + " does not answer the perf conversation; is it a 'metaroce perf server'?");
                }
            }
            case WARMING_UP -> {
                if (inPhaseNs >= warmupNs || stopRequested) {
                    beginMeasuring();
                }
            }
            case MEASURING -> whileMeasuring(endpoint, inPhaseNs);
            case DRAINING -> whileDraining(inPhaseNs);
            case COMPARING -> whileComparing(endpoint, inPhaseNs);
            case CLOSING -> {
                if (inPhaseNs > CLOSE_NS) {
                    finish();
                }
            }
            default -> { }
        }
    }

    private void beginMeasuring() {
        side.conversation.send(new Message(Message.BEGIN));
        side.mark();
        side.initiator.startMeasuring(nowNs, iterations);
        if (loop.stages() != null) {
            loop.stages().reset();
        }
        result.startWallMillis = Clock.wallMillis();
        if (result.series != null) {
            result.series.start(nowNs, loop.endpoint(), connection);
        }
        enter(Phase.MEASURING);
        nextProgressNs = nowNs;
    }

    private void whileMeasuring(Endpoint endpoint, long inPhaseNs) {
        Initiator initiator = side.initiator;
        if (planeBlock != null && !planeBlocked && inPhaseNs >= planeBlock.afterNs()) {
            planeBlocked = true;
            planeBlocker.accept(planeBlock.plane());
        }
        if (result.series != null) {
            result.series.sample(nowNs, initiator.messages() * plan.size(), endpoint, connection);
        }
        if (nowNs - nextProgressNs >= 0) {
            nextProgressNs = nowNs + Progress.INTERVAL_NS;
            progress.messages = initiator.messages();
            progress.bytes = initiator.messages() * plan.size();
            progress.elapsedNs = inPhaseNs;
            endpoint.readStats(connection, stats);
            progress.retransmissions = stats.retransmissions;
            progress.timeouts = stats.timeouts;
        }
        if (inPhaseNs >= measureNs || !initiator.isMeasuring() || stopRequested) {
            result.interrupted = stopRequested;
            initiator.endMeasuring(nowNs);
            initiator.stop();
            side.conversation.send(new Message(Message.END));
            result.client = side.sinceMark();
            result.clientTimes = new Times(null, loop.stages());
            result.seconds = initiator.measuredNs() / 1e9;
            result.messages = initiator.messages();
            result.latency = initiator.latency();
            result.longestPauseNs = initiator.longestPauseNs();
            enter(Phase.DRAINING);
        }
    }

    private void whileDraining(long inPhaseNs) {
        if (side.initiator.isDrained()) {
            side.conversation.send(new Message(Message.FINISH).put("sent", side.sent()));
            enter(Phase.COMPARING);
        } else if (inPhaseNs > DRAIN_NS) {
            fail(ExitCode.FAILED, "messages to peer " + server + " are still not complete " + inPhaseNs / 1_000_000_000 + " s after the last was posted");
        }
    }

    private void whileComparing(Endpoint endpoint, long inPhaseNs) {
        if (serverResult == null) {
            if (inPhaseNs > RESULT_NS) {
                fail(ExitCode.PEER, "peer " + server + " does not send its result");
            }
            return;
        }
        long serverSent = serverResult.number("sent");
        boolean allHere = side.target == null || !Target.usesReceives(plan) || (side.target.received() == serverSent && side.target.isIdle());
        if (!allHere && inPhaseNs <= RESULT_NS) {
            return;
        }
        result.server = Traffic.from(serverResult);
        result.serverTimes = Times.from(serverResult);
        result.sentInAll = side.sent() + serverSent;
        result.checkedInAll = side.right() + serverResult.number("right");
        result.fault = side.fault().isEmpty() ? serverResult.text("fault") : side.fault();
        if (plan.bidirectional()) {
            result.messages += serverResult.number("messages");
        }
        endpoint.close(nowNs, connection);
        enter(Phase.CLOSING);
    }

    private void enter(Phase next) {
        phase = next;
        phaseStartNs = nowNs;
        progress.phase = next.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
    }

    private void fail(int exitCode, String line) {
        if (failure == null && phase != Phase.OVER) {
            failure = new CliException(exitCode, line);
        }
        // Tells the peer where that is still possible; the loop turns a few more times for it.
        loop.endpoint().abort(nowNs, connection, Reason.APPLICATION_ABORT);
        finish();
    }

    private void finish() {
        if (side != null) {
            side.retire();
        }
        enter(Phase.OVER);
        loop.stop();
    }
}
