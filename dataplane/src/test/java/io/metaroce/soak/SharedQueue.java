// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Segments;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** The shared receive queue of a host, and what must come of the receives in it: each has one message, and none is flushed. */
final class SharedQueue {
    static final int QUEUE = 0;
    /** So that memory suffices. */
    private static final int MOST = 16;

    private final Host host;
    private final Model model;
    private final Segments segments = new Segments(Settings.SEGMENTS);
    /** Posted and not complete. */
    private final Map<Long, Side.Receive> receives = new HashMap<>();
    /** A stream with bound receives may have ended: they are out of order from then on, and may hold anything. */
    private boolean anyReturned;
    /** Below so many free ones the application wants to be told; 0: it does not. */
    private int limit;

    SharedQueue(Host host, Model model) {
        this.host = host;
        this.model = model;
    }

    static void configure(EndpointConfig c, SplittableRandom r) {
        c.sharedReceiveDomains = new int[] {0};
        c.sharedReceiveDepth = 32;
        c.sharedReceivesPerStream = Settings.pick(r, 1, 2, 16);
        c.segmentListPool += c.sharedReceiveDepth;
    }

    /** Which streams of a new connection use the queue: all, some, or none. */
    void adopt(Side s) {
        int how = Pieces.mixed(s.bornNs + 5) % 3;
        if (how == 0 && use(s, Endpoint.ALL_STREAMS)) {
            for (Side.Stream stream : s.streams) {
                stream.shared = true;
            }
        }
        for (int i = 0; how == 1 && i < s.streams.length; i++) {
            s.streams[i].shared = Pieces.mixed(s.bornNs + i * 7L) % 2 == 0 && use(s, i);
        }
    }

    private boolean use(Side s, int stream) {
        int result = host.endpoint.useSharedReceives(s.handle, stream, QUEUE);
        if (result == Endpoint.BAD_STREAM && host.endpoint.liveStreams() == host.config.streamPool || result == Endpoint.STREAM_IN_ERROR && s.streams[stream].mayFail
                || result == Endpoint.NO_CONTEXT && Traffic.lacksContext(s)) {
            return false;
        }
        if (result != Endpoint.OK) {
            throw new Violation(s + ": stream " + stream + " cannot use the shared queue: " + result);
        }
        return true;
    }

    /** In calm as many stay free as messages wait, so that no stream goes without; before that now and then one. */
    void offer(boolean calm, SplittableRandom r) {
        int waiting = 0;
        for (Side s : host.sides.values()) {
            for (int i = 0; i < s.streams.length && s.peer != null; i++) {
                waiting += s.streams[i].shared ? s.peer.streams[i].undelivered.size() : 0;
            }
        }
        int wanted = calm ? Math.min(waiting, MOST) : r.nextInt(8) == 0 ? Math.min(waiting + 1, MOST) : 0;
        for (int free = host.endpoint.freeSharedReceives(QUEUE); free < wanted && post(); free = host.endpoint.freeSharedReceives(QUEUE)) {
            limit = limit == 0 && r.nextInt(8) == 0 ? ask(1 + r.nextInt(4)) : limit;
        }
    }

    private int ask(int below) {
        // At once, if there are fewer now.
        limit = below;
        host.endpoint.notifySharedReceivesBelow(QUEUE, below);
        return limit;
    }

    private boolean post() {
        HostMemory.Range range = host.memory.takeForReceive(Traffic.RECEIVE_BYTES);
        if (range == null) {
            return false;
        }
        long id = model.nextId();
        Pieces pieces = Pieces.mixed(id) % 3 == 0 ? Pieces.of(Traffic.RECEIVE_BYTES, id) : null;
        int result = pieces != null ? host.endpoint.postSharedReceive(QUEUE, pieces.into(segments, range), id)
                : host.endpoint.postSharedReceive(QUEUE, range.address(), Traffic.RECEIVE_BYTES, range.region().key(), id);
        if (result == Endpoint.OK) {
            receives.put(id, new Side.Receive(id, range, Traffic.RECEIVE_BYTES, pieces));
            return true;
        }
        host.memory.release(range);
        if (result != Endpoint.QUEUE_FULL || receives.size() < host.config.sharedReceiveDepth) {
            throw new Violation(host + ": posting a receive to the shared queue returned " + result);
        }
        return false;
    }

    /** One of them is complete, on this stream. */
    Side.Receive complete(Side side, int number, long id) {
        Side.Receive r = receives.remove(id);
        if (r == null) {
            throw new Violation(side + ": completion of receive " + id + ", which the shared queue has not");
        }
        Side.Stream stream = side.streams[number];
        if (!anyReturned && id < stream.lastShared) {
            throw new Violation(side + ": receive " + id + " of the shared queue comes after " + stream.lastShared);
        }
        stream.lastShared = id;
        model.count(Check.SHARED_RECEIVE);
        return r;
    }

    /** A stream or connection ended that may have had receives bound. */
    void mayHaveReturned() {
        anyReturned = true;
    }

    boolean hasReturned() {
        return anyReturned;
    }

    void isLow() {
        if (limit == 0) {
            throw new Violation(host + " is told that receives run low, and has not asked");
        }
        limit = 0;
        model.count(Check.SHARED_LOW);
    }

    /** When all is polled: who asked has been told. */
    void check() {
        if (limit > 0 && host.endpoint.freeSharedReceives(QUEUE) < limit && host.endpoint.counters().eventOverflow == 0) {
            throw new Violation(host + " is not told that fewer than " + limit + " shared receives are free");
        }
        if (host.endpoint.freeSharedReceives(QUEUE) > receives.size()) {
            throw new Violation(host + ": more shared receives are free than were posted");
        }
    }

    /** Lists of segments that its receives hold. */
    int lists() {
        return (int) receives.values().stream().filter(r -> r.pieces() != null).count();
    }

    /** All connections are over, and what is left is free again. Ends of streams may have left anything in it. */
    void end() {
        if (host.endpoint.freeSharedReceives(QUEUE) != receives.size()) {
            throw new Violation(host + ": " + host.endpoint.freeSharedReceives(QUEUE) + " shared receives are free of " + receives.size());
        }
        drop();
    }

    /** With the process. */
    void drop() {
        receives.values().forEach(r -> host.memory.freeze(r.range()));
        receives.clear();
        limit = 0;
        anyReturned = false;
    }
}
