// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.SealedHeader;

/** Fills slots of the burst under way: who gets the datagram, over which plane and source port, with which checksum. */
final class Outgoing {
    private final EndpointState state;
    private final Slab slab;
    private TxBurst burst;

    Outgoing(EndpointState state) {
        this.state = state;
        slab = state.slab;
    }

    void begin(TxBurst burst) {
        this.burst = burst;
        if ((state.sealing != null || state.config.maxSegments > 1 || state.makesParity()) && burst.staging == null) {
            burst.stage();
        }
    }

    boolean isFull() {
        return burst.count == burst.capacity;
    }

    /** Whether the plane's port is known to be busy with what it has. */
    boolean isPortBusy(int plane) {
        return burst.room[plane] <= 0;
    }

    int room() {
        return burst.capacity - burst.count;
    }

    /** Where the next datagram's header is to be written. Only while not {@link #isFull}. */
    long header() {
        return burst.header[burst.count];
    }

    /** Commits INIT, which has no tag and is never sealed. */
    void init(long connection, int plane, int sourcePort, int length) {
        long header = header();
        Prefix.checksum(header, state.checksum.field(header, length, 0));
        commit(connection, plane, sourcePort, length, 0, 0);
    }

    /** Commits a datagram without payload to the connection's peer. {@code path} as in {@link #finish}. */
    void control(long connection, int path, int sourcePort, int length) {
        finish(connection, path, sourcePort, 0, length, 0, 0, 0);
    }

    /**
     * Commits a datagram; {@code covered} payload bytes go into the checksum.
     *
     * @param path its plane and, where the connection is encrypted, its lane
     * @param ack bytes of the acknowledgement in front of the packet's header, 0 if there is none
     */
    void finish(long connection, int path, int sourcePort, int ack, int headerLength, long payload, int payloadLength, int covered) {
        long packet = header() + ack;
        if (slab.getInt(connection + ConnectionRecord.SEALED) != 0) {
            // One seal is for both.
            Prefix.checksum(packet, 0);
            seal(connection, path, sourcePort, ack + headerLength, payload, payloadLength);
            return;
        }
        int tag = slab.getInt(connection + ConnectionRecord.REMOTE_TAG);
        Prefix.checksum(packet, state.checksum.field(packet, headerLength, payload, covered, tag));
        if (ack > 0) {
            Prefix.checksum(header(), state.checksum.field(header(), ack, tag));
        }
        commit(connection, DataHeader.planeOf(path), sourcePort, ack + headerLength, payload, payloadLength);
    }

    /** A Parity packet's payload: a copy that stays until it is sent, but of one to be encrypted, which is read at once. */
    long keep(long connection, long payload, int length) {
        if (!state.config.placesPayload || slab.getInt(connection + ConnectionRecord.SEALED) != 0) {
            return payload;
        }
        Bytes.copy(payload, burst.staging[burst.count], length);
        return burst.staging[burst.count];
    }

    /** A packet's payload from a list of segments: where it lies in one of them, or a copy. Until the packet is committed. */
    long gather(long connection, long list, int offset, int length) {
        // A copy for the port stays with its slot until it is sent; one to be encrypted is read at once.
        boolean sealed = slab.getInt(connection + ConnectionRecord.SEALED) != 0;
        return state.segments.gather(list, offset, length, sealed ? state.gatherRoom : burst.staging[burst.count]);
    }

    private void seal(long connection, int path, int sourcePort, int headerLength, long payload, int payloadLength) {
        long to = burst.staging[burst.count];
        int bytes = state.sealing.seal(connection, path, header(), headerLength, payload, payloadLength, to);
        if (bytes != 0) {
            commit(connection, DataHeader.planeOf(path), sourcePort, SealedHeader.LENGTH, to, bytes);
        }
    }

    private void commit(long connection, int planeNumber, int sourcePort, int headerLength, long payload, int payloadLength) {
        int i = burst.count;
        long plane = state.plane(connection, planeNumber);
        burst.headerLength[i] = headerLength;
        burst.payload[i] = payload;
        burst.payloadLength[i] = payloadLength;
        burst.plane[i] = (byte) planeNumber;
        burst.sourcePort[i] = sourcePort;
        burst.destinationHigh[i] = slab.getLong(plane + PlaneRecord.REMOTE_HIGH);
        burst.destinationLow[i] = slab.getLong(plane + PlaneRecord.REMOTE_LOW);
        burst.destinationPort[i] = slab.getInt(plane + PlaneRecord.REMOTE_PORT);
        burst.count = i + 1;
        if (payloadLength > 0) {
            burst.room[planeNumber]--;
        }
    }

    /** Commits a datagram of the handshake, which has no tag, to the address that it answers. */
    void answer(int length, int planeNumber, int sourcePort, long high, long low, int port) {
        int i = burst.count;
        Prefix.checksum(burst.header[i], state.checksum.field(burst.header[i], length, 0));
        address(i, length, planeNumber, sourcePort, high, low, port);
        burst.count = i + 1;
    }

    private void address(int i, int length, int planeNumber, int sourcePort, long high, long low, int port) {
        burst.headerLength[i] = length;
        burst.payloadLength[i] = 0;
        burst.plane[i] = (byte) planeNumber;
        burst.sourcePort[i] = sourcePort;
        burst.destinationHigh[i] = high;
        burst.destinationLow[i] = low;
        burst.destinationPort[i] = port;
    }

    /** Commits a prepared datagram to an address that belongs to no connection. */
    void stray(long from, int length, int planeNumber, long high, long low, int port) {
        int i = burst.count;
        Bytes.copy(from, burst.header[i], length);
        int[] ports = state.ownPorts[planeNumber];
        address(i, length, planeNumber, ports[state.random.nextInt(ports.length)], high, low, port);
        burst.count = i + 1;
    }
}
