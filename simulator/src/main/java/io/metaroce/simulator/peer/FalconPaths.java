// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

import java.util.Arrays;

/**
 * Falcon's flow labels: each with its window ruled by delay (Swift: Kumar et al., SIGCOMM 2020) and its protective load balancing (PLB: Qureshi
 * et al., SIGCOMM 2022). Constants are the defaults of google/isekai's swift.cc; the NIC's own window is not modelled, as hosts are never late.
 * A label changes after a timeout, too (PRR: Wetherall et al., SIGCOMM 2023), which the specification leaves to the implementation.
 * A packet goes to the label with most room; a repeat takes the label it had (generation 2's default).
 */
final class FalconPaths extends Paths implements Control {
    private static final double FIRST_WINDOW = 32;
    private static final double GREATEST = 256;
    private static final double LEAST = .01;
    private static final double INCREASE = 1;
    private static final double BETA = .8;
    private static final double MOST_DECREASE = .5;
    private static final double RTT_GAIN = .25;
    private static final long DELAY_PER_HOP_PS = 1_000_000;
    /** Flow scaling: up to 100 us more at a window of a tenth of a packet, none at 256. */
    private static final double SCALE_MOST_PS = 100e6;
    private static final double SCALE_LEAST_WINDOW = .1;
    private static final double SCALE_GREATEST_WINDOW = 256;
    /** PLB: an acknowledgement is congested above this times the target; a round with half of them is; after five such the label changes. */
    private static final double CONGESTED_DELAY = 1.01;
    private static final double CONGESTED_PART = .5;
    private static final int CONGESTED_ROUNDS = 5;
    /** Timeouts without an arrival between them after which the window is the least. */
    private static final int GIVE_UP = 3;
    /** Numbers that a receiver of generation 3 keeps. */
    private static final int SPAN = 512;

    private final double baseTargetPs;
    private final double scaleA;
    private final double scaleB;
    private final double[] window;
    private final double[] out;
    private final double[] rttPs;
    private final double[] arrived;
    private final long[] decreasedPs;
    private final long[] nextPs;
    private final long[] roundPs;
    private final long[] reroutedPs;
    private final int[] answers;
    private final int[] congested;
    private final int[] rounds;
    private final int[] timeouts;
    private final Timer pace;

    FalconPaths(PeerHost host, int count, long baseDelayPs) {
        super(host, count);
        baseTargetPs = baseDelayPs + host.fabric.topology().hops() * DELAY_PER_HOP_PS;
        scaleA = SCALE_MOST_PS / (1 / Math.sqrt(SCALE_LEAST_WINDOW) - 1 / Math.sqrt(SCALE_GREATEST_WINDOW));
        scaleB = -scaleA / Math.sqrt(SCALE_GREATEST_WINDOW);
        window = new double[count];
        Arrays.fill(window, FIRST_WINDOW);
        out = new double[count];
        rttPs = new double[count];
        Arrays.fill(rttPs, host.baseRttPs);
        arrived = new double[count];
        decreasedPs = new long[count];
        nextPs = new long[count];
        roundPs = new long[count];
        reroutedPs = new long[count];
        answers = new int[count];
        congested = new int[count];
        rounds = new int[count];
        timeouts = new int[count];
        pace = host.timer(host::pump);
    }

    private double target(int path) {
        return baseTargetPs + Math.clamp(scaleA / Math.sqrt(window[path]) + scaleB, 0, SCALE_MOST_PS);
    }

    // ---- Paths ----

    @Override
    int choose(int before, int busyPlanes, int bytes) {
        if (before != NONE) {
            return hasRoom(before) && !isBusy(before, busyPlanes) ? before : NONE;
        }
        int best = NONE;
        for (int path = 0; path < count; path++) {
            if (!isBusy(path, busyPlanes) && (bytes == 0 || hasRoom(path)) && (best == NONE || window[path] - out[path] > window[best] - out[best])) {
                best = path;
            }
        }
        return best;
    }

    private boolean hasRoom(int path) {
        if (window[path] >= 1) {
            return out[path] + 1 <= window[path];
        }
        if (out[path] == 0 && nextPs[path] > host.nowPs()) {
            pace.at(nextPs[path]);
        }
        return out[path] == 0 && nextPs[path] <= host.nowPs();
    }

    @Override
    void sent(int path, int bytes) {
        out[path]++;
        if (window[path] < 1) {
            nextPs[path] = host.nowPs() + (long) (rttPs[path] / window[path]);
        }
    }

    @Override
    void acknowledged(int path, int bytes) {
        out[path]--;
        arrived[path]++;
        timeouts[path] = 0;
    }

    @Override
    void lost(int path, int bytes) {
        out[path]--;
    }

    @Override
    void timedOut(int path, int bytes) {
        out[path]--;
        if (host.nowPs() - reroutedPs[path] <= rttPs[path]) {
            // Of the same outage.
            return;
        }
        reroutedPs[path] = host.nowPs();
        port[path] = host.randomPort();
        if (++timeouts[path] >= GIVE_UP) {
            window[path] = LEAST;
        } else {
            cut(path, MOST_DECREASE);
        }
    }

    private void cut(int path, double factor) {
        if (host.nowPs() - decreasedPs[path] > rttPs[path]) {
            window[path] = Math.max(LEAST, window[path] * factor);
            decreasedPs[path] = host.nowPs();
        }
    }

    @Override
    void heard(int path, boolean marked, long rtt) {
        rttPs[path] += RTT_GAIN * (rtt - rttPs[path]);
        double target = target(path);
        if (rttPs[path] < target) {
            window[path] = Math.min(GREATEST, window[path] + INCREASE * arrived[path] / Math.max(1, window[path]));
        } else {
            cut(path, Math.max(1 - BETA * (rttPs[path] - target) / rttPs[path], MOST_DECREASE));
        }
        arrived[path] = 0;
        balance(path, target);
    }

    private void balance(int path, double target) {
        answers[path]++;
        congested[path] += rttPs[path] > CONGESTED_DELAY * target ? 1 : 0;
        if (host.nowPs() - roundPs[path] < rttPs[path]) {
            return;
        }
        rounds[path] = congested[path] >= CONGESTED_PART * answers[path] ? rounds[path] + 1 : 0;
        roundPs[path] = host.nowPs();
        answers[path] = congested[path] = 0;
        if (rounds[path] >= CONGESTED_ROUNDS) {
            rounds[path] = 0;
            port[path] = host.randomPort();
        }
    }

    // ---- Control: the labels' windows rule, in choose ----

    @Override
    public double windowBytes() {
        return Arrays.stream(window).sum() * host.config.payloadMtu;
    }

    @Override
    public boolean allows(double outBytes, int bytes, double backlog) {
        return true;
    }

    @Override
    public long spanPackets() {
        return SPAN;
    }
}
