// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** A path whose acknowledgement came unmarked is used once more, else the bitmap chooses: {@code UecMpMixed} of ultraethernet/uet-htsim. */
final class MixedPaths extends Paths {
    private final BitmapPaths bitmap;
    private final LongQueue good = new LongQueue();

    MixedPaths(PeerHost host, int count) {
        super(host, count);
        bitmap = new BitmapPaths(host, count);
    }

    @Override
    int choose(int before, int busyPlanes, int bytes) {
        while (!good.isEmpty()) {
            int path = (int) good.poll();
            if (!isBusy(path, busyPlanes)) {
                return path;
            }
        }
        return bitmap.choose(before, busyPlanes, bytes);
    }

    @Override
    void heard(int path, boolean marked, long rttPs) {
        bitmap.heard(path, marked, rttPs);
        if (!marked) {
            good.add(path);
        }
    }

    @Override
    void trimmed(int path, int bytes) {
        bitmap.trimmed(path, bytes);
    }

    @Override
    void timedOut(int path, int bytes) {
        bitmap.timedOut(path, bytes);
    }
}
