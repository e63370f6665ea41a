// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Serial;

/**
 * What has arrived on a path of the peer's: the 256-bit window from the first PSN not received (spec: "Paths, receiver").
 *
 * <p>Usage per packet: {@link #place} tells where the PSN stands and moves the window's floor; {@link #mark} records it once the
 * layers above have taken the packet.
 */
final class PathReceiver {
    /** Within the window and new. */
    static final int NEW = 0;
    /** Marked already: the very same packet again. */
    static final int DUPLICATE = 1;
    /** Behind the window or of an older route: the stream layer decides; the window stays as it is. */
    static final int PAST = 2;

    /** Instead of an arrival time. */
    static final long NOTHING_TO_ECHO = 0;

    private static final int WORDS = 4;

    private final Slab slab;

    PathReceiver(EndpointState state) {
        slab = state.slab;
    }

    int place(long path, int epoch, int psn, int floorDistance) {
        if (!enter(path, epoch, psn - floorDistance)) {
            return PAST;
        }
        int distance = psn - slab.getInt(path + PathRecord.RX_BASE);
        if (distance < 0) {
            return PAST;
        }
        // Never beyond the window: the base is the floor at least, and a floor distance is 255 at most.
        return (slab.getLong(word(path, distance)) >>> distance & 1) != 0 ? DUPLICATE : NEW;
    }

    /** Records a packet that {@link #place} called NEW. Returns true if it skipped over PSNs not seen: a gap. */
    boolean mark(long path, int psn, boolean ce, int timestamp, long nowNs) {
        int base = slab.getInt(path + PathRecord.RX_BASE);
        int distance = psn - base;
        long word = word(path, distance);
        slab.putLong(word, slab.getLong(word) | 1L << distance);
        if (ce) {
            slab.addInt(path + PathRecord.RX_CE, 1);
        }
        slab.putInt(path + PathRecord.RX_ECHO, timestamp);
        slab.putInt(path + PathRecord.RX_ECHO_PSN, psn);
        slab.putLong(path + PathRecord.RX_ECHO_NS, nowNs);
        int top = slab.getInt(path + PathRecord.RX_TOP);
        boolean gap = psn - top > 0;
        if (psn - top >= 0) {
            slab.putInt(path + PathRecord.RX_TOP, psn + 1);
        }
        if (distance == 0) {
            shift(path, runOfOnes(path));
        }
        return gap;
    }

    /** Whether others show that the packet of this PSN was sent before them. */
    boolean wasSent(long path, int epoch, int psn) {
        int known = slab.getInt(path + PathRecord.RX_EPOCH);
        if (slab.getInt(path + PathRecord.RX_STARTED) == 0 || Serial.newerEpoch(epoch, known)) {
            return false;
        }
        return epoch != known || psn - slab.getInt(path + PathRecord.RX_TOP) < 0;
    }

    /** A probe: all PSNs below {@code nextPsn} have been sent. Returns false if it is of an older route. */
    boolean probe(long path, int epoch, int nextPsn, int floor, int timestamp, long nowNs) {
        if (!enter(path, epoch, floor)) {
            return false;
        }
        if (nextPsn - slab.getInt(path + PathRecord.RX_BASE) <= Limits.PSN_WINDOW) {
            slab.putInt(path + PathRecord.RX_TOP, Serial.max(slab.getInt(path + PathRecord.RX_TOP), nextPsn));
        }
        slab.putInt(path + PathRecord.RX_ECHO, timestamp);
        // As far from the base as may be: it is not before it until the next packet has come.
        slab.putInt(path + PathRecord.RX_ECHO_PSN, slab.getInt(path + PathRecord.RX_BASE) + Integer.MIN_VALUE);
        slab.putLong(path + PathRecord.RX_ECHO_NS, nowNs);
        return true;
    }

    /**
     * Whether a probe, not yet taken, shows that its sender still waits for what was acknowledged when the path was last heard of, so
     * long ago that it would have heard.
     */
    boolean isUnheard(long path, int epoch, int floor, long agoNs, long nowNs) {
        return slab.getInt(path + PathRecord.RX_STARTED) != 0 && epoch == slab.getInt(path + PathRecord.RX_EPOCH)
                && floor - slab.getInt(path + PathRecord.RX_BASE) < 0 && slab.getInt(path + PathRecord.RX_DIRTY) == 0
                && nowNs - slab.getLong(path + PathRecord.RX_ECHO_NS) > agoNs;
    }

