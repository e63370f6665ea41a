// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.LAST_RX_NS;
import static io.metaroce.transport.ConnectionRecord.STATE;

import io.metaroce.memory.Slab;
import io.metaroce.wire.AcceptHeader;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.Checksum;
import io.metaroce.wire.CloseHeader;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.Malformation;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.ParkHeader;
import io.metaroce.wire.ParityEntry;
import io.metaroce.wire.ParityHeader;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.PlaneHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.ProbeHeader;
import io.metaroce.wire.Rate16;
import io.metaroce.wire.Reason;
import io.metaroce.wire.RefuseHeader;
import io.metaroce.wire.ResetHeader;
import io.metaroce.wire.Type;
import io.metaroce.wire.Validate;

/** Takes datagrams in: form, connection, checksum, then the part of the protocol that each is for. */
final class Receiver {
    private static final int CE = 3;

    private final EndpointState state;
    private final Slab slab;
    private final Connections connections;
    private final Health health;
    private final Handshake handshake;
    private final ReplyQueue replies;
    private final Windows windows;
    private final Parking parking;
    private final Planes planes;
    private final PathSender pathSender;
    private final PathReceiver pathReceiver;
    private final ParityReceiver parities;
    private final AckSender acks;
    private final ReceiverShare share;
    private final StreamTable streams;
    private final StreamSender sender;
    private final StreamReceiver streamReceiver;
    /** RESETs sent in the second that began then. */
    private int resets;
    private long resetsSinceNs;

    Receiver(EndpointState state, Connections connections, Health health, Handshake handshake, ReplyQueue replies, Parking parking,
            Planes planes, Windows windows, PathSender pathSender, AckSender acks, ReceiverShare share, StreamTable streams, StreamSender sender,
            StreamReceiver streamReceiver) {
        this.state = state;
        this.connections = connections;
        this.health = health;
        this.handshake = handshake;
        this.replies = replies;
        this.windows = windows;
        this.parking = parking;
        this.planes = planes;
        this.pathSender = pathSender;
        this.acks = acks;
        this.share = share;
        this.streams = streams;
        this.sender = sender;
        this.streamReceiver = streamReceiver;
        slab = state.slab;
        pathReceiver = new PathReceiver(state);
        parities = new ParityReceiver(state, streams, streamReceiver, pathReceiver, acks);
    }

    void onDatagram(RxBurst burst, int i, long nowNs) {
        long at = burst.address[i];
        int length = burst.length[i];
        int malformation = Validate.check(at, length);
        if (malformation != 0) {
            malformed(burst, i, at, length, malformation);
            return;
        }
        switch (Prefix.type(at)) {
            case Type.DATA, Type.ACK, Type.PROBE, Type.PARITY, Type.CLOSE, Type.CLOSE_ACK, Type.PARK, Type.PARK_ACK, Type.PLANE -> connected(burst, i, at, length, nowNs);
            case Type.SEALED -> sealed(burst, i, at, length, nowNs);
            case Type.RESET -> {
                if (isIntact(at, length)) {
                    onReset(at, nowNs);
                }
            }
            default -> {
                if (isIntact(at, length)) {
                    handshake(burst, i, at, nowNs);
                }
            }
        }
    }

    private void malformed(RxBurst burst, int i, long at, int length, int malformation) {
        state.counters.malformed++;
        state.counters.malformedBy[malformation]++;
        burst.useless[burst.plane[i]]++;
        // Of all that is malformed, only INIT of another version gets an answer, and only one as long as INIT must be.
        if (malformation == Malformation.BAD_VERSION && Prefix.type(at) == Type.INIT && length >= InitHeader.MIN_DATAGRAM
                && isIntact(at, length)) {
            handshake.refuseVersion(at, burst.plane[i], burst.sourceHigh[i], burst.sourceLow[i]);
        }
    }

    /** Of packets without a tag. */
    private boolean isIntact(long at, int length) {
        return state.isIntact(at, length, true, 0);
    }

    // ---- within a connection ----

