// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import io.metaroce.wire.NetAddress;
import java.net.InetSocketAddress;

/** Socket addresses as java.nio wants them, made once for each peer in use; a colliding peer replaces another. */
final class PeerCache {
    private static final int SLOTS = 1024;

    private final long[] high = new long[SLOTS];
    private final long[] low = new long[SLOTS];
    private final InetSocketAddress[] address = new InetSocketAddress[SLOTS];

    /** Allocates for a peer that is not cached. */
    InetSocketAddress get(long peerHigh, long peerLow, int port) {
        long mixed = (peerHigh * 31 + peerLow) * 0x9e37_79b9_7f4a_7c15L + port * 0xbf58_476d_1ce4_e5b9L;
        int slot = (int) (mixed >>> 54);
        InetSocketAddress found = address[slot];
        if (found == null || high[slot] != peerHigh || low[slot] != peerLow || found.getPort() != port) {
            found = new InetSocketAddress(new NetAddress(peerHigh, peerLow, port).toInetAddress(), port);
            high[slot] = peerHigh;
            low[slot] = peerLow;
            address[slot] = found;
        }
        return found;
    }
}
