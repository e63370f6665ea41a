// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Reason;
import io.metaroce.wire.SealedHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Encrypted connections (spec: "Encryption"): seals what they send and opens what they receive, underneath everything else. Exists
 * only where {@link EndpointConfig#security} is set; {@link ConnectionRecord#SEALED} says of each connection whether it is one.
 */
final class Sealing {
    /* Values of ConnectionRecord.SEALED that are not 0. The second: to be, when the connection is resumed. */
    static final int SEALED = 1;
    static final int RESUMING = 2;
    private static final int SESSION_BYTES = Security.SHARE_BYTES + Security.PROOF_BYTES;

    /** What a connection has beside its lanes. Off-heap memory cannot hold keys that are objects. */
    private static final class Session {
        /** Holds the private key: only until the keys are made. */
        Security.Exchange exchange;
        Security.Keys keys;
        /** The keys before it was parked: only until the new ones are made. */
        Security.Keys former;
        int sendGeneration;
        int receiveGeneration;
        /** Packets sealed in the present generation. */
        int sealed;
        /** The peer has opened a packet of the present generation. */
        boolean confirmed;
        /** To resume a connection: INIT or ACCEPT as it was told first, as keys come of it; null when they are in use. */
        byte[] told;
        /** Where in it the value of SECURITY is. */
        int toldSecurity;
        long forgeries;
        /** Our key share and the proof of ACCEPT, for repetitions. */
        final long share;
        final long proof;

        Session(long memory) {
            share = memory;
            proof = memory + Security.SHARE_BYTES;
        }
    }

    /** What is kept of a parked connection: enough to answer its peer, as numbers go on where they were. */
    private static final class Parked {
        Security.Keys keys;
        int sendGeneration;
        int receiveGeneration;
        int sealed;
        /** All that is sealed while parked belongs to this lane, which has come to this number. */
        int lane;
        int number;
    }

    /** T(INIT) and T(ACCEPT), one behind the other. */
    final long transcript;
    /** Length of the datagram that {@link #open} opened. */
    int openedLength;
    private final EndpointState state;
    private final Security security;
    private final Slab slab;
    private final Slab lanes;
    private final long laneBase;
    private final int lanesPerConnection;
    private final Session[] sessions;
    private final Parked[] parked;
    private final MemorySegment scratch;
    private final long opened;
    private final long sealed;
    private final long header;
    private final long proof;

    Sealing(EndpointState state) {
        this.state = state;
        security = state.config.security;
        slab = state.slab;
        int n = state.config.maxConnections;
        lanesPerConnection = state.config.planes() * state.config.pathsPerPlane;
        long laneBytes = Slab.roundUp((long) LaneRecord.BYTES * lanesPerConnection * n);
        lanes = new Slab(laneBytes + (long) SESSION_BYTES * n);
        laneBase = lanes.carve(laneBytes);
        long memory = lanes.carve((long) SESSION_BYTES * n);
        sessions = new Session[n];
        for (int i = 0; i < n; i++) {
            sessions[i] = new Session(memory + (long) i * SESSION_BYTES);
        }
        parked = new Parked[state.config.maxParked];
        for (int i = 0; i < parked.length; i++) {
            parked[i] = new Parked();
        }
        long longest = Slab.roundUp(SealedHeader.MAX_DATAGRAM);
        scratch = Arena.ofAuto().allocate(2 * longest + 2L * InitHeader.MAX_DATAGRAM + 64, Slab.ALIGNMENT);
        opened = scratch.address();
        sealed = opened + longest;
        transcript = sealed + longest;
        header = transcript + 2L * InitHeader.MAX_DATAGRAM;
        proof = header + 16;
    }

    long bytes() {
        return lanes.byteSize() + scratch.byteSize();
    }

    // ---- agreement ----

    Security.Exchange begin() {
        return security.begin();
    }

    /** The connection will agree on its keys by this exchange. */
    void enter(long connection, Security.Exchange exchange) {
        Session s = session(connection);
        restart(connection, s);
        s.exchange = exchange;
        exchange.share(s.share);
    }

    void writeShare(long connection, long to) {
        Bytes.copy(session(connection).share, to, Security.SHARE_BYTES);
    }

    /** Whether this side is still to agree on keys. */
    boolean isAgreeing(long connection) {
        return session(connection).exchange != null;
    }

    /** Writes the proof of our INIT: of knowing the pre-shared key, or, to resume, of what the connection was. */
    void writeInitProof(long connection, long init, int length, long to) {
        Security.Keys former = session(connection).former;
        if (former == null) {
            security.initProof(init, length, to);
        } else {
            former.resumeProof(init, length, to);
        }
    }

    /** Keeps INIT or ACCEPT, whose value of SECURITY is at {@code value}: it is repeated without change, whatever else changes. */
    void keepTold(long connection, long at, int length, long value) {
        Session s = session(connection);
        s.told = new byte[length];
        s.toldSecurity = (int) (value - at);
        Bytes.get(at, s.told, 0, length);
    }

    /** Writes what {@link #keepTold} kept; returns its length, 0: nothing. */
    int repeatTold(long connection, long to) {
        byte[] told = session(connection).told;
        if (told == null) {
            return 0;
        }
        Bytes.put(told, 0, to, told.length);
        return told.length;
    }

    int toldSecurity(long connection) {
        return session(connection).toldSecurity;
    }

    /** The peer has all that keys come of. */
    void forgetTold(long connection) {
        session(connection).told = null;
    }

    /**
     * Whether the proof at {@code claimed} is that of T(INIT) in {@link #transcript}.
     *
     * @param owner the connection, or the record of the parked one, that INIT wants to resume; 0: a new one
     */
    boolean isInitProof(long owner, int length, long claimed) {
        if (owner == 0) {
            security.initProof(transcript, length, proof);
        } else {
            keysToResume(owner).resumeProof(transcript, length, proof);
        }
        return isProof(claimed);
    }

    private Security.Keys keysToResume(long owner) {
        if (state.parked.holds(owner)) {
            return parkedKeys(owner).keys;
        }
        Session s = session(owner);
        return s.former != null ? s.former : s.keys;
    }

    /** The responder's keys, from {@link #transcript}; ACCEPT's proof is kept. */
    void keysOfResponder(long connection, int length) {
        Session s = session(connection);
        s.keys = keys(s, length, false);
        s.exchange = null;
        forgetFormer(s);
        s.keys.acceptProof(s.proof);
        slab.putInt(connection + ConnectionRecord.SEALED, SEALED);
    }

    void writeAcceptProof(long connection, long to) {
        Bytes.copy(session(connection).proof, to, Security.PROOF_BYTES);
    }

    /** The initiator's keys, from {@link #transcript} and the peer's share; false, and no change, if ACCEPT's proof is not theirs. */
    boolean keysOfInitiator(long connection, long share, int length, long claimed) {
        Session s = session(connection);
        if (!s.exchange.agree(share)) {
            return false;
        }
        Security.Keys keys = keys(s, length, true);
        keys.acceptProof(proof);
        if (!isProof(claimed)) {
            keys.forget();
            return false;
        }
        s.keys = keys;
        s.exchange = null;
        forgetFormer(s);
        slab.putInt(connection + ConnectionRecord.SEALED, SEALED);
        return true;
    }

    private Security.Keys keys(Session s, int length, boolean initiator) {
        return s.former == null ? s.exchange.keys(transcript, length, initiator) : s.exchange.keys(s.former, transcript, length, initiator);
    }

    private static void forgetFormer(Session s) {
        if (s.former != null) {
            s.former.forget();
            s.former = null;
        }
    }

    /** Compares with no regard to where the first difference is. */
    private boolean isProof(long claimed) {
        long difference = 0;
        for (int i = 0; i < Security.PROOF_BYTES; i += Long.BYTES) {
            difference |= Bytes.getLong(proof + i) ^ Bytes.getLong(claimed + i);
        }
        return difference == 0;
    }

    /** Forgets keys and starts all lanes anew. */
    void forget(long connection) {
        Session s = session(connection);
        restart(connection, s);
        forgetFormer(s);
    }

    private void restart(long connection, Session s) {
        s.exchange = null;
        if (s.keys != null) {
            s.keys.forget();
            s.keys = null;
        }
        s.sendGeneration = 0;
        s.receiveGeneration = 0;
        s.sealed = 0;
        s.confirmed = false;
        s.forgeries = 0;
        s.told = null;
        lanes.zero(s.share, SESSION_BYTES);
        long first = laneBase + (long) slab.getInt(connection + ConnectionRecord.INDEX) * lanesPerConnection * LaneRecord.BYTES;
        lanes.zero(first, (long) lanesPerConnection * LaneRecord.BYTES);
        for (int i = 0; i < lanesPerConnection; i++) {
            // Numbers begin with 1: what claims to be number 0 has been.
            lanes.putLong(first + (long) i * LaneRecord.BYTES + LaneRecord.OPENED, 1);
        }
    }

    // ---- parking ----

    /** Moves the keys of a connection that is being parked to its record. */
    void park(long connection, long record, int lane) {
        Session s = session(connection);
        Parked p = parkedKeys(record);
        p.keys = s.keys;
        p.sendGeneration = s.sendGeneration;
        p.receiveGeneration = s.receiveGeneration;
        p.sealed = s.sealed;
        p.lane = lane;
        p.number = lanes.getInt(lane(connection, lane) + LaneRecord.SENT);
        s.keys = null;
        slab.putInt(record + ParkedRecord.SEALED, SEALED);
    }

    /** Gives the keys of a parked connection to the one that goes on for it, which will only prove itself by them. */
    void unpark(long record, long connection) {
        Parked p = parkedKeys(record);
        session(connection).former = p.keys;
        p.keys = null;
        slab.putInt(connection + ConnectionRecord.SEALED, RESUMING);
    }

    /** A live connection is to be agreed on anew, as if it had been parked. */
    void suspend(long connection) {
        Session s = session(connection);
        s.former = s.keys;
        s.keys = null;
        restart(connection, s);
        slab.putInt(connection + ConnectionRecord.SEALED, RESUMING);
    }

    /** Forgets the keys of a parked connection that has ended. */
    void forgetParked(long record) {
        Parked p = parkedKeys(record);
        p.keys.forget();
        p.keys = null;
    }

    /** As {@link #sealInPlace}, for a parked connection; 0 when no more packets may be sealed. */
    int sealParked(long record, long packet, int length) {
        Parked p = parkedKeys(record);
        if (p.sealed >= Limits.KEY_PACKETS_MAX) {
            return 0;
        }
        p.sealed++;
        SealedHeader.write(header, ++p.number, p.sendGeneration, p.receiveGeneration, p.lane, Bytes.getInt(packet + Prefix.DESTINATION_CID));
        return inPlace(packet, write(p.keys, p.lane, p.number, packet, length, 0, 0, sealed));
    }

    /** As {@link #open}, for a parked connection, but for replays: nothing that is opened here has more effect than an answer. */
    long openParked(long record, long at, int length) {
        Parked p = parkedKeys(record);
        int generation = generation(p.receiveGeneration, at);
        if (generation < -1 || !p.keys.open(generation, at, SealedHeader.lane(at), SealedHeader.number(at), at + SealedHeader.LENGTH,
                length - SealedHeader.LENGTH, opened + SealedHeader.UNSEALED)) {
            state.counters.forged++;
            return 0;
        }
        return inside(at, length);
    }

    private Parked parkedKeys(long record) {
        return parked[state.parked.indexOf(record)];
    }

    private Session session(long connection) {
        return sessions[slab.getInt(connection + ConnectionRecord.INDEX)];
    }

    private long lane(long connection, int lane) {
        return laneBase + ((long) slab.getInt(connection + ConnectionRecord.INDEX) * lanesPerConnection
                + DataHeader.planeOf(lane) * slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE) + DataHeader.indexOf(lane)) * LaneRecord.BYTES;
    }

    /** For tests: whether a private key is still there. */
    boolean holdsPrivateKey(long connection) {
        return session(connection).exchange != null;
    }

    /** For tests, which cannot wait for so many. */
    void countForgeries(long connection, long forgeries) {
        session(connection).forgeries += forgeries;
    }

    // ---- packets ----

    /**
     * Seals a packet that is complete but for its checksum. Its header becomes the clear header; ciphertext and tag go to
     * {@code to}.
     *
     * @return bytes at {@code to}, or 0 when no more packets may be sealed with the key: nothing may be sent, the connection ends
     */
    int seal(long connection, int lane, long packet, int headerLength, long payload, int payloadLength, long to) {
        Session s = session(connection);
        if (s.sealed >= state.config.keyPackets) {
            if (s.confirmed) {
                s.keys.nextSending();
                s.sendGeneration++;
                s.sealed = 0;
                s.confirmed = false;
            } else if (s.sealed >= Limits.KEY_PACKETS_MAX) {
                state.abortSoon(connection, Reason.SECURITY);
                return 0;
            }
        }
        s.sealed++;
        int number = lanes.addInt(lane(connection, lane) + LaneRecord.SENT, 1);
        // What is inside begins with flags and counts, in the place of the destination, which stands outside.
        SealedHeader.write(header, number, s.sendGeneration, s.receiveGeneration, lane, Bytes.getInt(packet + Prefix.DESTINATION_CID));
        return write(s.keys, lane, number, packet, headerLength, payload, payloadLength, to);
    }

    /** Seals under the clear header in {@link #header}. */
    private int write(Security.Keys keys, int lane, int number, long packet, int headerLength, long payload, int payloadLength, long to) {
        Bytes.putInt(packet + SealedHeader.UNSEALED, Bytes.getInt(packet + Prefix.VERSION_TYPE));
        keys.seal(header, lane, number, packet + SealedHeader.UNSEALED, headerLength - SealedHeader.UNSEALED, payload, payloadLength, to);
        Bytes.copy(header, packet, SealedHeader.LENGTH);
        return headerLength - SealedHeader.UNSEALED + payloadLength + SealedHeader.TAG_LENGTH;
    }

    /** Seals a short packet in its place; returns its new length, or 0 as {@link #seal}. */
    int sealInPlace(long connection, int lane, long packet, int length) {
        return inPlace(packet, seal(connection, lane, packet, length, 0, 0, sealed));
    }

    private int inPlace(long packet, int bytes) {
        Bytes.copy(sealed, packet + SealedHeader.LENGTH, bytes);
        return bytes == 0 ? 0 : SealedHeader.LENGTH + bytes;
    }

    /**
     * Opens a SEALED datagram of good form. Nothing of one that does not open, or has been opened before, has an effect but on a
     * counter.
     *
     * @return the address of the packet that was inside, {@link #openedLength} bytes, until the next call; or 0
     */
    long open(long connection, long at, int length) {
        int number = SealedHeader.number(at);
        int laneNumber = SealedHeader.lane(at);
        if (DataHeader.planeOf(laneNumber) >= slab.getInt(connection + ConnectionRecord.PLANES)
                || DataHeader.indexOf(laneNumber) >= slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE)) {
            state.counters.forged++;
            return 0;
        }
        long lane = lane(connection, laneNumber);
        if (wasOpened(lane, number)) {
            state.counters.replayed++;
            return 0;
        }
        Session s = session(connection);
        int generation = generation(s.receiveGeneration, at);
        if (generation < -1 || !s.keys.open(generation, at, laneNumber, number, at + SealedHeader.LENGTH, length - SealedHeader.LENGTH,
                opened + SealedHeader.UNSEALED)) {
            state.counters.forged++;
            if (++s.forgeries >= Limits.FORGERIES_MAX) {
                state.abortSoon(connection, Reason.SECURITY);
            }
            return 0;
        }
        if (generation == 1) {
            s.keys.nextReceiving();
            s.receiveGeneration++;
        }
        markOpened(lane, number);
        s.confirmed |= SealedHeader.opened(at) == s.sendGeneration % SealedHeader.GENERATIONS_TOLD;
        return inside(at, length);
    }

    /** Completes what was opened. */
    private long inside(long at, int length) {
        Bytes.putInt(opened, 0);
        Bytes.putInt(opened + Prefix.VERSION_TYPE, Bytes.getInt(opened + SealedHeader.UNSEALED));
        Bytes.putInt(opened + Prefix.DESTINATION_CID, Prefix.destinationCid(at));
        openedLength = length - SealedHeader.OVERHEAD;
        return opened;
    }

    /** -1, 0 or 1: the generation before the present one, the present one, the next; -2: none that we have. */
    private static int generation(int present, long at) {
        int ahead = SealedHeader.generation(at) - present & SealedHeader.GENERATIONS_TOLD - 1;
        return ahead <= 1 ? ahead : ahead == SealedHeader.GENERATIONS_TOLD - 1 && present > 0 ? -1 : -2;
    }

    private boolean wasOpened(long lane, int number) {
        int behind = lanes.getInt(lane + LaneRecord.TOP) - number;
        return behind >= 0 && (behind >= Limits.REPLAY_WINDOW || (lanes.getLong(word(lane, number)) >>> number & 1) != 0);
    }

    private void markOpened(long lane, int number) {
        int top = lanes.getInt(lane + LaneRecord.TOP);
        int ahead = number - top;
        if (ahead > 0) {
            if (ahead >= Limits.REPLAY_WINDOW) {
                lanes.zero(lane + LaneRecord.OPENED, Limits.REPLAY_WINDOW / Byte.SIZE);
            } else {
                for (int n = top + 1; n != number; n++) {
                    lanes.putLong(word(lane, n), lanes.getLong(word(lane, n)) & ~(1L << n));
                }
            }
            lanes.putInt(lane + LaneRecord.TOP, number);
        }
        lanes.putLong(word(lane, number), lanes.getLong(word(lane, number)) | 1L << number);
    }

    private static long word(long lane, int number) {
        return lane + LaneRecord.OPENED + (long) (number >>> 6 & Limits.REPLAY_WINDOW / Long.SIZE - 1) * Long.BYTES;
    }
}
