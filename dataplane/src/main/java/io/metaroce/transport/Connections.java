// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.CLOSE_REASON;
import static io.metaroce.transport.ConnectionRecord.CLOSE_TRIES;
import static io.metaroce.transport.ConnectionRecord.HANDSHAKE_START_NS;
import static io.metaroce.transport.ConnectionRecord.LAST_RX_NS;
import static io.metaroce.transport.ConnectionRecord.RETRY_DELAY_NS;
import static io.metaroce.transport.ConnectionRecord.RETRY_NS;
import static io.metaroce.transport.ConnectionRecord.STATE;

import io.metaroce.memory.Slab;
import io.metaroce.wire.CloseHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Reason;
import io.metaroce.wire.Type;
import io.metaroce.wire.Validate;

/** The life of connections: made, established, drained, closed, lost; and the freeing of all they hold (spec: "Connection life"). */
final class Connections {
    private final EndpointState state;
    private final Slab slab;
    private final Handshake handshake;
    private final Health health;
    private final PathSender paths;
    private final StreamSender sender;
    private final StreamTable streams;
    private final StreamReceiver receiver;
    private final ReceiverShare share;
    private final ReplyQueue replies;
    private final Parking parking;
    private final Planes planes;
    private final PayloadSize size;
    private final Backoff backoff = new Backoff();

    Connections(EndpointState state, Handshake handshake, Health health, PathSender paths, StreamSender sender, StreamTable streams,
            StreamReceiver receiver, ReceiverShare share, ReplyQueue replies, Parking parking, Planes planes, PayloadSize size) {
        this.state = state;
        this.handshake = handshake;
        this.health = health;
        this.paths = paths;
        this.sender = sender;
        this.streams = streams;
        this.receiver = receiver;
        this.share = share;
        this.replies = replies;
        this.parking = parking;
        this.planes = planes;
        this.size = size;
        slab = state.slab;
    }

    int connect(long nowNs, NetAddress peer, int protectionDomain) {
        long c = state.takeConnection();
        if (c == 0) {
            parking.makeRoom();
            return -1;
        }
        slab.putInt(c + STATE, ConnectionRecord.INIT_SENT);
        slab.putInt(c + ConnectionRecord.INITIATOR, 1);
        slab.putInt(c + ConnectionRecord.PROTECTION_DOMAIN, protectionDomain);
        slab.putInt(c + ConnectionRecord.SERVICE, state.config.service);
        slab.putLong(c + ConnectionRecord.NONCE, state.nextSecret());
        // Until the peer's parameters are known there is one plane: where it was asked to be.
        slab.putInt(c + ConnectionRecord.PLANES, state.config.planes());
        int first = 0;
        while (state.ownAddresses[first] == null) {
            first++;
        }
        for (int p = 0; p < state.config.planes(); p++) {
            slab.putInt(state.plane(c, p) + PlaneRecord.STATE, p == first ? PlaneRecord.UP : PlaneRecord.ABSENT);
        }
        long plane = state.plane(c, first);
        state.locate(plane, peer.high(), peer.low(), peer.port());
        slab.putLong(c + HANDSHAKE_START_NS, nowNs);
        handshake.begin(c);
        slab.putLong(c + RETRY_DELAY_NS, Limits.INIT_RETRY_NS / 2);
        slab.putLong(c + RETRY_NS, backoff.mayCall(peer.high(), peer.low(), peer.port(), nowNs));
        // Whoever was told to wait for very long is told of the time-out first.
        state.wakeBy(c, Math.min(slab.getLong(c + RETRY_NS), nowNs + state.config.connectTimeoutNs));
        return slab.getInt(c + ConnectionRecord.HANDLE);
    }

