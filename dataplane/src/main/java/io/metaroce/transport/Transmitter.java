// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.ORPHAN_HEAD;
import static io.metaroce.transport.ConnectionRecord.ORPHAN_TAIL;
import static io.metaroce.transport.ConnectionRecord.STREAMS_HEAD;
import static io.metaroce.transport.ConnectionRecord.UNSENT_PACKETS;

import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.Cause;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.ParityHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.ProbeHeader;
import io.metaroce.wire.Rate16;
import io.metaroce.wire.Type;

/** Sends a connection's probes and data: repairs on the path that lost them, then orphans, then new data, in runs. */
final class Transmitter {
    /** Packets a connection may send in a turn while no other waits for one. */
    private static final int QUANTUM = 64;
    private static final int NONE = -1;

    private final EndpointState state;
    private final Slab slab;
    private final Outgoing out;
    private final Windows windows;
    private final Spray spray;
    private final PathSender paths;
    private final AckSender acks;
    private final StreamSender streams;
    private final StreamReceiver receiver;
    private final ReadResponder reads;
    private final LocalMemory memory;
    /** Whose turn to send Data it is, and what it has sent in it. */
    private long turnOf;
    private int turnPackets;
    /** Nothing was out when the turn began; index in its message of the first new packet sent in it, or {@link #NONE}. */
    private boolean beganIdle;
    private int firstIndex;
    /** The new packet sent last in this turn was the end of a message of several. */
    private boolean endsLongMessage;
    /** Probes go behind so many packets at the end of what waits; 0: behind none, nor behind repeats. */
    private int tail;
    /** Parity packets are made of so many packets at the end of what waits; 0: of none. */
    private int parityTail;
    /** The packet to be sent goes into one. */
    private boolean covered;
    private final ParitySender parities;

    Transmitter(EndpointState state, Outgoing out, Windows windows, PathSender paths, AckSender acks, StreamSender streams, StreamReceiver receiver,
            ReadResponder reads, LocalMemory memory) {
        this.acks = acks;
        this.memory = memory;
        this.state = state;
        this.out = out;
        this.windows = windows;
        this.paths = paths;
        this.streams = streams;
        this.receiver = receiver;
        this.reads = reads;
        slab = state.slab;
        spray = new Spray(state, windows, out);
        parities = new ParitySender(state);
    }

    // ---- probes ----

    void probes(long connection, long nowNs) {
        int count = slab.getInt(connection + ConnectionRecord.PROBES_WANTED);
        int perPlane = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        int total = slab.getInt(connection + ConnectionRecord.PLANES) * perPlane;
        for (int i = 0; i < total && count > 0; i++) {
            long path = state.path(connection, 0, i);
            if (slab.getInt(path + PathRecord.PROBE_WANTED) == 0) {
                continue;
            }
            if (out.isFull()) {
                state.makeUrgent(connection);
                break;
            }
            slab.putInt(path + PathRecord.PROBE_WANTED, 0);
            count--;
            probe(connection, path, nowNs);
        }
        slab.putInt(connection + ConnectionRecord.PROBES_WANTED, count);
    }

    private void probe(long connection, long path, long nowNs) {
        int number = slab.getInt(path + PathRecord.NUMBER);
        int planeNumber = DataHeader.planeOf(number);
        long at = out.header();
        int next = slab.getInt(path + PathRecord.NEXT_PSN);
        int floor = next - paths.span(path);
        Prefix.write(at, Type.PROBE, slab.getInt(connection + ConnectionRecord.REMOTE_CID));
        ProbeHeader.floorDistance(at, Math.min(255, next - floor));
        Bytes.putInt(at + ProbeHeader.PATH, 0);
        ProbeHeader.path(at, number);
        ProbeHeader.epoch(at, slab.getInt(path + PathRecord.EPOCH));
        ProbeHeader.nextPsn(at, next);
        ProbeHeader.timestamp(at, (int) nowNs);
        Bytes.putInt(at + ProbeHeader.DEMAND, 0);
        // With nothing waiting, the share is for others.
        ProbeHeader.demand(at, isIdle(connection) ? 0 : slab.getInt(state.plane(connection, planeNumber) + PlaneRecord.DEMAND));
        ProbeHeader.receivePort(at, state.ownAddresses[planeNumber].port());
        ProbeHeader.floor(at, floor);
        int stuffing = padding(state.plane(connection, planeNumber), path);
        out.finish(connection, number, slab.getInt(path + PathRecord.SOURCE_PORT), 0, ProbeHeader.LENGTH, state.zeros, stuffing, stuffing);
        slab.addInt(path + PathRecord.PROBES_OUT, 1);
        slab.putLong(path + PathRecord.LAST_PROBE_NS, nowNs);
        slab.putLong(path + PathRecord.LAST_TX_NS, nowNs);
        slab.putLong(connection + ConnectionRecord.LAST_TX_NS, nowNs);
        state.statsOf(connection).probes++;
    }

