// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Access;
import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.wire.Cause;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;

/**
 * Serves Reads of the peer's (spec: "Read"). A request may arrive early; it is answered in its turn, so that it sees all that
 * the stream wrote before it.
 */
final class ReadResponder {
    static final int ENTRY_BYTES = 32;
    private static final int ADDRESS = 0;
    private static final int REQUEST_ID = 8;
    private static final int KEY = 16;
    private static final int LENGTH = 20;
    private static final int MSN = 24;

    private final EndpointState state;
    private final Slab slab;
    private final StreamSender sender;

    ReadResponder(EndpointState state, StreamSender sender) {
        this.state = state;
        this.sender = sender;
        slab = state.slab;
    }

    /** Checks and keeps a request; returns 0 or the cause of its refusal. */
    int onRequest(long connection, long stream, long at) {
        int index = DataHeader.readIndex(at);
        int ahead = index - slab.getInt(stream + StreamRecord.READS_EXECUTED);
        if (ahead < 0 || ahead >= Limits.MAX_READS) {
            return Cause.TOO_MANY_READS;
        }
        int verdict = check(connection, DataHeader.remoteKey(at), DataHeader.remoteAddress(at), DataHeader.messageLength(at));
        if (verdict != RegionTable.OK) {
            return StreamReceiver.causeOf(verdict);
        }
        if (slab.getLong(stream + StreamRecord.READ_QUEUE) == 0) {
            long queue = state.readQueues.take();
            if (queue == 0) {
                return Cause.TOO_MANY_READS;
            }
            slab.putLong(stream + StreamRecord.READ_QUEUE, queue);
        }
        long e = entry(stream, index);
        slab.putLong(e + ADDRESS, DataHeader.remoteAddress(at));
        slab.putLong(e + REQUEST_ID, DataHeader.readRequestId(at));
        slab.putInt(e + KEY, DataHeader.remoteKey(at));
        slab.putInt(e + LENGTH, DataHeader.messageLength(at));
        slab.putInt(e + MSN, DataHeader.msn(at));
        return 0;
    }

    int check(long connection, int key, long address, int length) {
        // A message without bytes is not checked (MR-OP-002).
        return length == 0 ? RegionTable.OK : state.regions.check(key, slab.getInt(connection + ConnectionRecord.PROTECTION_DOMAIN), address, length,
                Access.REMOTE_READ);
    }

    /** The next Read's turn has come. */
    void due(long stream) {
        slab.addInt(stream + StreamRecord.READS_DUE, 1);
        answer(stream);
    }

    /** Answers what is due as far as there are work records; the rest is tried again by the connection's timer. */
    void answer(long stream) {
        if (slab.getInt(stream + StreamRecord.STATE) != StreamRecord.OPEN) {
            // It failed while the Read waited for a work record: nothing is answered, and nothing may be held.
            slab.putInt(stream + StreamRecord.READS_DUE, 0);
            return;
        }
        while (slab.getInt(stream + StreamRecord.READS_DUE) > 0) {
            long work = state.work.take();
            if (work == 0) {
                slab.putInt(slab.getLong(stream + StreamRecord.CONNECTION) + ConnectionRecord.READ_WAIT, 1);
                state.wakeBy(slab.getLong(stream + StreamRecord.CONNECTION), state.nowNs + Limits.READ_RETRY_NS);
                return;
            }
            slab.addInt(stream + StreamRecord.READS_DUE, -1);
            long connection = slab.getLong(stream + StreamRecord.CONNECTION);
            long e = entry(stream, slab.addInt(stream + StreamRecord.READS_EXECUTED, 1) - 1);
            slab.zero(work, WorkRecord.BYTES);
            slab.putLong(work + WorkRecord.STREAM, stream);
            slab.putInt(work + WorkRecord.OPCODE, Opcode.READ_RESPONSE);
            slab.putLong(work + WorkRecord.LOCAL_ADDRESS, slab.getLong(e + ADDRESS));
            slab.putLong(work + WorkRecord.REQUEST_ID, slab.getLong(e + REQUEST_ID));
            slab.putInt(work + WorkRecord.LOCAL_KEY, slab.getInt(e + KEY));
            int length = slab.getInt(e + LENGTH);
            slab.putInt(work + WorkRecord.LENGTH, length);
            slab.putInt(work + WorkRecord.MSN, slab.getInt(e + MSN));
            slab.putInt(work + WorkRecord.PACKETS, packets(length, slab.getInt(connection + ConnectionRecord.PAYLOAD_MTU)));
            sender.enqueueResponse(stream, work);
        }
    }

    static int packets(int length, int mtu) {
        return length == 0 ? 1 : (length + mtu - 1) / mtu;
    }

    private long entry(long stream, int index) {
        return slab.getLong(stream + StreamRecord.READ_QUEUE) + (long) (index & (Limits.MAX_READS - 1)) * ENTRY_BYTES;
    }
}
