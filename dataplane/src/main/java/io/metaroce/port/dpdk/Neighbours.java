// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

/**
 * Link-layer addresses of the hosts one plane sends to: a fixed open-addressed table (RFC 826, RFC 4861 in the small).
 *
 * <p>An entry starts incomplete and is asked for at growing intervals; answered, it is trusted for {@link #REACHABLE_NS}, then
 * confirmed in the background while it stays in use, or forgotten if it was not used. The table is the only state: who asks and
 * how is the {@link Requests}' matter. One thread.
 */
final class Neighbours {
    /** What to do when an address must be asked for, or was given up. */
    interface Requests {
        /** {@code mac} is the address to confirm, or -1 to ask everyone. */
        void ask(long high, long low, long mac);

        void givenUp(long high, long low);
    }

    static final long UNRESOLVED = -1;
    static final long FULL = -2;

    static final long REACHABLE_NS = 30_000_000_000L;
    static final long CONFIRM_NS = 1_000_000_000L;
    static final int CONFIRM_TRIES = 3;
    /** 20, 40, 80 ... ms: all tries take 2.5 s. The first answer decides how fast a connection can start. */
    static final long FIRST_RETRY_NS = 20_000_000L;
    static final int ASK_TRIES = 7;

    private static final byte FREE = 0;
    private static final byte INCOMPLETE = 1;
    private static final byte REACHABLE = 2;
    private static final byte CONFIRMING = 3;

    private final int mask;
    private final int limit;
    private final byte[] state;
    private final boolean[] used;
    private final long[] high;
    private final long[] low;
    private final long[] mac;
    private final long[] deadlineNs;
    private final int[] tries;
    private int count;

    /** The last answer, so that a run of packets to one host costs two comparisons. */
    private long lastHigh;
    private long lastLow;
    private long lastMac = UNRESOLVED;

    /** Room for {@code capacity} hosts, rounded up to a power of two and kept at most three quarters full. */
    Neighbours(int capacity) {
        int slots = Integer.highestOneBit(Math.max(capacity, 8) * 4 / 3 * 2 - 1);
        mask = slots - 1;
        limit = slots / 4 * 3;
        state = new byte[slots];
        used = new boolean[slots];
        high = new long[slots];
        low = new long[slots];
        mac = new long[slots];
        deadlineNs = new long[slots];
        tries = new int[slots];
    }

    int count() {
        return count;
    }

    /** The 48-bit address of a host; {@link #UNRESOLVED} after asking for it; {@link #FULL} if the table has no room to ask. */
    long lookup(long h, long l, long nowNs, Requests requests) {
        return h == lastHigh && l == lastLow && lastMac >= 0 ? lastMac : lookupSlow(h, l, nowNs, requests);
    }

    private long lookupSlow(long h, long l, long nowNs, Requests requests) {
        int i = find(h, l);
        if (state[i] == FREE) {
            if (count >= limit) {
                return FULL;
            }
            occupy(i, h, l, INCOMPLETE, UNRESOLVED);
            used[i] = true;
            tries[i] = 1;
            deadlineNs[i] = nowNs + FIRST_RETRY_NS;
            requests.ask(h, l, UNRESOLVED);
            // Asking a loopback device may answer at once; the caller finds out with the next packet.
            return UNRESOLVED;
        }
        used[i] = true;
        if (state[i] == INCOMPLETE) {
            return UNRESOLVED;
        }
        lastHigh = h;
        lastLow = l;
        lastMac = mac[i];
        return lastMac;
    }

    /** Learns an address. Unknown hosts are added only if {@code create} is set. Returns true if the host is in the table now. */
    boolean learn(long h, long l, long address, boolean create, long nowNs) {
        int i = find(h, l);
        if (state[i] == FREE) {
            if (!create || count >= limit) {
                return false;
            }
            occupy(i, h, l, REACHABLE, address);
            used[i] = false;
        }
        state[i] = REACHABLE;
        mac[i] = address;
        deadlineNs[i] = nowNs + REACHABLE_NS;
        lastMac = UNRESOLVED;
        return true;
    }

    /** Asks again, confirms and forgets what is due. */
    void tick(long nowNs, Requests requests) {
        lastMac = UNRESOLVED;   // so that use is noticed
        for (int i = 0; i <= mask; i++) {
            if (state[i] != FREE && deadlineNs[i] - nowNs <= 0 && due(i, nowNs, requests)) {
                remove(i);
                i--;            // another entry may have moved here
            }
        }
    }

    /** Returns true if the entry is to go. */
    private boolean due(int i, long nowNs, Requests requests) {
        if (state[i] == INCOMPLETE) {
            if (tries[i] >= ASK_TRIES) {
                requests.givenUp(high[i], low[i]);
                return true;
            }
            deadlineNs[i] = nowNs + (FIRST_RETRY_NS << tries[i]++);
            requests.ask(high[i], low[i], UNRESOLVED);
            return false;
        }
        if (state[i] == REACHABLE) {
            if (!used[i]) {
                return true;
            }
            used[i] = false;
            state[i] = CONFIRMING;
            tries[i] = 0;
        } else if (tries[i] >= CONFIRM_TRIES) {
            return true;
        }
        tries[i]++;
        deadlineNs[i] = nowNs + CONFIRM_NS;
        requests.ask(high[i], low[i], mac[i]);
        return false;
    }

    /** Forgets everything: the link was down, so who is behind it may have changed. */
    void clear(Requests requests) {
        for (int i = 0; i <= mask; i++) {
            if (state[i] == INCOMPLETE) {
                requests.givenUp(high[i], low[i]);
            }
            state[i] = FREE;
        }
        count = 0;
        lastMac = UNRESOLVED;
    }

    private void occupy(int i, long h, long l, byte to, long address) {
        state[i] = to;
        high[i] = h;
        low[i] = l;
        mac[i] = address;
        count++;
    }

    /** The host's slot, or the free slot where it would go. */
    private int find(long h, long l) {
        int i = home(h, l);
        while (state[i] != FREE && (high[i] != h || low[i] != l)) {
            i = i + 1 & mask;
        }
        return i;
    }

    private int home(long h, long l) {
        long x = (h ^ l) * 0x9e37_79b9_7f4a_7c15L;
        return (int) (x >>> 40) & mask;
    }

    /** Removes a slot and closes the gap in its run, so that searches still end at a free slot. */
    private void remove(int i) {
        count--;
        lastMac = UNRESOLVED;
        int gap = i;
        int j = i;
        while (true) {
            j = j + 1 & mask;
            if (state[j] == FREE) {
                break;
            }
            // j may fill the gap unless its home lies cyclically in (gap, j].
            int home = home(high[j], low[j]);
            if ((j - home & mask) >= (j - gap & mask)) {
                state[gap] = state[j];
                used[gap] = used[j];
                high[gap] = high[j];
                low[gap] = low[j];
                mac[gap] = mac[j];
                deadlineNs[gap] = deadlineNs[j];
                tries[gap] = tries[j];
                gap = j;
            }
        }
        state[gap] = FREE;
    }
}
