// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** One peer with messages of one size. */
record PeerCase(Peer peer, int size, Net net) implements Measured {
    private static final int[] SIZES = {64, 4 << 10, 64 << 10, 1 << 20};
    private static final int[] QUICK_SIZES = {64, 64 << 10};

    /** All peers beside each other at each size. */
    static List<Measured> all(boolean quick) {
        List<Measured> all = new ArrayList<>();
        for (int size : quick ? QUICK_SIZES : SIZES) {
            Peers.all().forEach(p -> all.add(new PeerCase(p, size, Net.LOOPBACK)));
        }
        return all;
    }

    @Override
    public String group() {
        return "peers";
    }

    @Override
    public String name() {
        return Sizes.text(size) + ", " + peer.name();
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
        return peer.measure(net, size, quick ? 0.5 : 2);
    }
}
