// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.core;

import java.util.Arrays;

/**
 * Events in virtual time, taken out by (time, order of scheduling): same calls, same order, always.
 *
 * <p>A calendar: the near future is a ring of buckets {@value #BUCKET_PS_LOG2} bits of picoseconds wide; what lies beyond the ring is a
 * heap. An event is one word, its time within its bucket above its number. A bucket keeps its words in the order of scheduling, in
 * chunks of a cache line: memory that was touched a microsecond of virtual time ago has long left the caches, so that what counts is
 * how many lines an event takes and whether the next one is known before the last one has come. The bucket that time is in is a sorted
 * array. Nothing is allocated for an event. One thread.
 */
public final class EventQueue {
    /** Hears of events shortly before they are taken. */
    public interface Foresight {
        /**
         * These words are the next bucket's, in the order of scheduling; {@link #event} says what they stand for. They may be looked
         * at, so that memory they need is fetched for all at a time. Nothing may depend on this call.
         */
        void coming(long[] words, int count);
    }

    /** 2^12 ps = 4.1 ns: some ten events on a busy fabric of 64 hosts. */
    private static final int BUCKET_PS_LOG2 = 12;
    /** 2^16 buckets: 268 us ahead. */
    private static final int RING = 1 << 16;
    /** Bits of an event; its time within the bucket stands above. */
    private static final int EVENT_BITS = Long.SIZE - BUCKET_PS_LOG2;
    private static final long EVENT = (1L << EVENT_BITS) - 1;

    /* A chunk: seven words of events and the index of the next chunk's first word. */
    private static final int CHUNK = 8;
    private static final int LINK = CHUNK - 1;
    private static final int NONE = 0;
    /** The first chunk is not used: its index means "none". */
    private long[] chunks = new long[1024 * CHUNK];
    private int[] freeChunks = new int[1024];
    private int free;
    private int used = CHUNK;

    /** Of each bucket: index of its first chunk, and of the word to write next; {@link #NONE} while it is empty. */
    private final int[] bucket = new int[2 * RING];
    /** A bit for each bucket that is not empty. */
    private final long[] occupied = new long[RING / Long.SIZE];
    private final Far far = new Far();
    /** Number of the bucket that time is in, counted from time 0, and its words: taken ones, then those to come. */
    private long here;
    private long[] present = new long[64];
    private long[] sorting = new long[64];
    private int next;
    private int end;
    private int inRing;
    private long scheduled;
    private long taken;
    private long nowPs;
    private Foresight foresight = (words, count) -> { };

    /** Who is to hear of events. */
    public void foresight(Foresight of) {
        foresight = of;
    }

    /** The event of a word that {@link Foresight} is shown. */
    public static long event(long word) {
        return word & EVENT;
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
        return next == end && inRing == 0 && far.size == 0;
    }

    /** Schedules {@code event}, 0 to 2^52 - 1, at {@code atPs}, not before the present. */
    public void at(long atPs, long event) {
        if (atPs < nowPs || (event & ~EVENT) != 0) {
            throw new IllegalArgumentException("event " + event + " at " + atPs + " ps, the present being " + nowPs);
        }
        long number = atPs >>> BUCKET_PS_LOG2;
        long word = atPs << EVENT_BITS | event;
        if (number == here) {
            intoPresent(word);
        } else if (number - here < RING) {
            intoRing(number, word);
        } else {
            far.push(atPs, scheduled++, event);
        }
    }

    /** Takes the next event; the queue must not be empty. */
    public long take() {
        if (next == end) {
            advance();
        }
        long word = present[next++];
        nowPs = here << BUCKET_PS_LOG2 | word >>> EVENT_BITS;
        taken++;
        return word & EVENT;
    }

    private void intoRing(long number, long word) {
        int i = (int) number & RING - 1;
        int at = bucket[2 * i + 1];
        if (at == NONE) {
            at = takeChunk();
            bucket[2 * i] = at;
            occupied[i >> 6] |= 1L << i;
        } else if ((at & CHUNK - 1) == LINK) {
            int following = takeChunk();
            chunks[at] = following;
            at = following;
        }
        chunks[at] = word;
        bucket[2 * i + 1] = at + 1;
        inRing++;
    }

    private int takeChunk() {
        if (free > 0) {
            return freeChunks[--free];
        }
        int chunk = used;
        used += CHUNK;
        if (used > chunks.length) {
            chunks = Arrays.copyOf(chunks, 2 * chunks.length);
            freeChunks = Arrays.copyOf(freeChunks, 2 * freeChunks.length);
        }
        return chunk;
    }

