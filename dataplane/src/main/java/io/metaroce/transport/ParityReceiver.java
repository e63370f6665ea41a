// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.PARITY_HELD;
import static io.metaroce.transport.ConnectionRecord.REBUILT_COUNT;

import io.metaroce.memory.Access;
import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.ParityHeader;

/**
 * Keeps Parity packets until all of their packets but one are there and that one is lost, and makes it from the others, which lie in
 * their final memory already (spec: "Parity").
 */
final class ParityReceiver {
    private static final int NONE = -1;
    private static final int SEVERAL = -2;

    private final EndpointState state;
    private final Slab slab;
    private final StreamTable streams;
    private final StreamReceiver receiver;
    private final PathReceiver paths;
    private final AckSender acks;

    ParityReceiver(EndpointState state, StreamTable streams, StreamReceiver receiver, PathReceiver paths, AckSender acks) {
        this.state = state;
        this.streams = streams;
        this.receiver = receiver;
        this.paths = paths;
        this.acks = acks;
        slab = state.slab;
    }

    /** Takes a Parity packet whose form, checksum and paths are right. */
    void onParity(long connection, long at) {
        int missing = missing(connection, at);
        if (missing == NONE) {
            return;
        }
        long record = state.parity.take();
        if (record == 0) {
            // A chance less: what is lost is repeated.
            return;
        }
        Bytes.copy(at, record + ParityRecord.HEADER, ParityHeader.LENGTH);
        Bytes.copy(at + ParityHeader.LENGTH, record + ParityRecord.ENTRIES, ParityHeader.length(at) - ParityHeader.LENGTH);
        if (state.config.placesPayload) {
            Bytes.copy(at + ParityHeader.length(at), record + ParityRecord.PAYLOAD, ParityHeader.packetBytes(at));
        }
        slab.putLong(record + ParityRecord.NEXT, slab.getLong(connection + PARITY_HELD));
        slab.putLong(connection + PARITY_HELD, record);
        look(connection);
    }

    /** Something has arrived that may be what a Parity packet waited for. */
    void look(long connection) {
        long before = connection + PARITY_HELD;
        for (long record = slab.getLong(before); record != 0; record = slab.getLong(before)) {
            long header = record + ParityRecord.HEADER;
            int missing = missing(connection, header);
            boolean done = missing == NONE;
            if (missing >= 0) {
                long entry = ParityHeader.entry(record + ParityRecord.ENTRIES, missing);
                done = paths.wasSent(pathOf(connection, entry), ParityHeader.epoch(entry), ParityHeader.psn(entry));
                if (done) {
                    rebuild(connection, record, missing);
                }
            }
            if (done) {
                slab.putLong(before, slab.getLong(record + ParityRecord.NEXT));
                state.parity.give(record);
            } else {
                before = record + ParityRecord.NEXT;
            }
        }
    }

    private long pathOf(long connection, long entry) {
        int number = ParityHeader.path(entry);
        return state.path(connection, DataHeader.planeOf(number), DataHeader.indexOf(number));
    }

    /** The one packet that has not arrived, {@link #SEVERAL}, or {@link #NONE}, also where its stream takes none. */
    private int missing(long connection, long header) {
        long stream = streams.find(connection, DataHeader.stream(header));
        if (stream == 0 || slab.getInt(stream + StreamRecord.STATE) != StreamRecord.OPEN) {
            return NONE;
        }
        int missing = NONE;
        for (int i = 0; i < ParityHeader.count(header); i++) {
            if (!receiver.hasArrived(stream, DataHeader.ssn(header) + i)) {
                if (missing >= 0) {
                    return SEVERAL;
                }
                missing = i;
            }
        }
        return missing;
    }

    private void rebuild(long connection, long record, int missing) {
        long header = record + ParityRecord.HEADER;
        long entry = ParityHeader.entry(record + ParityRecord.ENTRIES, missing);
        if (state.config.placesPayload && !restore(connection, record, missing, ParityHeader.checksum(entry))) {
            return;
        }
        ParityHeader.toData(header, entry, missing);
        if (receiver.onData(connection, header) == StreamReceiver.TAKEN) {
            state.statsOf(connection).rebuilt++;
            tell(connection, header);
            // What waits to be acknowledged at a message's end may have waited for this one.
            if (receiver.isComplete(connection, 0)) {
                acks.hurry(connection);
            }
        }
    }

    /** The sender need not repeat it. */
    private void tell(long connection, long header) {
        int count = slab.getInt(connection + REBUILT_COUNT);
        if (count < Limits.REBUILT_TOLD) {
            long at = connection + ConnectionRecord.REBUILT + 12L * count;
            slab.putInt(at, DataHeader.stream(header));
            slab.putInt(at + 4, DataHeader.ssn(header));
            slab.putInt(at + 8, DataHeader.path(header));
            slab.putInt(connection + REBUILT_COUNT, count + 1);
            state.tellNow(connection);
        }
    }

    /** Turns the payload of the record into that of the missing packet; false if the others are no longer what they were. */
    private boolean restore(long connection, long record, int missing, int checksum) {
        long header = record + ParityRecord.HEADER;
        long payload = record + ParityRecord.PAYLOAD;
        int bytes = ParityHeader.packetBytes(header);
        int count = ParityHeader.count(header);
        int all = (count - 1) * bytes + ParityHeader.lastBytes(header);
        long address = DataHeader.remoteAddress(header);
        if (state.regions.check(DataHeader.remoteKey(header), slab.getInt(connection + ConnectionRecord.PROTECTION_DOMAIN), address, all,
                Access.REMOTE_WRITE) != RegionTable.OK) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            if (i != missing) {
                Bytes.xor(address + (long) i * bytes, payload, i + 1 == count ? ParityHeader.lastBytes(header) : bytes);
            }
        }
        return state.checksum.of(payload, missing + 1 == count ? ParityHeader.lastBytes(header) : bytes) == checksum;
    }
}
