// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;

/** One end of the conversation on stream 0 of a connection: {@link Message}s as Sends. Set-up and wind-up only. Loop's thread. */
final class Conversation implements AutoCloseable {
    static final int STREAM = 0;
    /** Longest message in bytes: a result with the paths of the largest connection. */
    static final int MAX_MESSAGE = 128 * 1024;
    /** Messages on the way in each direction: the conversation never has more than three. */
    static final int PLACES = 4;

    private final Endpoint endpoint;
    private final RegionTable regions;
    private final int connection;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(2L * PLACES * MAX_MESSAGE, 64);
    private final MemoryRegion region;
    private final ArrayDeque<Message> inbox = new ArrayDeque<>();
    private final ArrayDeque<Integer> freePlaces = new ArrayDeque<>();

    /** Posts the receives: the peer may talk from now on. */
    Conversation(Endpoint endpoint, RegionTable regions, int protectionDomain, int connection) {
        this.endpoint = endpoint;
        this.regions = regions;
        this.connection = connection;
        region = regions.register(protectionDomain, memory, Access.LOCAL_WRITE);
        for (int place = 0; place < PLACES; place++) {
            freePlaces.add(PLACES + place);
            postReceive(place);
        }
    }

    void send(Message message) {
        byte[] bytes = message.encode();
        Integer place = freePlaces.poll();
        if (bytes.length > MAX_MESSAGE || place == null) {
            throw new IllegalStateException("a conversation message of " + bytes.length + " B cannot be sent");
        }
        long offset = (long) place * MAX_MESSAGE;
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, offset, bytes.length);
        WorkRequest work = new WorkRequest();
        work.opcode = Opcode.SEND;
        work.stream = STREAM;
        work.localAddress = memory.address() + offset;
        work.localKey = region.key();
        work.length = bytes.length;
        work.wrId = place;
        int outcome = endpoint.post(connection, work);
        if (outcome == Endpoint.QUEUE_FULL) {
            throw new IllegalStateException("no work request is left for the conversation");
        }
        // Any other failure means the connection is gone, which an event reports.
    }

    /** A completion on stream 0, status OK. */
    void onCompletion(Completion completion) {
        int place = (int) completion.wrId;
        if (!completion.isReceive) {
            freePlaces.add(place);
            return;
        }
        byte[] bytes = memory.asSlice((long) place * MAX_MESSAGE, completion.byteLength).toArray(ValueLayout.JAVA_BYTE);
        postReceive(place);
        inbox.add(Message.decode(bytes));
    }

    /** The next message that came in, or null. */
    Message poll() {
        return inbox.poll();
    }

    private void postReceive(int place) {
        endpoint.postReceive(connection, STREAM, memory.address() + (long) place * MAX_MESSAGE, MAX_MESSAGE, region.key(), place);
    }

    /** Ends remote and local use. The memory itself is freed by {@link #close}, once no packet refers to it. */
    void retire() {
        regions.deregister(region);
    }

    @Override
    public void close() {
        arena.close();
    }
}
