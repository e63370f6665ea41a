// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * Ultra Ethernet's transport, reliable and unordered: {@link Nscc} at the sender or {@link Rccc} by the receiver, over many paths. Ultra
 * Ethernet Specification 1.0.x; acknowledgements as in {@code UecSink::processData} of ultraethernet/uet-htsim: every 16 KiB, at once
 * when marked, repeated or asked for. With trimming a NACK tells of each packet that lost its payload.
 *
 * @param paths "mixed", "reps", "bitmap" or "oblivious"
 * @param count entropy values, a power of two
 */
record Uec(boolean receiverCredit, boolean trimming, String paths, int count) implements Model {
    private static final SelectiveReceiver.Manner MANNER = new SelectiveReceiver.Manner(16_384, 0, false, false, false);

    @Override
    public PeerSender sender(PeerHost host, int peer, int channel) {
        Paths p = switch (paths) {
            case "mixed" -> new MixedPaths(host, count);
            case "reps" -> new RepsPaths(host, count);
            case "bitmap" -> new BitmapPaths(host, count);
            default -> new Oblivious(host, count);
        };
        return new SelectiveSender(host, peer, channel, receiverCredit ? new Rccc(host) : new Nscc(host, trimming), p,
                new UecLoss(host, !trimming && !receiverCredit));
    }

    @Override
    public PeerReceiver receiver(PeerHost host, int peer, int channel) {
        return new SelectiveReceiver(host, peer, channel, MANNER, host.puller());
    }

    @Override
    public Puller puller(PeerHost host) {
        return receiverCredit ? new PullPacer(host) : null;
    }
}
