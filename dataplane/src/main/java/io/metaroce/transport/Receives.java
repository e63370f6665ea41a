// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Access;
import io.metaroce.memory.Slab;

/** Takes memory for messages to come: receives of one stream, and of queues that streams share (spec: "Operations"). */
final class Receives {
    /** In the place of a list of segments: there was no room for one. */
    private static final long NO_ROOM = -1;

    private final EndpointState state;
    private final Slab slab;
    private final Connections connections;
    private final StreamTable streams;
    private final LocalMemory memory;

    Receives(EndpointState state, Connections connections, StreamTable streams, LocalMemory memory) {
        this.state = state;
        slab = state.slab;
        this.connections = connections;
        this.streams = streams;
        this.memory = memory;
    }

    int post(int connection, int streamId, long address, int length, int localKey, long wrId) {
        long c = connections.forWork(connection);
        if (c <= 0) {
            return c == 0 ? Endpoint.BAD_CONNECTION : Endpoint.NO_CONTEXT;
        }
        int bad = check(memory.domain(c), address, length, localKey);
        return bad != Endpoint.OK ? bad : post(c, streamId, address, length, localKey, 0, wrId);
    }

    int post(int connection, int streamId, Segments segments, long wrId) {
        long c = connections.forWork(connection);
        if (c <= 0) {
            return c == 0 ? Endpoint.BAD_CONNECTION : Endpoint.NO_CONTEXT;
        }
        int bad = check(memory.domain(c), segments);
        if (bad != Endpoint.OK) {
            return bad;
        }
        if (segments.count <= 1) {
            return post(c, streamId, segments.firstAddress(), (int) segments.bytes, segments.firstKey(), 0, wrId);
        }
        long list = state.segments.keep(segments);
        int result = post(c, streamId, segments.firstAddress(), (int) segments.bytes, segments.firstKey(), list == 0 ? NO_ROOM : list, wrId);
        if (result != Endpoint.OK && list != 0) {
            state.segments.give(list);
        }
        return result;
    }

    /** @param list of segments, 0 for a single one, or {@link #NO_ROOM}: what is wrong with the stream is told first */
    private int post(long c, int streamId, long address, int length, int localKey, long list, long wrId) {
        long stream = streams.get(c, streamId);
        if (stream == 0) {
            return Endpoint.BAD_STREAM;
        }
        if (slab.getInt(stream + StreamRecord.STATE) != StreamRecord.OPEN) {
            return Endpoint.STREAM_IN_ERROR;
        }
        if (slab.getInt(stream + StreamRecord.SHARED_QUEUE) != 0) {
            return Endpoint.BAD_QUEUE;
        }
        if (list == NO_ROOM || !ReceiveQueue.post(state, stream, address, length, localKey, list, wrId)) {
            return Endpoint.QUEUE_FULL;
        }
        streams.tellCredit(stream);
        return Endpoint.OK;
    }

    /** Whether a receive may have this memory. */
    private int check(int domain, long address, int length, int localKey) {
        if (length < 0 || length > Limits.MAX_MESSAGE_BYTES) {
            return Endpoint.BAD_LENGTH;
        }
        return memory.isRegistered(domain, localKey, address, length, Access.LOCAL_WRITE) ? Endpoint.OK : Endpoint.BAD_LOCAL_KEY;
    }

    private int check(int domain, Segments segments) {
        if (segments.bytes > Limits.MAX_MESSAGE_BYTES) {
            return Endpoint.BAD_LENGTH;
        }
        if (segments.count > state.config.maxSegments) {
            return Endpoint.TOO_MANY_SEGMENTS;
        }
        return memory.areRegistered(domain, segments, Access.LOCAL_WRITE) ? Endpoint.OK : Endpoint.BAD_LOCAL_KEY;
    }

    // ---- shared queues ----

    int postShared(int queue, long address, int length, int localKey, long wrId) {
        if (!state.shared.exists(queue)) {
            return Endpoint.BAD_QUEUE;
        }
        int bad = check(state.config.sharedReceiveDomains[queue], address, length, localKey);
        if (bad != Endpoint.OK) {
            return bad;
        }
        return state.shared.post(queue, address, length, localKey, 0, wrId) ? Endpoint.OK : Endpoint.QUEUE_FULL;
    }

    int postShared(int queue, Segments segments, long wrId) {
        if (!state.shared.exists(queue)) {
            return Endpoint.BAD_QUEUE;
        }
        int bad = check(state.config.sharedReceiveDomains[queue], segments);
        if (bad != Endpoint.OK) {
            return bad;
        }
        long list = segments.count > 1 ? state.segments.keep(segments) : 0;
        boolean kept = segments.count <= 1 || list != 0;
        if (kept && state.shared.post(queue, segments.firstAddress(), (int) segments.bytes, segments.firstKey(), list, wrId)) {
            return Endpoint.OK;
        }
        if (list != 0) {
            state.segments.give(list);
        }
        return Endpoint.QUEUE_FULL;
    }

    int useShared(int connection, int streamId, int queue) {
        long c = connections.forWork(connection);
        if (c <= 0) {
            return c == 0 ? Endpoint.BAD_CONNECTION : Endpoint.NO_CONTEXT;
        }
        if (!state.shared.exists(queue)
                || state.config.sharedReceiveDomains[queue] != memory.domain(c)) {
            return Endpoint.BAD_QUEUE;
        }
        if (streamId == Endpoint.ALL_STREAMS) {
            slab.putInt(c + ConnectionRecord.SHARED_QUEUE, queue + 1);
            // The peer may have asked for receives already.
            for (long s = slab.getLong(c + ConnectionRecord.ALL_STREAMS); s != 0; s = slab.getLong(s + StreamRecord.NEXT_OF_CONNECTION)) {
                if (mayShare(s)) {
                    state.shared.attach(s, queue);
                }
            }
            return Endpoint.OK;
        }
        long stream = streams.get(c, streamId);
        if (stream == 0) {
            return Endpoint.BAD_STREAM;
        }
        if (slab.getInt(stream + StreamRecord.STATE) != StreamRecord.OPEN) {
            return Endpoint.STREAM_IN_ERROR;
        }
        int has = slab.getInt(stream + StreamRecord.SHARED_QUEUE);
        if (has == queue + 1) {
            return Endpoint.OK;
        }
        if (!mayShare(stream)) {
            return Endpoint.BAD_QUEUE;
        }
        state.shared.attach(stream, queue);
        return Endpoint.OK;
    }

    private boolean mayShare(long stream) {
        return slab.getInt(stream + StreamRecord.STATE) == StreamRecord.OPEN && slab.getInt(stream + StreamRecord.SHARED_QUEUE) == 0
                && slab.getInt(stream + StreamRecord.RECEIVES_POSTED) == 0;
    }
}
