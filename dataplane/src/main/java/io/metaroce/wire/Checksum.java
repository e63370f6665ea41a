// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * CRC32C (Castagnoli) of memory, and the checksum field made from it. Spec: section "Checksum".
 *
 * <p>Allocates a view of each gigabyte of addresses that it first meets, and nothing else, compiled or not. One instance per thread.
 */
public final class Checksum {
    /** The checksum field itself is not covered: coverage starts here. */
    public static final int COVERAGE_START = 4;

    /* A view covers a window of addresses and as much again, so that what begins in a window ends in its view. */
    private static final int WINDOW_SHIFT = 29;
    private static final int FIRST_SLOTS = 16;

    private final CRC32C crc = new CRC32C();
    /* A table with linear probing, never more than half full: whatever addresses there are, a view once made is found again. */
    private ByteBuffer[] views = new ByteBuffer[FIRST_SLOTS];
    private long[] windows = new long[FIRST_SLOTS];
    private int count;

    /** CRC32C of {@code length} bytes, at most 2^29. */
    public int of(long address, int length) {
        reset();
        update(address, length);
        return value();
    }

    /** CRC32C of two pieces, at most 2^29 bytes each, as if they lay one behind the other. The address of an empty one is not used. */
    public int of(long header, int headerLength, long payload, int payloadLength) {
        reset();
        update(header, headerLength);
        update(payload, payloadLength);
        return value();
    }

    /** Begins a CRC32C of pieces: {@link #update} adds them, {@link #value} tells. */
    public void reset() {
        crc.reset();
    }

    /** The CRC32C of what was added since {@link #reset}. */
    public int value() {
        return (int) crc.getValue();
    }

    /** Adds {@code length} bytes, at most 2^29. */
    public void update(long address, int length) {
        if (length > 0) {
            ByteBuffer view = view(address >>> WINDOW_SHIFT);
            int at = (int) address & (1 << WINDOW_SHIFT) - 1;
            crc.update(view.limit(at + length).position(at));
        }
    }

    private ByteBuffer view(long window) {
        int slot = slot(window);
        ByteBuffer view = views[slot];
        return view != null ? view : add(window);
    }

    /** Where a window's view is, or has its place. */
    private int slot(long window) {
        int slot = (int) window & views.length - 1;
        while (windows[slot] != window && views[slot] != null) {
            slot = slot + 1 & views.length - 1;
        }
        return slot;
    }

    private ByteBuffer add(long window) {
        if (2 * ++count > views.length) {
            grow();
        }
        ByteBuffer view = MemorySegment.ofAddress(window << WINDOW_SHIFT).reinterpret(2L << WINDOW_SHIFT).asByteBuffer();
        put(window, view);
        return view;
    }

    private void grow() {
        ByteBuffer[] oldViews = views;
        long[] oldWindows = windows;
        views = new ByteBuffer[2 * oldViews.length];
        windows = new long[views.length];
        for (int i = 0; i < oldViews.length; i++) {
            if (oldViews[i] != null) {
                put(oldWindows[i], oldViews[i]);
            }
        }
    }

    private void put(long window, ByteBuffer view) {
        int slot = slot(window);
        windows[slot] = window;
        views[slot] = view;
    }

    /**
     * The value of the checksum field of a datagram that lies in one piece.
     *
     * @param covered bytes from the start of the datagram up to which the checksum reaches, see {@link #coveredLength}
     * @param tag the receiver's tag; 0 for handshake packets and resets
     */
    public int field(long datagram, int covered, int tag) {
        return of(datagram + COVERAGE_START, covered - COVERAGE_START) ^ tag;
    }

    /** The value of the checksum field of a datagram in two pieces; {@code coveredPayload} is 0 where the payload is not covered. */
    public int field(long header, int headerLength, long payload, int coveredPayload, int tag) {
        return of(header + COVERAGE_START, headerLength - COVERAGE_START, payload, coveredPayload) ^ tag;
    }

    /**
     * How far the checksum of a validated datagram reaches; of two packets in it, that of the first.
     *
     * <p>Integrity HEADER leaves out the payload of Data packets, except where the opcode fixes it: the receiver acts on it.
     */
    public static int coveredLength(long datagram, int length, boolean full) {
        if (AckHeader.isFollowed(datagram)) {
            return AckHeader.length(datagram);
        }
        if (Prefix.type(datagram) == Type.PARITY) {
            // Each packet's payload has a checksum of its own there.
            return ParityHeader.length(datagram);
        }
        if (full || Prefix.type(datagram) != Type.DATA || Opcode.fixedPayload(DataHeader.opcode(datagram)) != 0) {
            return length;
        }
        return DataHeader.LENGTH;
    }
}
