// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.PARITY_HELD;
import static io.metaroce.transport.ConnectionRecord.PARITY_USED;

import io.metaroce.memory.Access;
import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.ParityEntry;
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
        push(connection, PARITY_HELD, record);
        look(connection);
    }

    private void push(long connection, int list, long record) {
        slab.putLong(record + ParityRecord.NEXT, state.parities(connection, list));
        state.parities(connection, list, record);
    }

    /** Something has arrived that may be what a Parity packet waited for. */
    void look(long connection) {
        long record = state.parities(connection, PARITY_HELD);
        if (record == 0) {
            return;
        }
        slab.putInt(connection + PARITY_HELD, 0);
        while (record != 0) {
            long next = slab.getLong(record + ParityRecord.NEXT);
            int missing = missing(connection, record + ParityRecord.HEADER);
            if (missing == SEVERAL || missing != NONE && !isLost(connection, record, missing)) {
                push(connection, PARITY_HELD, record);
            } else if (missing != NONE && rebuild(connection, record, missing)) {
                push(connection, PARITY_USED, record);
                state.tellNow(connection);
            } else {
                state.parity.give(record);
            }
            record = next;
        }
    }

    private boolean isLost(long connection, long record, int missing) {
        long entry = ParityEntry.at(record + ParityRecord.ENTRIES, missing);
        int number = ParityEntry.path(entry);
        return paths.wasSent(state.path(connection, DataHeader.planeOf(number), DataHeader.indexOf(number)), ParityEntry.epoch(entry), ParityEntry.psn(entry));
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

    private boolean rebuild(long connection, long record, int missing) {
        long header = record + ParityRecord.HEADER;
        long entry = ParityEntry.at(record + ParityRecord.ENTRIES, missing);
        if (!mayBeRead(connection, header) || state.config.placesPayload && !restore(record, missing, ParityEntry.checksum(entry))) {
            return false;
        }
        ParityHeader.toData(header, entry, missing);
        if (receiver.onData(connection, header) != StreamReceiver.TAKEN) {
            return false;
        }
        state.statsOf(connection).rebuilt++;
        // What waits to be acknowledged at a message's end may have waited for this one.
        if (receiver.isComplete(connection, 0)) {
            acks.hurry(connection);
        }
        return true;
    }

    /** What the peer may only write must not show in what is made for it. */
    private boolean mayBeRead(long connection, long header) {
        int bytes = (ParityHeader.count(header) - 1) * ParityHeader.packetBytes(header) + ParityHeader.lastBytes(header);
        return state.regions.check(DataHeader.remoteKey(header), slab.getInt(connection + ConnectionRecord.PROTECTION_DOMAIN),
                DataHeader.remoteAddress(header), bytes, Access.REMOTE_WRITE | Access.REMOTE_READ) == RegionTable.OK;
    }

    /** Turns the payload of the record into that of the missing packet; false if the others are no longer what they were. */
    private boolean restore(long record, int missing, int checksum) {
        long header = record + ParityRecord.HEADER;
        long payload = record + ParityRecord.PAYLOAD;
        int bytes = ParityHeader.packetBytes(header);
        for (int i = 0; i < ParityHeader.count(header); i++) {
            if (i != missing) {
                Bytes.xor(DataHeader.remoteAddress(header) + (long) i * bytes, payload, ParityHeader.bytesOf(header, i));
            }
        }
        return state.checksum.of(payload, ParityHeader.bytesOf(header, missing)) == checksum;
    }
}