    /** Both ends know each other: paths open, and the application hears of it. */
    void establish(long c, int event, long rttNs, long nowNs) {
        boolean known = slab.getInt(c + ConnectionRecord.KNOWN) != 0;
        slab.putInt(c + STATE, slab.getInt(c + ConnectionRecord.CLOSING) != 0 ? ConnectionRecord.DRAINING : ConnectionRecord.ESTABLISHED);
        slab.putInt(c + ConnectionRecord.CLOSING, 0);
        slab.putLong(c + ConnectionRecord.ASKED_STREAM, 0);
        state.forgetFormerCid(c);
        if (slab.getInt(c + ConnectionRecord.SEALED) != 0) {
            state.sealing.forgetTold(c);
        }
        slab.putLong(c + LAST_RX_NS, nowNs);
        paths.open(c, Math.clamp(rttNs, 1, 1_000_000_000), nowNs);
        // What was posted meanwhile had its turn when nothing could go.
        state.makeReady(c);
        // Proves to the responder that ACCEPT arrived.
        paths.wantProbe(c, state.path(c, state.firstPlaneUp(c), 0));
        state.wakeBy(c, nowNs + Limits.KEEPALIVE_NS);
        if (known) {
            state.counters.resumes++;
        } else {
            announce(c, event, 0);
        }
        planes.onEstablished(c, nowNs);
        parking.look(c, nowNs);
    }

    void onTimer(long c, long nowNs) {
        switch (slab.getInt(c + STATE)) {
            case ConnectionRecord.INIT_SENT, ConnectionRecord.COOKIE_SENT -> {
                if (!handshake.onTimer(c, nowNs)) {
                    lose(c, Event.FAILED, Reason.TIMEOUT, nowNs - slab.getLong(c + HANDSHAKE_START_NS));
                }
            }
            case ConnectionRecord.HALF_OPEN -> {
                long silentNs = nowNs - slab.getLong(c + HANDSHAKE_START_NS);
                if (silentNs >= Limits.HALF_OPEN_NS && slab.getInt(c + ConnectionRecord.KNOWN) != 0) {
                    lose(c, Event.FAILED, Reason.TIMEOUT, silentNs);
                } else if (silentNs >= Limits.HALF_OPEN_NS) {
                    free(c);
                } else {
                    if (slab.getInt(c + ConnectionRecord.PLANE_NEWS) != 0) {
                        planes.onTimer(c, nowNs);
                    }
                    state.wakeBy(c, slab.getLong(c + HANDSHAKE_START_NS) + Limits.HALF_OPEN_NS);
                }
            }
            case ConnectionRecord.ESTABLISHED, ConnectionRecord.DRAINING, ConnectionRecord.PARKING -> {
                if (!health.onTimer(c, nowNs)) {
                    lose(c, Event.FAILED, Reason.TIMEOUT, nowNs - slab.getLong(c + LAST_RX_NS));
                    return;
                }
                if (slab.getInt(c + ConnectionRecord.PLANE_NEWS) != 0) {
                    planes.onTimer(c, nowNs);
                }
                if (slab.getInt(c + ConnectionRecord.SIZE_NEWS) != 0 && !size.onTimer(c, paths, nowNs)) {
                    tell(c, Reason.PATH_MTU);
                    lose(c, Event.FAILED, Reason.PATH_MTU, 0);
                    return;
                }
                if (slab.getInt(c + STATE) == ConnectionRecord.PARKING) {
                    parking.retry(c, nowNs);
                } else {
                    parking.look(c, nowNs);
                }
            }
            case ConnectionRecord.CLOSE_SENT -> retryClose(c, nowNs);
            case ConnectionRecord.LINGER -> {
                if (slab.getLong(c + RETRY_NS) - nowNs <= 0) {
                    free(c);
                } else {
                    state.wakeBy(c, slab.getLong(c + RETRY_NS));
                }
            }
            default -> { }
        }
    }

    /** Ends a connection whose peer went too far, with a CLOSE that says how; false if there is no reason to. */
    boolean abortIfDue(long c) {
        int reason = slab.getInt(c + ConnectionRecord.ABORT_REASON);
        if (reason == 0) {
            return false;
        }
        tell(c, reason);
        lose(c, Event.FAILED, reason, 0);
        return true;
    }

