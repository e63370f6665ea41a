// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * Falcon's early retransmission: a packet is lost when one sent three later on its label has arrived and a round trip has passed since it was
 * sent; a tail probe, which is the first packet that is missing; a timeout of two round trips, at least 250 us. Constants of google/isekai.
 */
final class FalconLoss implements LossRule {
    private static final int DISTANCE = 3;
    private static final int MOST_EARLY = 16;
    private static final long LEAST_TIMEOUT_PS = 250_000_000;
    private static final long LEAST_PROBE_PS = 50_000_000;
    private static final int RTTS = 2;
    /** A packet that so many probes did not bring over is the timeout's, which leaves the route. */
    private static final int MOST_PROBES = 2;

    @Override
    public void acknowledged(SelectiveSender s, int outOfOrder, boolean probed, long rttPs) {
        for (long psn = s.first(); outOfOrder > 0 && psn < s.highest(); psn++) {
            if (s.isOut(psn) && s.overtakenBy(psn) >= DISTANCE && s.tries(psn) <= MOST_EARLY
                    && s.host.nowPs() - s.sentPs(psn) >= s.smoothRttPs()) {
                s.lose(psn);
            }
        }
    }

    @Override
    public long timeoutPs(SelectiveSender s, int tries) {
        return Math.max(RTTS * s.smoothRttPs(), LEAST_TIMEOUT_PS);
    }

    @Override
    public long probePs(SelectiveSender s) {
        return Math.max(RTTS * s.smoothRttPs(), LEAST_PROBE_PS);
    }

    @Override
    public void probe(SelectiveSender s) {
        if (s.isOut(s.first()) && s.tries(s.first()) <= MOST_PROBES) {
            s.lose(s.first());
            s.host.counters.probes++;
        }
    }
}
