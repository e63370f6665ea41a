// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.ANSWER_HIGH;
import static io.metaroce.transport.ConnectionRecord.ANSWER_LOW;
import static io.metaroce.transport.ConnectionRecord.ANSWER_PLANE;
import static io.metaroce.transport.ConnectionRecord.ANSWER_PORT;
import static io.metaroce.transport.ConnectionRecord.CONTROL;
import static io.metaroce.transport.ConnectionRecord.HANDSHAKE_START_NS;
import static io.metaroce.transport.ConnectionRecord.LOCAL_CID;
import static io.metaroce.transport.ConnectionRecord.NONCE;
import static io.metaroce.transport.ConnectionRecord.REMOTE_CID;
import static io.metaroce.transport.ConnectionRecord.REMOTE_TAG;
import static io.metaroce.transport.ConnectionRecord.RETRY_DELAY_NS;
import static io.metaroce.transport.ConnectionRecord.RETRY_NS;
import static io.metaroce.transport.ConnectionRecord.SEALED;
import static io.metaroce.transport.ConnectionRecord.START_SHARE_KBPS;
import static io.metaroce.transport.ConnectionRecord.STATE;

import io.metaroce.memory.Slab;
import io.metaroce.wire.AcceptHeader;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.ChallengeHeader;
import io.metaroce.wire.CloseHeader;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.ParkHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Reason;
import io.metaroce.wire.RefuseHeader;
import io.metaroce.wire.Tlv;
import io.metaroce.wire.Type;

/**
 * Connection set-up (spec: "Connection set-up"): INIT, a stateless CHALLENGE, INIT with the cookie, ACCEPT or REFUSE. Writes
 * and reads these datagrams; CLOSE and CLOSE_ACK are written here too.
 */
final class Handshake {
    /* Bits of ConnectionRecord.CONTROL: datagrams to write at the next turn. */
    static final int SEND_INIT = 1;
    static final int SEND_ACCEPT = 2;
    static final int SEND_CLOSE = 4;
    static final int SEND_CLOSE_ACK = 8;
    static final int SEND_PARK = 16;

    /** Result of {@link #onAccept}: the datagram does not prove that it comes from whom we called. */
    static final int FORGED = -1;

    private final EndpointState state;
    private final Slab slab;
    private final Outgoing out;
    private final ReplyQueue replies;
    private final ReceiverShare share;
    private final Parking parking;
    private final Tlv.Writer writer = new Tlv.Writer();
    private final Parameters parameters = new Parameters();
    /** Address of the value of SECURITY in the INIT or ACCEPT written last, or 0. */
    private long security;

    Handshake(EndpointState state, Outgoing out, ReplyQueue replies, ReceiverShare share, Parking parking) {
        this.state = state;
        this.out = out;
        this.replies = replies;
        this.share = share;
        this.parking = parking;
        slab = state.slab;
    }

    // ---- writing ----

    /** Writes the control datagrams that the connection wants, as far as the burst has room. */
    void control(long connection, long nowNs) {
        int wanted = slab.getInt(connection + CONTROL);
        while (wanted != 0) {
            if (out.isFull()) {
                state.makeUrgent(connection);
                break;
            }
            int bit = Integer.lowestOneBit(wanted);
            wanted &= ~bit;
            switch (bit) {
                case SEND_INIT -> init(connection);
                case SEND_ACCEPT -> accept(connection);
                case SEND_PARK -> park(connection);
                case SEND_CLOSE -> close(connection, Type.CLOSE);
                default -> close(connection, Type.CLOSE_ACK);
            }
        }
        slab.putInt(connection + CONTROL, wanted);
    }

    private void init(long connection) {
        // Of a connection that was parked, more than one way to the peer is known: they take turns.
        int plane = state.callablePlane(connection, slab.addInt(connection + ConnectionRecord.ACK_TURN, 1) - 1);
        out.init(connection, plane, sourcePort(plane), writeInit(connection, plane, out.header()));
    }

    private int writeInit(long connection, int plane, long at) {
        int length = repeatTold(connection, at);
        if (length == 0) {
            length = writeInit(connection, at);
        }
        InitHeader.receivePort(at, state.ownAddresses[plane].port());
        InitHeader.cookieHigh(at, slab.getLong(connection + ConnectionRecord.COOKIE));
        InitHeader.cookieLow(at, slab.getLong(connection + ConnectionRecord.COOKIE + 8));
        return length;
    }

