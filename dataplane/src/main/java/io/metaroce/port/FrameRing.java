// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import io.metaroce.bindings.libc.RawMemory;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A bounded queue of frames as bytes in a ring, one producer and one consumer. A frame is contiguous; frames read stay valid until
 * {@link #release}.
 */
final class FrameRing {
    /** Returned by {@link #next} when nothing is left. */
    static final long EMPTY = 0;

    private static final VarHandle WRITTEN;
    private static final VarHandle RELEASED;
    /** A record: u32 length, u32 tag, frame, rounded up. A length of {@link #SKIP} means: go on at the ring's start. */
    private static final int LENGTH = 0;
    private static final int TAG = 4;
    private static final int RECORD_HEADER = 8;
    private static final int ALIGNMENT = 64;
    private static final int SKIP = -1;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            WRITTEN = lookup.findVarHandle(FrameRing.class, "written", long.class);
            RELEASED = lookup.findVarHandle(FrameRing.class, "released", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long base;
    private final int size;
    /** Bytes ever written: set by the producer with release, read by {@link #next} with acquire. */
    private long written;
    /** Bytes ever given back: set by the consumer with release, read by the producer with acquire. */
    private long released;
    /** Bytes that {@link #publish} adds, the producer's own. */
    private int reserved;
    /** Bytes read, the consumer's own. */
    private long read;

    /** {@code bytes} is a power of two. */
    FrameRing(Arena arena, int bytes) {
        if (Integer.bitCount(bytes) != 1) {
            throw new IllegalArgumentException("ring of " + bytes + " bytes: not a power of two");
        }
        size = bytes;
        base = arena.allocate(bytes, ALIGNMENT).address();
    }

    /** Frames of one length that always fit, wherever in the ring they start. */
    int capacity(int length) {
        int record = record(length);
        return Math.max(1, (size - record) / record);
    }

    /** Room for a frame and its tag, to be filled at the address returned and then published; {@link #EMPTY} if there is none. */
    long reserve(int length, int tag) {
        int record = record(length);
        int offset = (int) (written & size - 1);
        int skipped = offset + record > size ? size - offset : 0;
        if (written + skipped + record - (long) RELEASED.getAcquire(this) > size) {
            return EMPTY;
        }
        if (skipped > 0) {
            RawMemory.putInt(base + offset + LENGTH, SKIP);
            offset = 0;
        }
        reserved = skipped + record;
        RawMemory.putInt(base + offset + LENGTH, length);
        RawMemory.putInt(base + offset + TAG, tag);
        return base + offset + RECORD_HEADER;
    }

    /** Hands the frame reserved last to the consumer. */
    void publish() {
        WRITTEN.setRelease(this, written + reserved);
    }

    /** Address of the next frame, or {@link #EMPTY}. */
    long next() {
        if (read == (long) WRITTEN.getAcquire(this)) {
            return EMPTY;
        }
        int offset = (int) (read & size - 1);
        int length = RawMemory.getInt(base + offset + LENGTH);
        if (length == SKIP) {
            read += size - offset;
            offset = 0;
            length = RawMemory.getInt(base + LENGTH);
        }
        read += record(length);
        return base + offset + RECORD_HEADER;
    }

    static int length(long frame) {
        return RawMemory.getInt(frame - RECORD_HEADER + LENGTH);
    }

    static int tag(long frame) {
        return RawMemory.getInt(frame - RECORD_HEADER + TAG);
    }

    /** Gives back all frames read so far. */
    void release() {
        RELEASED.setRelease(this, read);
    }

    private static int record(int length) {
        return RECORD_HEADER + length + ALIGNMENT - 1 & -ALIGNMENT;
    }
}
