// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.core;

import java.util.Arrays;

/**
 * Events in virtual time, taken out by (time, order of scheduling): same calls, same order, always.
 *
 * <p>A calendar: the near future is a ring of buckets {@value #BUCKET_PS_LOG2} bits of picoseconds wide, each an unsorted list;
 * the bucket that time is in is a heap; what lies beyond the ring is a second heap. Events are records in one growing array, so
 * nothing is allocated for one. One thread.
 */
public final class EventQueue {
    /** 2^12 ps = 4.1 ns: some ten events on a busy fabric of 64 hosts. */
    private static final int BUCKET_PS_LOG2 = 12;
    /** 2^16 buckets: 268 us ahead. */
    private static final int RING = 1 << 16;
    private static final int NONE = -1;
    /** Bits of a number of scheduling: below the bits of time within a bucket in the key of the present's heap. */
    private static final int ORDER_BITS = 63 - BUCKET_PS_LOG2;

    /* A record: time, number of scheduling, event, next record of its list. Half a cache line. */
    private static final int RECORD = 4;
    private static final int TIME = 0;
    private static final int ORDER = 1;
    private static final int EVENT = 2;
    private static final int NEXT = 3;
    private long[] records = new long[1024 * RECORD];
    /** Index of the first word of a free record. */
    private int free = NONE;
    private int used;

    private final int[] bucket = new int[RING];
    /** A bit for each bucket that is not empty. */
    private final long[] occupied = new long[RING / Long.SIZE];
    private final Present present = new Present();
    private final Far far = new Far();
    /** Number of the bucket that time is in, counted from time 0. */
    private long here;
    private int inRing;
    private long scheduled;
    private long taken;
    private long nowPs;

    public EventQueue() {
        Arrays.fill(bucket, NONE);
    }

    /** Time of the event taken last, ps. */
    public long nowPs() {
        return nowPs;
    }

    /** Events taken so far. */
    public long taken() {
        return taken;
    }

    public boolean isEmpty() {
        return present.size == 0 && inRing == 0 && far.size == 0;
    }

    /** Schedules {@code event} at {@code atPs}, not before the present. */
    public void at(long atPs, long event) {
        if (atPs < nowPs) {
            throw new IllegalArgumentException("an event at " + atPs + " ps, before the present " + nowPs);
        }
        long number = atPs >>> BUCKET_PS_LOG2;
        if (number == here) {
            present.push(key(atPs, scheduled++), event);
            return;
        }
        int r = free;
        if (r != NONE) {
            free = (int) records[r + NEXT];
        } else {
            r = used;
            used += RECORD;
            if (r == records.length) {
                records = Arrays.copyOf(records, 2 * r);
            }
        }
        records[r + TIME] = atPs;
        records[r + ORDER] = scheduled++;
        records[r + EVENT] = event;
        if (number - here < RING) {
            intoRing(r, number);
        } else {
            far.push(r);
        }
    }

    /** Takes the next event; the queue must not be empty. */
    public long take() {
        if (present.size == 0) {
            advance();
        }
        nowPs = here << BUCKET_PS_LOG2 | present.keys[0] >>> ORDER_BITS;
        taken++;
        return present.pop();
    }

    private static long key(long atPs, long order) {
        return (atPs & (1L << BUCKET_PS_LOG2) - 1) << ORDER_BITS | order;
    }

    private void intoRing(int r, long number) {
        int i = (int) number & RING - 1;
        records[r + NEXT] = bucket[i];
        bucket[i] = r;
        occupied[i >> 6] |= 1L << i;
        inRing++;
    }

    private void intoPresent(int r) {
        present.push(key(records[r + TIME], records[r + ORDER]), records[r + EVENT]);
        records[r + NEXT] = free;
        free = r;
    }

    /** Moves to the next bucket with events. */
    private void advance() {
        long nearest = inRing > 0 ? here + distance() : Long.MAX_VALUE;
        if (far.size > 0) {
            nearest = Math.min(nearest, far.number());
        }
        here = nearest;
        int i = (int) here & RING - 1;
        for (int r = bucket[i]; r != NONE; ) {
            int following = (int) records[r + NEXT];
            intoPresent(r);
            inRing--;
            r = following;
        }
        bucket[i] = NONE;
        occupied[i >> 6] &= ~(1L << i);
        while (far.size > 0 && far.number() - here < RING) {
            long number = far.number();
            int r = far.pop();
            if (number == here) {
                intoPresent(r);
            } else {
                intoRing(r, number);
            }
        }
    }

    /** Buckets from here to the first one ahead that has events. */
    private int distance() {
        int from = (int) (here + 1) & RING - 1;
        long word = occupied[from >> 6] >>> from;
        if (word != 0) {
            return 1 + Long.numberOfTrailingZeros(word);
        }
        int at = (from | 63) + 1;
        while (occupied[(at & RING - 1) >> 6] == 0) {
            at += Long.SIZE;
        }
        return 1 + at - from + Long.numberOfTrailingZeros(occupied[(at & RING - 1) >> 6]);
    }

    /** The events of the bucket that time is in: a binary heap by time within it and order, in one number. */
    private static final class Present {
        long[] keys = new long[64];
        long[] events = new long[64];
        int size;

        void push(long key, long event) {
            if (size == keys.length) {
                keys = Arrays.copyOf(keys, 2 * size);
                events = Arrays.copyOf(events, 2 * size);
            }
            int i = size++;
            while (i > 0 && key < keys[(i - 1) >> 1]) {
                int parent = (i - 1) >> 1;
                keys[i] = keys[parent];
                events[i] = events[parent];
                i = parent;
            }
            keys[i] = key;
            events[i] = event;
        }

        long pop() {
            long top = events[0];
            long last = keys[--size];
            int i = 0;
            for (int child = 1; child < size; child = 2 * i + 1) {
                if (child + 1 < size && keys[child + 1] < keys[child]) {
                    child++;
                }
                if (keys[child] >= last) {
                    break;
                }
                keys[i] = keys[child];
                events[i] = events[child];
                i = child;
            }
            keys[i] = last;
            events[i] = events[size];
            return top;
        }
    }

    /** What lies beyond the ring: a binary heap of records by time and order. */
    private final class Far {
        int[] heap = new int[256];
        int size;

        /** Bucket of the first one. */
        long number() {
            return records[heap[0] + TIME] >>> BUCKET_PS_LOG2;
        }

        private boolean before(int a, int b) {
            long earlier = records[a + TIME] - records[b + TIME];
            return earlier < 0 || earlier == 0 && records[a + ORDER] < records[b + ORDER];
        }

        void push(int r) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, 2 * size);
            }
            int i = size++;
            while (i > 0 && before(r, heap[(i - 1) >> 1])) {
                heap[i] = heap[(i - 1) >> 1];
                i = (i - 1) >> 1;
            }
            heap[i] = r;
        }

        int pop() {
            int top = heap[0];
            int last = heap[--size];
            int i = 0;
            for (int child = 1; child < size; child = 2 * i + 1) {
                if (child + 1 < size && before(heap[child + 1], heap[child])) {
                    child++;
                }
                if (!before(heap[child], last)) {
                    break;
                }
                heap[i] = heap[child];
                i = child;
            }
            heap[i] = last;
            return top;
        }
    }
}
