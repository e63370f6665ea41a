// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

/**
 * When messages are due that are to be posted at a steady rate, whatever the network does. Latency counts from when a message was due: one
 * that could not be posted in time because others were late has waited already, which measuring from its post would leave out (coordinated
 * omission). Loop's thread.
 */
final class Schedule {
    private final double intervalNs;
    private long startNs;
    private long taken;
    private long nextNs;

    /** @param perSecond messages a second, more than 0 */
    Schedule(double perSecond) {
        intervalNs = 1e9 / perSecond;
    }

    /** The first message is due now; what was due before and not posted is forgotten. */
    void start(long nowNs) {
        startNs = nowNs;
        nextNs = nowNs;
        taken = 0;
    }

    /** When the next message is due. */
    long nextNs() {
        return nextNs;
    }

    boolean isDue(long nowNs) {
        return nextNs - nowNs <= 0;
    }

    /** The next message is posted. */
    void take() {
        nextNs = startNs + (long) (++taken * intervalNs);
    }
}