    /** After each service: a drained connection sends CLOSE. */
    void afterService(long c, long nowNs) {
        if (slab.getInt(c + STATE) == ConnectionRecord.DRAINING && slab.getInt(c + ConnectionRecord.WORK_REQUESTS) == 0) {
            slab.putInt(c + STATE, ConnectionRecord.CLOSE_SENT);
            slab.putInt(c + CLOSE_REASON, Reason.GRACEFUL);
            slab.putLong(c + RETRY_NS, nowNs);
            state.wakeBy(c, nowNs);
        }
    }

    private void retryClose(long c, long nowNs) {
        if (slab.getLong(c + RETRY_NS) - nowNs <= 0) {
            if (slab.getInt(c + CLOSE_TRIES) == Limits.CLOSE_TRIES) {
                lose(c, Event.CLOSED, Reason.GRACEFUL, 0);
                return;
            }
            slab.addInt(c + CLOSE_TRIES, 1);
            state.want(c, Handshake.SEND_CLOSE);
            long delay = Math.max(4 * state.likelyRttNs(state.plane(c, 0)), Limits.INIT_RETRY_NS);
            slab.putLong(c + RETRY_NS, nowNs + delay);
        }
        state.wakeBy(c, slab.getLong(c + RETRY_NS));
    }

    /** No context for a parked connection now. */
    static final long NO_CONTEXT = -1;

    /** The connection on which the application may post; a parked one is called. 0: none; or {@link #NO_CONTEXT}. */
    long forWork(int handle) {
        long c = state.named(handle);
        if (c == 0) {
            long parked = state.names.parked(handle);
            if (parked == 0) {
                return 0;
            }
            c = parking.unpark(parked);
            if (c == 0) {
                return NO_CONTEXT;
            }
            parking.call(c, state.nowNs);
            return c;
        }
        int phase = slab.getInt(c + STATE);
        if (phase == ConnectionRecord.ESTABLISHED) {
            return c;
        }
        if (phase == ConnectionRecord.PARKING) {
            parking.abandon(c);
            return c;
        }
        boolean resuming = phase < ConnectionRecord.ESTABLISHED && slab.getInt(c + ConnectionRecord.KNOWN) != 0;
        return resuming && slab.getInt(c + ConnectionRecord.CLOSING) == 0 ? c : 0;
    }

    void close(int handle, long nowNs) {
        long c = forWork(handle);
        if (c == NO_CONTEXT) {
            // Nothing is under way, so nothing is lost should the peer not hear of it: its next call is refused then.
            long parked = state.names.parked(handle);
            parking.close(parked, Type.CLOSE, Reason.GRACEFUL);
            endParked(parked, Reason.GRACEFUL, true);
            return;
        }
        if (c == 0) {
            c = state.named(handle);
            if (c != 0 && slab.getInt(c + STATE) < ConnectionRecord.ESTABLISHED && slab.getInt(c + ConnectionRecord.KNOWN) == 0) {
                free(c);
            }
            return;
        }
        if (slab.getInt(c + STATE) == ConnectionRecord.ESTABLISHED) {
            slab.putInt(c + STATE, ConnectionRecord.DRAINING);
            state.makeReady(c);
        } else {
            slab.putInt(c + ConnectionRecord.CLOSING, 1);
        }
    }

    void abort(int handle, int reason) {
        long c = state.named(handle);
        if (c == 0) {
            long parked = state.names.parked(handle);
            if (parked != 0) {
                parking.close(parked, Type.CLOSE, reason);
                endParked(parked, reason, false);
            }
            return;
        }
        if (slab.getInt(c + STATE) == ConnectionRecord.LINGER) {
            return;
        }
        if (slab.getInt(c + STATE) >= ConnectionRecord.ESTABLISHED || slab.getInt(c + ConnectionRecord.KNOWN) != 0) {
            tell(c, reason);
        }
        free(c);
    }

    /** A packet for a CID that no live connection has. Returns false if no parked one had it either. */
    boolean onParked(long at, int length) {
        long p = state.names.formerCid(Prefix.destinationCid(at));
        if (p == 0) {
            return false;
        }
        if (!state.parked.holds(p)) {
            // Being resumed: the peer will hear of it by INIT or ACCEPT.
            return true;
        }
        if (parking.isGenuine(p, at, length)) {
            answerParked(p, at);
        }
        return true;
    }

