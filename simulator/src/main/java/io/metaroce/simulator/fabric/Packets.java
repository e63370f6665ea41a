// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.fabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The packets under way: numbered slots, each with its headers in off-heap memory and its fields in arrays. Payload is not kept,
 * only its length. Grows as needed; slots are used again, last in, first out. One thread.
 */
public final class Packets {
    /** Bytes of header memory of a slot. */
    public static final int HEADER_ROOM = 1024;
    /** Apart so that slots do not all fall into the same few sets of a cache. */
    private static final int STRIDE = HEADER_ROOM + 64;
    private static final int CHUNK_LOG2 = 10;
    private static final int CHUNK = 1 << CHUNK_LOG2;

    private final Arena arena = Arena.ofAuto();
    private long[] chunks = new long[0];
    /** Keeps the memory of the chunks alive. */
    private MemorySegment[] memory = new MemorySegment[0];
    private int[] freeList = new int[0];
    private int free;
    private int count;

    /** Sending and receiving host. */
    public int[] source = new int[0];
    public int[] destination = new int[0];
    public byte[] plane = new byte[0];
    /** UDP source port. */
    public int[] sourcePort = new int[0];
    /** Bytes in {@link #header}, and of payload behind them. */
    public int[] headerLength = new int[0];
    public int[] payloadLength = new int[0];
    /** Bytes on the wire. */
    public int[] size = new int[0];
    /** Hash of the five-tuple, which switches choose routes by. */
    public long[] flowHash = new long[0];
    /** The link that the packet is on. */
    public int[] link = new int[0];
    public boolean[] marked = new boolean[0];
    /** Whether it is of the class that overtakes where the fabric trims: a sender's choice. */
    public boolean[] urgent = new boolean[0];
    /** Whether a switch has taken its payload away. */
    public boolean[] trimmed = new boolean[0];

    /** A slot with undefined contents. */
    public int take() {
        if (free == 0) {
            grow();
        }
        return freeList[--free];
    }

    public void give(int packet) {
        freeList[free++] = packet;
    }

    /** Address of the packet's headers. */
    public long header(int packet) {
        return chunks[packet >> CHUNK_LOG2] + (long) (packet & CHUNK - 1) * STRIDE;
    }

    /** Packets under way. */
    public int used() {
        return count - free;
    }

    private void grow() {
        int chunk = chunks.length;
        chunks = Arrays.copyOf(chunks, chunk + 1);
        memory = Arrays.copyOf(memory, chunk + 1);
        memory[chunk] = arena.allocate((long) CHUNK * STRIDE, 64);
        chunks[chunk] = memory[chunk].address();
        int size = count + CHUNK;
        freeList = Arrays.copyOf(freeList, size);
        for (int i = size - 1; i >= count; i--) {
            freeList[free++] = i;
        }
        count = size;
        source = Arrays.copyOf(source, size);
        destination = Arrays.copyOf(destination, size);
        plane = Arrays.copyOf(plane, size);
        sourcePort = Arrays.copyOf(sourcePort, size);
        headerLength = Arrays.copyOf(headerLength, size);
        payloadLength = Arrays.copyOf(payloadLength, size);
        this.size = Arrays.copyOf(this.size, size);
        flowHash = Arrays.copyOf(flowHash, size);
        link = Arrays.copyOf(link, size);
        marked = Arrays.copyOf(marked, size);
        urgent = Arrays.copyOf(urgent, size);
        trimmed = Arrays.copyOf(trimmed, size);
    }
}
