// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

/** A datagram on the wire, in memory of its own. */
final class Frame implements Comparable<Frame> {
    static final int ROOM = 2304;

    final long address;
    long atNs;
    long order;
    int length;
    int plane;
    /** Which of the addresses that its receiver has had there it goes to. */
    int generation;
    int ecn;
    long sourceHigh;
    long sourceLow;
    int sourcePort;
    boolean corrupt;
    /** The sender, and its incarnation. */
    Host from;
    int fromIncarnation;

    Frame(long address) {
        this.address = address;
    }

    @Override
    public int compareTo(Frame o) {
        return atNs != o.atNs ? Long.compare(atNs, o.atNs) : Long.compare(order, o.order);
    }
}