    private void connected(RxBurst burst, int i, long at, int length, long nowNs) {
        long c = state.connectionOf(Prefix.destinationCid(at));
        if (c == 0) {
            if (connections.onParked(at, length)) {
                return;
            }
            state.counters.unknownConnection++;
            burst.useless[burst.plane[i]]++;
            reset(burst, i, at, nowNs);
            return;
        }
        int phase = slab.getInt(c + STATE);
        if (phase < ConnectionRecord.HALF_OPEN) {
            state.counters.unexpected++;
            return;
        }
        if (slab.getInt(c + ConnectionRecord.SEALED) != 0) {
            state.counters.forged++;
            return;
        }
        boolean full = slab.getInt(c + ConnectionRecord.INTEGRITY) == EndpointConfig.INTEGRITY_FULL;
        if (!state.isIntact(at, length, full, slab.getInt(c + ConnectionRecord.LOCAL_TAG))) {
            burst.useless[burst.plane[i]]++;
            return;
        }
        genuine(c, phase, burst.plane[i], at, burst.ecn[i] == CE, nowNs);
    }

    /** A packet of an encrypted connection. */
    private void sealed(RxBurst burst, int i, long at, int length, long nowNs) {
        long c = state.connectionOf(Prefix.destinationCid(at));
        if (c == 0) {
            if (!connections.onParkedSealed(at, length)) {
                state.counters.unknownConnection++;
                burst.useless[burst.plane[i]]++;
            }
            return;
        }
        int phase = slab.getInt(c + STATE);
        if (phase < ConnectionRecord.HALF_OPEN) {
            state.counters.unexpected++;
            return;
        }
        if (slab.getInt(c + ConnectionRecord.SEALED) != Sealing.SEALED) {
            state.counters.forged++;
            return;
        }
        long inside = state.sealing.open(c, at, length);
        if (inside == 0) {
            return;
        }
        int type = Prefix.type(inside);
        if (Validate.check(inside, state.sealing.openedLength) != 0 || (type < Type.DATA || type > Type.CLOSE_ACK) && (type < Type.PARK || type > Type.PARITY)) {
            state.violation(c);
            return;
        }
        genuine(c, phase, burst.plane[i], inside, burst.ecn[i] == CE, nowNs);
    }

    /** A packet that is proven to come from who knows the connection's tag. */
    private void genuine(long c, int phase, int over, long at, boolean ce, long nowNs) {
        if (!isOfPeer(c, at)) {
            state.counters.forged++;
            return;
        }
        if (phase == ConnectionRecord.HALF_OPEN) {
            connections.establish(c, Event.ACCEPTED, nowNs - slab.getLong(c + ConnectionRecord.HANDSHAKE_START_NS), nowNs);
        }
        slab.putLong(c + LAST_RX_NS, nowNs);
        slab.putInt(c + ConnectionRecord.CONFIRMED, 1);
        switch (Prefix.type(at)) {
            case Type.CLOSE -> connections.onClose(c, CloseHeader.reason(at), nowNs);
            case Type.CLOSE_ACK -> connections.onCloseAck(c);
            case Type.PARK -> parking.onPark(c, at);
            case Type.PARK_ACK -> parking.onParkAck(c, at, nowNs);
            case Type.PLANE -> {
                if (phase != ConnectionRecord.LINGER) {
                    planes.onPlane(c, over, at, nowNs);
                }
            }
            case Type.DATA -> {
                if (phase != ConnectionRecord.LINGER) {
                    if (phase == ConnectionRecord.PARKING) {
                        parking.abandon(c);
                    }
                    onData(c, at, ce, nowNs);
                }
            }
            case Type.ACK -> {
                if (phase != ConnectionRecord.LINGER) {
                    onAck(c, at, nowNs);
                    if (AckHeader.isFollowed(at)) {
                        genuine(c, slab.getInt(c + STATE), over, at + AckHeader.length(at), ce, nowNs);
                    }
                }
            }
            case Type.PARITY -> {
                if (phase != ConnectionRecord.LINGER && phase != ConnectionRecord.PARKING) {
                    onParity(c, at);
                }
            }
            default -> {
                if (phase != ConnectionRecord.LINGER) {
                    onProbe(c, at, ce, nowNs);
                }
            }
        }
    }

    /** Whether the packet names, where it names any, the connection that our peer has with us, and not another of its own, half open and forgotten soon. */
    private boolean isOfPeer(long c, long at) {
        int peer = slab.getInt(c + ConnectionRecord.REMOTE_CID);
        return switch (Prefix.type(at)) {
            case Type.CLOSE, Type.CLOSE_ACK -> CloseHeader.senderCid(at) == peer;
            case Type.PARK, Type.PARK_ACK -> ParkHeader.senderCid(at) == peer;
            case Type.PLANE -> PlaneHeader.senderCid(at) == peer;
            default -> true;
        };
    }

