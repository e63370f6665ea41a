// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.HANDLE;
import static io.metaroce.transport.ConnectionRecord.LOCAL_CID;
import static io.metaroce.transport.ConnectionRecord.LOCAL_TAG;
import static io.metaroce.transport.ConnectionRecord.NONCE;
import static io.metaroce.transport.ConnectionRecord.PARKED_LOCAL_TAG;
import static io.metaroce.transport.ConnectionRecord.PARKED_NONCE;
import static io.metaroce.transport.ConnectionRecord.PARKED_REMOTE_TAG;
import static io.metaroce.transport.ConnectionRecord.REMOTE_CID;
import static io.metaroce.transport.ConnectionRecord.REMOTE_NAME;
import static io.metaroce.transport.ConnectionRecord.REMOTE_TAG;
import static io.metaroce.transport.ConnectionRecord.RETRY_NS;
import static io.metaroce.transport.ConnectionRecord.STATE;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Checksum;
import io.metaroce.wire.CloseHeader;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.ParkHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Type;

/**
 * Idle connections give their context back and take one again when there is something to do (spec: "Park"). What stays is a
 * {@link ParkedRecord} and the streams; the application's handle stays good all the while.
 */
final class Parking {
    private final EndpointState state;
    private final Slab slab;
    private final ReplyQueue replies;
    private final ReceiverShare share;

    Parking(EndpointState state, ReplyQueue replies, ReceiverShare share) {
        this.state = state;
        this.replies = replies;
        this.share = share;
        slab = state.slab;
    }

    // ---- parking ----

    /** Nothing is under way in either direction, as far as this side knows. */
    boolean isQuiet(long c) {
        if (!mayBeQuiet(c) || slab.getLong(c + ConnectionRecord.ORPHAN_HEAD) != 0 || slab.getInt(c + ConnectionRecord.NAK_COUNT) != 0
                || slab.getInt(c + ConnectionRecord.REFUSED_COUNT) != 0 || slab.getInt(c + ConnectionRecord.NEWS_COUNT) != 0
                || slab.getInt(c + ConnectionRecord.DIRTY_PLANES) != 0) {
            return false;
        }
        for (long s = slab.getLong(c + ConnectionRecord.ALL_STREAMS); s != 0; s = slab.getLong(s + StreamRecord.NEXT_OF_CONNECTION)) {
            if (slab.getLong(s + StreamRecord.RX_WINDOW) != 0 || slab.getInt(s + StreamRecord.IN_LINE) != 0 || slab.getInt(s + StreamRecord.READS_DUE) != 0) {
                return false;
            }
        }
        return true;
    }

    private boolean mayBeQuiet(long c) {
        return slab.getInt(c + ConnectionRecord.WORK_REQUESTS) == 0 && slab.getInt(c + ConnectionRecord.IN_FLIGHT) == 0;
    }

    /** Begins to park; false if the connection is not idle, or no more can be parked. */
    boolean start(long c, long nowNs) {
        if (slab.getInt(c + STATE) != ConnectionRecord.ESTABLISHED || slab.getInt(c + ConnectionRecord.CONFIRMED) == 0 || !isQuiet(c)
                || state.parked.used() == state.parked.capacity()) {
            return false;
        }
        slab.putInt(c + STATE, ConnectionRecord.PARKING);
        slab.putInt(c + ConnectionRecord.CLOSE_TRIES, 0);
        slab.putLong(c + RETRY_NS, nowNs);
        retry(c, nowNs);
        return true;
    }

    /** Repeats PARK, or gives it up. */
    void retry(long c, long nowNs) {
        if (slab.getLong(c + RETRY_NS) - nowNs <= 0) {
            if (slab.getInt(c + ConnectionRecord.CLOSE_TRIES) == Limits.CLOSE_TRIES) {
                abandon(c);
                return;
            }
            slab.addInt(c + ConnectionRecord.CLOSE_TRIES, 1);
            state.want(c, Handshake.SEND_PARK);
            slab.putLong(c + RETRY_NS, nowNs + Limits.INIT_RETRY_NS);
        }
        state.wakeBy(c, slab.getLong(c + RETRY_NS));
    }

