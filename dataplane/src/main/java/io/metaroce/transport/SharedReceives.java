// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Serial;

/**
 * Shared receive queues (spec: "Shared receive queues"). A receive of such a queue is moved to a stream when credit for it is told, so
 * that to the packets that come it is a receive of their stream like any other. Streams that wait for one stand in line.
 */
final class SharedReceives {
    private final EndpointState state;
    private final StreamTable streams;
    private final Slab slab;
    private final Queue[] queues;
    /** Receives of one stream that may be bound at a time. */
    private final int perStream;

    /** Receives in a ring, and what is known of those who want them. */
    private static final class Queue {
        final long base;
        final int mask;
        int head;
        /** Not bound to a stream. */
        int free;
        int bound;
        /** Fewer free ones than this make one event; 0: none. */
        int limit;
        /** Streams in line, by number in their pool + 1. */
        int first;
        int last;

        Queue(long base, int depth) {
            this.base = base;
            mask = depth - 1;
        }

        long at(int i) {
            return base + (long) (i & mask) * ReceiveQueue.ENTRY_BYTES;
        }
    }

    SharedReceives(EndpointState state, StreamTable streams) {
        this.state = state;
        this.streams = streams;
        slab = state.slab;
        perStream = state.config.sharedReceivesPerStream;
        queues = new Queue[state.config.sharedReceiveDomains.length];
        int depth = state.config.sharedReceiveDepth;
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new Queue(slab.carve((long) depth * ReceiveQueue.ENTRY_BYTES), depth);
        }
    }

    static long bytes(EndpointConfig config) {
        return config.sharedReceiveDomains.length * Slab.roundUp((long) config.sharedReceiveDepth * ReceiveQueue.ENTRY_BYTES);
    }

    boolean exists(int queue) {
        return queue >= 0 && queue < queues.length;
    }

    int free(int queue) {
        return queues[queue].free;
    }

    /** Adds a receive; false when the queue or the completion queue is full. */
    boolean post(int queue, long address, int length, int localKey, long list, long wrId) {
        Queue q = queues[queue];
        if (q.free + q.bound > q.mask || !state.completions.reserve()) {
            return false;
        }
        ReceiveQueue.write(state, q.at(q.head + q.free++), address, length, localKey, list, wrId);
        serveLine(q);
        return true;
    }

    /** From now on the event comes once when fewer than {@code limit} receives are free. */
    void notifyBelow(int queue, int limit) {
        queues[queue].limit = limit;
        watch(queues[queue], queue);
    }

    /** The stream takes its receives from the queue, from the first on. */
    void attach(long stream, int queue) {
        slab.putInt(stream + StreamRecord.SHARED_QUEUE, queue + 1);
        serve(stream);
    }

    /** The peer has messages for the receives below index {@code wanted}. */
    void want(long stream, int wanted) {
        if (Serial.diff(wanted, slab.getInt(stream + StreamRecord.WANTED)) > 0) {
            slab.putInt(stream + StreamRecord.WANTED, wanted);
        }
        if (slab.getInt(stream + StreamRecord.SHARED_QUEUE) != 0) {
            serve(stream);
        }
    }

    /** One of the stream's receives is complete. */
    void completed(long stream) {
        queueOf(stream).bound--;
        serve(stream);
        if (outstanding(stream) == 0) {
            giveRing(stream);
        }
    }

    /** The stream has ended: its receives go back, for others. */
    void release(long stream) {
        Queue q = queueOf(stream);
        leaveLine(q, stream);
        for (int i = slab.getInt(stream + StreamRecord.RECEIVES_DONE); i != slab.getInt(stream + StreamRecord.RECEIVES_POSTED); i++) {
            copy(ReceiveQueue.entry(state, stream, i), q.at(q.head + q.free++));
            q.bound--;
        }
        slab.putInt(stream + StreamRecord.RECEIVES_DONE, slab.getInt(stream + StreamRecord.RECEIVES_POSTED));
        giveRing(stream);
        serveLine(q);
    }

    private Queue queueOf(long stream) {
        return queues[slab.getInt(stream + StreamRecord.SHARED_QUEUE) - 1];
    }

    private int outstanding(long stream) {
        return slab.getInt(stream + StreamRecord.RECEIVES_POSTED) - slab.getInt(stream + StreamRecord.RECEIVES_DONE);
    }

    private boolean wantsMore(long stream) {
        return Serial.diff(slab.getInt(stream + StreamRecord.WANTED), slab.getInt(stream + StreamRecord.RECEIVES_POSTED)) > 0
                && outstanding(stream) < perStream;
    }

    /** Binds what the stream asked for; unasked one receive, if that leaves as many free as are bound. */
    private void serve(long stream) {
        if (slab.getInt(stream + StreamRecord.STATE) != StreamRecord.OPEN) {
            return;
        }
        Queue q = queueOf(stream);
        if (wantsMore(stream) && slab.getInt(stream + StreamRecord.IN_LINE) == 0) {
            // Those that came before go first.
            while (q.first == 0 && q.free > 0 && wantsMore(stream)) {
                bind(q, stream);
            }
            if (wantsMore(stream)) {
                joinLine(q, stream);
            }
        } else if (outstanding(stream) == 0 && q.free > q.bound + 1) {
            bind(q, stream);
        }
    }

    /** Whoever waits longest gets one receive, then the next, as long as there are any. */
    private void serveLine(Queue q) {
        while (q.first != 0 && q.free > 0) {
            long stream = state.streams.at(q.first - 1);
            int next = slab.getInt(stream + StreamRecord.IN_LINE);
            slab.putInt(stream + StreamRecord.IN_LINE, 0);
            q.first = next == END ? 0 : next;
            bind(q, stream);
            if (wantsMore(stream)) {
                joinLine(q, stream);
            }
        }
    }

    /** Moves a free receive to the stream and has the peer told. */
    private void bind(Queue q, long stream) {
        if (slab.getLong(stream + StreamRecord.RECEIVE_QUEUE) == 0) {
            // Never empty: there is a ring for each receive.
            slab.putLong(stream + StreamRecord.RECEIVE_QUEUE, state.sharedRings.take());
        }
        copy(q.at(q.head++), ReceiveQueue.entry(state, stream, slab.addInt(stream + StreamRecord.RECEIVES_POSTED, 1) - 1));
        q.free--;
        q.bound++;
        streams.addNews(stream, StreamTable.NEWS_CREDIT);
        if (q.limit != 0) {
            watch(q, slab.getInt(stream + StreamRecord.SHARED_QUEUE) - 1);
        }
    }

    private void watch(Queue q, int queue) {
        if (q.free >= q.limit) {
            return;
        }
        Event event = state.events.push(true);
        if (event == null) {
            // Comes with the next receive that is bound.
            state.counters.eventOverflow++;
            return;
        }
        event.kind = Event.SHARED_RECEIVES_LOW;
        event.connection = 0;
        event.stream = queue;
        q.limit = 0;
    }

    // ---- the line ----

    private static final int END = -1;

    private void joinLine(Queue q, long stream) {
        int number = state.streams.indexOf(stream) + 1;
        slab.putInt(stream + StreamRecord.IN_LINE, END);
        if (q.first == 0) {
            q.first = number;
        } else {
            slab.putInt(state.streams.at(q.last - 1) + StreamRecord.IN_LINE, number);
        }
        q.last = number;
    }

    private void leaveLine(Queue q, long stream) {
        int next = slab.getInt(stream + StreamRecord.IN_LINE);
        if (next == 0) {
            return;
        }
        slab.putInt(stream + StreamRecord.IN_LINE, 0);
        int number = state.streams.indexOf(stream) + 1;
        if (q.first == number) {
            q.first = next == END ? 0 : next;
            return;
        }
        long before = state.streams.at(q.first - 1);
        while (slab.getInt(before + StreamRecord.IN_LINE) != number) {
            before = state.streams.at(slab.getInt(before + StreamRecord.IN_LINE) - 1);
        }
        slab.putInt(before + StreamRecord.IN_LINE, next);
        if (next == END) {
            q.last = state.streams.indexOf(before) + 1;
        }
    }

    private void giveRing(long stream) {
        long ring = slab.getLong(stream + StreamRecord.RECEIVE_QUEUE);
        if (ring != 0) {
            state.sharedRings.give(ring);
            slab.putLong(stream + StreamRecord.RECEIVE_QUEUE, 0);
        }
    }

    private void copy(long from, long to) {
        for (int i = 0; i < ReceiveQueue.ENTRY_BYTES; i += Long.BYTES) {
            slab.putLong(to + i, slab.getLong(from + i));
        }
    }
}
