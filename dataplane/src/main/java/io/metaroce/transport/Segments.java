// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/**
 * Pieces of local memory that together hold one message, in their order: what a request gathers from or a response or receive is
 * scattered to. The endpoint copies it when it is posted; the object may be used again at once. One thread.
 */
public final class Segments {
    final long[] address;
    final int[] length;
    final int[] key;
    int count;
    long bytes;

    /** @param capacity most pieces, 1 to {@link Limits#MAX_SEGMENTS} */
    public Segments(int capacity) {
        if (capacity < 1 || capacity > Limits.MAX_SEGMENTS) {
            throw new IllegalArgumentException(capacity + " segments are outside 1.." + Limits.MAX_SEGMENTS);
        }
        address = new long[capacity];
        length = new int[capacity];
        key = new int[capacity];
    }

    public Segments clear() {
        count = 0;
        bytes = 0;
        return this;
    }

    /**
     * @param length bytes, 0 or more
     * @param key of the memory region that the whole piece lies in; not looked at for inline data and for pieces of length 0
     * @throws IllegalArgumentException if {@code length} is negative
     * @throws IllegalStateException if there is no room for another piece
     */
    public Segments add(long address, int length, int key) {
        if (length < 0) {
            throw new IllegalArgumentException("a segment of " + length + " B");
        }
        if (count == this.address.length) {
            throw new IllegalStateException("all " + count + " segments are in use");
        }
        this.address[count] = address;
        this.length[count] = length;
        this.key[count++] = key;
        bytes += length;
        return this;
    }

    /** Of the first piece; 0 if there is none. */
    long firstAddress() {
        return count == 0 ? 0 : address[0];
    }

    int firstKey() {
        return count == 0 ? 0 : key[0];
    }

    public int count() {
        return count;
    }

    /** Bytes of all pieces together. */
    public long bytes() {
        return bytes;
    }
}