    /** INIT or ACCEPT of an encrypted connection that is resumed, as it was told first; returns its length, 0: it was not yet. */
    private int repeatTold(long connection, long at) {
        int length = slab.getInt(connection + SEALED) == 0 ? 0 : state.sealing.repeatTold(connection, at);
        security = length == 0 ? 0 : at + state.sealing.toldSecurity(connection);
        return length;
    }

    private int writeInit(long connection, long at) {
        Prefix.write(at, Type.INIT, 0);
        InitHeader.initiatorCid(at, slab.getInt(connection + LOCAL_CID));
        InitHeader.initiatorNonce(at, slab.getLong(connection + NONCE));
        InitHeader.initiatorTag(at, slab.getInt(connection + ConnectionRecord.LOCAL_TAG));
        // One that resumes goes over all planes; what is proven is the same for all.
        InitHeader.receivePort(at, slab.getInt(connection + ConnectionRecord.KNOWN) != 0 ? 0
                : state.ownAddresses[state.callablePlane(connection, 0)].port());
        InitHeader.cookieHigh(at, 0);
        InitHeader.cookieLow(at, 0);
        writer.open(at + InitHeader.LENGTH, InitHeader.MAX_DATAGRAM - InitHeader.LENGTH);
        parameters(connection);
        if (slab.getInt(connection + ConnectionRecord.KNOWN) != 0) {
            writer.resume(slab.getInt(connection + ConnectionRecord.REMOTE_NAME), slab.getInt(connection + ConnectionRecord.PARKED_REMOTE_TAG),
                    slab.getLong(connection + ConnectionRecord.PARKED_NONCE));
        }
        writer.padTo(InitHeader.MIN_DATAGRAM - InitHeader.LENGTH);
        InitHeader.tlvBytes(at, writer.length());
        int length = InitHeader.LENGTH + writer.length();
        if (security != 0) {
            state.sealing.writeInitProof(connection, at, length, security + Tlv.PROOF);
            if (slab.getInt(connection + SEALED) == Sealing.RESUMING) {
                state.sealing.keepTold(connection, at, length, security);
            }
        }
        return length;
    }

    private void accept(long connection) {
        // To where INIT came from, whatever it says of its planes: nobody can have us write to a third party.
        int over = slab.getInt(connection + ANSWER_PLANE);
        if (state.ownAddresses[over] == null) {
            // Our plane has gone since; INIT comes again, over another one.
            return;
        }
        int length = writeAccept(connection, out.header());
        out.answer(length, over, sourcePort(over), slab.getLong(connection + ANSWER_HIGH), slab.getLong(connection + ANSWER_LOW),
                slab.getInt(connection + ANSWER_PORT));
    }

    private int writeAccept(long connection, long at) {
        int told = repeatTold(connection, at);
        if (told > 0) {
            return told;
        }
        Prefix.write(at, Type.ACCEPT, slab.getInt(connection + REMOTE_CID));
        AcceptHeader.responderCid(at, slab.getInt(connection + LOCAL_CID));
        AcceptHeader.initiatorNonce(at, slab.getLong(connection + NONCE));
        AcceptHeader.responderTag(at, slab.getInt(connection + ConnectionRecord.LOCAL_TAG));
        Bytes.putInt(at + AcceptHeader.TLV_BYTES, 0);
        writer.open(at + AcceptHeader.LENGTH, InitHeader.MAX_DATAGRAM - AcceptHeader.LENGTH);
        parameters(connection);
        if (security != 0) {
            state.sealing.writeAcceptProof(connection, security + Tlv.PROOF);
        }
        AcceptHeader.tlvBytes(at, writer.length());
        return AcceptHeader.LENGTH + writer.length();
    }

