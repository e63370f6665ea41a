// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** How a selectively repeating sender concludes that a packet is lost, apart from being told so. */
interface LossRule {
    /** After an acknowledgement. @param outOfOrder packets that the receiver has beyond the first missing one */
    default void acknowledged(SelectiveSender s, int outOfOrder, boolean probed, long rttPs) {
    }

    /** Time after which a packet that was sent {@code tries} times is sent again unless its arrival is known, ps. */
    long timeoutPs(SelectiveSender s, int tries);

    /** Whether each packet has its timer; otherwise there is one, from the last progress of the first missing packet, and all are repeated. */
    default boolean timesEach() {
        return true;
    }

    /** A packet has timed out. */
    default void timedOut() {
    }

    /** Whether repeats go although the window does not let them, now. */
    default boolean repeatsFreely() {
        return false;
    }

    /** Whether a packet whose time is over waits as long again, as something else is under way to find out about it. */
    default boolean postpones(int tries) {
        return false;
    }

    /** Silence after which {@link #probe} is called while packets are out, ps; 0: never. */
    default long probePs(SelectiveSender s) {
        return 0;
    }

    default void probe(SelectiveSender s) {
    }
}
