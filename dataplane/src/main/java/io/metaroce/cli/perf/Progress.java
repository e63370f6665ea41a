// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

/** How far a run is: written by the loop's thread about ten times a second, read by the one that shows it. */
final class Progress {
    static final long INTERVAL_NS = 100_000_000;

    volatile String phase = "connecting";
    /** Bytes completed in the measured interval, and its length so far. */
    volatile long bytes;
    volatile long messages;
    volatile long elapsedNs;
    volatile long retransmissions;
    volatile long timeouts;
}
