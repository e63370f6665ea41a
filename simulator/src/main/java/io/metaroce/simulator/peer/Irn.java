// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * IRN: one path a queue pair, selective repeat, at most a bandwidth-delay product out, no PFC. Mittal et al., "Revisiting Network Support
 * for RDMA", SIGCOMM 2018, sections 3.1 and 3.2: an acknowledgement a packet; the first one that tells of a gap begins a recovery, in which
 * each packet below the highest that came is repeated once; timeouts of 100 us with fewer than 3 packets out, else 320 us. After a timeout
 * all that is not known to have come is repeated, which the paper leaves open.
 *
 * @param dcqcn whether {@link Dcqcn} rules besides
 * @param channels queue pairs between two hosts
 */
record Irn(boolean dcqcn, int channels) implements Model {
    private static final long TIMEOUT_LOW_PS = 100_000_000;
    private static final long TIMEOUT_HIGH_PS = 320_000_000;
    private static final int FEW = 3;
    private static final SelectiveReceiver.Manner EVERY_PACKET = new SelectiveReceiver.Manner(1, 0, true, true, false);
    private static final SelectiveReceiver.Manner NOTIFYING = new SelectiveReceiver.Manner(1, 0, true, true, true);

    @Override
    public PeerSender sender(PeerHost host, int peer, int channel) {
        long packets = Math.max(1, Math.round(host.bdpBytes / host.planes / (host.config.payloadMtu + Frame.HEADER_BYTES)));
        return new SelectiveSender(host, peer, channel, new Capped(dcqcn ? new Dcqcn(host) : new Unlimited(Double.MAX_VALUE), packets),
                new OnePath(host, (peer + channel) % host.planes), new Recovery());
    }

    @Override
    public PeerReceiver receiver(PeerHost host, int peer, int channel) {
        return new SelectiveReceiver(host, peer, channel, dcqcn ? NOTIFYING : EVERY_PACKET, null);
    }

    /** A cap on what may be out, in numbers: what came early counts. */
    private record Capped(Control rate, long spanPackets) implements Control {
        @Override
        public double windowBytes() {
            return rate.windowBytes();
        }

        @Override
        public long earliestPs() {
            return rate.earliestPs();
        }

        @Override
        public void sent(int bytes, boolean repeat) {
            rate.sent(bytes, repeat);
        }

        @Override
        public void notified() {
            rate.notified();
        }
    }

    private static final class Recovery implements LossRule {
        private boolean recovering;
        /** The recovery ends when all below this have come; all below that have been looked at in it. */
        private long until;
        private long looked;

        @Override
        public void acknowledged(SelectiveSender s, int outOfOrder, boolean probed, long rttPs) {
            if (recovering && s.first() >= until) {
                recovering = false;
            }
            if (!recovering) {
                if (s.highest() <= s.first()) {
                    return;
                }
                recovering = true;
                until = s.next();
                looked = s.first();
            }
            for (looked = Math.max(looked, s.first()); looked < s.highest(); looked++) {
                if (s.isOut(looked)) {
                    s.lose(looked);
                }
            }
        }

        @Override
        public boolean timesEach() {
            return false;
        }

        @Override
        public void timedOut() {
            recovering = false;
        }

        @Override
        public long timeoutPs(SelectiveSender s, int tries) {
            return s.out() < FEW * s.host.config.payloadMtu ? TIMEOUT_LOW_PS : TIMEOUT_HIGH_PS;
        }
    }
}