    /** Bytes behind the probe: as many as make it as long as a packet of the size that it is to prove. */
    private int padding(long plane, long path) {
        int stands = slab.getInt(path + PathRecord.PAD);
        if (slab.getInt(path + PathRecord.STATE) == PathRecord.PROBING) {
            // A route that does not carry what its plane is known for is not taken. Every other try finds out whether it lives at all.
            int proven = slab.getInt(plane + PlaneRecord.PROVEN_BYTES);
            stands = proven > state.config.safePayload && (slab.getInt(path + PathRecord.ATTEMPTS) & 1) != 0 ? proven : 0;
        }
        slab.putInt(path + PathRecord.PAD, 0);
        slab.putInt(path + PathRecord.LAST_PAD, stands);
        return stands == 0 ? 0 : stands + DataHeader.LENGTH - ProbeHeader.LENGTH;
    }

    // ---- data ----

    /** Sends what windows allow, up to a quantum; the connection stays ready if more could go at once. */
    void data(long connection, long nowNs) {
        spray.waitsForPort = false;
        int unsentBefore = slab.getInt(connection + UNSENT_PACKETS);
        int repairs = repairsWaiting(connection);
        long parity = parities.due(connection);
        if (unsentBefore == 0 && repairs == 0 && slab.getLong(connection + ORPHAN_HEAD) == 0 && parity == 0) {
            return;
        }
        // What paths have left behind, or parity alone, is a packet at least.
        stateDemand(connection, Math.max(1, unsentBefore + repairs));
        if (turnOf != connection) {
            turnOf = connection;
            turnPackets = 0;
            beganIdle = slab.getInt(connection + ConnectionRecord.IN_FLIGHT) == 0;
            firstIndex = NONE;
        }
        endsLongMessage = false;
        boolean early = state.expectsLoss();
        float end = early ? end(connection, nowNs) : 0;
        tail = (int) Math.ceil(Limits.PROBE_TAIL * end);
        parityTail = (int) Math.ceil(Limits.PARITY_TAIL * end);
        // While others wait, a turn is short: what many send to one receiver, or one to many, is mixed as finely as may be.
        int turn = Math.max(Math.max(Limits.TURN_PACKETS, slab.getInt(connection + ConnectionRecord.PLANES)), state.config.runLength);
        int left = state.dataTurns.isEmpty() ? QUANTUM : Math.max(1, turn - turnPackets);
        while (left > 0 && !out.isFull()) {
            if (parity != 0) {
                parity(connection, parity, nowNs);
                if (spray.waitsForPort) {
                    break;
                }
                parity = 0;
                continue;
            }
            int sent = run(connection, Math.min(left, out.room()), repairs > 0, nowNs);
            if (sent == 0) {
                break;
            }
            left -= sent;
            turnPackets += sent;
            if (left == 0 && finishes(connection)) {
                left = slab.getInt(connection + UNSENT_PACKETS);
            }
            parity = parities.due(connection);
        }
        if (left == 0) {
            turnOf = 0;
            state.makeReady(connection);
        } else if (out.isFull()) {
            state.dataTurns.addFirst(connection);
        }
        if (endsLongMessage && (early || state.config.timerFloorNs > 0) && slab.getInt(connection + UNSENT_PACKETS) == 0) {
            probeTail(connection);
        }
        if (slab.getInt(connection + ConnectionRecord.IN_FLIGHT) > 0) {
            // With nothing out the time of the check stays in the past: it would wake us at once, and again, while work waits for credit.
            state.wakeBy(connection, slab.getLong(connection + ConnectionRecord.CHECK_NS));
        }
    }

