// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import org.HdrHistogram.Histogram;

/**
 * The side that messages arrive at: posts one receive for each slot, checks a message when its completion arrives, and only
 * then posts the slot's receive again. As a message waits for a receive at its target, no slot is overwritten before it was
 * checked. Allocation-free after construction. Loop's thread.
 */
final class Target {
    /** Told of every message that was taken in (and checked, if the plan says so). */
    interface Listener {
        void arrived(int stream);
    }

    private final Plan plan;
    private final RunMemory memory;
    private final int localKey;
    private final Endpoint endpoint;
    private final int connection;
    private final Listener listener;
    private final Verifier verifier;
    private final Histogram oneWay = new Histogram(1, Integer.MAX_VALUE, 3);
    private long received;
    private long misfits;

    /** @param listener may be null */
    Target(Plan plan, RunMemory memory, int localKey, Endpoint endpoint, int connection, Listener listener) {
        this.plan = plan;
        this.memory = memory;
        this.localKey = localKey;
        this.endpoint = endpoint;
        this.connection = connection;
        this.listener = listener;
        verifier = new Verifier(memory, this::release);
    }

    /** Tells whether arriving messages use receives at all: a plain Write and a Read leave no trace at the target. */
    static boolean usesReceives(Plan plan) {
        return plan.op() == Op.SEND || (plan.op() == Op.WRITE && plan.tells());
    }

    /** Posts the receives of all slots. */
    void start() {
        if (!usesReceives(plan)) {
            return;
        }
        for (int stream = 1; stream <= plan.streams(); stream++) {
            for (int slot = 0; slot < plan.slots(); slot++) {
                postReceive(stream, slot);
            }
        }
    }

    /** A receive completion of this connection, status OK, not stream 0. */
    void onReceive(long nowNs, Completion completion) {
        received++;
        if (plan.oneWay()) {
            // The lower half of the clock is enough for two seconds. A turn that began before the post may bring the message.
            oneWay.recordValue(Math.max(1, (int) nowNs - completion.immediate));
        }
        int stream = completion.stream;
        int slot = (int) completion.wrId;
        if (completion.byteLength != plan.size() || completion.hasImmediate != plan.tells()) {
            misfits++;
        }
        if (plan.verify()) {
            verifier.add(stream, slot, completion.immediate);
        } else {
            release(stream, slot, true);
        }
    }

    /** Checks what waits. Returns true if it did something. */
    boolean poll() {
        return verifier.step();
    }

    private void release(int stream, int slot, boolean right) {
        postReceive(stream, slot);
        if (listener != null) {
            listener.arrived(stream);
        }
    }

    private void postReceive(int stream, int slot) {
        int outcome = endpoint.postReceive(connection, stream, memory.segment.address() + memory.slotOffset(stream, slot),
                plan.size(), localKey, slot);
        // A connection that is gone, or a stream in error, is reported as an event.
        if (outcome != Endpoint.OK && outcome != Endpoint.BAD_CONNECTION && outcome != Endpoint.STREAM_IN_ERROR) {
            throw new IllegalStateException("the endpoint rejects a receive with code " + outcome);
        }
    }

    /** From when messages were due to the turn in which they were found here, nanoseconds; with {@link Plan#oneWay}. */
    Histogram oneWay() {
        return oneWay;
    }

    /** Messages that arrived, each counted once. */
    long received() {
        return received;
    }

    /** Messages that arrived and were found right; without verification, none. */
    long right() {
        return verifier.right() - Math.min(misfits, verifier.right());
    }

    /** True when every message that arrived was checked. */
    boolean isIdle() {
        return verifier.waiting() == 0;
    }

    /** "" while all was right. */
    String firstFault() {
        return misfits > 0 && verifier.wrong() == 0 ? misfits + " messages have the wrong length" : verifier.firstFault();
    }
}
