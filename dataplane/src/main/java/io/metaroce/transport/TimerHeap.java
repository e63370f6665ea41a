// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/**
 * One deadline per connection in a binary min-heap, so that the earliest is exact: a poll loop asks it once per turn, the
 * simulator schedules by it. A deadline may fire early (the owner looks again), never late. Connections go by their number
 * ({@link ConnectionRecord#INDEX}), and all that keeping order touches lies close together: no record of theirs.
 */
final class TimerHeap {
    static final long NEVER = Long.MAX_VALUE;
    /** No connection is due. */
    static final int NONE = -1;

    private final int[] heap;
    private final long[] deadlines;
    /** By connection: its position in the heap, + 1; 0: it has no deadline. */
    private final int[] positions;
    private int size;

    TimerHeap(int connections) {
        heap = new int[connections];
        deadlines = new long[connections];
        positions = new int[connections];
    }

    /** Makes the connection due at {@code deadlineNs} or earlier, if it already was. */
    void atMost(int connection, long deadlineNs) {
        int position = positions[connection] - 1;
        if (position < 0) {
            up(size++, connection, deadlineNs);
        } else if (deadlineNs - deadlines[position] < 0) {
            up(position, connection, deadlineNs);
        }
    }

    /** Removes and returns the first connection due at {@code nowNs}, or {@link #NONE}. */
    int popDue(long nowNs) {
        if (size == 0 || deadlines[0] - nowNs > 0) {
            return NONE;
        }
        int connection = heap[0];
        remove(connection);
        return connection;
    }

    void remove(int connection) {
        int position = positions[connection] - 1;
        if (position < 0) {
            return;
        }
        positions[connection] = 0;
        int last = heap[--size];
        if (last != connection) {
            long d = deadlines[size];
            down(position, last, d);
            up(positions[last] - 1, last, d);
        }
    }

    long earliest() {
        return size == 0 ? NEVER : deadlines[0];
    }

    private void place(int position, int connection, long deadlineNs) {
        heap[position] = connection;
        deadlines[position] = deadlineNs;
        positions[connection] = position + 1;
    }

    private void up(int position, int connection, long deadlineNs) {
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

    private void down(int position, int connection, long deadlineNs) {
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
