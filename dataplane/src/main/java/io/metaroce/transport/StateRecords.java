// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.LongMap;
import io.metaroce.memory.RecordPool;
import java.util.ArrayList;
import java.util.List;

/**
 * The kinds of records that an endpoint keeps off the heap, all of them reserved at construction: how large each is, how large it may
 * be (spec: "State"), how many there are and how many are in use. For people and tests; allocates.
 */
public final class StateRecords {
    /** In the spec's table. */
    static final long STATED_CONNECTION = 512;
    static final long STATED_PLANE = 256;
    static final long STATED_SENDER = 24;
    static final long STATED_PATH = 256;
    static final long STATED_STREAM = 256;
    static final long STATED_PARKED = 128;
    static final long STATED_PARKED_PLANE = 24;
    static final long STATED_PARITY = 16_704;
    static final long STATED_COMMON = 16_448;
    static final long STATED_PACKET = 64;
    static final long STATED_WORK = 128;
    static final long STATED_RECEIVE = 56;
    static final long STATED_READ = 48;
    static final long STATED_LANE = 80;
    static final long STATED_SEGMENT = 16;
    static final long STATED_MAP_ENTRY = 16;
    static final long STATED_COMPLETION = 48;
    /** Windows of a receiver also hold two bits that tell what is due when a packet's turn comes. */
    static final long STATED_RECEIVER_WINDOWS = 3;

    /**
     * One kind of record.
     *
     * @param bytes of one record, as it is
     * @param statedBytes the most it may have
     * @param reserved records that the endpoint has room for
     * @param used records in use now
     */
    public record Kind(String name, long bytes, long statedBytes, long reserved, long used) {
        public long reservedBytes() {
            return bytes * reserved;
        }

        public boolean isWithin() {
            return bytes <= statedBytes;
        }
    }

    private StateRecords() {
    }

    static List<Kind> of(EndpointState s) {
        int planes = s.config.planes();
        long n = s.connections.capacity();
        long paths = (long) planes * s.config.pathsPerPlane;
        long window = s.config.streamWindowPackets / 8;
        List<Kind> kinds = new ArrayList<>();
        kinds.add(pool("connection", s.connections, ConnectionRecord.BYTES, STATED_CONNECTION));
        kinds.add(new Kind("plane of a connection", PlaneRecord.BYTES, STATED_PLANE, n * planes, (long) s.planes.used() * planes));
        kinds.add(new Kind("active sender", SenderRecord.BYTES, STATED_SENDER, n * planes, 0));
        kinds.add(new Kind("path", PathRecord.BYTES, STATED_PATH, n * paths, s.connections.used() * paths));
        kinds.add(pool("parked connection", s.parked, ParkedRecord.bytes(planes), STATED_PARKED + STATED_PARKED_PLANE * planes));
        kinds.add(new Kind("place in the table of names", LongMap.ENTRY_BYTES, STATED_MAP_ENTRY, Names.places((int) n, s.config.maxParked), 0));
        kinds.add(new Kind("common to an endpoint", Limits.MAX_PAYLOAD_MTU + 64, STATED_COMMON, 1, 1));
        kinds.add(pool("Parity packet", s.parity, ParityRecord.bytes(s.config), STATED_PARITY));
        kinds.add(pool("stream", s.streams, StreamRecord.BYTES, STATED_STREAM));
        kinds.add(new Kind("place in the table of streams", LongMap.ENTRY_BYTES, STATED_MAP_ENTRY, s.streamMap.slots(), s.streamMap.size()));
        kinds.add(pool("receiver's window", s.rxWindows, 3 * s.windowBytes, STATED_RECEIVER_WINDOWS * window));
        kinds.add(pool("sender's window", s.txWindows, s.windowBytes, window));
        kinds.add(pool("packet out", s.packets, PacketRecord.BYTES, STATED_PACKET));
        kinds.add(pool("work request", s.work, WorkRecord.BYTES, STATED_WORK));
        kinds.add(pool("response", s.responses, WorkRecord.BYTES, STATED_WORK));
        kinds.add(pool("queue of receives", s.receiveQueues, (long) ReceiveQueue.ENTRY_BYTES * s.config.receiveQueueDepth,
                STATED_RECEIVE * s.config.receiveQueueDepth));
        kinds.add(pool("queue of Reads", s.readQueues, (long) ReadResponder.ENTRY_BYTES * Limits.MAX_READS, STATED_READ * Limits.MAX_READS));
        kinds.add(pool("queue of shared receives", s.sharedRings, (long) ReceiveQueue.ENTRY_BYTES * s.config.sharedReceivesPerStream,
                STATED_RECEIVE * s.config.sharedReceivesPerStream));
        kinds.add(new Kind("shared receive", ReceiveQueue.ENTRY_BYTES, STATED_RECEIVE,
                (long) s.config.sharedReceiveDomains.length * s.config.sharedReceiveDepth, 0));
        kinds.add(new Kind("list of segments", (long) SegmentLists.ENTRY_BYTES * s.config.maxSegments, STATED_SEGMENT * s.config.maxSegments,
                s.config.segmentLists(), s.segments.used()));
        kinds.add(pool("inline data", s.inlineData, EndpointState.inlineRoom(s.config), Math.max(8, s.config.maxInlineBytes)));
        kinds.add(new Kind("completion", CompletionQueue.ENTRY_BYTES, STATED_COMPLETION, s.completions.capacity(), s.completions.size()));
        return kinds;
    }

    private static Kind pool(String name, RecordPool pool, long bytes, long stated) {
        return new Kind(name, bytes, stated, pool.capacity(), pool.used());
    }
}
