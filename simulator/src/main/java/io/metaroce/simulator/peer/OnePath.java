// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** One path, whatever happens. */
final class OnePath extends Paths {
    private final int plane;

    OnePath(PeerHost host, int plane) {
        super(host, 1);
        this.plane = plane;
    }

    @Override
    int plane(int path) {
        return plane;
    }

    @Override
    int choose(int before, int busyPlanes, int bytes) {
        return isBusy(0, busyPlanes) ? NONE : 0;
    }
}
