// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * One peer with messages of one size.
 *
 * @param before makes the network as it is to be
 */
record PeerCase(Peer peer, int size, Net net, Preparation before) implements Measured {
    private static final int[] SIZES = {64, 4 << 10, 64 << 10, 1 << 20};
    private static final int[] QUICK_SIZES = {64, 64 << 10};
    private static final double[] LOSSES = {0, 0.001, 0.01, 0.1};
    private static final double[] QUICK_LOSSES = {0, 0.01};

    /** What is done before a round. */
    interface Preparation {
        void run() throws IOException, InterruptedException;
    }

    /** All peers beside each other at each size, on loopback. */
    static List<Measured> loopback(boolean quick) {
        List<Measured> all = new ArrayList<>();
        add(all, quick, Net.LOOPBACK, () -> { });
        return all;
    }

    /** The same at several rates of loss between the hosts of a lab that is up. */
    static List<Measured> lab(boolean quick, String lab) {
        List<Measured> all = new ArrayList<>();
        for (double loss : quick ? QUICK_LOSSES : LOSSES) {
            String rate = Double.toString(loss);
            add(all, quick, Net.lab(lab, loss), () -> Child.output(20, List.of(Child.root().resolve("scripts/lab").toString(), "--name", lab, "plane", "0", "loss", rate)));
        }
        return all;
    }

    private static void add(List<Measured> all, boolean quick, Net net, Preparation before) {
        for (int size : quick ? QUICK_SIZES : SIZES) {
            Peers.all(net).forEach(p -> all.add(new PeerCase(p, size, net, before)));
        }
    }

    @Override
    public String group() {
        return "peers";
    }

    @Override
    public String name() {
        return (net.name().isEmpty() ? "" : net.name() + ", ") + Sizes.text(size) + ", " + peer.name();
    }

    @Override
    public String missing() {
        return peer.missing();
    }

    @Override
    public int rounds(boolean quick) {
        return quick ? 1 : 5;
    }

    @Override
    public List<Value> round(boolean quick) throws IOException, InterruptedException {
        before.run();
        return peer.measure(net, size, quick ? 0.5 : 2);
    }
}
