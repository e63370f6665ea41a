// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * RoCEv2 as network cards do it by default: reliable connections with go-back-N, one path a queue pair. InfiniBand Architecture
 * Specification 1.3, volume 1, sections 9.7 and 9.9 (NAK for a sequence error, timeout 4.096 us x 2^t), annex A17 (RoCEv2). Congestion
 * control is {@link Dcqcn} or none; whether the fabric pauses is the scenario's.
 *
 * @param dcqcn whether rates are controlled; without it every queue pair sends at line rate
 * @param channels queue pairs between two hosts
 */
record RoceV2(boolean dcqcn, int channels) implements Model {
    /** t = 7: 524 us. Cards are set to longer ones (14 to 20: 67 ms to 4 s); this favours RoCE where packets are lost. */
    private static final long TIMEOUT_PS = 4_096_000L << 7;
    /** t = 14: where the fabric pauses, nothing is dropped and waits are long. */
    private static final long PAUSING_TIMEOUT_PS = 4_096_000L << 14;

    @Override
    public PeerSender sender(PeerHost host, int peer, int channel) {
        Control control = dcqcn ? new Dcqcn(host) : new Unlimited(Double.MAX_VALUE);
        boolean pauses = host.fabric.config().pauseBytes > 0;
        return new RoceSender(host, peer, channel, control, pauses ? PAUSING_TIMEOUT_PS : TIMEOUT_PS);
    }

    @Override
    public PeerReceiver receiver(PeerHost host, int peer, int channel) {
        return new RoceReceiver(host, peer, channel, dcqcn);
    }
}
