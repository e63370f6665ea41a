// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * MRC's entropy values in turn, by their states: GOOD; SKIP, passed over once (its packet was marked, or trimmed); ASSUMED_BAD, not used
 * (a packet timed out) until a probe over it is answered. A repeat takes another one than the packet took before.
 */
final class MrcPaths extends Oblivious {
    private static final byte GOOD = 0;
    private static final byte SKIP = 1;
    private static final byte ASSUMED_BAD = 2;
    /** No more than this part is assumed bad: {@code ev_min_active}. */
    private static final int LEAST_ACTIVE_PART = 2;
    /** Round trips between probes over values that are assumed bad. */
    private static final int PROBE_RTT = 4;

    private final byte[] state;
    private final Timer probes;
    private SelectiveSender sender;
    private int bad;

    MrcPaths(PeerHost host, int count) {
        super(host, count);
        state = new byte[count];
        probes = host.timer(this::probe);
    }

    @Override
    void attach(SelectiveSender of) {
        sender = of;
    }

    @Override
    int choose(int before, int busyPlanes, int bytes) {
        int skipped = NONE;
        for (int tried = 0; tried < 2 * count; tried++) {
            int path = current();
            advance();
            if (path == before || isBusy(path, busyPlanes) || state[path] == ASSUMED_BAD) {
                continue;
            }
            if (state[path] == GOOD) {
                return path;
            }
            state[path] = GOOD;
            skipped = path;
        }
        return skipped;
    }

    @Override
    void heard(int path, boolean marked, long rttPs) {
        if (state[path] == ASSUMED_BAD) {
            bad--;
            state[path] = GOOD;
        }
        if (marked) {
            state[path] = SKIP;
        }
    }

    @Override
    void trimmed(int path, int bytes) {
        if (state[path] == GOOD) {
            state[path] = SKIP;
        }
    }

    @Override
    void timedOut(int path, int bytes) {
        if (state[path] != ASSUMED_BAD && bad < count / LEAST_ACTIVE_PART) {
            state[path] = ASSUMED_BAD;
            host.counters.deadPaths++;
            bad++;
            probes.atMost(host.nowPs() + PROBE_RTT * host.baseRttPs);
        }
    }

    private void probe() {
        for (int path = 0; path < count; path++) {
            if (state[path] == ASSUMED_BAD) {
                sender.sendProbe(path);
            }
        }
        if (bad > 0 && sender.isBusy()) {
            probes.at(host.nowPs() + PROBE_RTT * host.baseRttPs);
        }
    }
}