    /** There is something to do after all. The peer may have parked meanwhile; it will say so. */
    void abandon(long c) {
        slab.putInt(c + STATE, ConnectionRecord.ESTABLISHED);
        slab.putInt(c + ConnectionRecord.CLOSE_TRIES, 0);
        slab.putLong(c + ConnectionRecord.IDLE_SINCE_NS, state.nowNs);
        state.counters.parksAbandoned++;
        state.wakeBy(c, state.nowNs);
    }

    /** The peer wants to park: we park as well, or go on as if nothing had been asked. */
    void onPark(long c, long at) {
        int phase = slab.getInt(c + STATE);
        if ((phase == ConnectionRecord.ESTABLISHED || phase == ConnectionRecord.PARKING) && isQuiet(c)
                && state.parked.used() < state.parked.capacity()) {
            acknowledge(store(c, ParkHeader.name(at)));
        }
    }

    /** The peer has parked. So do we, or we call it back for what is not finished. */
    void onParkAck(long c, long at, long nowNs) {
        int phase = slab.getInt(c + STATE);
        if (phase == ConnectionRecord.HALF_OPEN || phase == ConnectionRecord.LINGER) {
            return;
        }
        if ((phase == ConnectionRecord.ESTABLISHED || phase == ConnectionRecord.PARKING) && isQuiet(c) && state.parked.used() < state.parked.capacity()) {
            store(c, ParkHeader.name(at));
            return;
        }
        slab.putInt(c + ConnectionRecord.CLOSING, phase == ConnectionRecord.DRAINING || phase == ConnectionRecord.CLOSE_SENT ? 1 : 0);
        renew(c, ParkHeader.name(at));
        call(c, nowNs);
    }

    /** Moves a quiet connection into a parked record and gives its context back. Returns the record. */
    private long store(long c, int remoteName) {
        long p = state.parked.take();
        copy(c, HANDLE, p, ParkedRecord.HANDLE);
        copy(c, LOCAL_CID, p, ParkedRecord.LOCAL_CID);
        copy(c, LOCAL_TAG, p, ParkedRecord.LOCAL_TAG);
        copy(c, REMOTE_CID, p, ParkedRecord.REMOTE_CID);
        copy(c, REMOTE_TAG, p, ParkedRecord.REMOTE_TAG);
        slab.putInt(p + ParkedRecord.REMOTE_NAME, remoteName);
        slab.putLong(p + ParkedRecord.NONCE, slab.getLong(c + NONCE));
        slab.putLong(p + ParkedRecord.ALL_STREAMS, slab.getLong(c + ConnectionRecord.ALL_STREAMS));
        slab.putLong(p + ParkedRecord.TOLD_NS, state.nowNs - Limits.PARK_ANSWER_NS);
        copy(c, ConnectionRecord.PROTECTION_DOMAIN, p, ParkedRecord.PROTECTION_DOMAIN);
        copy(c, ConnectionRecord.SERVICE, p, ParkedRecord.SERVICE);
        copy(c, ConnectionRecord.PLANES, p, ParkedRecord.PLANES);
        copy(c, ConnectionRecord.MAX_STREAMS, p, ParkedRecord.MAX_STREAMS);
        copy(c, ConnectionRecord.STREAM_WINDOW, p, ParkedRecord.STREAM_WINDOW);
        copy(c, ConnectionRecord.PAYLOAD_MTU, p, ParkedRecord.PAYLOAD_MTU);
        copy(c, ConnectionRecord.INTEGRITY, p, ParkedRecord.INTEGRITY);
        copy(c, ConnectionRecord.SHARED_QUEUE, p, ParkedRecord.SHARED_QUEUE);
        copy(c, ConnectionRecord.PEER_MAX_READS, p, ParkedRecord.PEER_MAX_READS);
        for (int i = 0; i < slab.getInt(c + ConnectionRecord.PLANES); i++) {
            long plane = state.plane(c, i);
            share.forget(i, plane);
            long to = ParkedRecord.plane(p, i);
            slab.putLong(to + ParkedRecord.REMOTE_HIGH, slab.getLong(plane + PlaneRecord.REMOTE_HIGH));
            slab.putLong(to + ParkedRecord.REMOTE_LOW, slab.getLong(plane + PlaneRecord.REMOTE_LOW));
            copy(plane, PlaneRecord.REMOTE_PORT, to, ParkedRecord.REMOTE_PORT);
        }
        for (long s = slab.getLong(c + ConnectionRecord.ALL_STREAMS); s != 0; s = slab.getLong(s + StreamRecord.NEXT_OF_CONNECTION)) {
            slab.putLong(s + StreamRecord.CONNECTION, p);
            slab.putInt(s + StreamRecord.READY, 0);
        }
        slab.putInt(p + ParkedRecord.SEALED, 0);
        if (slab.getInt(c + ConnectionRecord.SEALED) != 0) {
            state.sealing.park(c, p, DataHeader.pathOf(state.firstPlaneUp(c), 0));
        }
        swapStats(c, p);
        state.giveConnection(c);
        state.names.park(slab.getInt(p + ParkedRecord.HANDLE), slab.getInt(p + ParkedRecord.LOCAL_CID), p);
        state.counters.parks++;
        return p;
    }

