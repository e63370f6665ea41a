// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/**
 * Peers that asked not to be called for a while (spec: MR-CON-018). A few of them: of more, the one that may be called soonest is
 * forgotten.
 */
final class Backoff {
    private static final int PEERS = 64;

    private final long[] high = new long[PEERS];
    private final long[] low = new long[PEERS];
    private final int[] port = new int[PEERS];
    private final long[] untilNs = new long[PEERS];
    private int count;

    void note(long addressHigh, long addressLow, int udpPort, long until) {
        int at = find(addressHigh, addressLow, udpPort);
        if (at < 0) {
            at = count < PEERS ? count++ : soonest();
            high[at] = addressHigh;
            low[at] = addressLow;
            port[at] = udpPort;
        }
        untilNs[at] = until;
    }

    /** When the peer may be called: {@code nowNs}, or later. */
    long mayCall(long addressHigh, long addressLow, int udpPort, long nowNs) {
        int at = count == 0 ? -1 : find(addressHigh, addressLow, udpPort);
        return at < 0 || untilNs[at] - nowNs <= 0 ? nowNs : untilNs[at];
    }

    private int find(long addressHigh, long addressLow, int udpPort) {
        for (int i = 0; i < count; i++) {
            if (low[i] == addressLow && high[i] == addressHigh && port[i] == udpPort) {
                return i;
            }
        }
        return -1;
    }

    private int soonest() {
        int best = 0;
        for (int i = 1; i < PEERS; i++) {
            if (untilNs[i] - untilNs[best] < 0) {
                best = i;
            }
        }
        return best;
    }
}
