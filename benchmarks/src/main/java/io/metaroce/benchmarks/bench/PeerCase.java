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
    private static final int[] PLANES_QUICK_SIZES = {64 << 10};
    private static final double[] LOSSES = {0, 0.001, 0.01, 0.1};
    private static final double[] QUICK_LOSSES = {0, 0.01};

    private static final AutoCloseable NOTHING = () -> { };

    /** What is done before a round. */
    interface Preparation {
        /** Returns what ends it behind the round. */
        AutoCloseable run() throws IOException, InterruptedException;
    }

    /** All peers beside each other at each size, on loopback. */
    static List<Measured> loopback(boolean quick) {
        List<Measured> all = new ArrayList<>();
        add(all, sizes(quick), Net.LOOPBACK, () -> NOTHING);
        return all;
    }

    /** The same at several rates of loss, and on several planes, between the hosts of a lab that is up. */
    static List<Measured> lab(boolean quick, String lab) {
        List<Measured> all = new ArrayList<>();
        LabPlanes planes = new LabPlanes(lab);
        for (double loss : quick ? QUICK_LOSSES : LOSSES) {
            add(all, sizes(quick), Net.lab(lab, loss), () -> {
                planes.single(loss);
                return NOTHING;
            });
        }
        add(all, quick ? PLANES_QUICK_SIZES : SIZES, Net.labPlanes(lab), planes::several);
        return all;
    }

    private static int[] sizes(boolean quick) {
        return quick ? QUICK_SIZES : SIZES;
    }

    private static void add(List<Measured> all, int[] sizes, Net net, Preparation before) {
        for (int size : sizes) {
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
    public List<Value> round(boolean quick) throws Exception {
        try (AutoCloseable there = before.run()) {
            // A plane that dies and returns does so within this.
            return peer.measure(net, size, net.planeCount() > 1 ? 3 : quick ? 0.5 : 2);
        }
    }
}