    /** The same for one that is sealed. */
    boolean onParkedSealed(long at, int length) {
        long p = state.names.formerCid(Prefix.destinationCid(at));
        if (p == 0) {
            return false;
        }
        if (!state.parked.holds(p)) {
            return true;
        }
        if (slab.getInt(p + ParkedRecord.SEALED) == 0) {
            state.counters.forged++;
            return true;
        }
        long inside = state.sealing.openParked(p, at, length);
        if (inside == 0) {
            return true;
        }
        if (Validate.check(inside, state.sealing.openedLength) != 0) {
            state.counters.malformed++;
        } else {
            answerParked(p, inside);
        }
        return true;
    }

    private void answerParked(long p, long at) {
        parking.answer(p, at);
        if (Prefix.type(at) == Type.CLOSE && CloseHeader.senderCid(at) == slab.getInt(p + ParkedRecord.REMOTE_CID)) {
            int reason = CloseHeader.reason(at);
            parking.close(p, Type.CLOSE_ACK, reason);
            endParked(p, reason, true);
        }
    }

    /** Ends a parked connection, with an event if the application has not asked for it. */
    private void endParked(long p, int reason, boolean tellApplication) {
        if (tellApplication) {
            Event event = state.events.push(false);
            if (event == null) {
                state.counters.eventOverflow++;
            } else {
                event.kind = reason == Reason.GRACEFUL ? Event.CLOSED : Event.FAILED;
                event.connection = slab.getInt(p + ParkedRecord.HANDLE);
                event.reason = reason;
                long plane = parking.callablePlane(p);
                event.peerHigh = slab.getLong(plane + ParkedRecord.REMOTE_HIGH);
                event.peerLow = slab.getLong(plane + ParkedRecord.REMOTE_LOW);
                event.peerPort = slab.getInt(plane + ParkedRecord.REMOTE_PORT);
            }
        }
        endStreams(p, slab.getLong(p + ParkedRecord.ALL_STREAMS));
        if (slab.getInt(p + ParkedRecord.SEALED) != 0) {
            state.sealing.forgetParked(p);
        }
        state.names.unpark(slab.getInt(p + ParkedRecord.HANDLE));
        state.names.forgetCid(slab.getInt(p + ParkedRecord.LOCAL_CID));
        state.parked.give(p);
    }

    /** One CLOSE with this reason, on its own: the connection's state is about to go. */
    void tell(long c, int reason) {
        if (slab.getInt(c + ConnectionRecord.SEALED) == Sealing.RESUMING) {
            // Without keys there is nothing that the peer would believe. Its next call is refused.
            return;
        }
        long reply = replies.open();
        if (reply == 0) {
            state.counters.controlOverflow++;
            return;
        }
        Prefix.write(reply, Type.CLOSE, slab.getInt(c + ConnectionRecord.REMOTE_CID));
        CloseHeader.reason(reply, reason);
        CloseHeader.senderCid(reply, slab.getInt(c + ConnectionRecord.LOCAL_CID));
        replies.commit(c, reply, CloseHeader.LENGTH, state.firstPlaneUp(c));
    }

    /** The peer closes, gracefully or not. We stay for a moment to acknowledge a repeated CLOSE. */
    void onClose(long c, int reason, long nowNs) {
        int phase = slab.getInt(c + STATE);
        if (phase != ConnectionRecord.LINGER) {
            announce(c, reason == Reason.GRACEFUL ? Event.CLOSED : Event.FAILED, reason);
            drop(c);
            slab.putInt(c + STATE, ConnectionRecord.LINGER);
            slab.putInt(c + CLOSE_REASON, reason);
            slab.putLong(c + RETRY_NS, nowNs + Limits.LINGER_NS);
            state.wakeBy(c, nowNs + Limits.LINGER_NS);
        }
        state.want(c, Handshake.SEND_CLOSE_ACK);
    }