    /** So little waits, or has waited, that the turn goes on to its end: of several messages that began together, one after the other is done then. */
    private boolean finishes(long connection) {
        int unsent = slab.getInt(connection + UNSENT_PACKETS);
        int all = turnPackets + unsent;
        boolean isWhole = beganIdle && firstIndex == 0 && all <= Limits.SHORT_PACKETS * slab.getInt(connection + ConnectionRecord.PLANES);
        return isWhole || unsent * state.backlogs.count() <= Limits.FINISH_PACKETS && all <= Limits.FINISH_PACKETS;
    }

    /** The connection that had its turn would send more, were the port of some plane not busy. */
    boolean waitsForPort() {
        return spray.waitsForPort;
    }

    /** Packets of a round trip at the end of what waits, where packets are lost: what is lost there delays all the rest. */
    private float end(long connection, long nowNs) {
        float packets = 0;
        for (int p = 0; p < slab.getInt(connection + ConnectionRecord.PLANES); p++) {
            long plane = state.plane(connection, p);
            packets += Math.min(windows.window(connection, plane, nowNs), windows.bdpPackets(connection, plane));
        }
        return packets;
    }

    /** Nothing waits to be sent or sent again. */
    private boolean isIdle(long connection) {
        return slab.getInt(connection + UNSENT_PACKETS) == 0 && slab.getLong(connection + ORPHAN_HEAD) == 0 && repairsWaiting(connection) == 0;
    }

    private int repairsWaiting(long connection) {
        int repairs = 0;
        for (int p = 0; p < slab.getInt(connection + ConnectionRecord.PLANES); p++) {
            repairs += slab.getInt(state.plane(connection, p) + PlaneRecord.RTX_PACKETS);
        }
        return repairs;
    }

    /** What we could use on each plane: all that waits, within an RTT (spec: "Demand"). */
    private void stateDemand(long connection, int waiting) {
        long bits = 8L * waiting * slab.getInt(connection + ConnectionRecord.PACKET_BYTES);
        for (int p = 0; p < slab.getInt(connection + ConnectionRecord.PLANES); p++) {
            long plane = state.plane(connection, p);
            long kbps = bits * 1_000_000 / Math.max(1, slab.getInt(plane + PlaneRecord.SRTT_NS));
            long usable = state.backlogs.usable(connection, p, slab.getFloat(plane + PlaneRecord.SHARE), windows.lineKbps(plane));
            slab.putInt(plane + PlaneRecord.DEMAND, Rate16.encode(Math.min(usable, Math.max(1, kbps))));
        }
    }

    /** One run of packets on one path; returns how many. {@code repairs}: some path may have packets to repeat. */
    private int run(long connection, int most, boolean repairs, long nowNs) {
        int limit = Math.min(most, state.config.runLength);
        long path = repairs ? pathToRepair(connection, nowNs) : 0;
        int sent = 0;
        int room;
        if (path != 0) {
            spray.path = path;
            int number = slab.getInt(path + PathRecord.NUMBER);
            spray.planeNumber = DataHeader.planeOf(number);
            spray.plane = state.plane(connection, spray.planeNumber);
            room = Math.min(limit, spray.repairRoom(connection, spray.plane, path, nowNs));
        } else {
            int waiting = slab.getInt(connection + UNSENT_PACKETS);
            if (slab.getLong(connection + ORPHAN_HEAD) == 0 && slab.getLong(connection + STREAMS_HEAD) == 0
                    || !spray.choose(connection, Math.max(1, waiting), nowNs)) {
                return 0;
            }
            path = spray.path;
            room = Math.min(limit, spray.room);
        }
        boolean repeats = slab.getInt(spray.plane + PlaneRecord.RTX_PACKETS) != 0;
        while (repeats && sent < room && slab.getLong(path + PathRecord.RTX_HEAD) != 0 && spanFree(path)) {
            long packet = state.removeFirst(path + PathRecord.RTX_HEAD, path + PathRecord.RTX_TAIL);
            slab.addInt(path + PathRecord.RTX_COUNT, -1);
            slab.addInt(spray.plane + PlaneRecord.RTX_PACKETS, -1);
            again(connection, path, packet, 0, nowNs);
            sent++;
        }
        if (sent > 0) {
            // None of them need have gone: the peer may have what was to be repeated, or its stream have failed.
            paths.leaveIfDrained(connection, spray.plane, path, nowNs);
            // The run goes on with new data on the same path, so that a port can still batch it.
            room = Math.min(limit, sent + spray.roomOf(connection, spray.plane, path, nowNs));
        }
        while (sent < room && slab.getLong(connection + ORPHAN_HEAD) != 0 && spanFree(path)) {
            // If its path was left only as acknowledgements were late, the next must not be judged by the same delay.
            again(connection, path, state.removeFirst(connection + ORPHAN_HEAD, connection + ORPHAN_TAIL), DataHeader.ACK_REQUEST, nowNs);
            sent++;
        }
        while (sent < room && spanFree(path) && parities.due(connection) == 0 && fresh(connection, path, nowNs)) {
            sent++;
        }
        if (sent > 0) {
            // A turn without a packet (no record left) must not make the connection ready again, or it would spin for ever.
            rotate(connection);
        }
        return sent;
    }

