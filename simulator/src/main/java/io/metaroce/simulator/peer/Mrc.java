// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * MRC: {@link Nscc} over 128 entropy values with states ({@link MrcPaths}), a timer for each packet, every repeat over a fresh value. OCP
 * "Multipath Reliable Connection" 1.0, 2026-03-21, as described in docs/transport/mrc-model.md of HanGuTalker/uet-simulator (facts) and
 * in arXiv 2605.04333. Without trimming only timers find losses: the specification has no rule of counting what came out of order.
 *
 * @param count entropy values, a power of two
 */
record Mrc(boolean trimming, int count) implements Model {
    private static final SelectiveReceiver.Manner MANNER = new SelectiveReceiver.Manner(16_384, 0, false, false, false);
    /** A packet's timer is 1.024 us x 2^t. */
    private static final long TIMER_UNIT_PS = 1_024_000;
    /** {@code linear_cnt}: so many expiries before the timer doubles with each. */
    private static final int LINEAR = 7;

    @Override
    public PeerSender sender(PeerHost host, int peer, int channel) {
        return new SelectiveSender(host, peer, channel, new Nscc(host, trimming), new MrcPaths(host, count), new PacketTimers(host));
    }

    @Override
    public PeerReceiver receiver(PeerHost host, int peer, int channel) {
        return new SelectiveReceiver(host, peer, channel, MANNER, null);
    }

    /** t is a deployment's choice: here the least that no full queue on the way outlasts. */
    private static final class PacketTimers implements LossRule {
        private final long timerPs;

        PacketTimers(PeerHost host) {
            long longest = host.baseRttPs + Math.round(host.fabric.config().queueBytes * 8e12 / host.planeRate);
            long timer = TIMER_UNIT_PS;
            while (timer < longest) {
                timer <<= 1;
            }
            timerPs = timer;
        }

        @Override
        public long timeoutPs(SelectiveSender s, int tries) {
            return timerPs << Math.clamp(tries - LINEAR, 0, 8);
        }
    }
}
