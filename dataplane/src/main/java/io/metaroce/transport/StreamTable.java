// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;

/** Streams of all connections, found by connection and stream ID; a stream comes to be at its first use on either side. */
final class StreamTable {
    /** News about a stream to tell the peer in the next acknowledgement datagram. */
    static final int NEWS_CREDIT = 1;
    static final int NEWS_CREDIT_REQUEST = 2;
    static final int NEWS_CONFIRM = 4;

    private final EndpointState state;
    private final Slab slab;

    StreamTable(EndpointState state) {
        this.state = state;
        slab = state.slab;
    }

    /** The stream, or 0 when it does not exist. */
    long find(long connection, int id) {
        return state.streamMap.get(key(connection, id));
    }

    /** The stream, made if need be; 0 when the ID is out of range or the pool empty. */
    long get(long connection, int id) {
        long stream = find(connection, id);
        if (stream != 0 || id < 0 || id >= slab.getInt(connection + ConnectionRecord.MAX_STREAMS)) {
            return stream;
        }
        stream = state.streams.take();
        if (stream == 0) {
            return 0;
        }
        slab.zero(stream, StreamRecord.BYTES);
        slab.putLong(stream + StreamRecord.CONNECTION, connection);
        slab.putInt(stream + StreamRecord.ID, id);
        slab.putLong(stream + StreamRecord.NEXT_OF_CONNECTION, slab.getLong(connection + ConnectionRecord.ALL_STREAMS));
        slab.putLong(connection + ConnectionRecord.ALL_STREAMS, stream);
        state.streamMap.put(key(connection, id), stream);
        int queue = slab.getInt(connection + ConnectionRecord.SHARED_QUEUE);
        if (queue != 0) {
            state.shared.attach(stream, queue - 1);
        }
        return stream;
    }

    /** Notes that the peer must be told something about the stream, and makes the connection send soon. */
    void addNews(long stream, int news) {
        long connection = slab.getLong(stream + StreamRecord.CONNECTION);
        int before = slab.getInt(stream + StreamRecord.NEWS);
        slab.putInt(stream + StreamRecord.NEWS, before | news);
        if (before == 0) {
            slab.putLong(stream + StreamRecord.NEWS_NEXT, slab.getLong(connection + ConnectionRecord.NEWS_HEAD));
            slab.putLong(connection + ConnectionRecord.NEWS_HEAD, stream);
            slab.addInt(connection + ConnectionRecord.NEWS_COUNT, 1);
        }
        state.makeUrgent(connection);
    }

    /** Tells the peer of new receives when they are at least as many as it has left of those that it knows of. */
    void tellCredit(long stream) {
        int told = slab.getInt(stream + StreamRecord.CREDIT_TOLD);
        int untold = slab.getInt(stream + StreamRecord.RECEIVES_POSTED) - told;
        if (untold > 0 && untold >= told - slab.getInt(stream + StreamRecord.RECEIVES_DONE)) {
            addNews(stream, NEWS_CREDIT);
        }
    }

    /** Takes the next stream with news off the list, or 0. */
    long nextNews(long connection) {
        long stream = slab.getLong(connection + ConnectionRecord.NEWS_HEAD);
        if (stream != 0) {
            slab.putLong(connection + ConnectionRecord.NEWS_HEAD, slab.getLong(stream + StreamRecord.NEWS_NEXT));
            slab.addInt(connection + ConnectionRecord.NEWS_COUNT, -1);
        }
        return stream;
    }

    /** Frees the record of a stream; its queues are empty by then. */
    void remove(long connection, long stream) {
        state.streamMap.remove(key(connection, slab.getInt(stream + StreamRecord.ID)));
        giveBack(state.receiveQueues, stream + StreamRecord.RECEIVE_QUEUE);
        giveBack(state.readQueues, stream + StreamRecord.READ_QUEUE);
        state.streams.give(stream);
    }

    private void giveBack(io.metaroce.memory.RecordPool pool, long field) {
        long record = slab.getLong(field);
        if (record != 0) {
            pool.give(record);
            slab.putLong(field, 0);
        }
    }

    private long key(long connection, int id) {
        return (long) slab.getInt(connection + ConnectionRecord.HANDLE) << 32 | id;
    }
}
