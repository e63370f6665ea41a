// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * REPS: a path whose acknowledgement came unmarked is used once more, else one at random. Bonato et al., "REPS: Recycled Entropy Packet
 * Spraying for Adaptive Load Balancing and Failure Mitigation", arXiv 2407.21625; {@code UecMpReps} and {@code CircularBufferREPS} of
 * ultraethernet/uet-htsim: a ring of 8; after a timeout, not while exploring, 10 ms on cached paths alone, then 16 at random.
 */
final class RepsPaths extends Paths {
    private static final int RING = 8;
    private static final long FROZEN_PS = 10_000_000_000L;
    private static final int EXPLORED = 16;

    private final int[] ring = new int[RING];
    private int head;
    private int cached;
    /** How many of the latest have not been used again. */
    private int fresh;
    private int frozenHead;
    private int exploring;
    private boolean frozen;
    private long thawPs;

    RepsPaths(PeerHost host, int count) {
        super(host, count);
    }

    @Override
    int choose(int before, int busyPlanes, int bytes) {
        for (int tried = 0; tried < 4 * host.planes; tried++) {
            int path = next();
            if (!isBusy(path, busyPlanes)) {
                return path;
            }
        }
        return NONE;
    }

    private int next() {
        if (exploring > 0) {
            exploring--;
        } else if (frozen && cached > 0) {
            int path = ring[frozenHead];
            frozenHead = (frozenHead + 1) % cached;
            return path;
        } else if (!frozen && fresh > 0) {
            return ring[Math.floorMod(head - fresh--, RING)];
        }
        return host.random.nextInt(count);
    }

    @Override
    void heard(int path, boolean marked, long rttPs) {
        if (frozen && host.nowPs() > thawPs) {
            frozen = false;
            head = cached = fresh = frozenHead = 0;
            exploring = EXPLORED;
        }
        if (!marked) {
            ring[head] = path;
            head = (head + 1) % RING;
            fresh = Math.min(RING, fresh + 1);
            cached = Math.min(RING, cached + 1);
        }
    }

    @Override
    void timedOut(int path, int bytes) {
        if (!frozen && exploring == 0) {
            frozen = true;
            thawPs = host.nowPs() + FROZEN_PS;
        }
    }
}
