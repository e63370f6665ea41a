// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.SealedHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Datagrams to send, as parallel arrays: what {@link Endpoint#transmit} fills and a port sends.
 *
 * <p>The port first sets {@link #header} of every slot from {@link #count} on to a buffer of at least {@link #HEADER_ROOM}
 * bytes. The endpoint writes the transport header there and names the payload by address: it lies in registered memory that
 * is stable until the work request completes, so nothing is copied on the way to the port; only that of encrypted connections,
 * and what lies in several segments, is in memory of the burst's. A datagram is the header followed
 * by the payload. Datagrams that a port could not send stay at the front of the burst. One thread.
 */
public final class TxBurst {
    /** Bytes of header room in every slot: enough for the longest datagram without payload that the endpoint builds. */
    public static final int HEADER_ROOM = 1024;

    public final int capacity;
    /** Datagrams present: indices 0 to {@code count - 1}. */
    public int count;
    /**
     * By plane: datagrams with payload that its port takes now, beside those in the burst; {@code Integer.MAX_VALUE}, as at first, where that is
     * not known. Set by the port before each {@link Endpoint#transmit}, which counts down and leaves planes without room to others
     * (spec: "Spray").
     */
    public final int[] room = new int[Limits.MAX_PLANES];
    public final long[] header;
    public final int[] headerLength;
    /** Address of the payload; meaningless where {@link #payloadLength} is 0. */
    public final long[] payload;
    public final int[] payloadLength;
    public final byte[] plane;
    /** Local UDP source port: one of {@code PacketPort.sourcePorts(plane)}. */
    public final int[] sourcePort;
    public final long[] destinationHigh;
    public final long[] destinationLow;
    public final int[] destinationPort;
    /** Memory of each slot for ciphertext, or payload from several segments, which a payload may name instead of the application's; null before {@link #stage}. */
    long[] staging;
    private MemorySegment stagingMemory;

    public TxBurst(int capacity) {
        this.capacity = capacity;
        header = new long[capacity];
        headerLength = new int[capacity];
        payload = new long[capacity];
        payloadLength = new int[capacity];
        plane = new byte[capacity];
        sourcePort = new int[capacity];
        destinationHigh = new long[capacity];
        destinationLow = new long[capacity];
        destinationPort = new int[capacity];
        Arrays.fill(room, Integer.MAX_VALUE);
    }

    /** Gives each slot staging memory for the longest datagram. Once, at set-up of an endpoint's first transmission. */
    void stage() {
        long bytes = Slab.roundUp(SealedHeader.MAX_DATAGRAM);
        stagingMemory = Arena.ofAuto().allocate(capacity * bytes, Slab.ALIGNMENT);
        staging = new long[capacity];
        for (int i = 0; i < capacity; i++) {
            staging[i] = stagingMemory.address() + i * bytes;
        }
    }

    /** Whether the payload of slot {@code i} lies in memory of the burst's. */
    boolean isStaged(int i) {
        return staging != null && payload[i] == staging[i];
    }

    public boolean isFull() {
        return count == capacity;
    }

    /** Exchanges two slots whole, header buffers included: how a port or a filter reorders or drops without copying. */
    public void swap(int i, int j) {
        if (i == j) {
            return;
        }
        long h = header[i]; header[i] = header[j]; header[j] = h;
        int n = headerLength[i]; headerLength[i] = headerLength[j]; headerLength[j] = n;
        long p = payload[i]; payload[i] = payload[j]; payload[j] = p;
        n = payloadLength[i]; payloadLength[i] = payloadLength[j]; payloadLength[j] = n;
        byte b = plane[i]; plane[i] = plane[j]; plane[j] = b;
        n = sourcePort[i]; sourcePort[i] = sourcePort[j]; sourcePort[j] = n;
        h = destinationHigh[i]; destinationHigh[i] = destinationHigh[j]; destinationHigh[j] = h;
        h = destinationLow[i]; destinationLow[i] = destinationLow[j]; destinationLow[j] = h;
        n = destinationPort[i]; destinationPort[i] = destinationPort[j]; destinationPort[j] = n;
        if (staging != null) {
            h = staging[i]; staging[i] = staging[j]; staging[j] = h;
        }
    }
}
