// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;

/**
 * The connections of this endpoint that have packets to send for the first time, and what they have been given of each plane: they
 * divide the line among themselves, and what one may not use, as its receiver has not enough, is for the others (spec: "Demand").
 */
final class Backlogs {
    private final Slab slab;
    /** What each was given, by its slot and plane, and the sum of that by plane, kbit/s: of those that were asked about while there were several. */
    private final long[] shares;
    private final long[] given;
    /** Connections with packets that were not sent yet, and with messages that are not done. */
    private int count;
    private int busy;

    Backlogs(EndpointState state) {
        slab = state.slab;
        given = new long[state.config.planes()];
        shares = new long[given.length * state.config.maxConnections];
    }

    /** The connection has one more message to send. */
    void begin(long connection) {
        if (slab.addInt(connection + ConnectionRecord.WORK_REQUESTS, 1) == 1) {
            busy++;
        }
    }

    /** A message is acknowledged, or given up. */
    void end(long connection) {
        if (slab.addInt(connection + ConnectionRecord.WORK_REQUESTS, -1) == 0) {
            busy--;
        }
    }

    /** So many more packets of the connection wait, or fewer. */
    void add(long connection, int packets) {
        int before = slab.getInt(connection + ConnectionRecord.UNSENT_PACKETS);
        int after = before + packets;
        slab.putInt(connection + ConnectionRecord.UNSENT_PACKETS, after);
        if (before == 0 && after != 0) {
            count++;
        } else if (before != 0 && after == 0) {
            count--;
            for (int p = 0; p < given.length; p++) {
                enter(connection, p, 0);
            }
        }
    }

    /** The connection ends with all that waits. */
    void forget(long connection) {
        add(connection, -slab.getInt(connection + ConnectionRecord.UNSENT_PACKETS));
        if (slab.getInt(connection + ConnectionRecord.WORK_REQUESTS) != 0) {
            slab.putInt(connection + ConnectionRecord.WORK_REQUESTS, 0);
            busy--;
        }
    }

    /** Connections with packets that were not sent yet. */
    int count() {
        return count;
    }

    boolean isEmpty() {
        long all = count + busy;
        for (long kbps : given) {
            all |= kbps;
        }
        return all == 0;
    }

    /** Whether more than one connection has messages that are not acknowledged as a whole: then what each sends comes thinner than the line. */
    boolean areSeveral() {
        return busy > 1;
    }

    /** What a connection that has a backlog could use of the plane beside the others, kbit/s; at least an equal part of the line. */
    long usable(long connection, int planeNumber, float share, long lineKbps) {
        if (count < 2 || slab.getInt(connection + ConnectionRecord.UNSENT_PACKETS) == 0) {
            // Alone, or with nothing but repairs.
            return lineKbps;
        }
        long kbps = (long) (share * lineKbps);
        enter(connection, planeNumber, kbps);
        return Math.max(lineKbps / count, lineKbps - (given[planeNumber] - kbps));
    }

    private void enter(long connection, int planeNumber, long kbps) {
        int at = slab.getInt(connection + ConnectionRecord.INDEX) * given.length + planeNumber;
        given[planeNumber] += kbps - shares[at];
        shares[at] = kbps;
    }
}
