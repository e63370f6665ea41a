// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

import io.metaroce.simulator.core.EventQueue;

/** One deadline of a host, which may be moved at will: at most one event is under way for it that is not too late. */
final class Timer {
    private static final long NEVER = Long.MAX_VALUE;

    private final EventQueue events;
    private final long event;
    private final Runnable task;
    private long deadlinePs = NEVER;
    private long scheduledPs = NEVER;

    Timer(EventQueue events, long event, Runnable task) {
        this.events = events;
        this.event = event;
        this.task = task;
    }

    boolean isSet() {
        return deadlinePs != NEVER;
    }

    /** Replaces the deadline. */
    void at(long ps) {
        deadlinePs = Math.max(ps, events.nowPs());
        if (deadlinePs < scheduledPs) {
            scheduledPs = deadlinePs;
            events.at(deadlinePs, event);
        }
    }

    /** Sets the deadline if none is set. */
    void atMost(long ps) {
        if (!isSet()) {
            at(ps);
        }
    }

    void stop() {
        deadlinePs = NEVER;
    }

    /** The event has come. */
    void fire() {
        if (events.nowPs() != scheduledPs) {
            return;
        }
        scheduledPs = NEVER;
        if (deadlinePs > events.nowPs()) {
            if (deadlinePs != NEVER) {
                at(deadlinePs);
            }
            return;
        }
        deadlinePs = NEVER;
        task.run();
    }
}