    /** Behind all of the same time: what is scheduled now comes after what was scheduled earlier. */
    private void intoPresent(long word) {
        if (next == end) {
            next = 0;
            end = 0;
        } else if (end == present.length) {
            present = Arrays.copyOf(present, 2 * end);
        }
        insert(word, end++);
    }

    /** Puts the word behind all of its time or earlier, of those that are sorted up to {@code i}. */
    private void insert(long word, int i) {
        while (i > next && (present[i - 1] >>> EVENT_BITS) > (word >>> EVENT_BITS)) {
            present[i] = present[i - 1];
            i--;
        }
        present[i] = word;
    }

    /** Moves to the next bucket with events. */
    private void advance() {
        long nearest = inRing > 0 ? here + distance() : Long.MAX_VALUE;
        if (far.size > 0) {
            nearest = Math.min(nearest, far.timePs[0] >>> BUCKET_PS_LOG2);
        }
        here = nearest;
        // What lay far away was scheduled before anything that is in the ring as near as that.
        while (far.size > 0 && (far.timePs[0] >>> BUCKET_PS_LOG2) - here < RING) {
            intoRing(far.timePs[0] >>> BUCKET_PS_LOG2, far.timePs[0] << EVENT_BITS | far.event[0]);
            far.pop();
        }
        empty((int) here & RING - 1);
        foresight.coming(present, end);
        sort();
    }

    /** Takes a bucket's words into {@link #present}, in order of scheduling. */
    private void empty(int i) {
        int last = bucket[2 * i + 1];
        next = 0;
        end = 0;
        for (int at = bucket[2 * i]; ; at = (int) chunks[at + LINK]) {
            boolean isLast = at == (last & -CHUNK);
            int count = isLast ? last - at : LINK;
            if (end + CHUNK > present.length) {
                present = Arrays.copyOf(present, 2 * present.length);
            }
            System.arraycopy(chunks, at, present, end, count);
            end += count;
            freeChunks[free++] = at;
            if (isLast) {
                break;
            }
        }
        bucket[2 * i] = NONE;
        bucket[2 * i + 1] = NONE;
        occupied[i >> 6] &= ~(1L << i);
        inRing -= end;
    }

    /** By time, stable. */
    private void sort() {
        if (end > 64) {
            radix(EVENT_BITS);
            radix(EVENT_BITS + BUCKET_PS_LOG2 / 2);
            return;
        }
        for (int i = 1; i < end; i++) {
            insert(present[i], i);
        }
    }

    private static final int DIGITS = 1 << BUCKET_PS_LOG2 / 2;
    private final int[] digits = new int[DIGITS + 1];

    private void radix(int shift) {
        if (sorting.length < present.length) {
            sorting = new long[present.length];
        }
        Arrays.fill(digits, 0);
        for (int i = 0; i < end; i++) {
            digits[((int) (present[i] >>> shift) & DIGITS - 1) + 1]++;
        }
        for (int d = 1; d < DIGITS; d++) {
            digits[d] += digits[d - 1];
        }
        for (int i = 0; i < end; i++) {
            sorting[digits[(int) (present[i] >>> shift) & DIGITS - 1]++] = present[i];
        }
        long[] sorted = sorting;
        sorting = present;
        present = sorted;
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

    /** What lies beyond the ring: a binary heap by time and order. */
    private static final class Far {
        long[] timePs = new long[256];
        long[] order = new long[256];
        long[] event = new long[256];
        int size;

        private boolean before(long aPs, long aOrder, int b) {
            return aPs < timePs[b] || aPs == timePs[b] && aOrder < order[b];
        }

        private void move(int from, int to) {
            timePs[to] = timePs[from];
            order[to] = order[from];
            event[to] = event[from];
        }

        private void put(int at, long atPs, long number, long what) {
            timePs[at] = atPs;
            order[at] = number;
            event[at] = what;
        }

        void push(long atPs, long number, long what) {
            if (size == timePs.length) {
                timePs = Arrays.copyOf(timePs, 2 * size);
                order = Arrays.copyOf(order, 2 * size);
                event = Arrays.copyOf(event, 2 * size);
            }
            int i = size++;
            while (i > 0 && before(atPs, number, (i - 1) >> 1)) {
                move((i - 1) >> 1, i);
                i = (i - 1) >> 1;
            }
            put(i, atPs, number, what);
        }

        void pop() {
            size--;
            long lastPs = timePs[size];
            long lastOrder = order[size];
            long last = event[size];
            int i = 0;
            for (int child = 1; child < size; child = 2 * i + 1) {
                if (child + 1 < size && before(timePs[child + 1], order[child + 1], child)) {
                    child++;
                }
                if (before(lastPs, lastOrder, child)) {
                    break;
                }
                move(child, i);
                i = child;
            }
            put(i, lastPs, lastOrder, last);
        }
    }
}
