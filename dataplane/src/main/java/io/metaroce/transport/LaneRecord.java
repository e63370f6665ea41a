// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Fields of a lane of an encrypted connection: numbers given out, and the replay window over numbers opened (spec: "Sealing"). */
final class LaneRecord {
    static final int BYTES = 80;

    private static final Layout L = new Layout("lane", BYTES);
    /** Number given to the last packet. */
    static final int SENT = L.i32();
    /** Highest number opened. */
    static final int TOP = L.i32();
    /** Bit n modulo the window: the number n, at most {@link #TOP}, was opened. */
    static final int OPENED = L.i64Array(Limits.REPLAY_WINDOW / Long.SIZE);

    static {
        L.end();
    }

    private LaneRecord() {
    }
}
