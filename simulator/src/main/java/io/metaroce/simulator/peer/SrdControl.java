// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * A limit on rate and on what is out, from the rate of arrival and the shortest round trip. Shalev et al. (IEEE Micro 40/6, 2020) call
 * SRD's control "similar to BBR"; numbers are not published, so these are BBR's (Cardwell et al., ACM Queue 14/5, 2016): the greatest rate of
 * ten rounds, paced in a cycle of eight gains, at most two products of rate and round trip out. It begins at line rate, not by doubling.
 */
final class SrdControl implements Control {
    private static final int ROUNDS = 10;
    private static final double[] GAINS = {1.25, .75, 1, 1, 1, 1, 1, 1};
    private static final double OUT_GAIN = 2;
    private static final int LEAST_PACKETS = 4;

    private final PeerHost host;
    private final double line;
    /** Bytes a ps, of the latest rounds. */
    private final double[] rates = new double[ROUNDS];
    private int round;
    private long roundPs;
    private double arrived;
    private boolean limited;
    private double rate;
    private long rttPs;
    private long nextPs;

    SrdControl(PeerHost host) {
        this.host = host;
        line = host.planes * (double) host.config.payloadMtu / host.wirePs(host.config.payloadMtu);
        rate = line;
        java.util.Arrays.fill(rates, line);
        rttPs = host.baseRttPs;
        round = host.random.nextInt(GAINS.length);
    }

    @Override
    public double windowBytes() {
        return Math.max(OUT_GAIN * rate * rttPs, LEAST_PACKETS * host.config.payloadMtu);
    }

    @Override
    public long earliestPs() {
        return nextPs;
    }

    @Override
    public boolean allows(double out, int bytes, double backlog) {
        boolean allowed = out + bytes <= windowBytes();
        limited |= !allowed || nextPs > host.nowPs();
        return allowed;
    }

    @Override
    public void sent(int bytes, boolean repeat) {
        double paced = Math.min(rate * GAINS[round % GAINS.length], line);
        // A port's own pace is exact enough at line rate.
        nextPs = paced >= line ? 0 : Math.max(nextPs, host.nowPs()) + (long) (bytes / paced);
    }

    @Override
    public void acknowledged(double bytes, boolean marked, long rtt, double out) {
        rttPs = Math.min(rttPs, rtt);
        arrived += bytes;
        long now = host.nowPs();
        if (now - roundPs < rttPs) {
            return;
        }
        double measured = arrived / (now - roundPs);
        // A round in which the application had too little says nothing, unless it was faster.
        int slot = round % ROUNDS;
        if (limited || measured > rate) {
            rates[slot] = measured;
        } else {
            rates[slot] = rate;
        }
        rate = Math.min(line, java.util.Arrays.stream(rates).max().orElseThrow());
        round++;
        roundPs = now;
        arrived = 0;
        limited = false;
    }
}