    private boolean spanFree(long path) {
        return paths.span(path) < Limits.PSN_WINDOW - 1;
    }

    /** A path that may repeat what it lost, or 0. */
    private long pathToRepair(long connection, long nowNs) {
        int perPlane = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        for (int p = 0; p < slab.getInt(connection + ConnectionRecord.PLANES); p++) {
            if (slab.getInt(state.plane(connection, p) + PlaneRecord.RTX_PACKETS) == 0) {
                continue;
            }
            for (int i = 0; i < perPlane; i++) {
                long path = state.path(connection, p, i);
                if (slab.getInt(path + PathRecord.RTX_COUNT) > 0 && slab.getInt(path + PathRecord.STATE) != PathRecord.PROBING
                        && spanFree(path) && spray.repairRoom(connection, state.plane(connection, p), path, nowNs) > 0) {
                    return path;
                }
            }
        }
        return 0;
    }

    private void again(long connection, long path, long packet, int flags, long nowNs) {
        long work = slab.getLong(packet + PacketRecord.WORK);
        if (work != 0 && !streams.isDelivered(work)) {
            mayStillRead(connection, slab.getLong(work + WorkRecord.STREAM), work);
        }
        if (streams.giveUp(packet)) {
            state.packets.give(packet);
            return;
        }
        slab.addInt(packet + PacketRecord.TRIES, 1);
        slab.addLong(path + PathRecord.RETRANSMISSIONS, 1);
        state.statsOf(connection).retransmissions++;
        emit(connection, path, packet, flags | DataHeader.RETRANSMISSION, nowNs);
        if (tail > 0 || slab.getInt(connection + UNSENT_PACKETS) == 0) {
            paths.wantProbe(connection, path);
        }
    }

    /** Sends the next new packet of the stream in turn; false if no stream may send. */
    private boolean fresh(long connection, long path, long nowNs) {
        long stream;
        long work;
        for (;;) {
            stream = slab.getLong(connection + STREAMS_HEAD);
            if (stream == 0) {
                return false;
            }
            work = slab.getInt(stream + StreamRecord.STATE) == StreamRecord.OPEN ? streams.next(stream, nowNs) : 0;
            if (work != 0 && !mayStillRead(connection, stream, work)) {
                work = 0;
            }
            if (work != 0) {
                break;
            }
            streams.takeTurn(connection, stream);
        }
        long packet = state.packets.take();
        if (packet == 0) {
            // Nothing of this connection need be out whose acknowledgement would wake it.
            state.packetsWanted = true;
            return false;
        }
        slab.putLong(packet + PacketRecord.WORK, work);
        slab.putInt(packet + PacketRecord.TRIES, 0);
        int index = streams.advance(stream, work);
        slab.putInt(packet + PacketRecord.INDEX, index);
        firstIndex = firstIndex == NONE ? index : firstIndex;
        endsLongMessage = index > 0 && index + 1 == slab.getInt(work + WorkRecord.PACKETS);
        if (index > 0 && slab.getInt(connection + UNSENT_PACKETS) < tail) {
            paths.wantProbe(connection, path);
        }
        covered = slab.getInt(connection + UNSENT_PACKETS) < parityTail;
        emit(connection, path, packet, 0, nowNs);
        covered = false;
        return true;
    }

