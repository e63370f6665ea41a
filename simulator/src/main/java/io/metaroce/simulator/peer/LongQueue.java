// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** First in, first out; grows as needed. */
final class LongQueue {
    private long[] items = new long[64];
    private int first;
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    void add(long item) {
        if (size == items.length) {
            long[] larger = new long[2 * size];
            for (int i = 0; i < size; i++) {
                larger[i] = items[first + i & size - 1];
            }
            items = larger;
            first = 0;
        }
        items[first + size++ & items.length - 1] = item;
    }

    long peek() {
        return items[first];
    }

    long poll() {
        long item = items[first];
        first = first + 1 & items.length - 1;
        size--;
        return item;
    }
}
