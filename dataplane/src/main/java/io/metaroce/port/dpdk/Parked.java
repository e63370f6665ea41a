// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

/** Whole frames that wait for their next hop's link-layer address: at most {@link #LIMIT} a plane. One thread. */
final class Parked {
    static final int LIMIT = 64;

    interface Visitor {
        void frame(long mbuf, long frame, int length, int flags);
    }

    private final long[] high = new long[LIMIT];
    private final long[] low = new long[LIMIT];
    private final long[] mbuf = new long[LIMIT];
    private final long[] frame = new long[LIMIT];
    private final int[] length = new int[LIMIT];
    private final int[] flags = new int[LIMIT];
    private int count;

    boolean isFull() {
        return count == LIMIT;
    }

    void add(long h, long l, long m, long f, int n, int fl) {
        int i = count++;
        high[i] = h;
        low[i] = l;
        mbuf[i] = m;
        frame[i] = f;
        length[i] = n;
        flags[i] = fl;
    }

    /** Removes the frames for a host, oldest first, and gives each to {@code visitor}, who owns it then. */
    void take(long h, long l, Visitor visitor) {
        int kept = 0;
        int n = count;
        for (int i = 0; i < n; i++) {
            if (high[i] == h && low[i] == l) {
                visitor.frame(mbuf[i], frame[i], length[i], flags[i]);
            } else {
                high[kept] = high[i];
                low[kept] = low[i];
                mbuf[kept] = mbuf[i];
                frame[kept] = frame[i];
                length[kept] = length[i];
                flags[kept++] = flags[i];
            }
        }
        count = kept;
    }

    void takeAll(Visitor visitor) {
        for (int i = 0; i < count; i++) {
            visitor.frame(mbuf[i], frame[i], length[i], flags[i]);
        }
        count = 0;
    }
}
