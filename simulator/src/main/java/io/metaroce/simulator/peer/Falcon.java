// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * Falcon: a connection over some flow labels, ruled by delay ({@link FalconPaths}), in order to the application, with what the receiver has
 * to hold meanwhile counted. OCP "Falcon Transport Protocol" 0.9 (2024); constants of google/isekai (Apache-2.0), its simulator. An
 * acknowledgement answers 10 packets or waits 8 us.
 *
 * @param count flow labels
 * @param delayUs base of the target delay
 */
record Falcon(int count, int delayUs) implements Model {
    /** 4 labels, 25 us. */
    static final int LABELS = 4;
    static final int DELAY_US = 25;
    private static final int ACK_PACKETS = 10;
    private static final long ACK_DELAY_PS = 8_000_000;

    @Override
    public PeerSender sender(PeerHost host, int peer, int channel) {
        FalconPaths paths = new FalconPaths(host, count, delayUs * 1_000_000L);
        return new SelectiveSender(host, peer, channel, paths, paths, new FalconLoss());
    }

    @Override
    public PeerReceiver receiver(PeerHost host, int peer, int channel) {
        return new SelectiveReceiver(host, peer, channel,
                new SelectiveReceiver.Manner(ACK_PACKETS * host.config.payloadMtu, ACK_DELAY_PS, false, true, false), null);
    }
}
