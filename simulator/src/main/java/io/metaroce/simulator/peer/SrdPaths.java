// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

import java.util.Arrays;

/** SRD's paths: of two at random the one whose round trips were shorter; a repeat takes another one. Which rule Amazon uses is not published. */
final class SrdPaths extends Paths {
    private static final double GAIN = .25;
    /** What a timeout counts as: round trips. */
    private static final double TIMED_OUT_RTT = 10;
    /** What a path is believed to have got better by each time it is passed over. */
    private static final double FORGET = .99;

    private final double[] rttPs;

    SrdPaths(PeerHost host, int count) {
        super(host, count);
        rttPs = new double[count];
        Arrays.fill(rttPs, host.baseRttPs);
    }

    @Override
    int choose(int before, int busyPlanes, int bytes) {
        int best = NONE;
        for (int tried = 0, found = 0; tried < 8 * host.planes && found < 2; tried++) {
            int path = host.random.nextInt(count);
            if (isBusy(path, busyPlanes) || path == before) {
                continue;
            }
            found++;
            if (best == NONE) {
                best = path;
            } else if (rttPs[path] < rttPs[best]) {
                rttPs[best] = Math.max(host.baseRttPs, rttPs[best] * FORGET);
                best = path;
            }
        }
        return best;
    }

    @Override
    void heard(int path, boolean marked, long rtt) {
        rttPs[path] += GAIN * (rtt - rttPs[path]);
    }

    @Override
    void timedOut(int path, int bytes) {
        rttPs[path] = TIMED_OUT_RTT * host.baseRttPs;
    }
}
