// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.ParityHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Type;

/**
 * Collects the packets at the end of what is written to a peer that loses some, and makes Parity packets of them (spec: "Parity").
 * A connection has one group of packets at a time.
 */
final class ParitySender {
    private final EndpointState state;
    private final Slab slab;

    ParitySender(EndpointState state) {
        this.state = state;
        slab = state.slab;
    }

    /** A Data packet of a Write is on its way for the first time: its header is at {@code at}. */
    void add(long connection, long at, long payload, int length) {
        long record = slab.getLong(connection + ConnectionRecord.PARITY_GROUP);
        if (record != 0 && !follows(record + ParityRecord.HEADER, at)) {
            forget(connection);
            record = 0;
        }
        if (record == 0) {
            record = begin(connection, at, length);
            if (record == 0) {
                return;
            }
        }
        long header = record + ParityRecord.HEADER;
        int count = ParityHeader.count(header);
        int checksum = 0;
        if (state.config.placesPayload) {
            checksum = state.checksum.of(payload, length);
            Bytes.xor(payload, record + ParityRecord.PAYLOAD, length);
        }
        ParityHeader.entry(ParityHeader.entry(record + ParityRecord.ENTRIES, count), at, checksum);
        ParityHeader.count(header, ++count);
        ParityHeader.lastBytes(header, length);
        boolean last = (Prefix.flags(at) & DataHeader.LAST) != 0;
        if (last && count < ParityHeader.MIN_PACKETS) {
            forget(connection);
        } else if (last || count == ParityHeader.MAX_PACKETS) {
            slab.putLong(record + ParityRecord.CLOSED, 1);
        }
    }

    private static boolean follows(long group, long at) {
        return DataHeader.stream(group) == DataHeader.stream(at) && DataHeader.msn(group) == DataHeader.msn(at)
                && DataHeader.ssn(group) + ParityHeader.count(group) == DataHeader.ssn(at);
    }

    private long begin(long connection, long at, int length) {
        long record = state.parity.take();
        if (record == 0) {
            return 0;
        }
        slab.putLong(connection + ConnectionRecord.PARITY_GROUP, record);
        slab.putLong(record + ParityRecord.CLOSED, 0);
        long header = record + ParityRecord.HEADER;
        Bytes.copy(at, header, ParityHeader.LENGTH);
        Prefix.write(header, Type.PARITY, slab.getInt(connection + ConnectionRecord.REMOTE_CID));
        DataHeader.opcode(header, DataHeader.opcode(at));
        ParityHeader.count(header, 0);
        Bytes.zero(header + Prefix.LENGTH, ParityHeader.STREAM - Prefix.LENGTH);
        if (state.config.placesPayload) {
            Bytes.zero(record + ParityRecord.PAYLOAD, length);
        }
        return record;
    }

    /** The group whose Parity packet is to be sent next, or 0. */
    long due(long connection) {
        long record = slab.getLong(connection + ConnectionRecord.PARITY_GROUP);
        return record != 0 && slab.getLong(record + ParityRecord.CLOSED) != 0 ? record : 0;
    }

    /** Writes header and entries; returns their length. */
    static int write(long record, long to) {
        long header = record + ParityRecord.HEADER;
        int entries = ParityHeader.count(header) * ParityHeader.ENTRY_LENGTH;
        Bytes.copy(header, to, ParityHeader.LENGTH);
        Bytes.copy(record + ParityRecord.ENTRIES, to + ParityHeader.LENGTH, entries);
        return ParityHeader.LENGTH + entries;
    }

    /** The connection's group is sent, or is to come to nothing. */
    void forget(long connection) {
        long record = slab.getLong(connection + ConnectionRecord.PARITY_GROUP);
        if (record != 0) {
            slab.putLong(connection + ConnectionRecord.PARITY_GROUP, 0);
            state.parity.give(record);
        }
    }
}
