// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * All paths in turn, but one that was reported bad is passed over as often as its penalty says: {@code UecMpBitmap} of
 * ultraethernet/uet-htsim.
 */
final class BitmapPaths extends Oblivious {
    private static final int MARKED = 1;
    private static final int TRIMMED = 4;
    private static final int TIMED_OUT = 15;
    private static final int MOST = 15;

    private final int[] penalty;

    BitmapPaths(PeerHost host, int count) {
        super(host, count);
        penalty = new int[count];
    }

    @Override
    int choose(int before, int busyPlanes, int bytes) {
        // The first one with a penalty pays; if all have one, whose turn it then is.
        boolean paid = false;
        for (int tried = 0; tried <= count; tried++) {
            int path = current();
            advance();
            if (isBusy(path, busyPlanes)) {
                continue;
            }
            if (penalty[path] == 0) {
                return path;
            }
            if (!paid) {
                penalty[path]--;
                paid = true;
            }
        }
        int path = current();
        advance();
        return isBusy(path, busyPlanes) ? NONE : path;
    }

    private void punish(int path, int by) {
        penalty[path] = Math.min(MOST, penalty[path] + by);
    }

    @Override
    void heard(int path, boolean marked, long rttPs) {
        if (marked) {
            punish(path, MARKED);
        }
    }

    @Override
    void trimmed(int path, int bytes) {
        punish(path, TRIMMED);
    }

    @Override
    void timedOut(int path, int bytes) {
        punish(path, TIMED_OUT);
    }
}
