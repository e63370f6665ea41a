// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Access;
import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.memory.Words;
import io.metaroce.wire.Cause;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;

/**
 * Serves Reads and atomics of the peer's (spec: "Reads", "Atomics"). A request may arrive early; it is executed in its turn, so
 * that it sees all that the stream wrote before it.
 */
final class ReadResponder {
    static final int ENTRY_BYTES = 48;
    private static final int ADDRESS = 0;
    private static final int REQUEST_ID = 8;
    private static final int KEY = 16;
    private static final int LENGTH = 20;
    private static final int MSN = 24;
    /** 0 where no request waits. */
    private static final int OPCODE = 28;
    /** New value or addend, and once executed, the original value. */
    private static final int OPERAND = 32;
    private static final int COMPARE = 40;

    private final EndpointState state;
    private final Slab slab;
    private final StreamSender sender;

    ReadResponder(EndpointState state, StreamSender sender) {
        this.state = state;
        this.sender = sender;
        slab = state.slab;
    }

    /** Checks and keeps a request; returns 0 or the cause of its refusal. */
    int onRequest(long connection, long stream, long at, int opcode) {
        int index = DataHeader.readIndex(at);
        int ahead = index - slab.getInt(stream + StreamRecord.READS_EXECUTED);
        if (ahead < 0 || ahead >= state.config.maxReads) {
            return Cause.TOO_MANY_READS;
        }
        if (opcode == Opcode.READ_REQUEST) {
            int verdict = check(connection, DataHeader.remoteKey(at), DataHeader.remoteAddress(at), DataHeader.messageLength(at));
            if (verdict != RegionTable.OK) {
                return StreamReceiver.causeOf(verdict);
            }
        }
        if (slab.getLong(stream + StreamRecord.READ_QUEUE) == 0) {
            long queue = state.readQueues.take();
            if (queue == 0) {
                return Cause.TOO_MANY_READS;
            }
            slab.zero(queue, (long) ENTRY_BYTES * Limits.MAX_READS);
            slab.putLong(stream + StreamRecord.READ_QUEUE, queue);
        }
        long e = entry(stream, index);
        if (slab.getInt(e + OPCODE) != 0) {
            return Cause.TOO_MANY_READS;
        }
        slab.putLong(e + ADDRESS, DataHeader.remoteAddress(at));
        slab.putLong(e + REQUEST_ID, DataHeader.ownRequestId(at));
        slab.putInt(e + KEY, DataHeader.remoteKey(at));
        slab.putInt(e + LENGTH, DataHeader.messageLength(at));
        slab.putInt(e + MSN, DataHeader.msn(at));
        slab.putInt(e + OPCODE, opcode);
        if (opcode != Opcode.READ_REQUEST) {
            slab.putLong(e + OPERAND, DataHeader.operand(at));
            slab.putLong(e + COMPARE, opcode == Opcode.COMPARE_SWAP ? DataHeader.compare(at) : 0);
        }
        return 0;
    }

    int check(long connection, int key, long address, int length) {
        // A message without bytes is not checked (MR-OP-002).
        return length == 0 ? RegionTable.OK : state.regions.check(key, slab.getInt(connection + ConnectionRecord.PROTECTION_DOMAIN), address, length,
                Access.REMOTE_READ);
    }

    /** MSN of the request that is due next. */
    int nextMsn(long stream) {
        return slab.getInt(nextDue(stream) + MSN);
    }

    /** The next request's turn has come; returns 0 or the cause of its refusal. An atomic is executed now, whenever it is answered. */
    int due(long connection, long stream) {
        long e = nextDue(stream);
        int cause = switch (slab.getInt(e + OPCODE)) {
            case Opcode.READ_REQUEST -> 0;
            case Opcode.COMPARE_SWAP, Opcode.FETCH_ADD -> execute(connection, e);
            default -> Cause.TOO_MANY_READS;
        };
        if (cause == 0) {
            slab.addInt(stream + StreamRecord.READS_DUE, 1);
            answer(stream);
        }
        return cause;
    }

    private long nextDue(long stream) {
        return entry(stream, slab.getInt(stream + StreamRecord.READS_EXECUTED) + slab.getInt(stream + StreamRecord.READS_DUE));
    }

    private int execute(long connection, long e) {
        long address = slab.getLong(e + ADDRESS);
        int verdict = state.regions.check(slab.getInt(e + KEY), slab.getInt(connection + ConnectionRecord.PROTECTION_DOMAIN), address,
                Long.BYTES, Access.REMOTE_ATOMIC);
        if (verdict != RegionTable.OK) {
            return StreamReceiver.causeOf(verdict);
        }
        if (address % Long.BYTES != 0) {
            return Cause.ALIGNMENT;
        }
        long operand = slab.getLong(e + OPERAND);
        slab.putLong(e + OPERAND, slab.getInt(e + OPCODE) == Opcode.FETCH_ADD ? Words.fetchAndAdd(address, operand)
                : Words.compareAndSwap(address, slab.getLong(e + COMPARE), operand));
        return 0;
    }

    /** Answers what is due as far as there are records for it; the rest is tried again by the connection's timer. */
    void answer(long stream) {
        if (slab.getInt(stream + StreamRecord.STATE) != StreamRecord.OPEN) {
            // It failed while the Read waited for a work record: nothing is answered, and nothing may be held.
            slab.putInt(stream + StreamRecord.READS_DUE, 0);
            return;
        }
        while (slab.getInt(stream + StreamRecord.READS_DUE) > 0) {
            long work = state.responses.take();
            if (work == 0) {
                state.lookAtWaiters(slab.getLong(stream + StreamRecord.CONNECTION), state.nowNs + Limits.READ_RETRY_NS);
                return;
            }
            slab.addInt(stream + StreamRecord.READS_DUE, -1);
            long connection = slab.getLong(stream + StreamRecord.CONNECTION);
            long e = entry(stream, slab.addInt(stream + StreamRecord.READS_EXECUTED, 1) - 1);
            slab.zero(work, WorkRecord.BYTES);
            slab.putLong(work + WorkRecord.STREAM, stream);
            boolean read = slab.getInt(e + OPCODE) == Opcode.READ_REQUEST;
            slab.putInt(e + OPCODE, 0);
            slab.putInt(work + WorkRecord.OPCODE, read ? Opcode.READ_RESPONSE : Opcode.ATOMIC_RESPONSE);
            slab.putLong(work + WorkRecord.OPERAND, slab.getLong(e + OPERAND));
            slab.putLong(work + WorkRecord.LOCAL_ADDRESS, slab.getLong(e + ADDRESS));
            slab.putLong(work + WorkRecord.REQUEST_ID, slab.getLong(e + REQUEST_ID));
            slab.putInt(work + WorkRecord.LOCAL_KEY, slab.getInt(e + KEY));
            int length = slab.getInt(e + LENGTH);
            slab.putInt(work + WorkRecord.LENGTH, length);
            slab.putInt(work + WorkRecord.MSN, slab.getInt(e + MSN));
            if (read) {
                int packet = Math.min(slab.getInt(connection + ConnectionRecord.PACKET_BYTES), Math.max(1, length));
                slab.putInt(work + WorkRecord.PACKET_BYTES, packet);
                slab.putInt(work + WorkRecord.PACKETS, packets(length, packet));
            } else {
                slab.putInt(work + WorkRecord.PACKETS, 1);
            }
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