    private void parameters(long connection) {
        EndpointConfig c = state.config;
        writer.u32(Tlv.PAYLOAD_MTU, c.payloadMtu);
        planes(connection);
        writer.u32(Tlv.PATHS_PER_PLANE, c.pathsPerPlane);
        writer.u32(Tlv.MAX_STREAMS, c.maxStreams);
        writer.u32(Tlv.STREAM_WINDOW, c.streamWindowPackets);
        writer.u32(Tlv.INTEGRITY, c.integrity);
        writer.u32(Tlv.ACK_EVERY, c.ackEvery);
        writer.u64(Tlv.RECEIVE_RATE, c.lineRateKbps);
        writer.u32(Tlv.RECEIVE_BUFFER, c.receiveBufferPackets);
        writer.u32(Tlv.MAX_READS, c.maxReads);
        writer.u32(Tlv.START_SHARE, slab.getInt(connection + START_SHARE_KBPS) & 0xffff_ffffL);
        writer.u32(Tlv.SERVICE, slab.getInt(connection + ConnectionRecord.SERVICE));
        security = 0;
        // An initiator offers it; a responder has it when the initiator's was good. What is resumed stays what it was.
        boolean offer = slab.getInt(connection + ConnectionRecord.INITIATOR) != 0 && slab.getInt(connection + ConnectionRecord.KNOWN) == 0;
        if (state.sealing != null && (offer || slab.getInt(connection + SEALED) != 0)) {
            security = writer.security();
            state.sealing.writeShare(connection, security + Tlv.KEY_SHARE);
        }
    }

    /** Where we are: what is told here first is not to be stated any more (spec: "Changing planes"). */
    private void planes(long connection) {
        int count = state.ownAddresses.length;
        while (state.ownAddresses[count - 1] == null) {
            count--;
        }
        writer.planes(state.ownAddresses, count, state.config.planeRatesKbps);
        if (slab.getInt(connection + STATE) >= ConnectionRecord.ESTABLISHED) {
            // An ACCEPT for an INIT that came late: the peer is past it, and what is to be stated again is not said by this.
            return;
        }
        for (int p = 0; p < state.ownAddresses.length; p++) {
            long plane = state.plane(connection, p);
            if (slab.getInt(plane + PlaneRecord.STATED_SEQUENCE) == 0) {
                slab.putInt(plane + PlaneRecord.STATED_SEQUENCE, state.ownSequence[p]);
            }
        }
    }

    private void close(long connection, int type) {
        long at = out.header();
        Prefix.write(at, type, slab.getInt(connection + REMOTE_CID));
        CloseHeader.reason(at, slab.getInt(connection + ConnectionRecord.CLOSE_REASON));
        CloseHeader.senderCid(at, slab.getInt(connection + LOCAL_CID));
        Bytes.putInt(at + CloseHeader.LENGTH - 4, 0);
        overSomePlane(connection, CloseHeader.LENGTH);
    }

    private void park(long connection) {
        if (slab.getInt(connection + STATE) != ConnectionRecord.PARKING) {
            return;
        }
        long at = out.header();
        Prefix.write(at, Type.PARK, slab.getInt(connection + REMOTE_CID));
        Bytes.putByte(at + CloseHeader.REASON, 0);
        ParkHeader.senderCid(at, slab.getInt(connection + LOCAL_CID));
        ParkHeader.name(at, slab.getInt(connection + ConnectionRecord.HANDLE));
        overSomePlane(connection, ParkHeader.LENGTH);
    }

    /** Sends what the header holds. Where none of our planes is left on which the peer is, it is as good as lost, and repeated like all that is. */
    private void overSomePlane(long connection, int length) {
        int over = state.firstPlaneUp(connection);
        if (state.ownAddresses[over] != null) {
            out.control(connection, DataHeader.pathOf(over, 0), sourcePort(over), length);
        }
    }

    private int sourcePort(int plane) {
        int[] ports = state.ownPorts[plane];
        return ports[state.random.nextInt(ports.length)];
    }

    /** What we tell in INIT or ACCEPT is settled once: a repetition must not say anything else. */
    private void settleParameters(long connection) {
        slab.putInt(connection + START_SHARE_KBPS, (int) share.startShare());
    }

    // ---- initiator ----

    /** Settles what all INITs of this attempt say; the timer sends the first. */
    void begin(long connection) {
        settleParameters(connection);
        if (state.sealing != null) {
            state.sealing.enter(connection, state.sealing.begin());
        }
    }