    void onCloseAck(long c) {
        if (slab.getInt(c + STATE) == ConnectionRecord.CLOSE_SENT) {
            lose(c, Event.CLOSED, Reason.GRACEFUL, 0);
        } else {
            state.counters.unexpected++;
        }
    }

    /** The peer will not have the connection now, or not at all; {@code text} are {@code textBytes} bytes of UTF-8 in its own words. */
    void refused(long c, int reason, long retryAfterMs, long text, int textBytes) {
        if (retryAfterMs > 0) {
            long plane = state.plane(c, state.callablePlane(c, 0));
            backoff.note(slab.getLong(plane + PlaneRecord.REMOTE_HIGH), slab.getLong(plane + PlaneRecord.REMOTE_LOW),
                    slab.getInt(plane + PlaneRecord.REMOTE_PORT), state.nowNs + Math.min(retryAfterMs, Limits.RETRY_AFTER_MAX_MS) * 1_000_000);
        }
        if (slab.getInt(c + ConnectionRecord.KNOWN) != 0) {
            if (reason != Reason.NO_CONTEXT) {
                lose(c, Event.FAILED, reason == Reason.UNKNOWN_CONNECTION ? Reason.PEER_RESTARTED : reason, 0);
                return;
            }
            // What was posted waits for the peer's context; CONNECT_TIMEOUT bounds it.
            long untilNs = state.nowNs + Math.clamp(retryAfterMs, 1, state.config.connectTimeoutNs / 1_000_000) * 1_000_000;
            slab.putLong(c + RETRY_NS, untilNs);
            slab.putLong(c + ConnectionRecord.KEEPALIVE_TX_NS, untilNs);
            slab.putLong(c + RETRY_DELAY_NS, Limits.INIT_RETRY_NS / 2);
            slab.putInt(c + ConnectionRecord.CONTROL, 0);
            return;
        }
        Event event = announce(c, Event.REFUSED, reason);
        if (event != null) {
            event.retryAfterMs = retryAfterMs;
            state.events.tell(event, text, textBytes);
        }
        free(c);
    }

    /** The peer accepted, but what it offers cannot be used. */
    void decline(long c, int reason) {
        tell(c, reason);
        Event event = announce(c, Event.REFUSED, reason);
        if (event != null) {
            event.declined = true;
        }
        free(c);
    }

    /** Ends the connection with an event; all requests have completed before it is polled. */
    void lose(long c, int kind, int reason, long silenceNs) {
        Event event = announce(c, kind, reason);
        if (event != null) {
            event.silenceNs = silenceNs;
        }
        free(c);
    }

    private Event announce(long c, int kind, int reason) {
        Event event = state.events.push(false);
        if (event == null) {
            state.counters.eventOverflow++;
            return null;
        }
        event.kind = kind;
        event.connection = slab.getInt(c + ConnectionRecord.HANDLE);
        event.reason = reason;
        event.encrypted = slab.getInt(c + ConnectionRecord.SEALED) != 0;
        receiver.describe(event, c);
        return event;
    }

    /** Frees streams, packets and shares, completing what was posted. */
    private void drop(long c) {
        paths.discard(c);
        endStreams(c, slab.getLong(c + ConnectionRecord.ALL_STREAMS));
        slab.putLong(c + ConnectionRecord.ALL_STREAMS, 0);
        slab.putLong(c + ConnectionRecord.STREAMS_HEAD, 0);
        slab.putLong(c + ConnectionRecord.STREAMS_TAIL, 0);
        for (int p = 0; p < slab.getInt(c + ConnectionRecord.PLANES); p++) {
            share.forget(p, state.plane(c, p));
        }
    }

    private void endStreams(long owner, long first) {
        for (long s = first; s != 0; ) {
            long next = slab.getLong(s + StreamRecord.NEXT_OF_CONNECTION);
            slab.putInt(s + StreamRecord.STATE, StreamRecord.ERROR);
            sender.abandon(s);
            ReceiveQueue.flush(state, s, Completion.CONNECTION_LOST);
            receiver.release(s);
            streams.remove(owner, s);
            s = next;
        }
    }

    private void free(long c) {
        drop(c);
        state.giveConnection(c);
    }
}
