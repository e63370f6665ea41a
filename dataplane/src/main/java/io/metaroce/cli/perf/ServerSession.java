// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.cli.Quantity;
import io.metaroce.core.Stages;
import io.metaroce.memory.RegionTable;
import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** One client's run at the server, from its connection to the result. Loop's thread. */
final class ServerSession {
    /** How long the server waits after "finish" for messages that are complete at the client to be checked here. */
    private static final long SETTLE_NS = 4_000_000_000L;

    final int connection;
    final String peer;
    private final Endpoint endpoint;
    private final Stages stages;
    private final Side side;
    private final Executor background;
    private final long seed;
    private final Consumer<String> log;

    private Plan plan;
    private Message hello;
    private CompletableFuture<RunMemory> pendingMemory;
    private Traffic traffic = new Traffic();
    private Times times = new Times(null, null);
    private long measuredMessages;
    private Message finish;
    private long finishNs;
    private boolean finished;
    private long nowNs;

    /** @param stages of the loop, or null */
    ServerSession(Endpoint endpoint, Stages stages, RegionTable regions, int connection, Executor background, long seed, Consumer<String> log) {
        this.endpoint = endpoint;
        this.stages = stages;
        this.connection = connection;
        this.background = background;
        this.seed = seed;
        this.log = log;
        peer = endpoint.describePeer(connection);
        side = new Side(endpoint, regions, connection);
    }

    void onCompletion(long now, Completion completion) {
        nowNs = now;
        side.onCompletion(now, completion);
    }

    boolean poll(long now) {
        nowNs = now;
        boolean worked = side.poll(now);
        for (Message m; (m = side.conversation.poll()) != null; ) {
            try {
                onMessage(m);
            } catch (IllegalArgumentException e) {
                sorry(e.getMessage());
            }
            worked = true;
        }
        if (pendingMemory != null && pendingMemory.isDone()) {
            worked = true;
            memoryIsReady();
        }
        if (finish != null) {
            compare();
        }
        return worked;
    }

    private void onMessage(Message m) {
        switch (m.word) {
            case Message.HELLO -> {
                if (hello != null) {
                    throw new IllegalArgumentException("a second hello");
                }
                plan = Plan.from(m);
                hello = m;
                Offer.from(m, plan);
                log.accept("client " + peer + ": " + plan.op() + " " + Quantity.formatBytes(plan.size()) + ", " + plan.streams()
                        + " stream(s), " + plan.depth() + " in flight" + (plan.bidirectional() ? ", both directions" : "")
                        + (plan.pingPong() ? ", ping-pong" : "") + (plan.verify() ? ", verified" : "")
                        + (side.endpoint.isEncrypted(side.connection) ? ", encrypted" : ""));
                // Filling gigabytes takes longer than a peer waits for a sign of life: not on the loop's thread.
                Plan p = plan;
                pendingMemory = CompletableFuture.supplyAsync(() -> new RunMemory(p, seed), background);
            }
            case Message.BEGIN -> {
                log.accept("client " + peer + ": measuring");
                side.mark();
                side.target.oneWay().reset();
                if (stages != null) {
                    stages.reset();
                }
                if (side.initiator != null) {
                    side.initiator.startMeasuring(nowNs, Long.MAX_VALUE);
                }
            }
            case Message.END -> {
                traffic = side.sinceMark();
                times = new Times(plan.oneWay() ? side.target.oneWay() : null, stages);
                if (side.initiator != null && !plan.pingPong()) {
                    side.initiator.endMeasuring(nowNs);
                    side.initiator.stop();
                    measuredMessages = side.initiator.messages();
                }
            }
            case Message.FINISH -> {
                finish = m;
                finishNs = nowNs;
            }
            default -> throw new IllegalArgumentException("'" + m.word + "' is not known here");
        }
    }

    private void memoryIsReady() {
        RunMemory memory;
        try {
            memory = pendingMemory.join();
        } catch (CompletionException e) {
            pendingMemory = null;
            sorry("the server has no memory for it: " + e.getCause().getMessage());
            return;
        }
        pendingMemory = null;
        Message ready = new Message(Message.READY);
        side.prepare(plan, memory, false, plan.pingPong() ? stream -> side.initiator.owe(nowNs, stream) : null).putInto(ready);
        if (plan.bidirectional() || plan.pingPong()) {
            side.addInitiator(Offer.from(hello, plan));
            side.initiator.start(nowNs);
        }
        side.conversation.send(ready);
    }

    /** Answers "finish" once all that the client sent is checked and all that we sent is complete, or when it takes too long. */
    private void compare() {
        boolean allHere = !Target.usesReceives(plan) || (side.target.received() >= finish.number("sent") && side.target.isIdle());
        boolean allGone = side.initiator == null || side.initiator.isDrained();
        if (!(allHere && allGone) && nowNs - finishNs < SETTLE_NS) {
            return;
        }
        Message result = new Message(Message.RESULT).put("sent", side.sent()).put("messages", measuredMessages);
        long received = side.target.received();
        String fault = side.fault();
        if (fault.isEmpty() && plan.verify() && Target.usesReceives(plan) && received != finish.number("sent")) {
            fault = "the server received " + received + " messages, the client sent " + finish.number("sent");
        }
        result.put("received", received).put("right", side.right()).put("fault", fault);
        traffic.putInto(result);
        times.putInto(result);
        side.conversation.send(result);
        finish = null;
        finished = true;
        log.accept("client " + peer + ": done" + (fault.isEmpty() ? "" : ", " + fault));
    }

    private void sorry(String why) {
        log.accept("client " + peer + ": refused: " + why);
        side.conversation.send(new Message(Message.SORRY).put("text", why));
        finished = true;
        endpoint.close(nowNs, connection);
    }

    /** Whether the client got its result or refusal, so that its leaving is expected. */
    boolean isFinished() {
        return finished;
    }

    /** The connection is gone: takes the memory out of use. */
    void retire() {
        side.retire();
    }

    /** Frees the memory, from any thread, when no packet can refer to it any more. */
    void free() {
        if (pendingMemory != null) {
            pendingMemory.thenAccept(RunMemory::close);
        }
        side.free();
    }
}
