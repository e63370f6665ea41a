// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

/** Everything a scenario may do to a transport. A {@link Profile} can forbid any of them, which is how a failure is made smaller. */
enum Fault {
    LOSS, BURST, REORDER, DUPLICATE, CORRUPT, DELAY, BLACKHOLE, FLAP, MARK, CONGESTION, PAUSE, OUTAGE,
    /** Hosts' clocks differ, run too fast or slow, and start anew with their host. */
    CLOCK,
    /** An endpoint loses its state and comes back at the same address. */
    RESTART,
    ABORT,
    /** Graceful close while the scenario runs, and connecting again. */
    CLOSE,
    /** Requests that the target must refuse, and some that the own side must. */
    BAD_REQUEST,
    /** A region is deregistered while requests name it. */
    FLEETING,
    /** Pools, queues and windows of the smallest sizes. */
    SMALL,
    /** 3 to 8 endpoints; without it 2. */
    MANY;

    static final int ALL = (1 << values().length) - 1;

    int bit() {
        return 1 << ordinal();
    }
}