    /** Resends INIT with back-off; returns false when the time for connecting is over. */
    boolean onTimer(long connection, long nowNs) {
        if (slab.getLong(connection + RETRY_DELAY_NS) == 0) {
            // A post began it, whose idea of the time is that of the turn before.
            slab.putLong(connection + RETRY_DELAY_NS, Limits.INIT_RETRY_NS / 2);
            slab.putLong(connection + HANDSHAKE_START_NS, nowNs);
            settleParameters(connection);
            if (slab.getInt(connection + SEALED) != 0) {
                state.sealing.enter(connection, state.sealing.begin());
            }
            slab.putLong(connection + ConnectionRecord.KEEPALIVE_TX_NS, nowNs);
        }
        if (nowNs - slab.getLong(connection + HANDSHAKE_START_NS) >= state.config.connectTimeoutNs) {
            return false;
        }
        if (slab.getLong(connection + RETRY_NS) - nowNs <= 0) {
            long delay = Math.min(2 * slab.getLong(connection + RETRY_DELAY_NS), Limits.INIT_RETRY_MAX_NS);
            slab.putLong(connection + RETRY_NS, nowNs + delay);
            slab.putLong(connection + RETRY_DELAY_NS, delay);
            state.want(connection, SEND_INIT);
        }
        state.wakeBy(connection, Math.min(slab.getLong(connection + RETRY_NS),
                slab.getLong(connection + HANDSHAKE_START_NS) + state.config.connectTimeoutNs));
        return true;
    }

    /** Takes a cookie; INIT goes again at once. Returns false if the datagram does not prove its origin. */
    boolean onChallenge(long connection, long at, long nowNs) {
        if (ChallengeHeader.initiatorNonce(at) != slab.getLong(connection + NONCE)) {
            return false;
        }
        slab.putLong(connection + ConnectionRecord.COOKIE, ChallengeHeader.cookieHigh(at));
        slab.putLong(connection + ConnectionRecord.COOKIE + 8, ChallengeHeader.cookieLow(at));
        if (slab.getInt(connection + STATE) == ConnectionRecord.INIT_SENT) {
            // The round trip that counts starts here: INIT with the cookie to ACCEPT. Were it measured from a later one, an ACCEPT for the
            // first would make the way look shorter than it is.
            slab.putLong(connection + ConnectionRecord.KEEPALIVE_TX_NS, nowNs);
        }
        slab.putInt(connection + STATE, ConnectionRecord.COOKIE_SENT);
        slab.putLong(connection + RETRY_DELAY_NS, Limits.INIT_RETRY_NS);
        slab.putLong(connection + RETRY_NS, nowNs + Limits.INIT_RETRY_NS);
        state.want(connection, SEND_INIT);
        return true;
    }

    /** Takes what the responder offers; returns 0, the reason why it cannot be used, or {@link #FORGED}. */
    int onAccept(long connection, long at, long sourceHigh, long sourceLow) {
        parameters.read(at + AcceptHeader.LENGTH, AcceptHeader.tlvBytes(at));
        boolean resumesSealed = slab.getInt(connection + SEALED) == Sealing.RESUMING;
        if (parameters.security == 0 ? resumesSealed : state.sealing != null && !agree(connection, at)) {
            return FORGED;
        }
        slab.putInt(connection + REMOTE_CID, AcceptHeader.responderCid(at));
        slab.putInt(connection + REMOTE_TAG, AcceptHeader.responderTag(at));
        if (state.sealing != null && parameters.security == 0 && state.config.requireEncryption) {
            return Reason.SECURITY;
        }
        if (parameters.service != slab.getInt(connection + ConnectionRecord.SERVICE) || !parameters.keep(state, connection)) {
            return Reason.PARAMETERS;
        }
        parameters.apply(state, connection, sourceHigh, sourceLow, -1);
        // A repetition that was due in this very turn: it has nothing more to ask, and its key exchange is over.
        slab.putInt(connection + CONTROL, slab.getInt(connection + CONTROL) & ~SEND_INIT);
        return 0;
    }