    private boolean knowsPath(long c, int number) {
        return DataHeader.planeOf(number) < slab.getInt(c + ConnectionRecord.PLANES)
                && DataHeader.indexOf(number) < slab.getInt(c + ConnectionRecord.PATHS_PER_PLANE);
    }

    private void onData(long c, long at, boolean ce, long nowNs) {
        ConnectionStats stats = state.statsOf(c);
        int number = DataHeader.path(at);
        if (!knowsPath(c, number) || DataHeader.payloadLength(at) > slab.getInt(c + ConnectionRecord.PAYLOAD_MTU)) {
            state.violation(c);
            return;
        }
        int planeNumber = DataHeader.planeOf(number);
        long plane = state.plane(c, planeNumber);
        if (slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.ABSENT) {
            state.counters.unexpected++;
            return;
        }
        long path = state.path(c, planeNumber, DataHeader.indexOf(number));
        int psn = DataHeader.psn(at);
        int place = pathReceiver.place(path, DataHeader.epoch(at), psn, DataHeader.floorDistance(at));
        stats.packetsReceived++;
        state.losses.moved();
        if ((Prefix.flags(at) & DataHeader.RETRANSMISSION) != 0) {
            state.losses.lost(1);
        }
        share.onPacket(planeNumber, plane, DataHeader.demand(at), ce, nowNs);
        if (place == PathReceiver.DUPLICATE) {
            stats.duplicates++;
            acks.note(c, planeNumber, plane, path, 0, true, nowNs);
            return;
        }
        int verdict = streamReceiver.onData(c, at);
        if (verdict == StreamReceiver.REFUSED) {
            return;
        }
        if (verdict == StreamReceiver.DUPLICATE) {
            stats.duplicates++;
            slab.putInt(c + ConnectionRecord.DUPLICATES, (slab.getInt(c + ConnectionRecord.DUPLICATES) | 1) + 2);
        }
        if (place == PathReceiver.NEW) {
            boolean gap = pathReceiver.mark(path, psn, ce, DataHeader.timestamp(at), nowNs);
            boolean hurries = ce && slab.getInt(c + ConnectionRecord.ACK_EVERY) > Limits.MARKS_WAIT_FOR;
            boolean asked = (Prefix.flags(at) & DataHeader.ACK_REQUEST) != 0;
            acks.note(c, planeNumber, plane, path, 1, gap || hurries || asked, nowNs);
            if (streamReceiver.isComplete(c, asked ? at : 0)) {
                acks.hurry(c);
            }
            parities.look(c);
        }
    }

    private void onParity(long c, long at) {
        boolean right = ParityHeader.packetBytes(at) <= slab.getInt(c + ConnectionRecord.PAYLOAD_MTU);
        for (int i = 0; i < ParityHeader.count(at); i++) {
            right &= knowsPath(c, ParityEntry.path(ParityEntry.at(at + ParityHeader.LENGTH, i)));
        }
        if (right) {
            parities.onParity(c, at);
        } else {
            state.violation(c);
        }
    }

    private void onProbe(long c, long at, boolean ce, long nowNs) {
        int number = ProbeHeader.path(at);
        if (!knowsPath(c, number)) {
            state.violation(c);
            return;
        }
        int planeNumber = DataHeader.planeOf(number);
        long plane = state.plane(c, planeNumber);
        if (slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.ABSENT) {
            state.counters.unexpected++;
            return;
        }
        long path = state.path(c, planeNumber, DataHeader.indexOf(number));
        share.onPacket(planeNumber, plane, ProbeHeader.demand(at), false, nowNs);
        long rttNs = Math.max(slab.getInt(plane + PlaneRecord.SRTT_NS), state.config.timerFloorNs);
        // One that is marked stood in a queue since before what it waits for had arrived: it proves nothing.
        if (!ce && pathReceiver.isUnheard(path, ProbeHeader.epoch(at), ProbeHeader.floor(at), (long) (Limits.UNHEARD_RTT * rttNs), nowNs)) {
            acks.unheard(c, planeNumber, path);
        }
        if (pathReceiver.probe(path, ProbeHeader.epoch(at), ProbeHeader.nextPsn(at), ProbeHeader.floor(at), ProbeHeader.timestamp(at), nowNs)) {
            acks.note(c, planeNumber, plane, path, 0, true, nowNs);
            parities.look(c);
            long waitingNs = pathReceiver.unheardNs(path, ProbeHeader.floor(at), nowNs);
            if (health.isUnheard(plane, ce ? waitingNs / Limits.MARKED_PATIENCE : waitingNs)) {
                slab.putInt(path + PathRecord.RX_UNHEARD_US, 0);
                health.leaveIdleRoutes(c, planeNumber, plane, nowNs);
            }
        }
    }

