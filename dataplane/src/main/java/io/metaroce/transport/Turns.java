// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;

/**
 * Connections that wait for a turn of one kind, first come first served, each at most once. A link in each record names the next one;
 * that of the last names itself, and that of whoever does not wait is 0.
 */
final class Turns {
    private final Slab slab;
    private final int link;
    private long head;
    private long tail;

    /** @param link field of {@link ConnectionRecord}, 64 bits, that is this list's alone */
    Turns(Slab slab, int link) {
        this.slab = slab;
        this.link = link;
    }

    void add(long connection) {
        if (slab.getLong(connection + link) != 0) {
            return;
        }
        slab.putLong(connection + link, connection);
        if (head == 0) {
            head = connection;
        } else {
            slab.putLong(tail + link, connection);
        }
        tail = connection;
    }

    /** Its turn goes on. */
    void addFirst(long connection) {
        if (slab.getLong(connection + link) != 0) {
            return;
        }
        if (head == 0) {
            tail = connection;
        }
        slab.putLong(connection + link, head == 0 ? connection : head);
        head = connection;
    }

    /** The next connection in turn, taken off the list, or 0. */
    long take() {
        long first = head;
        if (first != 0) {
            long next = slab.getLong(first + link);
            head = next == first ? 0 : next;
            slab.putLong(first + link, 0);
        }
        return first;
    }

    boolean isFirst(long connection) {
        return head == connection;
    }

    boolean isEmpty() {
        return head == 0;
    }

    /** Takes a dying connection off the list wherever it stands. */
    void remove(long connection) {
        long next = slab.getLong(connection + link);
        if (next == 0) {
            return;
        }
        if (head == connection) {
            take();
            return;
        }
        long previous = head;
        while (slab.getLong(previous + link) != connection) {
            previous = slab.getLong(previous + link);
        }
        if (next == connection) {
            tail = previous;
            next = previous;
        }
        slab.putLong(previous + link, next);
        slab.putLong(connection + link, 0);
    }
}
