// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Access;
import io.metaroce.memory.Slab;
import io.metaroce.wire.Opcode;

/** Takes work requests: checks them, makes their records, and puts these in line at their stream (spec: "Operations"). */
final class Requests {
    private final EndpointState state;
    private final Slab slab;
    private final Connections connections;
    private final StreamTable streams;
    private final StreamSender sender;
    private final LocalMemory memory;
    /** Reads and atomics so far. */
    private long counter;

    Requests(EndpointState state, Connections connections, StreamTable streams, StreamSender sender, LocalMemory memory) {
        this.state = state;
        slab = state.slab;
        this.connections = connections;
        this.streams = streams;
        this.sender = sender;
        this.memory = memory;
    }

    /** Posts a work request to its stream, or says why not. See {@link Endpoint#post}. */
    int post(int connection, WorkRequest wr) {
        long c = connections.forWork(connection);
        if (c <= 0) {
            return c == 0 ? Endpoint.BAD_CONNECTION : Endpoint.NO_CONTEXT;
        }
        int bad = check(c, wr);
        if (bad != Endpoint.OK) {
            return bad;
        }
        long stream = streams.get(c, wr.stream);
        if (stream == 0) {
            return Endpoint.BAD_STREAM;
        }
        if (slab.getInt(stream + StreamRecord.STATE) != StreamRecord.OPEN || slab.getInt(stream + StreamRecord.LOCAL_FAULT) != 0) {
            return Endpoint.STREAM_IN_ERROR;
        }
        if (state.work.used() == state.work.capacity()) {
            return Endpoint.QUEUE_FULL;
        }
        long work = state.work.take();
        slab.zero(work, WorkRecord.BYTES);
        if (!setLocalMemory(work, wr) || !state.completions.reserve()) {
            memory.release(work);
            state.work.give(work);
            return Endpoint.QUEUE_FULL;
        }
        boolean request = Opcode.isRequest(wr.opcode);
        boolean local = wr.opcode == WorkRequest.LOCAL_INVALIDATE;
        slab.putLong(work + WorkRecord.STREAM, stream);
        slab.putLong(work + WorkRecord.REMOTE_ADDRESS, wr.remoteAddress);
        slab.putLong(work + WorkRecord.ID, wr.wrId);
        slab.putLong(work + WorkRecord.OPERAND, wr.operand);
        slab.putInt(work + WorkRecord.OPCODE, wr.opcode);
        slab.putInt(work + WorkRecord.REMOTE_KEY, wr.remoteKey);
        slab.putInt(work + WorkRecord.IMMEDIATE, Opcode.hasImmediate(wr.opcode) ? wr.immediate : 0);
        slab.putInt(work + WorkRecord.SEEN, state.regions.changes());
        slab.putInt(work + WorkRecord.MSN, local ? slab.getInt(stream + StreamRecord.NEXT_MSN)
                : slab.addInt(stream + StreamRecord.NEXT_MSN, 1) - 1);
        int length = slab.getInt(work + WorkRecord.LENGTH);
        if (!local && !request) {
            int packet = Math.min(slab.getInt(c + ConnectionRecord.PACKET_BYTES), Math.max(1, length));
            slab.putInt(work + WorkRecord.PACKET_BYTES, packet);
            slab.putInt(work + WorkRecord.PACKETS, ReadResponder.packets(length, packet));
        } else {
            slab.putInt(work + WorkRecord.PACKETS, local ? 0 : 1);
        }
        if (request) {
            // High half: never the same twice in a row for a record; low half: the record.
            slab.putLong(work + WorkRecord.REQUEST_ID, ++counter << 32 | state.work.indexOf(work));
        }
        sender.enqueueWork(stream, work);
        return Endpoint.OK;
    }

    /** Whether this may be asked for at all. */
    private int check(long c, WorkRequest wr) {
        boolean request = Opcode.isRequest(wr.opcode);
        if (wr.opcode == WorkRequest.LOCAL_INVALIDATE) {
            return Endpoint.OK;
        }
        if (!request && wr.opcode != Opcode.WRITE && !Opcode.consumesReceive(wr.opcode)) {
            return Endpoint.BAD_OPCODE;
        }
        if (request && (wr.inline || slab.getInt(c + ConnectionRecord.PEER_MAX_READS) == 0)) {
            return Endpoint.BAD_OPCODE;
        }
        Segments segments = wr.segments;
        long length = segments == null ? wr.length : segments.bytes;
        boolean atomic = Opcode.isAtomic(wr.opcode);
        if (length < 0 || length > (wr.inline ? state.config.maxInlineBytes : Limits.MAX_MESSAGE_BYTES) || atomic && length != Long.BYTES) {
            return Endpoint.BAD_LENGTH;
        }
        if (segments != null && segments.count > (atomic ? 1 : state.config.maxSegments)) {
            return Endpoint.TOO_MANY_SEGMENTS;
        }
        int access = request ? Access.LOCAL_WRITE : 0;
        boolean registered = wr.inline || (segments == null ? memory.isRegistered(memory.domain(c), wr.localKey, wr.localAddress, wr.length, access)
                : memory.areRegistered(memory.domain(c), segments, access));
        return registered ? Endpoint.OK : Endpoint.BAD_LOCAL_KEY;
    }

    /** Notes where the payload lies, or takes a copy; false if there is no room for that. */
    private boolean setLocalMemory(long work, WorkRequest wr) {
        Segments segments = wr.segments;
        slab.putInt(work + WorkRecord.FLAGS, flags(wr));
        if (wr.opcode == WorkRequest.LOCAL_INVALIDATE) {
            slab.putInt(work + WorkRecord.LOCAL_KEY, wr.localKey);
            return true;
        }
        slab.putLong(work + WorkRecord.COMPARE, wr.compare);
        if (segments == null) {
            slab.putLong(work + WorkRecord.LOCAL_ADDRESS, wr.localAddress);
            slab.putInt(work + WorkRecord.LOCAL_KEY, wr.localKey);
            slab.putInt(work + WorkRecord.LENGTH, wr.length);
            return !wr.inline || wr.length == 0 || memory.copyInline(work, wr.localAddress, wr.length);
        }
        slab.putInt(work + WorkRecord.LENGTH, (int) segments.bytes);
        if (segments.bytes > 0 && wr.inline) {
            return memory.copyInline(work, segments);
        }
        if (segments.count <= 1) {
            slab.putLong(work + WorkRecord.LOCAL_ADDRESS, segments.firstAddress());
            slab.putInt(work + WorkRecord.LOCAL_KEY, segments.firstKey());
            return true;
        }
        return memory.keep(work, segments);
    }

    private static int flags(WorkRequest wr) {
        return (wr.fence ? WorkRecord.FENCE : 0) | (wr.unsignaled ? WorkRecord.UNSIGNALED : 0)
                | (wr.solicited && Opcode.consumesReceive(wr.opcode) ? WorkRecord.SOLICITED : 0);
    }
}
