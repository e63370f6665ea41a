// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.core;

import java.util.Arrays;

/**
 * Events in virtual time, taken out by (time, order of scheduling): same calls, same order, always.
 *
 * <p>A calendar: the near future is a ring of buckets {@value #BUCKET_PS_LOG2} bits of picoseconds wide, each an unsorted list;
 * the bucket that time is in is a heap; what lies beyond the ring is a second heap. Events are numbers in growing arrays, so
 * nothing is allocated for one. One thread.
 */
public final class EventQueue {
    /** 2^13 ps = 8.2 ns: some tens of events on a busy fabric of 64 hosts. */
    private static final int BUCKET_PS_LOG2 = 13;
    /** 2^15 buckets: 268 us ahead. */
    private static final int RING = 1 << 15;
    private static final int NONE = -1;

    private long[] time = new long[1024];
    private long[] order = new long[1024];
    private long[] what = new long[1024];
    private int[] next = new int[1024];
    private int free = NONE;
    private int used;

    private final int[] bucket = new int[RING];
    /** A bit for each bucket that is not empty. */
    private final long[] occupied = new long[RING / Long.SIZE];
    private final Heap present = new Heap();
    private final Heap far = new Heap();
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
        int slot = free;
        if (slot != NONE) {
            free = next[slot];
        } else {
            slot = used++;
            if (slot == time.length) {
                grow();
            }
        }
        time[slot] = atPs;
        order[slot] = scheduled++;
        what[slot] = event;
        put(slot);
    }

    /** Takes the next event; the queue must not be empty. */
    public long take() {
        if (present.size == 0) {
            advance();
        }
        int slot = present.pop();
        nowPs = time[slot];
        taken++;
        next[slot] = free;
        free = slot;
        return what[slot];
    }

    private void put(int slot) {
        long number = time[slot] >>> BUCKET_PS_LOG2;
        if (number <= here) {
            present.push(slot);
        } else if (number - here < RING) {
            int i = (int) number & RING - 1;
            next[slot] = bucket[i];
            bucket[i] = slot;
            occupied[i >> 6] |= 1L << i;
            inRing++;
        } else {
            far.push(slot);
        }
    }

    /** Moves to the next bucket with events. */
    private void advance() {
        long nearest = inRing > 0 ? here + distance() : Long.MAX_VALUE;
        if (far.size > 0) {
            nearest = Math.min(nearest, time[far.slots[0]] >>> BUCKET_PS_LOG2);
        }
        here = nearest;
        int i = (int) here & RING - 1;
        for (int slot = bucket[i]; slot != NONE; ) {
            int following = next[slot];
            present.push(slot);
            inRing--;
            slot = following;
        }
        bucket[i] = NONE;
        occupied[i >> 6] &= ~(1L << i);
        while (far.size > 0 && (time[far.slots[0]] >>> BUCKET_PS_LOG2) - here < RING) {
            put(far.pop());
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

    private void grow() {
        int size = 2 * time.length;
        time = Arrays.copyOf(time, size);
        order = Arrays.copyOf(order, size);
        what = Arrays.copyOf(what, size);
        next = Arrays.copyOf(next, size);
    }

    private boolean before(int a, int b) {
        return time[a] < time[b] || time[a] == time[b] && order[a] < order[b];
    }

    /** A binary heap of slots. */
    private final class Heap {
        int[] slots = new int[256];
        int size;

        void push(int slot) {
            if (size == slots.length) {
                slots = Arrays.copyOf(slots, 2 * size);
            }
            int i = size++;
            while (i > 0 && before(slot, slots[(i - 1) >> 1])) {
                slots[i] = slots[(i - 1) >> 1];
                i = (i - 1) >> 1;
            }
            slots[i] = slot;
        }

        int pop() {
            int top = slots[0];
            int last = slots[--size];
            int i = 0;
            for (int child = 1; child < size; child = 2 * i + 1) {
                if (child + 1 < size && before(slots[child + 1], slots[child])) {
                    child++;
                }
                if (!before(slots[child], last)) {
                    break;
                }
                slots[i] = slots[child];
                i = child;
            }
            slots[i] = last;
            return top;
        }
    }
}
