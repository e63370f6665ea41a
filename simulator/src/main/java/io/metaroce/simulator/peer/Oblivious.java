// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** All paths in turn, whatever they bring: {@code UecMpOblivious} of ultraethernet/uet-htsim. In each round another order. */
class Oblivious extends Paths {
    private int index;
    private int turn;

    /** @param count a power of two */
    Oblivious(PeerHost host, int count) {
        super(host, count);
        if (Integer.bitCount(count) != 1) {
            throw new IllegalArgumentException("the number of paths, " + count + ", is not a power of two");
        }
        turn = host.random.nextInt(count);
    }

    /** The path whose turn it is. */
    final int current() {
        return (index ^ turn) & count - 1;
    }

    final void advance() {
        if (++index == count) {
            index = 0;
            turn = host.random.nextInt(count);
        }
    }

    @Override
    int choose(int before, int busyPlanes, int bytes) {
        for (int tried = 0; tried < count; tried++) {
            int path = current();
            advance();
            if (!isBusy(path, busyPlanes)) {
                return path;
            }
        }
        return NONE;
    }
}
