// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** What a sender remembers of its packets, by number modulo a power of two that grows with what is between the first and the last. */
final class Slots {
    static final byte OUT = 1;
    static final byte LOST = 2;
    static final byte ARRIVED = 3;
    private static final int SMALLEST = 32;

    byte[] state = new byte[SMALLEST];
    /** How often it was sent. */
    byte[] tries = new byte[SMALLEST];
    int[] path = new int[SMALLEST];
    long[] sentPs = new long[SMALLEST];
    /** Its number among the packets of its path. */
    long[] sequence = new long[SMALLEST];
    Part[] part = new Part[SMALLEST];

    int of(long psn) {
        return (int) psn & state.length - 1;
    }

    /** Makes room for {@code next}, while those from {@code first} on are kept. */
    void reserve(long first, long next) {
        if (next - first < state.length) {
            return;
        }
        Slots old = new Slots();
        old.state = state;
        old.tries = tries;
        old.path = path;
        old.sentPs = sentPs;
        old.sequence = sequence;
        old.part = part;
        int size = 2 * state.length;
        state = new byte[size];
        tries = new byte[size];
        path = new int[size];
        sentPs = new long[size];
        sequence = new long[size];
        part = new Part[size];
        for (long psn = first; psn < next; psn++) {
            int from = old.of(psn);
            int to = of(psn);
            state[to] = old.state[from];
            tries[to] = old.tries[from];
            path[to] = old.path[from];
            sentPs[to] = old.sentPs[from];
            sequence[to] = old.sequence[from];
            part[to] = old.part[from];
        }
    }
}
