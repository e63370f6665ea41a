// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.PARITY_MADE;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.ParityEntry;
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

    /**
     * A Data packet of a Write is on its way for the first time: its header is at {@code at}.
     *
     * @param carried payload of the longest Data packets that routes are sure to carry: Parity packets are no longer than these
     */
    void add(long connection, long at, long payload, int length, int carried) {
        long record = state.parities(connection, PARITY_MADE);
        if (record != 0 && !follows(record + ParityRecord.HEADER, at)) {
            forget(connection);
            record = 0;
        }
        int bytes = record == 0 ? length : ParityHeader.packetBytes(record + ParityRecord.HEADER);
        int most = Math.min(ParityHeader.MAX_PACKETS, (carried - bytes) / ParityEntry.LENGTH);
        if (record == 0) {
            record = most < ParityHeader.MIN_PACKETS ? 0 : begin(connection, at, length);
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
        ParityEntry.write(ParityEntry.at(record + ParityRecord.ENTRIES, count), at, checksum);
        ParityHeader.count(header, ++count);
        ParityHeader.lastBytes(header, length);
        boolean last = (Prefix.flags(at) & DataHeader.LAST) != 0;
        if (last && count < ParityHeader.MIN_PACKETS) {
            forget(connection);
        } else if (last || count >= most) {
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
        state.parities(connection, PARITY_MADE, record);
        slab.putLong(record + ParityRecord.NEXT, 0);
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
        long record = state.parities(connection, PARITY_MADE);
        return record != 0 && slab.getLong(record + ParityRecord.CLOSED) != 0 ? record : 0;
    }

    /** Writes header and entries; returns their length. */
    static int write(long record, long to) {
        long header = record + ParityRecord.HEADER;
        int entries = ParityHeader.count(header) * ParityEntry.LENGTH;
        Bytes.copy(header, to, ParityHeader.LENGTH);
        Bytes.copy(record + ParityRecord.ENTRIES, to + ParityHeader.LENGTH, entries);
        return ParityHeader.LENGTH + entries;
    }

    /** The connection's group is sent, or is to come to nothing. */
    void forget(long connection) {
        state.giveParities(connection, PARITY_MADE);
    }
}
