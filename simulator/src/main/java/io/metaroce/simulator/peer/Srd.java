// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * SRD: datagrams out of order over up to 64 paths. Shalev et al., "A Cloud-Optimized Transport Protocol for Elastic and Scalable HPC", IEEE
 * Micro 40/6, 2020; the wire and the rules are closed, so {@link SrdPaths}, {@link SrdControl} and the rule of loss here are this project's,
 * chosen in its favour: a packet is lost when one sent three later on its path has arrived, or after four round trips, at least 50 us.
 *
 * @param count paths
 */
record Srd(int count) implements Model {
    private static final SelectiveReceiver.Manner MANNER = new SelectiveReceiver.Manner(4 * 4_096, 2_000_000, false, false, false);

    @Override
    public PeerSender sender(PeerHost host, int peer, int channel) {
        return new SelectiveSender(host, peer, channel, new SrdControl(host), new SrdPaths(host, count), new Loss());
    }

    @Override
    public PeerReceiver receiver(PeerHost host, int peer, int channel) {
        return new SelectiveReceiver(host, peer, channel, MANNER, null);
    }

    private static final class Loss implements LossRule {
        private static final int DISTANCE = 3;
        private static final int RTTS = 4;
        private static final long LEAST_PS = 50_000_000;

        @Override
        public void acknowledged(SelectiveSender s, int outOfOrder, boolean probed, long rttPs) {
            for (long psn = s.first(); outOfOrder > 0 && psn < s.highest(); psn++) {
                if (s.isOut(psn) && s.overtakenBy(psn) >= DISTANCE) {
                    s.lose(psn);
                }
            }
        }

        @Override
        public long timeoutPs(SelectiveSender s, int tries) {
            return Math.max(RTTS * s.smoothRttPs(), LEAST_PS);
        }
    }
}
