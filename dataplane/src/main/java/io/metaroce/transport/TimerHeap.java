// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;

/**
 * One deadline per connection in a binary min-heap, so that the earliest is exact: a poll loop asks it once per turn, the
 * simulator schedules by it. A deadline may fire early (the owner looks again), never late. Deadlines lie in the heap, so that keeping it
 * in order reads no connection.
 */
final class TimerHeap {
    static final long NEVER = Long.MAX_VALUE;

    private final Slab slab;
    private final long[] heap;
    private final long[] deadlines;
    private int size;

    TimerHeap(Slab slab, int connections) {
        this.slab = slab;
        heap = new long[connections];
        deadlines = new long[connections];
    }

    /** Makes the connection due at {@code deadlineNs} or earlier, if it already was. */
    void atMost(long connection, long deadlineNs) {
        int position = slab.getInt(connection + ConnectionRecord.TIMER_POSITION) - 1;
        if (position < 0) {
            slab.putLong(connection + ConnectionRecord.TIMER_DEADLINE, deadlineNs);
            up(size++, connection, deadlineNs);
        } else if (deadlineNs - slab.getLong(connection + ConnectionRecord.TIMER_DEADLINE) < 0) {
            slab.putLong(connection + ConnectionRecord.TIMER_DEADLINE, deadlineNs);
            up(position, connection, deadlineNs);
        }
    }

    /** Removes and returns the first connection due at {@code nowNs}, or 0. */
    long popDue(long nowNs) {
        if (size == 0 || deadlines[0] - nowNs > 0) {
            return 0;
        }
        long connection = heap[0];
        remove(connection);
        return connection;
    }

    void remove(long connection) {
        int position = slab.getInt(connection + ConnectionRecord.TIMER_POSITION) - 1;
        if (position < 0) {
            return;
        }
        slab.putInt(connection + ConnectionRecord.TIMER_POSITION, 0);
        long last = heap[--size];
        if (last != connection) {
            long d = deadlines[size];
            down(position, last, d);
            up(slab.getInt(last + ConnectionRecord.TIMER_POSITION) - 1, last, d);
        }
    }

    long earliest() {
        return size == 0 ? NEVER : deadlines[0];
    }

    private void place(int position, long connection, long deadlineNs) {
        heap[position] = connection;
        deadlines[position] = deadlineNs;
        slab.putInt(connection + ConnectionRecord.TIMER_POSITION, position + 1);
    }

    private void up(int position, long connection, long deadlineNs) {
        while (position > 0) {
            int parent = (position - 1) >> 1;
            if (deadlines[parent] - deadlineNs <= 0) {
                break;
            }
            place(position, heap[parent], deadlines[parent]);
            position = parent;
        }
        place(position, connection, deadlineNs);
    }

    private void down(int position, long connection, long deadlineNs) {
        for (int child = 2 * position + 1; child < size; child = 2 * position + 1) {
            if (child + 1 < size && deadlines[child + 1] - deadlines[child] < 0) {
                child++;
            }
            if (deadlines[child] - deadlineNs >= 0) {
                break;
            }
            place(position, heap[child], deadlines[child]);
            position = child;
        }
        place(position, connection, deadlineNs);
    }
}