    private void copy(long from, int fromField, long to, int toField) {
        slab.putInt(to + toField, slab.getInt(from + fromField));
    }

    private void swapStats(long c, long p) {
        int live = slab.getInt(c + ConnectionRecord.INDEX);
        int parked = state.parked.indexOf(p);
        ConnectionStats s = state.stats[live];
        state.stats[live] = state.parkedStats[parked];
        state.parkedStats[parked] = s;
    }

    // ---- while parked ----

    /** Whether a packet in the clear, for the context that a parked connection had, is genuine. */
    boolean isGenuine(long p, long at, int length) {
        if (slab.getInt(p + ParkedRecord.SEALED) != 0) {
            state.counters.forged++;
            return false;
        }
        boolean full = slab.getInt(p + ParkedRecord.INTEGRITY) == EndpointConfig.INTEGRITY_FULL;
        return state.isIntact(at, length, full, slab.getInt(p + ParkedRecord.LOCAL_TAG));
    }

    /** Answers a genuine packet for the context that a parked connection had; CLOSE is the caller's. */
    void answer(long p, long at) {
        switch (Prefix.type(at)) {
            case Type.PARK -> {
                if (slab.getInt(p + ParkedRecord.SEALED) == 0) {
                    acknowledge(p);
                } else {
                    acknowledgeSeldom(p);   // it may be a replay
                }
            }
            // The peer has not heard that we parked, or had second thoughts. Acknowledgements may ask for credit, or tell of errors.
            case Type.DATA, Type.PROBE, Type.ACK -> acknowledgeSeldom(p);
            default -> { }
        }
    }

    private void acknowledgeSeldom(long p) {
        if (state.nowNs - slab.getLong(p + ParkedRecord.TOLD_NS) >= Limits.PARK_ANSWER_NS) {
            slab.putLong(p + ParkedRecord.TOLD_NS, state.nowNs);
            acknowledge(p);
        }
    }

    private void acknowledge(long p) {
        long reply = replies.open();
        if (reply == 0) {
            state.counters.controlOverflow++;
            return;
        }
        Prefix.write(reply, Type.PARK_ACK, slab.getInt(p + ParkedRecord.REMOTE_CID));
        ParkHeader.senderCid(reply, slab.getInt(p + ParkedRecord.LOCAL_CID));
        ParkHeader.name(reply, slab.getInt(p + ParkedRecord.HANDLE));
        commit(p, reply, ParkHeader.LENGTH);
    }

    /** One CLOSE or CLOSE_ACK out of a parked connection. */
    void close(long p, int type, int reason) {
        long reply = replies.open();
        if (reply == 0) {
            state.counters.controlOverflow++;
            return;
        }
        Prefix.write(reply, type, slab.getInt(p + ParkedRecord.REMOTE_CID));
        CloseHeader.reason(reply, reason);
        CloseHeader.senderCid(reply, slab.getInt(p + ParkedRecord.LOCAL_CID));
        commit(p, reply, CloseHeader.LENGTH);
    }

    private void commit(long p, long reply, int length) {
        int whole = length;
        if (slab.getInt(p + ParkedRecord.SEALED) != 0) {
            whole = state.sealing.sealParked(p, reply, length);
            if (whole == 0) {
                return;
            }
        } else {
            Prefix.checksum(reply, state.checksum.field(reply, length, slab.getInt(p + ParkedRecord.REMOTE_TAG)));
        }
        int number = callablePlaneNumber(p);
        long plane = ParkedRecord.plane(p, number);
        replies.commit(whole, number, slab.getLong(plane + ParkedRecord.REMOTE_HIGH), slab.getLong(plane + ParkedRecord.REMOTE_LOW),
                slab.getInt(plane + ParkedRecord.REMOTE_PORT));
    }