    /** Takes the keys that ACCEPT makes; false if its proof is wrong. */
    private boolean agree(long connection, long at) {
        if (!state.sealing.isAgreeing(connection)) {
            return false;
        }
        long transcript = state.sealing.transcript;
        int init = writeInit(connection, state.callablePlane(connection, 0), transcript);
        forTranscript(transcript, true, slab.getInt(connection + ConnectionRecord.KNOWN) != 0, security);
        int accept = AcceptHeader.LENGTH + AcceptHeader.tlvBytes(at);
        Bytes.copy(at, transcript + init, accept);
        forTranscript(transcript + init, false, false, transcript + init + (parameters.security - at));
        return state.sealing.keysOfInitiator(connection, parameters.security + Tlv.KEY_SHARE, init + accept, parameters.security + Tlv.PROOF);
    }

    /** Makes T(INIT) or T(ACCEPT) of a datagram whose SECURITY has its value at {@code value}. */
    private static void forTranscript(long at, boolean isInit, boolean resumes, long value) {
        Prefix.checksum(at, 0);
        if (isInit) {
            InitHeader.cookieHigh(at, 0);
            InitHeader.cookieLow(at, 0);
            InitHeader.receivePort(at, resumes ? 0 : InitHeader.receivePort(at));
        }
        Bytes.zero(value + Tlv.PROOF, Security.PROOF_BYTES);
    }

    // ---- responder ----

    /** Answers INIT. Returns a connection that is now half open, or 0. */
    long onInit(long at, int planeNumber, long sourceHigh, long sourceLow, long nowNs) {
        parameters.read(at + InitHeader.LENGTH, InitHeader.tlvBytes(at));
        int port = parameters.planePort(planeNumber);
        if (parameters.resumeName != 0) {
            return onResume(at, planeNumber, sourceHigh, sourceLow, port, nowNs);
        }
        if (InitHeader.cookieHigh(at) == 0) {
            challenge(at, planeNumber, sourceHigh, sourceLow, port, nowNs);
            return 0;
        }
        long slot = InitHeader.cookieLow(at);
        if (nowNs - slot < 0 || nowNs - slot > Limits.COOKIE_LIFE_NS
                || InitHeader.cookieHigh(at) != cookie(at, sourceHigh, sourceLow, port, slot)) {
            state.counters.badCookies++;
            challenge(at, planeNumber, sourceHigh, sourceLow, port, nowNs);
            return 0;
        }
        long known = halfOpenOf(InitHeader.initiatorCid(at), InitHeader.initiatorNonce(at));
        if (known != 0) {
            answerTo(known, planeNumber, sourceHigh, sourceLow, port);
            state.want(known, SEND_ACCEPT);
            return 0;
        }
        if (state.sealing != null && isOwnAttempt(InitHeader.initiatorNonce(at))) {
            state.counters.forged++;
            return 0;
        }
        int refusal = !state.config.acceptConnections ? Reason.REFUSED_BY_APPLICATION
                : parameters.service != state.config.service ? Reason.PARAMETERS : 0;
        Security.Exchange exchange = null;
        int init = InitHeader.LENGTH + InitHeader.tlvBytes(at);
        if (refusal == 0 && state.sealing != null) {
            if (parameters.security != 0) {
                exchange = exchange(0, at, init);
            }
            refusal = exchange == null && (parameters.security != 0 || state.config.requireEncryption) ? Reason.SECURITY : 0;
        }
        long connection = refusal == 0 ? state.takeConnection() : 0;
        if (connection == 0) {
            refuse(at, planeNumber, sourceHigh, sourceLow, port, refusal == 0 ? Reason.NO_CONTEXT : refusal, refusal == 0 && parking.makeRoom());
            return 0;
        }
        slab.putInt(connection + ConnectionRecord.SERVICE, parameters.service);
        slab.putInt(connection + ConnectionRecord.PROTECTION_DOMAIN, state.config.acceptedDomain);
        answer(connection, at, planeNumber, sourceHigh, sourceLow, nowNs);
        if (exchange != null) {
            seal(connection, exchange, init);
        }
        return connection;
    }

    /** Makes the responder's keys; T(INIT), of {@code init} bytes, is in its place. */
    private void seal(long connection, Security.Exchange exchange, int init) {
        state.sealing.enter(connection, exchange);
        slab.putInt(connection + SEALED, Sealing.SEALED);
        // Written without its proof, which comes out of it.
        int accept = writeAccept(connection, state.sealing.transcript + init);
        state.sealing.keysOfResponder(connection, init + accept);
        if (slab.getInt(connection + ConnectionRecord.KNOWN) != 0) {
            state.sealing.writeAcceptProof(connection, security + Tlv.PROOF);
            state.sealing.keepTold(connection, state.sealing.transcript + init, accept, security);
        }
    }

