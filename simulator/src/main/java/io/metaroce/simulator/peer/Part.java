// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** A message, or the part of one that a channel carries, on the sending side. */
final class Part {
    final int flow;
    final int bytes;
    final long firstPsn;
    final int packets;
    /** Packets that are not known to have arrived. */
    int open;

    Part(int flow, int bytes, long firstPsn, int payload) {
        this.flow = flow;
        this.bytes = bytes;
        this.firstPsn = firstPsn;
        packets = open = (bytes + payload - 1) / payload;
    }

    long endPsn() {
        return firstPsn + packets;
    }

    /** Payload of one of its packets. */
    int payload(long psn, int full) {
        return psn == endPsn() - 1 ? bytes - (packets - 1) * full : full;
    }
}
