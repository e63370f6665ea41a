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
    static final int IS_RECEIVE = 1;
    static final int SOLICITED = 2;

    /* What an event is wanted for. */
    private static final int NOTHING = 0;
    private static final int SOLICITED_ONLY = 1;
    private static final int ANYTHING = 2;

    private final Slab slab;
    private final EventQueue events;
    private final long base;
    private final int capacity;
    private int head;
    private int count;
    private int reserved;
    private int armed;

    CompletionQueue(Slab slab, EventQueue events, int capacity) {
        this.slab = slab;
        this.events = events;
        this.capacity = capacity;
        base = slab.carve((long) capacity * ENTRY_BYTES);
    }

    static long bytes(int capacity) {
        return Slab.roundUp((long) capacity * ENTRY_BYTES);
    }

    int capacity() {
        return capacity;
    }

    /** Completions that wait to be polled. */
    int size() {
        return count;
    }

    /** Takes a place for a later {@link #push}; false when all are taken. */
    boolean reserve() {
        if (reserved == capacity) {
            return false;
        }
        reserved++;
        return true;
    }

    /** Gives a place back that no completion will take. */
    void release() {
        reserved--;
    }

    /** The next completion, or solicited one, makes an event. The wider wish stays until it is fulfilled. */
    void arm(boolean solicitedOnly) {
        armed = Math.max(armed, solicitedOnly ? SOLICITED_ONLY : ANYTHING);
    }

    private void wake(int status, int flags) {
        if (armed == ANYTHING || status != Completion.OK || (flags & SOLICITED) != 0) {
            armed = NOTHING;
            events.pushWake();
        }
    }

    /** @param flags {@link #IS_RECEIVE}, {@link #SOLICITED} */
    void push(int connection, int stream, int opcode, int status, long wrId, int length, int immediate, int flags) {
        int i = head + count++;
        long at = base + (long) (i >= capacity ? i - capacity : i) * ENTRY_BYTES;
        slab.putInt(at + CONNECTION, connection);
        slab.putInt(at + STREAM, stream);
        slab.putInt(at + OPCODE, opcode);
        slab.putInt(at + STATUS, status);
        slab.putLong(at + WR_ID, wrId);
        slab.putInt(at + LENGTH, length);
        slab.putInt(at + IMMEDIATE, immediate);
        slab.putInt(at + FLAGS, flags);
        if (armed != NOTHING) {
            wake(status, flags);
        }
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
        into.isSolicited = (flags & SOLICITED) != 0;
        into.hasImmediate = into.isReceive && Opcode.hasImmediate(into.opcode);
        into.immediate = into.hasImmediate ? extra : 0;
        into.hasInvalidatedKey = into.isReceive && into.opcode == Opcode.SEND_INVALIDATE;
        into.invalidatedKey = into.hasInvalidatedKey ? extra : 0;
        return true;
    }

    int waiting() {
        return count;
    }
}