    /** A parked connection is called: whoever knows its secrets needs no cookie. Returns it half open, or 0. */
    private long onResume(long at, int planeNumber, long sourceHigh, long sourceLow, int port, long nowNs) {
        long nonce = InitHeader.initiatorNonce(at);
        long live = state.named(parameters.resumeName);
        if (live != 0 && slab.getInt(live + STATE) >= ConnectionRecord.HALF_OPEN && slab.getInt(live + ConnectionRecord.INITIATOR) == 0
                && slab.getInt(live + REMOTE_CID) == InitHeader.initiatorCid(at) && slab.getLong(live + NONCE) == nonce) {
            answerTo(live, planeNumber, sourceHigh, sourceLow, port);
            state.want(live, SEND_ACCEPT);
            return 0;
        }
        long owner = parking.owner(parameters.resumeName, parameters.resumeTag, parameters.resumeNonce);
        if (owner != 0 && parking.isOwnCallFirst(owner, nonce)) {
            return 0;
        }
        int init = InitHeader.LENGTH + InitHeader.tlvBytes(at);
        Security.Exchange exchange = null;
        if (owner != 0 && parking.isSealed(owner)) {
            // Its tag and nonce are no secrets to those on the path: only the proof counts. Others get no answer.
            exchange = parameters.security == 0 || isOwnAttempt(nonce) ? null : exchange(owner, at, init);
            if (exchange == null) {
                state.counters.forged++;
                return 0;
            }
        }
        long connection = owner == 0 ? 0 : parking.called(owner);
        int refusal = owner == 0 ? Reason.UNKNOWN_CONNECTION : connection == 0 ? Reason.NO_CONTEXT
                : parameters.keep(state, connection) ? 0 : Reason.PARAMETERS;
        if (refusal != 0) {
            refuse(at, planeNumber, sourceHigh, sourceLow, port, refusal, refusal == Reason.NO_CONTEXT && parking.isMakingRoom());
            if (refusal == Reason.PARAMETERS) {
                // The peer gives up, and so does this side, by its timer.
                slab.putInt(connection + STATE, ConnectionRecord.HALF_OPEN);
                slab.putLong(connection + HANDSHAKE_START_NS, nowNs);
                state.wakeBy(connection, nowNs + Limits.HALF_OPEN_NS);
            }
            return 0;
        }
        slab.putInt(connection + CONTROL, 0);
        slab.putInt(connection + ConnectionRecord.INITIATOR, 0);
        answer(connection, at, planeNumber, sourceHigh, sourceLow, nowNs);
        if (exchange != null) {
            seal(connection, exchange, init);
        }
        return connection;
    }

    /** Makes the connection half open on what INIT says, and owes ACCEPT. */
    private void answer(long connection, long at, int planeNumber, long sourceHigh, long sourceLow, long nowNs) {
        slab.putInt(connection + STATE, ConnectionRecord.HALF_OPEN);
        slab.putInt(connection + REMOTE_CID, InitHeader.initiatorCid(at));
        slab.putInt(connection + REMOTE_TAG, InitHeader.initiatorTag(at));
        slab.putLong(connection + NONCE, InitHeader.initiatorNonce(at));
        slab.putLong(connection + HANDSHAKE_START_NS, nowNs);
        parameters.apply(state, connection, sourceHigh, sourceLow, planeNumber);
        settleParameters(connection);
        answerTo(connection, planeNumber, sourceHigh, sourceLow, parameters.planePort(planeNumber));
        state.wakeBy(connection, nowNs + Limits.HALF_OPEN_NS);
        state.want(connection, SEND_ACCEPT);
    }

    private void answerTo(long connection, int planeNumber, long high, long low, int port) {
        slab.putInt(connection + ANSWER_PLANE, planeNumber);
        slab.putLong(connection + ANSWER_HIGH, high);
        slab.putLong(connection + ANSWER_LOW, low);
        slab.putInt(connection + ANSWER_PORT, port);
    }