    /** The record of the first plane on which the peer of a parked connection can be called. */
    long callablePlane(long p) {
        return ParkedRecord.plane(p, callablePlaneNumber(p));
    }

    private int callablePlaneNumber(long p) {
        for (int i = 0; i < slab.getInt(p + ParkedRecord.PLANES); i++) {
            if (state.ownAddresses[i] != null && slab.getInt(ParkedRecord.plane(p, i) + ParkedRecord.REMOTE_PORT) != 0) {
                return i;
            }
        }
        return 0;
    }

    // ---- going on ----

    /** Takes a context for a parked connection, whose record is free then. Returns 0 if there is none; room is being made then. */
    long unpark(long p) {
        long c = state.takeConnection();
        if (c == 0) {
            makeRoom();
            return 0;
        }
        int handle = slab.getInt(p + ParkedRecord.HANDLE);
        state.names.unpark(handle);
        slab.putInt(c + HANDLE, handle);
        copy(p, ParkedRecord.LOCAL_CID, c, ConnectionRecord.PARKED_CID);
        state.names.keepCid(slab.getInt(p + ParkedRecord.LOCAL_CID), c);
        if (!state.isAtHome(c)) {
            state.names.move(handle, c);
        }
        slab.putInt(c + ConnectionRecord.KNOWN, 1);
        copy(p, ParkedRecord.REMOTE_NAME, c, REMOTE_NAME);
        copy(p, ParkedRecord.REMOTE_CID, c, REMOTE_CID);
        copy(p, ParkedRecord.REMOTE_TAG, c, REMOTE_TAG);
        copy(p, ParkedRecord.LOCAL_TAG, c, PARKED_LOCAL_TAG);
        copy(p, ParkedRecord.REMOTE_TAG, c, PARKED_REMOTE_TAG);
        slab.putLong(c + PARKED_NONCE, slab.getLong(p + ParkedRecord.NONCE));
        copy(p, ParkedRecord.PROTECTION_DOMAIN, c, ConnectionRecord.PROTECTION_DOMAIN);
        copy(p, ParkedRecord.SERVICE, c, ConnectionRecord.SERVICE);
        copy(p, ParkedRecord.PLANES, c, ConnectionRecord.PLANES);
        copy(p, ParkedRecord.MAX_STREAMS, c, ConnectionRecord.MAX_STREAMS);
        copy(p, ParkedRecord.STREAM_WINDOW, c, ConnectionRecord.STREAM_WINDOW);
        copy(p, ParkedRecord.PAYLOAD_MTU, c, ConnectionRecord.PAYLOAD_MTU);
        slab.putInt(c + ConnectionRecord.PACKET_BYTES, Math.min(slab.getInt(c + ConnectionRecord.PAYLOAD_MTU), state.config.safePayload));
        copy(p, ParkedRecord.INTEGRITY, c, ConnectionRecord.INTEGRITY);
        copy(p, ParkedRecord.SHARED_QUEUE, c, ConnectionRecord.SHARED_QUEUE);
        copy(p, ParkedRecord.PEER_MAX_READS, c, ConnectionRecord.PEER_MAX_READS);
        for (int i = 0; i < slab.getInt(p + ParkedRecord.PLANES); i++) {
            long from = ParkedRecord.plane(p, i);
            long plane = state.plane(c, i);
            state.locate(plane, slab.getLong(from + ParkedRecord.REMOTE_HIGH), slab.getLong(from + ParkedRecord.REMOTE_LOW),
                    slab.getInt(from + ParkedRecord.REMOTE_PORT));
        }
        long streams = slab.getLong(p + ParkedRecord.ALL_STREAMS);
        slab.putLong(c + ConnectionRecord.ALL_STREAMS, streams);
        for (long s = streams; s != 0; s = slab.getLong(s + StreamRecord.NEXT_OF_CONNECTION)) {
            slab.putLong(s + StreamRecord.CONNECTION, c);
        }
        if (slab.getInt(p + ParkedRecord.SEALED) != 0) {
            state.sealing.unpark(p, c);
        }
        swapStats(c, p);
        state.parked.give(p);
        return c;
    }

