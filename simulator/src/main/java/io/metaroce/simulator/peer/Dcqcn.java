// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * DCQCN: a rate at the sender, cut when the receiver notifies, recovered by timer and by bytes. Zhu et al., "Congestion Control for
 * Large-Scale RDMA Deployments", SIGCOMM 2015: section 5 and the constants of its table 14. What the paper gives in Mb/s for
 * 40 Gb/s is taken as a part of line rate. Starts at line rate.
 */
final class Dcqcn implements Control {
    /** Between two notifications of a receiver for a queue pair: N of the paper, 50 us. */
    static final long NOTIFY_PS = 50_000_000;
    /** g. */
    private static final double GAIN = 1.0 / 256;
    /** Without a notification for so long alpha decays. */
    private static final long ALPHA_PS = 55_000_000;
    /** Timer T and byte counter B of the increase; F steps are fast recovery. */
    private static final long INCREASE_PS = 55_000_000;
    private static final double INCREASE_BYTES = 10e6;
    private static final int FAST_STEPS = 5;
    /** R_AI is 40 Mb/s of 40 Gb/s, R_HAI 400 Mb/s. */
    private static final double ADDITIVE_SHARE = 1e-3;
    private static final double HYPER_SHARE = 1e-2;
    /** No less than 100 Mb/s of 40 Gb/s. */
    private static final double LEAST_SHARE = 2.5e-3;

    private final PeerHost host;
    private final double line;
    private final Timer alphaTimer;
    private final Timer increaseTimer;
    /** Bit/s. */
    private double rate;
    private double target;
    private double alpha = 1;
    private int timerSteps;
    private int byteSteps;
    private double bytes;
    private long nextPs;

    Dcqcn(PeerHost host) {
        this.host = host;
        line = host.planeRate;
        rate = target = line;
        alphaTimer = host.timer(this::decay);
        increaseTimer = host.timer(this::timerStep);
    }

    @Override
    public double windowBytes() {
        return Double.MAX_VALUE;
    }

    double rate() {
        return rate;
    }

    @Override
    public long earliestPs() {
        return rate >= line ? 0 : nextPs;
    }

    @Override
    public void sent(int payload, boolean repeat) {
        nextPs = Math.max(nextPs, host.nowPs()) + Math.round(host.wirePs(payload) * line / rate);
        if (increaseTimer.isSet()) {
            bytes += payload;
            if (bytes >= INCREASE_BYTES) {
                bytes -= INCREASE_BYTES;
                byteSteps++;
                increase();
            }
        }
    }

    @Override
    public void notified() {
        target = rate;
        rate = Math.max(rate * (1 - alpha / 2), LEAST_SHARE * line);
        alpha = (1 - GAIN) * alpha + GAIN;
        timerSteps = byteSteps = 0;
        bytes = 0;
        alphaTimer.at(host.nowPs() + ALPHA_PS);
        increaseTimer.at(host.nowPs() + INCREASE_PS);
    }

    private void decay() {
        alpha *= 1 - GAIN;
        if (rate < line) {
            alphaTimer.at(host.nowPs() + ALPHA_PS);
        }
    }

    private void timerStep() {
        timerSteps++;
        increase();
        if (rate < line) {
            increaseTimer.at(host.nowPs() + INCREASE_PS);
        }
        host.pump();
    }

    private void increase() {
        if (Math.max(timerSteps, byteSteps) >= FAST_STEPS) {
            boolean hyper = Math.min(timerSteps, byteSteps) > FAST_STEPS;
            target = Math.min(line, target + line * (hyper ? HYPER_SHARE * (Math.min(timerSteps, byteSteps) - FAST_STEPS) : ADDITIVE_SHARE));
        }
        rate = Math.min(line, (target + rate) / 2);
        // Halving the distance never ends; a thousandth below is there.
        rate = rate > (1 - ADDITIVE_SHARE) * line ? line : rate;
    }
}