    /** An INIT of a version that we do not speak; of its layout only the first 32 bytes are known. */
    void refuseVersion(long at, int planeNumber, long sourceHigh, long sourceLow) {
        if (InitHeader.initiatorCid(at) == 0) {
            return;
        }
        int port = InitHeader.receivePort(at);
        refuse(at, planeNumber, sourceHigh, sourceLow, port == 0 ? NetAddress.DEFAULT_PORT : port, Reason.VERSION, false);
    }

    /**
     * Our half of an exchange with the maker of this INIT, if its share can be used and it proves that it has our key, or, to resume
     * {@code owner}, that it is whom we had agreed with; else null.
     */
    private Security.Exchange exchange(long owner, long at, int length) {
        long transcript = state.sealing.transcript;
        Bytes.copy(at, transcript, length);
        forTranscript(transcript, true, owner != 0, transcript + (parameters.security - at));
        if (!state.sealing.isInitProof(owner, length, parameters.security + Tlv.PROOF)) {
            return null;
        }
        Security.Exchange exchange = state.sealing.begin();
        return exchange.agree(parameters.security + Tlv.KEY_SHARE) ? exchange : null;
    }

    /** Somebody sends our own INIT back to us: only we can have made it, but it would make us our own peer. */
    private boolean isOwnAttempt(long nonce) {
        for (int i = 0; i < state.connections.capacity(); i++) {
            long c = state.connections.at(i);
            int phase = slab.getInt(c + STATE);
            if ((phase == ConnectionRecord.INIT_SENT || phase == ConnectionRecord.COOKIE_SENT) && slab.getLong(c + NONCE) == nonce) {
                return true;
            }
        }
        return false;
    }

    /** A repeated INIT finds the connection that its first copy made, open or not. */
    private long halfOpenOf(int remoteCid, long nonce) {
        for (int i = 0; i < state.connections.capacity(); i++) {
            long c = state.connections.at(i);
            if (slab.getInt(c + STATE) >= ConnectionRecord.HALF_OPEN && slab.getInt(c + REMOTE_CID) == remoteCid
                    && slab.getLong(c + NONCE) == nonce && slab.getInt(c + ConnectionRecord.INITIATOR) == 0) {
                return c;
            }
        }
        return 0;
    }

    /** Binds source address, ports, identifiers and time; never 0, which stands for no cookie. */
    private long cookie(long at, long high, long low, int port, long slot) {
        long mac = state.secret.start().add(high).add(low).add((long) port << 32 | InitHeader.initiatorCid(at) & 0xffff_ffffL)
                .add(InitHeader.initiatorNonce(at)).add(slot).finish();
        return mac == 0 ? 1 : mac;
    }

    private void challenge(long at, int planeNumber, long high, long low, int port, long nowNs) {
        long reply = replies.open();
        if (reply == 0) {
            state.counters.controlOverflow++;
            return;
        }
        Prefix.write(reply, Type.CHALLENGE, InitHeader.initiatorCid(at));
        ChallengeHeader.initiatorNonce(reply, InitHeader.initiatorNonce(at));
        ChallengeHeader.cookieHigh(reply, cookie(at, high, low, port, nowNs));
        ChallengeHeader.cookieLow(reply, nowNs);
        Prefix.checksum(reply, state.checksum.field(reply, ChallengeHeader.LENGTH, 0));
        replies.commit(ChallengeHeader.LENGTH, planeNumber, high, low, port);
        state.counters.challengesSent++;
    }

    private void refuse(long at, int planeNumber, long high, long low, int port, int reason, boolean roomSoon) {
        long reply = replies.open();
        if (reply == 0) {
            state.counters.controlOverflow++;
            return;
        }
        Prefix.write(reply, Type.REFUSE, InitHeader.initiatorCid(at));
        RefuseHeader.reason(reply, reason);
        RefuseHeader.retryAfterMs(reply, reason != Reason.NO_CONTEXT ? 0 : roomSoon ? Limits.PARKING_RETRY_MS : Limits.NO_CONTEXT_RETRY_MS);
        RefuseHeader.initiatorNonce(reply, InitHeader.initiatorNonce(at));
        Prefix.checksum(reply, state.checksum.field(reply, RefuseHeader.LENGTH, 0));
        replies.commit(RefuseHeader.LENGTH, planeNumber, high, low, port);
        state.counters.refusalsSent++;
    }
}
