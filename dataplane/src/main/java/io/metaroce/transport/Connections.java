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
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Reason;
import io.metaroce.wire.Type;

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

    Connections(EndpointState state, Handshake handshake, Health health, PathSender paths, StreamSender sender, StreamTable streams,
            StreamReceiver receiver, ReceiverShare share, ReplyQueue replies) {
        this.state = state;
        this.handshake = handshake;
        this.health = health;
        this.paths = paths;
        this.sender = sender;
        this.streams = streams;
        this.receiver = receiver;
        this.share = share;
        this.replies = replies;
        slab = state.slab;
    }

    int connect(long nowNs, NetAddress peer, int protectionDomain) {
        long c = state.takeConnection();
        if (c == 0) {
            return -1;
        }
        slab.putInt(c + STATE, ConnectionRecord.INIT_SENT);
        slab.putInt(c + ConnectionRecord.INITIATOR, 1);
        slab.putInt(c + ConnectionRecord.PROTECTION_DOMAIN, protectionDomain);
        slab.putInt(c + ConnectionRecord.SERVICE, state.config.service);
        slab.putLong(c + ConnectionRecord.NONCE, state.nextSecret());
        // Until the peer's parameters are known there is one plane: where it was asked to be.
        slab.putInt(c + ConnectionRecord.PLANES, 1);
        long plane = state.plane(c, 0);
        slab.putLong(plane + PlaneRecord.REMOTE_HIGH, peer.high());
        slab.putLong(plane + PlaneRecord.REMOTE_LOW, peer.low());
        slab.putInt(plane + PlaneRecord.REMOTE_PORT, peer.port());
        slab.putLong(c + HANDSHAKE_START_NS, nowNs);
        slab.putLong(c + RETRY_DELAY_NS, Limits.INIT_RETRY_NS);
        slab.putLong(c + RETRY_NS, nowNs + Limits.INIT_RETRY_NS);
        handshake.begin(c);
        state.wakeBy(c, nowNs + Limits.INIT_RETRY_NS);
        return slab.getInt(c + ConnectionRecord.LOCAL_CID);
    }

    /** Both ends know each other: paths open, and the application hears of it. */
    void establish(long c, int event, long rttNs, long nowNs) {
        slab.putInt(c + STATE, ConnectionRecord.ESTABLISHED);
        slab.putLong(c + LAST_RX_NS, nowNs);
        paths.open(c, Math.clamp(rttNs, 1, 1_000_000_000), nowNs);
        // Proves to the responder that ACCEPT arrived.
        paths.wantProbe(c, state.path(c, 0, 0));
        state.wakeBy(c, nowNs + Limits.KEEPALIVE_NS);
        announce(c, event, 0);
    }

    void onTimer(long c, long nowNs) {
        switch (slab.getInt(c + STATE)) {
            case ConnectionRecord.INIT_SENT, ConnectionRecord.COOKIE_SENT -> {
                if (!handshake.onTimer(c, nowNs)) {
                    lose(c, Event.FAILED, Reason.TIMEOUT, nowNs - slab.getLong(c + HANDSHAKE_START_NS));
                }
            }
            case ConnectionRecord.HALF_OPEN -> {
                if (nowNs - slab.getLong(c + HANDSHAKE_START_NS) >= Limits.HALF_OPEN_NS) {
                    free(c);
                } else {
                    state.wakeBy(c, slab.getLong(c + HANDSHAKE_START_NS) + Limits.HALF_OPEN_NS);
                }
            }
            case ConnectionRecord.ESTABLISHED, ConnectionRecord.DRAINING -> {
                if (!health.onTimer(c, nowNs)) {
                    lose(c, Event.FAILED, Reason.TIMEOUT, nowNs - slab.getLong(c + LAST_RX_NS));
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
            handshake.want(c, Handshake.SEND_CLOSE);
            long delay = Math.max(4L * slab.getInt(state.plane(c, 0) + PlaneRecord.SRTT_NS), Limits.INIT_RETRY_NS);
            slab.putLong(c + RETRY_NS, nowNs + delay);
        }
        state.wakeBy(c, slab.getLong(c + RETRY_NS));
    }

    void close(long c, long nowNs) {
        if (c == 0) {
            return;
        }
        int phase = slab.getInt(c + STATE);
        if (phase == ConnectionRecord.ESTABLISHED) {
            slab.putInt(c + STATE, ConnectionRecord.DRAINING);
            state.makeReady(c);
        } else if (phase < ConnectionRecord.ESTABLISHED) {
            free(c);
        }
    }

    void abort(long c, int reason) {
        if (c == 0 || slab.getInt(c + STATE) == ConnectionRecord.LINGER) {
            return;
        }
        if (slab.getInt(c + STATE) >= ConnectionRecord.ESTABLISHED) {
            tell(c, reason);
        }
        free(c);
    }

    /** One CLOSE with this reason, on its own: the connection's state is about to go. */
    private void tell(long c, int reason) {
        long reply = replies.open();
        if (reply == 0) {
            state.counters.controlOverflow++;
            return;
        }
        Prefix.write(reply, Type.CLOSE, slab.getInt(c + ConnectionRecord.REMOTE_CID));
        CloseHeader.reason(reply, reason);
        CloseHeader.senderCid(reply, slab.getInt(c + ConnectionRecord.LOCAL_CID));
        int over = state.firstPlaneUp(c);
        int length = CloseHeader.LENGTH;
        if (slab.getInt(c + ConnectionRecord.SEALED) != 0) {
            length = state.sealing.sealInPlace(c, DataHeader.pathOf(over, 0), reply, length);
            if (length == 0) {
                return;
            }
        } else {
            Prefix.checksum(reply, state.checksum.field(reply, length, slab.getInt(c + ConnectionRecord.REMOTE_TAG)));
        }
        long plane = state.plane(c, over);
        replies.commit(length, over, slab.getLong(plane + PlaneRecord.REMOTE_HIGH),
                slab.getLong(plane + PlaneRecord.REMOTE_LOW), slab.getInt(plane + PlaneRecord.REMOTE_PORT));
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
        handshake.want(c, Handshake.SEND_CLOSE_ACK);
    }

    void onCloseAck(long c) {
        if (slab.getInt(c + STATE) == ConnectionRecord.CLOSE_SENT) {
            lose(c, Event.CLOSED, Reason.GRACEFUL, 0);
        } else {
            state.counters.unexpected++;
        }
    }

    /** The peer refused; {@code text} are {@code textBytes} bytes of UTF-8 in its own words. */
    void refused(long c, int reason, long retryAfterMs, long text, int textBytes) {
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
        event.connection = slab.getInt(c + ConnectionRecord.LOCAL_CID);
        event.reason = reason;
        event.encrypted = slab.getInt(c + ConnectionRecord.SEALED) != 0;
        receiver.describe(event, c);
        return event;
    }

    /** Frees streams, packets and shares, completing what was posted. */
    private void drop(long c) {
        paths.discard(c);
        for (long s = slab.getLong(c + ConnectionRecord.ALL_STREAMS); s != 0; ) {
            long next = slab.getLong(s + StreamRecord.NEXT_OF_CONNECTION);
            slab.putInt(s + StreamRecord.STATE, StreamRecord.ERROR);
            sender.abandon(s);
            ReceiveQueue.flush(state, s, Completion.CONNECTION_LOST);
            receiver.release(s);
            streams.remove(c, s);
            s = next;
        }
        slab.putLong(c + ConnectionRecord.ALL_STREAMS, 0);
        slab.putLong(c + ConnectionRecord.STREAMS_HEAD, 0);
        slab.putLong(c + ConnectionRecord.STREAMS_TAIL, 0);
        for (int p = 0; p < slab.getInt(c + ConnectionRecord.PLANES); p++) {
            share.forget(p, state.plane(c, p));
        }
    }

    private void free(long c) {
        drop(c);
        state.unready(c);
        state.timers.remove(c);
        if (state.sealing != null) {
            state.sealing.forget(c);
        }
        slab.putInt(c + STATE, ConnectionRecord.FREE);
        state.planes.give(slab.getLong(c + ConnectionRecord.FIRST_PLANE));
        state.connections.give(c);
    }
}