    /** The region may have been deregistered since the request was posted or taken: then the stream fails, and nothing is read. */
    private boolean mayStillRead(long connection, long stream, long work) {
        int opcode = slab.getInt(work + WorkRecord.OPCODE);
        if (opcode == Opcode.ATOMIC_RESPONSE) {
            return true;
        }
        if (opcode != Opcode.READ_RESPONSE) {
            if (memory.isStillRegistered(connection, work)) {
                return true;
            }
            streams.fail(stream, work, Cause.LOCAL_ERROR);
            return false;
        }
        int verdict = reads.check(connection, slab.getInt(work + WorkRecord.LOCAL_KEY), slab.getLong(work + WorkRecord.LOCAL_ADDRESS),
                slab.getInt(work + WorkRecord.LENGTH));
        if (verdict == RegionTable.OK) {
            return true;
        }
        receiver.fail(connection, stream, StreamReceiver.causeOf(verdict), slab.getInt(work + WorkRecord.MSN));
        return false;
    }

    /** The stream in turn goes to the end of the line, if others wait. */
    private void rotate(long connection) {
        long stream = slab.getLong(connection + STREAMS_HEAD);
        if (stream != 0 && slab.getLong(stream + StreamRecord.READY_NEXT) != 0) {
            streams.takeTurn(connection, stream);
            streams.makeReady(stream);
        }
    }

    private void emit(long connection, long path, long packet, int flags, long nowNs) {
        long plane = spray.plane;
        int span = paths.span(path);
        int psn = paths.sent(connection, plane, path, packet, nowNs);
        long work = slab.getLong(packet + PacketRecord.WORK);
        long stream = slab.getLong(work + WorkRecord.STREAM);
        int index = slab.getInt(packet + PacketRecord.INDEX);
        int opcode = slab.getInt(work + WorkRecord.OPCODE);
        int message = slab.getInt(work + WorkRecord.LENGTH);
        int mtu = slab.getInt(work + WorkRecord.PACKET_BYTES);
        int offset = index * mtu;
        boolean last = index + 1 == slab.getInt(work + WorkRecord.PACKETS);
        int length = last ? message - offset : mtu;
        long payload = slab.getLong(work + WorkRecord.LOCAL_ADDRESS) + offset;
        if (last) {
            flags |= DataHeader.LAST;
        }
        int wanted = slab.getInt(work + WorkRecord.FLAGS);
        if ((wanted & WorkRecord.ANSWERED) != 0) {
            flags |= DataHeader.ANSWERED;
        }
        if ((wanted & WorkRecord.SOLICITED) != 0) {
            flags |= DataHeader.SOLICITED;
        }
        int demand = slab.getInt(plane + PlaneRecord.DEMAND);
        if (slab.getInt(connection + UNSENT_PACKETS) == 0) {
            flags |= DataHeader.ACK_REQUEST;
            // With nothing behind it, the share is for others.
            demand = isIdle(connection) ? 0 : demand;
        }
        int fixed = Opcode.fixedPayload(opcode);
        int room = roomAhead(connection, fixed != 0 ? fixed : length);
        int ack = room < AckHeader.LENGTH ? 0 : acks.ahead(connection, spray.planeNumber, path, room, nowNs);
        long at = out.header() + ack;
        Prefix.write(at, Type.DATA, slab.getInt(connection + ConnectionRecord.REMOTE_CID));
        Prefix.flags(at, flags);
        DataHeader.opcode(at, opcode);
        DataHeader.floorDistance(at, span);
        Bytes.putInt(at + DataHeader.PATH, slab.getInt(path + PathRecord.NUMBER) << 16 | (slab.getInt(path + PathRecord.EPOCH) & 0xff) << 8);
        DataHeader.psn(at, psn);
        DataHeader.timestamp(at, (int) nowNs);
        DataHeader.stream(at, slab.getInt(stream + StreamRecord.ID));
        DataHeader.ssn(at, slab.getInt(work + WorkRecord.FIRST_SSN) + index);
        DataHeader.msn(at, slab.getInt(work + WorkRecord.MSN));
        DataHeader.demand(at, demand);
        DataHeader.remoteKey(at, 0);
        DataHeader.offset(at, offset);
        DataHeader.messageLength(at, message);
        DataHeader.immediate(at, 0);
        int headerLength = DataHeader.LENGTH;
        switch (opcode) {
            case Opcode.WRITE, Opcode.WRITE_IMM -> {
                DataHeader.remoteAddress(at, slab.getLong(work + WorkRecord.REMOTE_ADDRESS) + offset);
                DataHeader.remoteKey(at, slab.getInt(work + WorkRecord.REMOTE_KEY));
                if (opcode == Opcode.WRITE_IMM) {
                    DataHeader.immReceiveIndex(at, slab.getInt(work + WorkRecord.INDEX));
                    DataHeader.immediate(at, slab.getInt(work + WorkRecord.IMMEDIATE));
                }
            }
            case Opcode.SEND, Opcode.SEND_IMM, Opcode.SEND_INVALIDATE -> {
                DataHeader.remoteAddress(at, 0);
                DataHeader.remoteKey(at, opcode == Opcode.SEND_INVALIDATE ? slab.getInt(work + WorkRecord.REMOTE_KEY) : 0);
                DataHeader.receiveIndex(at, slab.getInt(work + WorkRecord.INDEX));
                DataHeader.immediate(at, slab.getInt(work + WorkRecord.IMMEDIATE));
            }
            case Opcode.READ_RESPONSE -> DataHeader.requestId(at, slab.getLong(work + WorkRecord.REQUEST_ID));
            case Opcode.ATOMIC_RESPONSE -> {
                DataHeader.requestId(at, slab.getLong(work + WorkRecord.REQUEST_ID));
                Bytes.putLong(at + DataHeader.ORIGINAL, slab.getLong(work + WorkRecord.OPERAND));
            }
            default -> {
                DataHeader.remoteAddress(at, slab.getLong(work + WorkRecord.REMOTE_ADDRESS));
                DataHeader.remoteKey(at, slab.getInt(work + WorkRecord.REMOTE_KEY));
                DataHeader.readIndex(at, slab.getInt(work + WorkRecord.INDEX));
                Bytes.putLong(at + DataHeader.OWN_REQUEST_ID, slab.getLong(work + WorkRecord.REQUEST_ID));
                if (opcode != Opcode.READ_REQUEST) {
                    Bytes.putLong(at + DataHeader.OPERAND, slab.getLong(work + WorkRecord.OPERAND));
                }
                if (opcode == Opcode.COMPARE_SWAP) {
                    Bytes.putLong(at + DataHeader.COMPARE, slab.getLong(work + WorkRecord.COMPARE));
                }
            }
        }
        if (fixed != 0) {
            // Such a payload stands in the work record and was written behind the header.
            headerLength += fixed;
            length = 0;
        }
        if ((wanted & WorkRecord.SEGMENTED) != 0 && length > 0) {
            payload = out.gather(connection, slab.getLong(work + WorkRecord.SEGMENTS), offset, length);
        }
        DataHeader.payloadLength(at, headerLength - DataHeader.LENGTH + length);
        if (covered && (opcode == Opcode.WRITE || opcode == Opcode.WRITE_IMM) && slab.getInt(work + WorkRecord.PACKETS) > 1) {
            parities.add(connection, at, payload, length, carried(plane));
        }
        int checked = slab.getInt(connection + ConnectionRecord.INTEGRITY) == EndpointConfig.INTEGRITY_FULL ? length : 0;
        out.finish(connection, slab.getInt(path + PathRecord.NUMBER), slab.getInt(path + PathRecord.SOURCE_PORT), ack, headerLength, payload, length, checked);
        slab.putLong(connection + ConnectionRecord.LAST_TX_NS, nowNs);
        ConnectionStats stats = state.statsOf(connection);
        stats.packetsSent++;
        state.losses.moved();
        stats.bytesSent += length;
        pace(connection, plane, length, nowNs);
    }

