// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.Opcode;
import org.HdrHistogram.Histogram;

/**
 * The side that posts: keeps {@code depth} messages in flight on each stream of one connection, and times each from post to
 * completion. Allocation-free after construction. Loop's thread.
 */
final class Initiator {
    /** Latencies are recorded up to a minute; longer ones count as a minute. */
    private static final long LONGEST_NS = 60_000_000_000L;

    private final Plan plan;
    private final RunMemory memory;
    private final int localKey;
    private final Offer remote;
    private final Endpoint endpoint;
    private final int connection;
    private final WorkRequest work = new WorkRequest();
    private final Verifier readVerifier;
    /** Most messages of a stream that may be posted and not complete. */
    private final int window;
    /** By stream: messages posted, completed, and (a Read: checked and) out of the way so far. */
    private final long[] posted;
    private final long[] completed;
    private final long[] done;
    /** By stream, ping-pong only: messages to post. */
    private final int[] owed;
    /** By stream and message modulo window: when it was posted, or due. */
    private final long[] postedAtNs;
    /** Null: as many at once as the depth allows. */
    private Schedule schedule;
    private boolean posting;
    private boolean starved;
    private long inFlight;
    private long totalPosted;
    private long totalOwed;

    /* The measured interval. */
    private final Histogram latency = new Histogram(1, LONGEST_NS, 3);
    private boolean measuring;
    private long messages;
    private long messageLimit;
    private long startNs;
    private long endNs;
    private long lastCompletionNs;
    private long longestPauseNs;

    /** @param localKey of {@code memory}'s region */
    Initiator(Plan plan, RunMemory memory, int localKey, Offer remote, Endpoint endpoint, int connection) {
        this.plan = plan;
        this.memory = memory;
        this.localKey = localKey;
        this.remote = remote;
        this.endpoint = endpoint;
        this.connection = connection;
        // A pong may arrive before the acknowledgement of its ping, so that a second message is posted before the first is done.
        window = plan.pingPong() ? plan.slots() : plan.depth();
        posted = new long[plan.streams() + 1];
        completed = new long[plan.streams() + 1];
        done = new long[plan.streams() + 1];
        owed = new int[plan.streams() + 1];
        postedAtNs = new long[(plan.streams() + 1) * window];
        readVerifier = plan.op() == Op.READ && plan.verify() ? new Verifier(memory, (stream, slot, right) -> release(stream)) : null;
    }

    /** Before the start: posts no faster than this, and counts latency from when a message was due. One stream, no ping-pong. */
    void follow(Schedule steady) {
        schedule = steady;
    }

    /** Begins to post; in ping-pong mode only what is {@link #owe owed}. */
    void start(long nowNs) {
        posting = true;
        if (schedule != null) {
            schedule.start(nowNs);
        }
        fill(nowNs);
    }

    /** Ping-pong: one more message on this stream, now or as soon as there is room. */
    void owe(long nowNs, int stream) {
        owed[stream]++;
        totalOwed++;
        if (posting) {
            post(nowNs, stream);
        }
    }

    /** No new messages; those in flight go on. */
    void stop() {
        posting = false;
    }

    /** True when nothing is in flight or waits to be checked. */
    boolean isDrained() {
        return inFlight == 0 && (totalOwed == 0 || !posting);
    }

    long totalPosted() {
        return totalPosted;
    }

    /** The measured interval begins; it ends by {@link #endMeasuring} or with the {@code limit}-th completion. */
    void startMeasuring(long nowNs, long limit) {
        messages = 0;
        messageLimit = limit;
        latency.reset();
        startNs = nowNs;
        endNs = nowNs;
        lastCompletionNs = nowNs;
        longestPauseNs = 0;
        measuring = true;
        if (schedule != null) {
            schedule.start(nowNs);
        }
    }

    void endMeasuring(long nowNs) {
        if (measuring) {
            measuring = false;
            endNs = nowNs;
            longestPauseNs = Math.max(longestPauseNs, nowNs - lastCompletionNs);
        }
    }

    boolean isMeasuring() {
        return measuring;
    }

    /** Messages completed in the measured interval so far. */
    long messages() {
        return messages;
    }

    /** Length of the measured interval in nanoseconds, once it has ended. */
    long measuredNs() {
        return endNs - startNs;
    }

    /** Longest time between two completions in the measured interval, nanoseconds. */
    long longestPauseNs() {
        return longestPauseNs;
    }

    /** Latencies of the measured interval, nanoseconds. */
    Histogram latency() {
        return latency;
    }

