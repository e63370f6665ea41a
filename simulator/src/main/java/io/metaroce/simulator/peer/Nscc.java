// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * NSCC: a window ruled by two bits, marked or not and late or not. Ultra Ethernet Specification 1.0, section 3.6.13 ("network
 * signal-based congestion control"); rules and constants as in {@code UecSrc} of ultraethernet/uet-htsim (initNsccParams,
 * updateCwndOnAck_NSCC, updateCwndOnNack_NSCC), with windows in bytes of payload. MRC 1.0 uses the same.
 *
 * <p>Not marked and early: the window grows in proportion to how early. Not marked and late: by a fixed step. Marked and late: once a
 * round trip it shrinks in proportion to the mean delay. Marked and early: only the path changes. Much too late, or trimmed, and little
 * achieved: it becomes what was achieved.
 */
final class Nscc implements Control {
    private static final double REFERENCE_BPS = 100e9;
    private static final double REFERENCE_RTT_PS = 12e6;
    private static final double TARGET_TRIMMING = .75;
    private static final double TARGET = 1;
    /** Of a bandwidth-delay product: the first and the greatest window. */
    private static final double GREATEST = 1.5;
    private static final double ALPHA = 4;
    private static final double FAIR_INCREASE = 5;
    private static final double ETA = .15;
    private static final double GAMMA = .8;
    private static final double MOST_DECREASE = .5;
    private static final double FAST_INCREASE = .25;
    private static final long FAST_DELAY_PS = 1_000_000;
    private static final double DELAY_GAIN = .0125;
    private static final double ADJUST_PACKETS = 8;
    private static final double QUICK_DELAY = 4;
    /** Quick adaption needs less achieved than this part of the greatest window. */
    private static final double QUICK_GATE = 1.0 / 8;

    private final PeerHost host;
    private final double mss;
    private final double greatest;
    private final double targetPs;
    private final double alpha;
    private final double fairIncrease;
    private final double eta;
    private final double fastIncrease;
    private final double networkRttPs;
    private double baseRttPs;
    private double window;
    private double meanDelayPs;
    /** Increases that wait for the next adjustment, times the window. */
    private double increase;
    private double received;
    private double achieved;
    private double ignored;
    private double toIgnore;
    private double early;
    private boolean fast;
    private boolean quickWanted;
    private long quickEndPs;
    private long adjustedPs;
    private long decreasedPs;

    Nscc(PeerHost host, boolean trimming) {
        this.host = host;
        mss = host.config.payloadMtu;
        networkRttPs = baseRttPs = host.baseRttPs;
        double bdp = host.bdpBytes * mss / (mss + Frame.HEADER_BYTES + host.fabric.config().frameOverhead);
        greatest = GREATEST * bdp;
        window = greatest;
        targetPs = networkRttPs * (trimming ? TARGET_TRIMMING : TARGET);
        double a = bdp / (REFERENCE_BPS / 8e12 * REFERENCE_RTT_PS);
        double b = targetPs / REFERENCE_RTT_PS;
        alpha = ALPHA * mss * a * b / targetPs;
        fairIncrease = FAIR_INCREASE * mss * a;
        eta = ETA * mss * a;
        fastIncrease = FAST_INCREASE * a;
    }

    @Override
    public double windowBytes() {
        return window;
    }

    @Override
    public void acknowledged(double bytes, boolean marked, long rttPs, double out) {
        achieved += bytes;
        received += bytes;
        ignored += bytes;
        baseRttPs = Math.min(baseRttPs, rttPs);
        double delay = rttPs - baseRttPs;
        mean(delay, marked);
        if (adaptQuickly(false, marked, delay, out)) {
            return;
        }
        if (!marked && delay >= targetPs) {
            increase += fairIncrease * bytes;
        } else if (!marked) {
            increaseEarly(bytes, delay);
        } else if (delay >= targetPs) {
            decrease();
        }
        bound();
        if (received > ADJUST_PACKETS * mss || host.nowPs() - adjustedPs > networkRttPs) {
            window += increase / window;
            if (host.nowPs() - adjustedPs >= networkRttPs) {
                window += eta;
                adjustedPs = host.nowPs();
            }
            increase = received = 0;
        }
        bound();
    }

    private void increaseEarly(double bytes, double delay) {
        if (delay < FAST_DELAY_PS) {
            early += bytes;
            if (early > window || fast) {
                window += bytes * fastIncrease;
                fast = true;
                return;
            }
        } else {
            early = 0;
        }
        fast = false;
        increase += alpha * bytes * (targetPs - delay);
    }

    private void decrease() {
        fast = false;
        early = 0;
        if (meanDelayPs > targetPs && host.nowPs() - decreasedPs > baseRttPs) {
            window *= Math.max(1 - GAMMA * (meanDelayPs - targetPs) / meanDelayPs, MOST_DECREASE);
            decreasedPs = host.nowPs();
        }
    }

    private void mean(double delay, boolean marked) {
        double sample = !marked && delay > targetPs ? baseRttPs * .25 : delay;
        meanDelayPs += DELAY_GAIN * (sample - meanDelayPs);
    }

    /** @return whether it adapted, or ignores what was sent before it did */
    private boolean adaptQuickly(boolean loss, boolean marked, double delay, double out) {
        boolean done = false;
        if (ignored < toIgnore && marked) {
            done = true;
        } else if (host.nowPs() > quickEndPs) {
            if (quickEndPs != 0 && (quickWanted || loss || delay > QUICK_DELAY * targetPs) && achieved < greatest * QUICK_GATE) {
                window = Math.max(achieved, mss);
                toIgnore = out;
                ignored = 0;
                quickWanted = false;
                done = true;
            }
            achieved = 0;
            quickEndPs = host.nowPs() + Math.round(baseRttPs + targetPs);
        }
        if (done) {
            increase = received = 0;
        }
        return done;
    }

    @Override
    public void trimmed(int bytes, double out) {
        ignored += bytes;
        mean(networkRttPs, true);
        quickWanted = true;
        if (!adaptQuickly(true, true, 0, out)) {
            window -= bytes;
            bound();
        }
    }

    @Override
    public void timedOut(int bytes) {
        window -= bytes;
        bound();
    }

    private void bound() {
        window = Math.clamp(window, mss, greatest);
    }
}