    /**
     * How long the sender has gone on waiting for the same packet, by its probes, although it was acknowledged; ns, 0: it does not. The
     * floor is that of a probe just taken.
     */
    long unheardNs(long path, int floor, long nowNs) {
        int nowUs = (int) (nowNs / 1_000) | 1;
        if (floor - slab.getInt(path + PathRecord.RX_BASE) >= 0) {
            slab.putInt(path + PathRecord.RX_UNHEARD_US, 0);
            return 0;
        }
        if (slab.getInt(path + PathRecord.RX_UNHEARD_US) == 0 || slab.getInt(path + PathRecord.RX_UNHEARD_PSN) != floor) {
            slab.putInt(path + PathRecord.RX_UNHEARD_PSN, floor);
            slab.putInt(path + PathRecord.RX_UNHEARD_US, nowUs);
        }
        return (nowUs - slab.getInt(path + PathRecord.RX_UNHEARD_US)) * 1_000L;
    }

    /** Turns to a newer route or moves the base up to the sender's floor; false for an older route. */
    private boolean enter(long path, int epoch, int floor) {
        int known = slab.getInt(path + PathRecord.RX_EPOCH);
        if (slab.getInt(path + PathRecord.RX_STARTED) == 0 || Serial.newerEpoch(epoch, known)) {
            slab.putInt(path + PathRecord.RX_STARTED, 1);
            slab.putInt(path + PathRecord.RX_EPOCH, epoch);
            slab.putInt(path + PathRecord.RX_BASE, floor);
            slab.putInt(path + PathRecord.RX_TOP, floor);
            slab.putInt(path + PathRecord.RX_CE, 0);
            slab.putLong(path + PathRecord.RX_ECHO_NS, NOTHING_TO_ECHO);
            for (int i = 0; i < WORDS; i++) {
                slab.putLong(path + PathRecord.RX_BITS + 8L * i, 0);
            }
            return true;
        }
        if (epoch != known) {
            return false;
        }
        int up = floor - slab.getInt(path + PathRecord.RX_BASE);
        if (up > 0) {
            shift(path, up);
            int run = runOfOnes(path);
            if (run > 0) {
                shift(path, run);
            }
        }
        return true;
    }

    private int runOfOnes(long path) {
        long first = slab.getLong(path + PathRecord.RX_BITS);
        if (first != -1L) {
            return Long.numberOfTrailingZeros(~first);
        }
        int run = 0;
        for (int i = 0; i < WORDS; i++) {
            int ones = Long.numberOfTrailingZeros(~slab.getLong(path + PathRecord.RX_BITS + 8L * i));
            run += ones;
            if (ones < Long.SIZE) {
                break;
            }
        }
        return run;
    }

    private void shift(long path, int by) {
        int from = slab.getInt(path + PathRecord.RX_BASE);
        int top = slab.getInt(path + PathRecord.RX_TOP);
        int base = from + by;
        slab.putInt(path + PathRecord.RX_BASE, base);
        slab.putInt(path + PathRecord.RX_TOP, Serial.max(top, base));
        if (top - from <= Long.SIZE) {
            // Nothing stands beyond the first word, as on most paths.
            slab.putLong(path + PathRecord.RX_BITS, by >= Long.SIZE ? 0 : slab.getLong(path + PathRecord.RX_BITS) >>> by);
            return;
        }
        int words = by >>> 6;
        int bits = by & 63;
        for (int i = 0; i < WORDS; i++) {
            long low = i + words < WORDS ? slab.getLong(path + PathRecord.RX_BITS + 8L * (i + words)) : 0;
            long high = i + words + 1 < WORDS ? slab.getLong(path + PathRecord.RX_BITS + 8L * (i + words + 1)) : 0;
            slab.putLong(path + PathRecord.RX_BITS + 8L * i, bits == 0 ? low : low >>> bits | high << (Long.SIZE - bits));
        }
    }

    private static long word(long path, int distance) {
        return path + PathRecord.RX_BITS + 8L * (distance >>> 6);
    }
}
