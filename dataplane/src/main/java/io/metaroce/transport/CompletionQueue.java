// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Opcode;

/**
 * Completions waiting to be polled. A place is reserved when a request is posted, so the queue cannot overrun: a post that
 * finds none is refused.
 */
final class CompletionQueue {
    static final int ENTRY_BYTES = 48;
    private static final int CONNECTION = 0;
    private static final int STREAM = 4;
    private static final int OPCODE = 8;
    private static final int STATUS = 12;
    private static final int WR_ID = 16;
    private static final int LENGTH = 24;
    /** The immediate, or the key invalidated. */
    private static final int IMMEDIATE = 28;
    private static final int FLAGS = 32;
    private static final int HAS_IMMEDIATE = 1;
    private static final int IS_RECEIVE = 2;

    private final Slab slab;
    private final long base;
    private final int capacity;
    private int head;
    private int count;
    private int reserved;

    CompletionQueue(Slab slab, int capacity) {
        this.slab = slab;
        this.capacity = capacity;
        base = slab.carve((long) capacity * ENTRY_BYTES);
    }

    static long bytes(int capacity) {
        return Slab.roundUp((long) capacity * ENTRY_BYTES);
    }

    /** Takes a place for a later {@link #push}; false when all are taken. */
    boolean reserve() {
        if (reserved == capacity) {
            return false;
        }
        reserved++;
        return true;
    }

    void push(int connection, int stream, int opcode, int status, long wrId, int length, int immediate, boolean hasImmediate,
            boolean isReceive) {
        int i = head + count++;
        long at = base + (long) (i >= capacity ? i - capacity : i) * ENTRY_BYTES;
        slab.putInt(at + CONNECTION, connection);
        slab.putInt(at + STREAM, stream);
        slab.putInt(at + OPCODE, opcode);
        slab.putInt(at + STATUS, status);
        slab.putLong(at + WR_ID, wrId);
        slab.putInt(at + LENGTH, length);
        slab.putInt(at + IMMEDIATE, immediate);
        slab.putInt(at + FLAGS, (hasImmediate ? HAS_IMMEDIATE : 0) | (isReceive ? IS_RECEIVE : 0));
    }

    boolean poll(Completion into) {
        if (count == 0) {
            return false;
        }
        long at = base + (long) head * ENTRY_BYTES;
        head = head + 1 == capacity ? 0 : head + 1;
        count--;
        reserved--;
        into.connection = slab.getInt(at + CONNECTION);
        into.stream = slab.getInt(at + STREAM);
        into.opcode = slab.getInt(at + OPCODE);
        into.status = slab.getInt(at + STATUS);
        into.wrId = slab.getLong(at + WR_ID);
        into.byteLength = slab.getInt(at + LENGTH);
        int extra = slab.getInt(at + IMMEDIATE);
        int flags = slab.getInt(at + FLAGS);
        into.isReceive = (flags & IS_RECEIVE) != 0;
        into.hasImmediate = (flags & HAS_IMMEDIATE) != 0;
        into.immediate = into.hasImmediate ? extra : 0;
        into.hasInvalidatedKey = into.isReceive && into.opcode == Opcode.SEND_INVALIDATE;
        into.invalidatedKey = into.hasInvalidatedKey ? extra : 0;
        return true;
    }

    int waiting() {
        return count;
    }
}
