// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.transport.TxBurst;
import java.lang.foreign.Arena;

/**
 * Copies of datagrams that leave later, in fixed slots, ordered by release time and, within one time, by arrival. Allocated once.
 * Free slots are reused oldest first, so that a port that still reads a frame shortly after taking it finds it unchanged.
 */
final class HeldFrames {
    static final int NO_SLOT = -1;

    private static final int CACHE_LINE = 64;

    private final int slotBytes;
    /** Distance of slots: more than a slot, so that the end of a full one still belongs to it. */
    private final int stride;
    private final long slots;
    private final int capacity;
    // Facts of the datagram in each slot.
    private final int[] headerLength;
    private final int[] payloadLength;
    private final byte[] plane;
    private final int[] sourcePort;
    private final long[] destinationHigh;
    private final long[] destinationLow;
    private final int[] destinationPort;
    private final long[] releaseNs;
    private final long[] arrival;
    /** Free slots, a ring. */
    private final int[] free;
    private int firstFree;
    private int freeCount;
    /** Waiting slots, a binary heap whose first is due first. */
    private final int[] heap;
    private int waiting;
    private long arrivals;

    HeldFrames(Arena arena, int capacity, int slotBytes) {
        this.capacity = capacity;
        this.slotBytes = slotBytes;
        stride = slotBytes + CACHE_LINE & -CACHE_LINE;
        slots = arena.allocate((long) capacity * stride, CACHE_LINE).address();
        headerLength = new int[capacity];
        payloadLength = new int[capacity];
        plane = new byte[capacity];
        sourcePort = new int[capacity];
        destinationHigh = new long[capacity];
        destinationLow = new long[capacity];
        destinationPort = new int[capacity];
        releaseNs = new long[capacity];
        arrival = new long[capacity];
        free = new int[capacity];
        heap = new int[capacity];
        for (int i = 0; i < capacity; i++) {
            free[i] = i;
        }
        freeCount = capacity;
    }

    /** Copies entry {@code i} whole into a free slot; {@link #NO_SLOT} if there is none or the datagram is too long. */
    int copy(TxBurst burst, int i) {
        int slot = burst.headerLength[i] + burst.payloadLength[i] <= slotBytes ? take() : NO_SLOT;
        if (slot != NO_SLOT) {
            RawMemory.copy(burst.header[i], address(slot), burst.headerLength[i]);
            copyPayload(burst, i, address(slot) + burst.headerLength[i]);
            headerLength[slot] = burst.headerLength[i];
            payloadLength[slot] = burst.payloadLength[i];
            plane[slot] = burst.plane[i];
            sourcePort[slot] = burst.sourcePort[i];
            destinationHigh[slot] = burst.destinationHigh[i];
            destinationLow[slot] = burst.destinationLow[i];
            destinationPort[slot] = burst.destinationPort[i];
        }
        return slot;
    }

    /** Lets entry {@code i} point to a copy of its payload in a free slot; {@link #NO_SLOT} if there is none. */
    int copyPayloadOf(TxBurst burst, int i) {
        int slot = burst.payloadLength[i] <= slotBytes ? take() : NO_SLOT;
        if (slot != NO_SLOT) {
            copyPayload(burst, i, address(slot));
            burst.payload[i] = address(slot);
        }
        return slot;
    }

    private static void copyPayload(TxBurst burst, int i, long to) {
        if (burst.payloadLength[i] > 0) {
            RawMemory.copy(burst.payload[i], to, burst.payloadLength[i]);
        }
    }

    /** Lets a copied datagram leave at {@code atNs}. */
    void schedule(int slot, long atNs) {
        releaseNs[slot] = atNs;
        arrival[slot] = arrivals++;
        int i = waiting++;
        while (i > 0 && isBefore(slot, heap[(i - 1) / 2])) {
            heap[i] = heap[(i - 1) / 2];
            i = (i - 1) / 2;
        }
        heap[i] = slot;
    }

    boolean isDue(long nowNs) {
        return waiting > 0 && releaseNs[heap[0]] - nowNs <= 0;
    }

    boolean isEmpty() {
        return waiting == 0;
    }

    /** Takes the datagram that is due first. */
    int poll() {
        int slot = heap[0];
        int moved = heap[--waiting];
        int i = 0;
        for (int child = 1; child < waiting; child = 2 * i + 1) {
            if (child + 1 < waiting && isBefore(heap[child + 1], heap[child])) {
                child++;
            }
            if (!isBefore(heap[child], moved)) {
                break;
            }
            heap[i] = heap[child];
            i = child;
        }
        heap[i] = moved;
        return slot;
    }

    /** Adds the datagram of a slot to a prepared burst; its payload stays in the slot. */
    void appendTo(TxBurst burst, int slot) {
        int i = burst.count++;
        RawMemory.copy(address(slot), burst.header[i], headerLength[slot]);
        burst.headerLength[i] = headerLength[slot];
        burst.payload[i] = address(slot) + headerLength[slot];
        burst.payloadLength[i] = payloadLength[slot];
        burst.plane[i] = plane[slot];
        burst.sourcePort[i] = sourcePort[slot];
        burst.destinationHigh[i] = destinationHigh[slot];
        burst.destinationLow[i] = destinationLow[slot];
        burst.destinationPort[i] = destinationPort[slot];
    }

    /** The slot that holds this address. */
    int slotOf(long payload) {
        return (int) ((payload - slots) / stride);
    }

    boolean holds(long payload) {
        return payload >= slots && payload < slots + (long) capacity * stride;
    }

    long address(int slot) {
        return slots + (long) slot * stride;
    }

    void release(int slot) {
        int end = firstFree + freeCount++;
        free[end >= capacity ? end - capacity : end] = slot;
    }

    private int take() {
        if (freeCount == 0) {
            return NO_SLOT;
        }
        int slot = free[firstFree];
        firstFree = firstFree + 1 == capacity ? 0 : firstFree + 1;
        freeCount--;
        return slot;
    }

    private boolean isBefore(int a, int b) {
        return releaseNs[a] != releaseNs[b] ? releaseNs[a] - releaseNs[b] < 0 : arrival[a] < arrival[b];
    }
}
