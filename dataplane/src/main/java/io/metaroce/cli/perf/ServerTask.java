// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.core.CoreLoop;
import io.metaroce.core.Task;
import io.metaroce.memory.RegionTable;
import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.Event;
import io.metaroce.wire.Reason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/**
 * The server: takes any number of clients, one after another or at once, until it is told to stop. Loop's thread, but for
 * {@link #requestStop}. With no client the loop may sleep.
 */
final class ServerTask implements Task {
    private static final long SLEEP_WITHOUT_CLIENT_NS = 50_000;
    /** How long a stop waits for peers to hear of it. */
    private static final long STOP_NS = 300_000_000L;
    /** Memory of an ended session is freed this much later: no burst or delayed packet refers to it by then. */
    private static final long FREE_AFTER_NS = 2_000_000_000L;

    private record Retired(ServerSession session, long freeAtNs) {
    }

    private final CoreLoop loop;
    private final RegionTable regions;
    private final long seed;
    private final Consumer<String> log;
    private final Completion completion = new Completion();
    private final Event event = new Event();
    private final List<ServerSession> sessions = new ArrayList<>();
    private final ArrayDeque<Retired> retired = new ArrayDeque<>();
    /** Allocates, fills and frees memory, one request at a time. */
    private final ExecutorService background = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("metaroce-memory").factory());
    private boolean stopping;
    private long stopNs;
    private volatile boolean stopRequested;
    private volatile int live;

    /** @param log takes lines about clients that come and go */
    ServerTask(CoreLoop loop, RegionTable regions, long seed, Consumer<String> log) {
        this.loop = loop;
        this.regions = regions;
        this.seed = seed;
        this.log = log;
        loop.parkWhenIdle(SLEEP_WITHOUT_CLIENT_NS);
    }

    /** Tells the clients and ends the loop. Any thread. */
    void requestStop() {
        stopRequested = true;
    }

    /** Clients at the moment. Any thread. */
    int liveSessions() {
        return live;
    }

    @Override
    public boolean poll(long nowNs, Endpoint endpoint) {
        boolean worked = false;
        while (endpoint.pollEvent(event)) {
            onEvent(nowNs, endpoint);
            worked = true;
        }
        while (endpoint.pollCompletion(completion)) {
            ServerSession session = find(completion.connection);
            if (session != null) {
                session.onCompletion(nowNs, completion);
            }
            worked = true;
        }
        for (int i = 0; i < sessions.size(); i++) {
            worked |= sessions.get(i).poll(nowNs);
        }
        while (!retired.isEmpty() && nowNs - retired.peek().freeAtNs() >= 0) {
            background.execute(retired.poll().session()::free);
        }
        if (stopRequested) {
            stop(nowNs, endpoint);
        }
        return worked;
    }

    private void onEvent(long nowNs, Endpoint endpoint) {
        switch (event.kind) {
            case Event.ACCEPTED -> {
                if (stopping) {
                    endpoint.abort(nowNs, event.connection, Reason.SHUTDOWN);
                    return;
                }
                sessions.add(new ServerSession(endpoint, loop.stages(), regions, event.connection, background, seed, log));
                countLive();
            }
            case Event.FAILED, Event.CLOSED -> {
                ServerSession session = find(event.connection);
                if (session == null) {
                    return;
                }
                if (event.kind == Event.FAILED || !session.isFinished()) {
                    log.accept("client " + session.peer + ": " + event.text());
                }
                end(nowNs, session);
            }
            case Event.STREAM_FAILED -> {
                ServerSession session = find(event.connection);
                if (session != null) {
                    log.accept("client " + session.peer + ": " + event.text());
                    endpoint.abort(nowNs, session.connection, Reason.APPLICATION_ABORT);
                    end(nowNs, session);
                }
            }
            default -> { }
        }
    }

    /** The session's connection is gone. */
    private void end(long nowNs, ServerSession session) {
        session.retire();
        sessions.remove(session);
        retired.add(new Retired(session, nowNs + FREE_AFTER_NS));
        countLive();
    }

    private void countLive() {
        live = sessions.size();
        loop.parkWhenIdle(sessions.isEmpty() ? SLEEP_WITHOUT_CLIENT_NS : 0);
    }

    private void stop(long nowNs, Endpoint endpoint) {
        if (!stopping) {
            stopping = true;
            stopNs = nowNs;
            for (ServerSession session : List.copyOf(sessions)) {
                endpoint.abort(nowNs, session.connection, Reason.SHUTDOWN);
                end(nowNs, session);
            }
        }
        if (endpoint.liveConnections() == 0 || nowNs - stopNs > STOP_NS) {
            loop.stop();
        }
    }

    private ServerSession find(int connection) {
        for (int i = 0; i < sessions.size(); i++) {
            if (sessions.get(i).connection == connection) {
                return sessions.get(i);
            }
        }
        return null;
    }

    /** After the loop has ended and its port is closed: frees all memory. */
    void free() {
        for (ServerSession session : sessions) {
            session.free();
        }
        for (Retired r : retired) {
            r.session().free();
        }
        background.shutdown();
    }
}