    /** Checks Reads and retries posts that found the queue full. Returns true if it did something. */
    boolean poll(long nowNs) {
        boolean worked = readVerifier != null && readVerifier.step();
        if (posting && (starved || worked || totalOwed > 0 || schedule != null && schedule.isDue(nowNs))) {
            fill(nowNs);
        }
        return worked;
    }

    /** A completion of this connection that is not a receive, status OK, not stream 0. */
    void onCompletion(long nowNs, Completion completion) {
        int stream = completion.stream;
        long message = completed[stream]++;
        long postedNs = postedAtNs[stream * window + (int) (message % window)];
        // What was due before the measured interval belongs to the warm-up.
        if (!plan.pingPong() && (schedule == null || postedNs - startNs >= 0)) {
            count(nowNs, nowNs - postedNs);
        }
        if (readVerifier != null) {
            int source = RunMemory.sourceOf(message, stream, plan.sources());
            readVerifier.add(stream, (int) (message % plan.slots()), remote.checksums()[source]);
            return;
        }
        release(stream);
        if (posting) {
            post(nowNs, stream);
        }
    }

    /** Counts a message as completed now: its completion, or in ping-pong mode the arrival of the answer. */
    void count(long nowNs, long latencyNs) {
        if (!measuring) {
            return;
        }
        messages++;
        latency.recordValue(Math.min(Math.max(latencyNs, 1), LONGEST_NS));
        longestPauseNs = Math.max(longestPauseNs, nowNs - lastCompletionNs);
        lastCompletionNs = nowNs;
        if (messages == messageLimit) {
            endMeasuring(nowNs);
        }
    }

    /** When the last message of the stream was posted. */
    long lastPostNs(int stream) {
        return postedAtNs[stream * window + (int) ((posted[stream] - 1) % window)];
    }

    private void release(int stream) {
        done[stream]++;
        inFlight--;
    }

    private void fill(long nowNs) {
        starved = false;
        // Message by message over the streams, so that a full queue does not leave the last streams without any.
        for (boolean more = true; more && !starved; ) {
            more = false;
            for (int stream = 1; stream <= plan.streams() && !starved; stream++) {
                more |= post(nowNs, stream);
            }
        }
    }

    /** Posts the next message of the stream. Returns false if it may not or the queue is full. */
    private boolean post(long nowNs, int stream) {
        boolean wanted = posted[stream] - done[stream] < window && (!plan.pingPong() || owed[stream] > 0) && (schedule == null || schedule.isDue(nowNs));
        if (!wanted) {
            return false;
        }
        long message = posted[stream];
        int source = RunMemory.sourceOf(message, stream, plan.sources());
        int slot = (int) (message % plan.slots());
        long sourceOffset = memory.sourceOffset(source);
        long slotOffset = memory.slotOffset(stream, slot);
        work.stream = stream;
        work.length = plan.size();
        work.localKey = localKey;
        work.wrId = message;
        long dueNs = schedule == null ? nowNs : schedule.nextNs();
        work.immediate = plan.oneWay() ? (int) dueNs : memory.checksum(source);
        work.localAddress = memory.segment.address() + (plan.op() == Op.READ ? slotOffset : sourceOffset);
        work.remoteAddress = plan.op() == Op.SEND ? 0 : remote.address() + (plan.op() == Op.READ ? sourceOffset : slotOffset);
        work.remoteKey = plan.op() == Op.SEND ? 0 : remote.key();
        work.opcode = switch (plan.op()) {
            case WRITE -> plan.tells() ? Opcode.WRITE_IMM : Opcode.WRITE;
            case SEND -> plan.tells() ? Opcode.SEND_IMM : Opcode.SEND;
            case READ -> Opcode.READ_REQUEST;
        };
        int outcome = endpoint.post(connection, work);
        if (outcome != Endpoint.OK) {
            if (outcome != Endpoint.QUEUE_FULL && outcome != Endpoint.STREAM_IN_ERROR && outcome != Endpoint.BAD_CONNECTION) {
                throw new IllegalStateException("the endpoint rejects a work request with code " + outcome);
            }
            // A failed stream or connection is reported as an event; here it only means that nothing more is posted.
            starved = true;
            return false;
        }
        postedAtNs[stream * window + (int) (message % window)] = dueNs;
        if (schedule != null) {
            schedule.take();
        }
        if (plan.pingPong()) {
            owed[stream]--;
            totalOwed--;
        }
        posted[stream]++;
        totalPosted++;
        inFlight++;
        return true;
    }

    /** Reads checked so far and right; only for Read with verification. */
    Verifier readVerifier() {
        return readVerifier;
    }
}
