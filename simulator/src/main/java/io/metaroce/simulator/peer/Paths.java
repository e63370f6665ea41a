// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** The routes that a channel may take, and its choice among them. A path is a number; its source port is what switches hash. */
abstract class Paths {
    static final int NONE = -1;

    final PeerHost host;
    final int count;
    final int[] port;

    Paths(PeerHost host, int count) {
        this.host = host;
        this.count = count;
        port = new int[count];
        for (int i = 0; i < count; i++) {
            port[i] = host.randomPort();
        }
    }

    /** Paths are dealt out to the planes in turn. */
    int plane(int path) {
        return path % host.planes;
    }

    final boolean isBusy(int path, int busyPlanes) {
        return busyPlanes != 0 && (busyPlanes >> plane(path) & 1) != 0;
    }

    /**
     * @param before the path that the packet took before, or {@link #NONE}
     * @return a path whose plane is not busy, or {@link #NONE} if the packet has to wait
     */
    abstract int choose(int before, int busyPlanes, int bytes);

    /** The sender that these paths are of. */
    void attach(SelectiveSender sender) {
    }

    void sent(int path, int bytes) {
    }

    /** A packet's arrival is known. */
    void acknowledged(int path, int bytes) {
    }

    /** An acknowledgement told of the path that its packet took. */
    void heard(int path, boolean marked, long rttPs) {
    }

    void trimmed(int path, int bytes) {
    }

    void lost(int path, int bytes) {
    }

    void timedOut(int path, int bytes) {
    }
}