    /** Gives a live connection a new name and forgets its paths; what was out on them is to be sent again. */
    void renew(long c, int remoteName) {
        int planes = slab.getInt(c + ConnectionRecord.PLANES);
        int paths = planes * slab.getInt(c + ConnectionRecord.PATHS_PER_PLANE);
        for (int i = 0; i < paths; i++) {
            long path = state.path(c, 0, i);
            orphan(c, path + PathRecord.RTX_HEAD, path + PathRecord.RTX_TAIL);
            orphan(c, path + PathRecord.OUT_HEAD, path + PathRecord.OUT_TAIL);
            slab.zero(path, PathRecord.BYTES);
        }
        for (int i = 0; i < planes; i++) {
            long plane = state.plane(c, i);
            share.forget(i, plane);
            long high = slab.getLong(plane + PlaneRecord.REMOTE_HIGH);
            long low = slab.getLong(plane + PlaneRecord.REMOTE_LOW);
            int port = slab.getInt(plane + PlaneRecord.REMOTE_PORT);
            slab.zero(plane, PlaneRecord.BYTES);
            state.locate(plane, high, low, port);
        }
        copy(c, LOCAL_CID, c, ConnectionRecord.PARKED_CID);
        state.names.keepCid(slab.getInt(c + LOCAL_CID), c);
        copy(c, LOCAL_TAG, c, PARKED_LOCAL_TAG);
        copy(c, REMOTE_TAG, c, PARKED_REMOTE_TAG);
        slab.putLong(c + PARKED_NONCE, slab.getLong(c + NONCE));
        slab.putInt(c + REMOTE_NAME, remoteName);
        slab.putInt(c + ConnectionRecord.KNOWN, 1);
        for (int field : FORGOTTEN) {
            slab.putInt(c + field, 0);
        }
        state.forgetParities(c);
        slab.putLong(c + ConnectionRecord.ACK_DEADLINE, 0);
        slab.putLong(c + ConnectionRecord.CHECK_NS, 0);
        if (slab.getInt(c + ConnectionRecord.SEALED) != 0) {
            state.sealing.suspend(c);
        }
        state.name(c);
    }

    private static final int[] FORGOTTEN = {ConnectionRecord.IN_FLIGHT, ConnectionRecord.SICK_PATHS, ConnectionRecord.ACK_NOW, ConnectionRecord.DIRTY_PLANES, ConnectionRecord.PROBES_WANTED, ConnectionRecord.KEEPALIVES,
        ConnectionRecord.CONFIRMED, ConnectionRecord.DUPLICATES, ConnectionRecord.PEER_DUPLICATES, ConnectionRecord.CONTROL,
        ConnectionRecord.CLOSE_TRIES, ConnectionRecord.INITIATOR, ConnectionRecord.PLANE_NEWS};

    private void orphan(long c, long head, long tail) {
        for (long packet; (packet = state.removeFirst(head, tail)) != 0; ) {
            state.append(c + ConnectionRecord.ORPHAN_HEAD, c + ConnectionRecord.ORPHAN_TAIL, packet);
        }
    }

    /** Calls the peer of a connection that {@link #unpark} or {@link #renew} made ready. */
    void call(long c, long nowNs) {
        slab.putInt(c + STATE, ConnectionRecord.INIT_SENT);
        slab.putInt(c + ConnectionRecord.INITIATOR, 1);
        slab.putLong(c + NONCE, state.nextSecret());
        slab.putLong(c + ConnectionRecord.COOKIE, 0);
        slab.putLong(c + ConnectionRecord.COOKIE + 8, 0);
        slab.putLong(c + ConnectionRecord.RETRY_DELAY_NS, 0);
        slab.putLong(c + RETRY_NS, nowNs);
        state.wakeBy(c, nowNs);
    }

