// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.fabric;

import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.simulator.core.Memory;
import java.util.Arrays;

/**
 * The packets under way: numbered slots of off-heap memory, the fields of each in one cache line, so that a hop touches one line of a
 * packet, and its headers apart. Payload is not kept, only its length. Grows as needed; slots are used again, last in, first out. One
 * thread.
 */
public final class Packets {
    /** Bytes of header memory of a slot. */
    public static final int HEADER_ROOM = 1024;
    private static final int LINE = 64;
    /** Apart so that slots do not all fall into the same few sets of a cache. */
    private static final int STRIDE = HEADER_ROOM + LINE;
    private static final int CHUNK_LOG2 = 10;
    private static final int CHUNK = 1 << CHUNK_LOG2;

    /* Fields of the line. */
    private static final int FLOW_HASH = 0;
    private static final int SOURCE = 8;
    private static final int DESTINATION = 12;
    private static final int SOURCE_PORT = 16;
    private static final int HEADER_LENGTH = 20;
    private static final int PAYLOAD_LENGTH = 24;
    private static final int SIZE = 28;
    private static final int LINK = 32;
    private static final int PLANE = 36;
    private static final int MARKED = 37;
    private static final int URGENT = 38;
    private static final int TRIMMED = 39;

    /** Stays as long as this object, and with it all that it gave. */
    private final Memory memory = new Memory();
    /** Addresses of the fields and of the headers of a chunk's packets. */
    private long[] fields = new long[0];
    private long[] headers = new long[0];
    private int[] freeList = new int[0];
    private int free;
    private int count;

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

    private long at(int packet) {
        return fields[packet >> CHUNK_LOG2] + (long) (packet & CHUNK - 1) * LINE;
    }

    /** Address of the packet's headers. */
    public long header(int packet) {
        return headers[packet >> CHUNK_LOG2] + (long) (packet & CHUNK - 1) * STRIDE;
    }

    /** Looks at the fields, so that they are at hand soon; the result means nothing. */
    long look(int packet) {
        return RawMemory.getLong(at(packet));
    }

    /** The same of the headers, as far as most packets have any. */
    long lookAtHeader(int packet) {
        long at = header(packet);
        return RawMemory.getLong(at) + RawMemory.getLong(at + LINE);
    }

    /** Packets under way. */
    public int used() {
        return count - free;
    }

    /** Sending host. */
    public int source(int packet) {
        return RawMemory.getInt(at(packet) + SOURCE);
    }

    public void source(int packet, int host) {
        RawMemory.putInt(at(packet) + SOURCE, host);
    }

    /** Receiving host. */
    public int destination(int packet) {
        return RawMemory.getInt(at(packet) + DESTINATION);
    }

    public void destination(int packet, int host) {
        RawMemory.putInt(at(packet) + DESTINATION, host);
    }

    public int plane(int packet) {
        return RawMemory.getByte(at(packet) + PLANE);
    }

    public void plane(int packet, int plane) {
        RawMemory.putByte(at(packet) + PLANE, (byte) plane);
    }

    /** UDP source port. */
    public int sourcePort(int packet) {
        return RawMemory.getInt(at(packet) + SOURCE_PORT);
    }

    public void sourcePort(int packet, int port) {
        RawMemory.putInt(at(packet) + SOURCE_PORT, port);
    }

    /** Bytes in {@link #header}. */
    public int headerLength(int packet) {
        return RawMemory.getInt(at(packet) + HEADER_LENGTH);
    }

    public void headerLength(int packet, int bytes) {
        RawMemory.putInt(at(packet) + HEADER_LENGTH, bytes);
    }

    /** Bytes of payload behind the headers. */
    public int payloadLength(int packet) {
        return RawMemory.getInt(at(packet) + PAYLOAD_LENGTH);
    }

    public void payloadLength(int packet, int bytes) {
        RawMemory.putInt(at(packet) + PAYLOAD_LENGTH, bytes);
    }

    /** Bytes on the wire. */
    public int size(int packet) {
        return RawMemory.getInt(at(packet) + SIZE);
    }

    public void size(int packet, int bytes) {
        RawMemory.putInt(at(packet) + SIZE, bytes);
    }

    /** Hash of the five-tuple, which switches choose routes by. */
    public long flowHash(int packet) {
        return RawMemory.getLong(at(packet) + FLOW_HASH);
    }

    public void flowHash(int packet, long hash) {
        RawMemory.putLong(at(packet) + FLOW_HASH, hash);
    }

    /** The link that the packet is on. */
    public int link(int packet) {
        return RawMemory.getInt(at(packet) + LINK);
    }

    public void link(int packet, int link) {
        RawMemory.putInt(at(packet) + LINK, link);
    }

    public boolean marked(int packet) {
        return RawMemory.getByte(at(packet) + MARKED) != 0;
    }

    public void marked(int packet, boolean is) {
        RawMemory.putByte(at(packet) + MARKED, (byte) (is ? 1 : 0));
    }

    /** Whether it is of the class that overtakes where the fabric trims: a sender's choice. */
    public boolean urgent(int packet) {
        return RawMemory.getByte(at(packet) + URGENT) != 0;
    }

    public void urgent(int packet, boolean is) {
        RawMemory.putByte(at(packet) + URGENT, (byte) (is ? 1 : 0));
    }

    /** Whether a switch has taken its payload away. */
    public boolean trimmed(int packet) {
        return RawMemory.getByte(at(packet) + TRIMMED) != 0;
    }

    public void trimmed(int packet, boolean is) {
        RawMemory.putByte(at(packet) + TRIMMED, (byte) (is ? 1 : 0));
    }

    private void grow() {
        int chunk = fields.length;
        fields = Arrays.copyOf(fields, chunk + 1);
        headers = Arrays.copyOf(headers, chunk + 1);
        fields[chunk] = memory.allocate((long) CHUNK * (LINE + STRIDE), LINE).address();
        headers[chunk] = fields[chunk] + (long) CHUNK * LINE;
        int size = count + CHUNK;
        freeList = Arrays.copyOf(freeList, size);
        for (int i = size - 1; i >= count; i--) {
            freeList[free++] = i;
        }
        count = size;
    }
}