    private void onAck(long c, long at, long nowNs) {
        ConnectionStats stats = state.statsOf(c);
        stats.acksReceived++;
        int planeNumber = AckHeader.plane(at);
        if (planeNumber >= slab.getInt(c + ConnectionRecord.PLANES)) {
            state.violation(c);
            return;
        }
        if ((Prefix.flags(at) & AckHeader.HAS_SHARE) != 0) {
            long plane = state.plane(c, planeNumber);
            windows.setShare(plane, Rate16.decode(AckHeader.share(at)), Rate16.decode(AckHeader.startShare(at)),
                    nowNs + AckHeader.shareValidityUs(at) * 1_000L);
        }
        // Control blocks stand behind the path blocks but count first: what was refused must not complete by the blocks.
        int controls = AckHeader.controlBlocks(at);
        long control = at + AckHeader.length(at) - (long) controls * ControlBlock.LENGTH;
        for (int i = 0; i < controls; i++) {
            onControl(c, control + (long) i * ControlBlock.LENGTH);
        }
        long block = at + AckHeader.LENGTH;
        int blocks = AckHeader.pathBlocks(at);
        for (int i = 0; i < blocks; i++) {
            boolean isLong = AckHeader.isLong(at, i);
            pathSender.onBlock(c, planeNumber, block, isLong, nowNs);
            block += PathBlock.length(block, isLong);
        }
    }

    private void onControl(long c, long block) {
        int id = ControlBlock.stream(block);
        switch (ControlBlock.kind(block)) {
            case ControlBlock.CREDIT -> {
                long stream = streams.get(c, id);
                if (stream != 0 && ControlBlock.detail(block) == ControlBlock.ON_REQUEST) {
                    slab.putInt(stream + StreamRecord.CREDIT_ON_REQUEST, 1);
                }
                if (stream != 0 && ControlBlock.value(block) - slab.getInt(stream + StreamRecord.CREDIT) > 0) {
                    slab.putInt(stream + StreamRecord.CREDIT, ControlBlock.value(block));
                    slab.putLong(stream + StreamRecord.CREDIT_ASK_NS, 0);
                    sender.makeReady(stream);
                }
            }
            case ControlBlock.REBUILT -> {
                int number = ControlBlock.detail(block);
                long stream = streams.find(c, id);
                if (number >>> 16 != 0 || !knowsPath(c, number)) {
                    state.violation(c);
                } else if (stream != 0) {
                    int planeNumber = DataHeader.planeOf(number);
                    pathSender.onRebuilt(c, state.plane(c, planeNumber), state.path(c, planeNumber, DataHeader.indexOf(number)), stream,
                            ControlBlock.value(block), state.nowNs);
                }
            }
            case ControlBlock.NAK -> streamReceiver.onNak(c, id, ControlBlock.value(block), ControlBlock.cause(block));
            case ControlBlock.CREDIT_REQUEST -> streamReceiver.onCreditRequest(c, id, ControlBlock.value(block));
            case ControlBlock.STREAM_RESET -> streamReceiver.onReset(c, id, ControlBlock.value(block), ControlBlock.cause(block));
            case ControlBlock.STREAM_ERROR_CONFIRM -> streamReceiver.onConfirm(c, id);
            case ControlBlock.DUPLICATES -> onDuplicates(c, ControlBlock.value(block));
            default -> { }
        }
    }

    /** The peer has received so many of our packets twice. */
    private void onDuplicates(long c, int twice) {
        int more = twice - slab.getInt(c + ConnectionRecord.PEER_DUPLICATES);
        if (more > 0) {
            state.statsOf(c).spuriousRetransmissions += more;
            slab.putInt(c + ConnectionRecord.PEER_DUPLICATES, twice);
        }
    }

    // ---- outside a connection ----