    /** The live connection or parked record whose secrets an INIT with RESUME knows; 0: none. */
    long owner(int name, int tag, long nonce) {
        long c = state.named(name);
        if (c == 0) {
            long p = state.names.parked(name);
            return p == 0 || slab.getInt(p + ParkedRecord.LOCAL_TAG) != tag || slab.getLong(p + ParkedRecord.NONCE) != nonce ? 0 : p;
        }
        int phase = slab.getInt(c + STATE);
        boolean knows;
        if (isCalling(phase)) {
            knows = slab.getInt(c + ConnectionRecord.KNOWN) != 0 && slab.getInt(c + PARKED_LOCAL_TAG) == tag && slab.getLong(c + PARKED_NONCE) == nonce;
        } else {
            knows = phase >= ConnectionRecord.ESTABLISHED && phase != ConnectionRecord.LINGER && slab.getInt(c + LOCAL_TAG) == tag
                    && slab.getLong(c + NONCE) == nonce;
        }
        return knows ? c : 0;
    }

    /** Whether what {@link #owner} found was encrypted, and has to be again. */
    boolean isSealed(long owner) {
        return slab.getInt(owner + (state.parked.holds(owner) ? ParkedRecord.SEALED : ConnectionRecord.SEALED)) != 0;
    }

    private static boolean isCalling(int phase) {
        return phase == ConnectionRecord.INIT_SENT || phase == ConnectionRecord.COOKIE_SENT;
    }

    /** Whether we call the peer ourselves, and our nonce is the greater one: it will answer us. */
    boolean isOwnCallFirst(long owner, long callNonce) {
        return !state.parked.holds(owner) && isCalling(slab.getInt(owner + STATE)) && Long.compareUnsigned(callNonce, slab.getLong(owner + NONCE)) <= 0;
    }

    /** The connection that {@link #owner} stands for, with a context and ready to answer; 0 if there is no context. */
    long called(long owner) {
        if (state.parked.holds(owner)) {
            return unpark(owner);
        }
        int phase = slab.getInt(owner + STATE);
        if (!isCalling(phase)) {
            slab.putInt(owner + ConnectionRecord.CLOSING, phase == ConnectionRecord.DRAINING || phase == ConnectionRecord.CLOSE_SENT ? 1 : 0);
            renew(owner, slab.getInt(owner + REMOTE_NAME));
        }
        return owner;
    }

    // ---- who is to park ----

    /** Parks a connection that has been idle for long, where that is wanted; called by its timer. */
    void look(long c, long nowNs) {
        if (state.config.parkIdleNs == 0 || state.config.maxParked == 0 || slab.getInt(c + STATE) != ConnectionRecord.ESTABLISHED) {
            return;
        }
        long idleNs = idleNs(c, nowNs);
        if (idleNs >= state.config.parkIdleNs) {
            if (!start(c, nowNs)) {
                slab.putLong(c + ConnectionRecord.IDLE_SINCE_NS, nowNs);
                idleNs = 0;
            }
        }
        state.wakeBy(c, nowNs + Math.max(Limits.PARK_IDLE_MIN_NS, state.config.parkIdleNs - idleNs));
    }

    private long idleNs(long c, long nowNs) {
        ConnectionStats s = state.statsOf(c);
        long packets = s.packetsSent + s.packetsReceived + 1;
        if (packets != slab.getLong(c + ConnectionRecord.IDLE_PACKETS)) {
            slab.putLong(c + ConnectionRecord.IDLE_PACKETS, packets);
            slab.putLong(c + ConnectionRecord.IDLE_SINCE_NS, nowNs);
        }
        return nowNs - slab.getLong(c + ConnectionRecord.IDLE_SINCE_NS);
    }

    boolean isMakingRoom() {
        for (int i = 0; i < state.connections.capacity(); i++) {
            if (slab.getInt(state.connections.at(i) + STATE) == ConnectionRecord.PARKING) {
                return true;
            }
        }
        return false;
    }

    /** All contexts are taken: the connection that has been idle longest is to give its own back. Returns false if there is none. */
    boolean makeRoom() {
        if (state.parked.used() == state.parked.capacity()) {
            return false;
        }
        long longest = 0;
        long longestNs = Limits.PARK_IDLE_MIN_NS - 1;
        for (int i = 0; i < state.connections.capacity(); i++) {
            long c = state.connections.at(i);
            int phase = slab.getInt(c + STATE);
            if (phase == ConnectionRecord.PARKING) {
                return true;
            }
            if (phase == ConnectionRecord.ESTABLISHED && mayBeQuiet(c) && idleNs(c, state.nowNs) > longestNs && isQuiet(c)) {
                longest = c;
                longestNs = idleNs(c, state.nowNs);
            }
        }
        return longest != 0 && start(longest, state.nowNs);
    }
}