    /** What the last packets but one can be made from, if one of them is lost: by any path, and outside its window. */
    private void parity(long connection, long record, long nowNs) {
        long header = record + ParityRecord.HEADER;
        int content = ParityHeader.length(header) - ParityHeader.LENGTH + ParityHeader.packetBytes(header);
        if (spray.choose(connection, 1, nowNs) && content <= carried(spray.plane)) {
            int length = ParityHeader.packetBytes(header);
            int headerLength = ParitySender.write(record, out.header());
            long payload = out.keep(connection, record + ParityRecord.PAYLOAD, length);
            out.finish(connection, slab.getInt(spray.path + PathRecord.NUMBER), slab.getInt(spray.path + PathRecord.SOURCE_PORT), 0, headerLength, payload,
                    length, 0);
            state.statsOf(connection).parities++;
            pace(connection, spray.plane, length, nowNs);
        }
        if (!spray.waitsForPort) {
            parities.forget(connection);
        }
    }

    /** Payload of the longest Data packets that the routes of a plane are sure to carry. */
    private int carried(long plane) {
        return Math.max(state.config.safePayload, slab.getInt(plane + PlaneRecord.PROVEN_BYTES));
    }

    /** A few packets are to be sent, of which the first leaves room for an acknowledgement in front of it. */
    boolean hasShortData(long connection) {
        int unsent = slab.getInt(connection + UNSENT_PACKETS);
        long stream = slab.getLong(connection + STREAMS_HEAD);
        if (unsent == 0 || unsent > Limits.ACK_WAITS_PACKETS || stream == 0) {
            return false;
        }
        long work = streams.upNext(stream);
        if (work == 0) {
            return false;
        }
        int fixed = Opcode.fixedPayload(slab.getInt(work + WorkRecord.OPCODE));
        int left = slab.getInt(work + WorkRecord.LENGTH) - slab.getInt(work + WorkRecord.SENT) * slab.getInt(work + WorkRecord.PACKET_BYTES);
        int payload = fixed != 0 ? fixed : Math.min(left, slab.getInt(work + WorkRecord.PACKET_BYTES));
        return roomAhead(connection, payload) >= AckHeader.LENGTH;
    }