    private void handshake(RxBurst burst, int i, long at, long nowNs) {
        if (Prefix.type(at) == Type.INIT) {
            handshake.onInit(at, burst.plane[i], burst.sourceHigh[i], burst.sourceLow[i], nowNs);
            return;
        }
        long c = state.connectionOf(Prefix.destinationCid(at));
        int phase = c == 0 ? ConnectionRecord.FREE : slab.getInt(c + STATE);
        if (phase != ConnectionRecord.INIT_SENT && phase != ConnectionRecord.COOKIE_SENT) {
            // A late copy of an answer that was taken already.
            state.counters.unexpected++;
            return;
        }
        long nonce = slab.getLong(c + ConnectionRecord.NONCE);
        switch (Prefix.type(at)) {
            case Type.CHALLENGE -> {
                if (!handshake.onChallenge(c, at, nowNs)) {
                    state.counters.forged++;
                }
            }
            case Type.REFUSE -> {
                if (RefuseHeader.initiatorNonce(at) == nonce) {
                    connections.refused(c, RefuseHeader.reason(at), RefuseHeader.retryAfterMs(at), at + RefuseHeader.LENGTH,
                            RefuseHeader.textBytes(at));
                } else {
                    state.counters.forged++;
                }
            }
            default -> {
                if (AcceptHeader.initiatorNonce(at) != nonce) {
                    state.counters.forged++;
                    return;
                }
                int reason = handshake.onAccept(c, at, burst.sourceHigh[i], burst.sourceLow[i]);
                if (reason == 0) {
                    connections.establish(c, Event.CONNECTED, nowNs - slab.getLong(c + ConnectionRecord.KEEPALIVE_TX_NS), nowNs);
                } else if (reason == Handshake.FORGED) {
                    state.counters.forged++;
                } else {
                    connections.decline(c, reason);
                }
            }
        }
    }

    /** Tells the sender of a probe that we know no such connection, echoing what only it can verify. */
    private void reset(RxBurst burst, int i, long at, long nowNs) {
        if (Prefix.type(at) != Type.PROBE) {
            return;
        }
        if (resets == 0 || nowNs - resetsSinceNs >= 1_000_000_000L) {
            resetsSinceNs = nowNs;
            resets = 0;
        }
        if (resets == state.config.resetsPerSecond) {
            state.counters.controlOverflow++;
            return;
        }
        long reply = replies.open();
        if (reply == 0) {
            state.counters.controlOverflow++;
            return;
        }
        Prefix.write(reply, Type.RESET, 0);
        Bytes.copy(at, reply + ResetHeader.ECHO, ResetHeader.ECHO_LENGTH);
        Prefix.checksum(reply, state.checksum.field(reply, ResetHeader.LENGTH, 0));
        int port = ProbeHeader.receivePort(at);
        replies.commit(ResetHeader.LENGTH, burst.plane[i], burst.sourceHigh[i], burst.sourceLow[i], port == 0 ? NetAddress.DEFAULT_PORT : port);
        resets++;
        state.counters.resetsSent++;
    }

    /** The peer lost its state, if the echo proves that it saw the last probe of one of our paths. */
    private void onReset(long at, long nowNs) {
        int cid = ResetHeader.echoedDestinationCid(at);
        for (int i = 0; i < state.connections.capacity(); i++) {
            long c = state.connections.at(i);
            int phase = slab.getInt(c + STATE);
            if (phase < ConnectionRecord.ESTABLISHED || phase == ConnectionRecord.LINGER
                    || slab.getInt(c + ConnectionRecord.REMOTE_CID) != cid || slab.getInt(c + ConnectionRecord.SEALED) != 0) {
                continue;
            }
            if (provesSight(c, at)) {
                connections.lose(c, Event.FAILED, Reason.PEER_RESTARTED, 0);
                return;
            }
        }
        state.counters.forged++;
    }

    private boolean provesSight(long c, long at) {
        int number = ResetHeader.echoedPath(at);
        if (!knowsPath(c, number)) {
            return false;
        }
        long path = state.path(c, DataHeader.planeOf(number), DataHeader.indexOf(number));
        if (ResetHeader.echoedEpoch(at) != (slab.getInt(path + PathRecord.EPOCH) & 0xff)) {
            return false;
        }
        return ResetHeader.echoedPsn(at) == slab.getInt(path + PathRecord.NEXT_PSN)
                && ResetHeader.echoedTimestamp(at) == (int) slab.getLong(path + PathRecord.LAST_PROBE_NS);
    }
}
