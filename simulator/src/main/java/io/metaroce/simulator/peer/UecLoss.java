// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * How a UEC sender finds losses: by the number of packets that came out of order, where the fabric does not trim and the sender has a window ({@code UecSrc::runSleek} of
 * ultraethernet/uet-htsim), and by timeout, 15 us and six times what a full queue takes to drain (its main_uec.cpp); the
 * specification doubles it with each try, that simulator does not, and so neither does this.
 */
final class UecLoss implements LossRule {
    /** Out of order, of the window, but at least so many packets and at most the greatest window. */
    private static final double WINDOW_PART = 1.5;
    private static final int LEAST = 5;
    private static final long TIMEOUT_PS = 15_000_000;
    private static final int DRAINS = 6;
    /** Round trips of silence before a probe: while there is more to send, and at the end. */
    private static final int PROBE_RTT = 3;

    private final boolean counts;
    private final long timeoutPs;
    private boolean recovering;
    private long until;
    private long looked;

    /** @param counts whether packets out of order are counted: where the fabric does not trim */
    UecLoss(PeerHost host, boolean counts) {
        this.counts = counts;
        timeoutPs = TIMEOUT_PS + Math.round(DRAINS * host.fabric.config().queueBytes * 8e12 / host.planeRate);
    }

    @Override
    public void acknowledged(SelectiveSender s, int outOfOrder, boolean probed, long rttPs) {
        if (!counts) {
            return;
        }
        if (recovering && s.first() >= until) {
            recovering = false;
        }
        double packet = s.host.config.payloadMtu;
        double greatest = 1.5 * s.host.bdpBytes;
        double threshold = Math.max(Math.min(WINDOW_PART * s.control.windowBytes(), greatest) / packet, LEAST);
        boolean answered = probed && rttPs - s.host.baseRttPs < s.host.baseRttPs;
        if (!recovering && (outOfOrder >= threshold || answered)) {
            recovering = true;
            until = s.next();
            looked = s.first();
        }
        if (recovering) {
            long end = Math.min(until, s.first() + (long) (s.control.windowBytes() / packet));
            for (looked = Math.max(looked, s.first()); looked < end; looked++) {
                if (s.isOut(looked)) {
                    s.lose(looked);
                }
            }
        }
    }

    @Override
    public boolean postpones(int tries) {
        return recovering && tries == 1;
    }

    @Override
    public boolean repeatsFreely() {
        return recovering;
    }

    @Override
    public long timeoutPs(SelectiveSender s, int tries) {
        return timeoutPs;
    }

    @Override
    public long probePs(SelectiveSender s) {
        return counts ? s.hasMore() ? PROBE_RTT * s.host.baseRttPs : 2 * s.host.baseRttPs : 0;
    }

    @Override
    public void probe(SelectiveSender s) {
        s.sendProbe();
    }
}