    /** Bytes in front of a packet that still make no longer datagram than every route is sure to carry. */
    private int roomAhead(long connection, int payload) {
        int carried = Math.min(slab.getInt(connection + ConnectionRecord.PAYLOAD_MTU), state.config.safePayload);
        return Math.min(carried - payload, TxBurst.HEADER_ROOM - DataHeader.LENGTH - Opcode.MAX_FIXED_PAYLOAD);
    }

    /** Below the line's rate, packets leave evenly at the share, not in a window's burst (spec: "Pacing"). */
    private void pace(long connection, long plane, int length, long nowNs) {
        float rate = Limits.PACE_RATE * slab.getFloat(plane + PlaneRecord.SHARE);
        if (windows.isFar(connection, plane)) {
            rate = Math.min(rate, Limits.FAR_PACE * windows.windowRate(connection, plane));
        }
        // Of a share of 0 no pace can be made; the window is one packet then.
        if (rate >= Limits.PACE_RATE * Limits.PACE_BELOW || rate <= 0) {
            slab.putLong(plane + PlaneRecord.NEXT_TX_NS, 0);
            return;
        }
        float bytesPerNs = rate * windows.lineKbps(plane) / 8e6f;
        long gap = (long) (windows.bytesOnWire(connection, length) / bytesPerNs);
        int burst = burst(connection, plane, nowNs);
        if (burst == 1 && windows.ofShare(connection, plane) < Limits.PACE_JITTER_BELOW) {
            // A thousand senders that began at once would send in step for ever.
            gap = (long) (gap * (1 + Limits.PACE_JITTER * (state.random.nextFloat() - 0.5f)));
        }
        long earliest = nowNs - gap * burst;
        long next = slab.getLong(plane + PlaneRecord.NEXT_TX_NS);
        next = (next - earliest < 0 ? earliest : next) + gap;
        // No share rules beyond its validity: a tiny one, of a time when we asked for nothing, must not hold us for seconds.
        long expires = Math.max(nowNs, slab.getLong(plane + PlaneRecord.SHARE_EXPIRES_NS));
        slab.putLong(plane + PlaneRecord.NEXT_TX_NS, Math.min(next, expires));
    }

    /** Packets that may be saved up for a burst. */
    private int burst(long connection, long plane, long nowNs) {
        float window = windows.window(connection, plane, nowNs);
        if (Windows.isTiny(window)) {
            // Where the window is less than a packet, pacing stands for it.
            return 1;
        }
        // Several connections thin each other's bursts out.
        int burst = state.backlogs.areSeveral() ? Limits.PACE_BURST_PACKETS
                : Math.clamp((long) (Limits.PACE_BURST_PART * window), Limits.PACE_BURST_LEAST, Limits.PACE_BURST_PACKETS);
        return Math.max(state.config.runLength, burst);
    }

    /** All is sent: a probe behind the last packet of each path shows a lost tail one RTT from now. */
    private void probeTail(long connection) {
        int total = slab.getInt(connection + ConnectionRecord.PLANES) * slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        for (int i = 0; i < total; i++) {
            long path = state.path(connection, 0, i);
            if (slab.getInt(path + PathRecord.IN_FLIGHT) > 0) {
                paths.wantProbe(connection, path);
            }
        }
    }
}
