// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;

/**
 * Posted receives of a stream, a ring indexed by receive index: a message names the receive it goes to, so it lands there
 * even when earlier messages have not arrived (spec: "Receive matching").
 */
final class ReceiveQueue {
    static final int ENTRY_BYTES = 56;
    static final int ADDRESS = 0;
    static final int WR_ID = 8;
    static final int LENGTH = 16;
    static final int BYTES = 20;
    /** The immediate, or the key to invalidate. */
    static final int IMMEDIATE = 24;
    static final int OPCODE = 28;
    static final int MSN = 32;
    /** Whether the message was {@link DataHeader#SOLICITED}. */
    static final int FLAGS = 36;
    static final int LOCAL_KEY = 40;
    /** {@code RegionTable.changes} when the memory was last found registered. */
    static final int SEEN = 44;
    /** The list of segments, where the memory is in more than one piece; else 0. */
    static final int SEGMENTS = 48;

    private ReceiveQueue() {
    }

    static long entry(EndpointState state, long stream, int index) {
        return state.slab.getLong(stream + StreamRecord.RECEIVE_QUEUE)
                + (long) (index & (state.slab.getInt(stream + StreamRecord.SHARED_QUEUE) == 0 ? state.receiveMask : state.sharedMask)) * ENTRY_BYTES;
    }

    /** Adds a receive; false when the queue or the completion queue is full. */
    static boolean post(EndpointState state, long stream, long address, int length, int localKey, long list, long wrId) {
        Slab slab = state.slab;
        int posted = slab.getInt(stream + StreamRecord.RECEIVES_POSTED);
        if (posted - slab.getInt(stream + StreamRecord.RECEIVES_DONE) >= state.config.receiveQueueDepth) {
            return false;
        }
        if (slab.getLong(stream + StreamRecord.RECEIVE_QUEUE) == 0) {
            slab.putLong(stream + StreamRecord.RECEIVE_QUEUE, state.receiveQueues.take());
        }
        if (slab.getLong(stream + StreamRecord.RECEIVE_QUEUE) == 0 || !state.completions.reserve()) {
            return false;
        }
        write(state, entry(state, stream, posted), address, length, localKey, list, wrId);
        slab.putInt(stream + StreamRecord.RECEIVES_POSTED, posted + 1);
        return true;
    }

    static void write(EndpointState state, long e, long address, int length, int localKey, long list, long wrId) {
        Slab slab = state.slab;
        slab.putLong(e + ADDRESS, address);
        slab.putLong(e + WR_ID, wrId);
        slab.putInt(e + LENGTH, length);
        slab.putInt(e + BYTES, 0);
        slab.putInt(e + LOCAL_KEY, localKey);
        slab.putLong(e + SEGMENTS, list);
        slab.putInt(e + SEEN, state.regions.changes());
    }

    /** Completes the oldest receive. */
    static void complete(EndpointState state, long stream, int status) {
        Slab slab = state.slab;
        int index = slab.getInt(stream + StreamRecord.RECEIVES_DONE);
        slab.putInt(stream + StreamRecord.RECEIVES_DONE, index + 1);
        long e = entry(state, stream, index);
        boolean ok = status == Completion.OK;
        int opcode = ok ? slab.getInt(e + OPCODE) : 0;
        boolean extra = Opcode.hasImmediate(opcode) || opcode == Opcode.SEND_INVALIDATE;
        int flags = CompletionQueue.IS_RECEIVE;
        if (ok && (slab.getInt(e + FLAGS) & DataHeader.SOLICITED) != 0) {
            flags |= CompletionQueue.SOLICITED;
        }
        state.completions.push(slab.getInt(slab.getLong(stream + StreamRecord.CONNECTION) + ConnectionRecord.HANDLE),
                slab.getInt(stream + StreamRecord.ID), opcode, status, slab.getLong(e + WR_ID),
                ok ? slab.getInt(e + BYTES) : 0, extra ? slab.getInt(e + IMMEDIATE) : 0, flags);
        long list = slab.getLong(e + SEGMENTS);
        if (list != 0) {
            state.segments.give(list);
        }
        if (slab.getInt(stream + StreamRecord.SHARED_QUEUE) != 0) {
            state.shared.completed(stream);
        }
    }

    /** Ends all posted receives with {@code status}; those of a shared queue go back there. */
    static void flush(EndpointState state, long stream, int status) {
        Slab slab = state.slab;
        if (slab.getInt(stream + StreamRecord.SHARED_QUEUE) != 0) {
            state.shared.release(stream);
            return;
        }
        while (slab.getInt(stream + StreamRecord.RECEIVES_POSTED) != slab.getInt(stream + StreamRecord.RECEIVES_DONE)) {
            complete(state, stream, status);
        }
    }
}
