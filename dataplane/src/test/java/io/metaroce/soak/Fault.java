// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import java.util.SplittableRandom;

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
    MANY,
    /** A host's own memory is deregistered, registered anew or invalidated while requests, receives or peers name it. */
    OWN_MEMORY,
    /** Messages that find no receive are given up, and some streams never have one. */
    NOT_READY,
    /** Keys change after a few packets, where connections are encrypted. */
    KEYS,
    /** Streams take their receives from queues of their host. */
    SHARED,
    /** Connections give their contexts back while they are idle, of which there may be few. */
    PARK,
    /** Planes are added, moved to other addresses, and removed. */
    PLANES,
    /** Hosts have up to as many paths in a plane as there may be. */
    PATHS;

    static final int ALL = (1 << values().length) - 1;

    /** Drawn from a source of its own, so that scenarios without it are those of the time before it was thought of. */
    boolean isLater() {
        return compareTo(MANY) > 0;
    }

    SplittableRandom source(long seed) {
        return new SplittableRandom(seed * 0x9e3779b97f4a7c15L + ordinal());
    }

    int bit() {
        return 1 << ordinal();
    }
}
