// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.PlaneRecord.CHALLENGE_NS;
import static io.metaroce.transport.PlaneRecord.CHALLENGE_TRIES;
import static io.metaroce.transport.PlaneRecord.PEER_SEQUENCE;
import static io.metaroce.transport.PlaneRecord.PENDING_HIGH;
import static io.metaroce.transport.PlaneRecord.PENDING_LOW;
import static io.metaroce.transport.PlaneRecord.PENDING_PORT;
import static io.metaroce.transport.PlaneRecord.PENDING_SEQUENCE;
import static io.metaroce.transport.PlaneRecord.REMOTE_PORT;
import static io.metaroce.transport.PlaneRecord.STATED_SEQUENCE;
import static io.metaroce.transport.PlaneRecord.STATE_NS;
import static io.metaroce.transport.PlaneRecord.STATE_TRIES;

import io.metaroce.memory.Slab;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.PlaneHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Type;

/**
 * Planes that are added, moved to another address, or removed while connections live (spec: "Changing planes"). Each end states where
 * its own planes are until the peer has taken it; the peer first proves by a challenge that somebody is there who belongs to the
 * connection.
 */
final class Planes {
    /** Stands for the handshake among the sequences of statements. */
    private static final int TOLD_AT_FIRST = 0;

    private final EndpointState state;
    private final Slab slab;
    private final ReplyQueue replies;
    private final PathSender paths;
    private final ReceiverShare share;
    private final PayloadSize size;

    Planes(EndpointState state, ReplyQueue replies, PathSender paths, ReceiverShare share, PayloadSize size) {
        this.state = state;
        this.replies = replies;
        this.paths = paths;
        this.share = share;
        this.size = size;
        slab = state.slab;
    }

    // ---- our own planes ----

    /** Our plane is at this address from now on, or gone where it is null. */
    void set(int p, NetAddress address, int[] sourcePorts, long nowNs) {
        state.setPlane(p, address, sourcePorts);
        for (int i = 0; i < state.connections.capacity(); i++) {
            long c = state.connections.at(i);
            int phase = slab.getInt(c + ConnectionRecord.STATE);
            if (phase == ConnectionRecord.FREE || phase == ConnectionRecord.LINGER) {
                continue;
            }
            if (phase < ConnectionRecord.HALF_OPEN) {
                beginAnew(c, nowNs);
                continue;
            }
            long plane = state.plane(c, p);
            if (phase == ConnectionRecord.HALF_OPEN) {
                if (address == null) {
                    // The peer may have the ACCEPT that tells of it, and its first packet be here already.
                    slab.putInt(plane + PlaneRecord.STATE, PlaneRecord.ABSENT);
                }
                if (slab.getInt(c + ConnectionRecord.SEALED) != 0) {
                    keepOrForget(c, nowNs);
                    continue;
                }
            } else if (address == null) {
                leave(c, p, plane, nowNs);
            } else if (slab.getInt(plane + PlaneRecord.STATE) != PlaneRecord.ABSENT || slab.getInt(plane + REMOTE_PORT) != 0) {
                enter(c, p, plane, nowNs);
            }
            slab.putInt(plane + STATE_TRIES, 0);
            slab.putLong(plane + STATE_NS, nowNs);
            wake(c, nowNs);
        }
    }

    /** Of an encrypted connection what ACCEPT told is part of its keys: one that is resumed goes on; another is called again, and gets other keys. */
    private void keepOrForget(long c, long nowNs) {
        if (slab.getInt(c + ConnectionRecord.KNOWN) == 0) {
            slab.putLong(c + ConnectionRecord.HANDSHAKE_START_NS, nowNs - Limits.HALF_OPEN_NS);
            state.wakeBy(c, nowNs);
        }
    }

    /**
     * Repetitions of INIT, and of what keys are made of, must not differ from the first: what is under way begins again, with our planes as
     * they are now.
     */
    private void beginAnew(long c, long nowNs) {
        if (slab.getInt(c + ConnectionRecord.KNOWN) != 0) {
            // What a connection was parked with is good for one call. The rest is stated when it is resumed.
            return;
        }
        slab.putInt(c + ConnectionRecord.STATE, ConnectionRecord.INIT_SENT);
        slab.putLong(c + ConnectionRecord.NONCE, state.nextSecret());
        slab.putLong(c + ConnectionRecord.COOKIE, 0);
        slab.putLong(c + ConnectionRecord.COOKIE + 8, 0);
        for (int p = 0; p < slab.getInt(c + ConnectionRecord.PLANES); p++) {
            slab.putInt(state.plane(c, p) + STATED_SEQUENCE, 0);
        }
        slab.putLong(c + ConnectionRecord.RETRY_NS, nowNs);
        state.wakeBy(c, nowNs);
    }

    /** The peer told in the handshake that its plane is there, and is not believed. It is challenged when the connection is established. */
    static void doubt(EndpointState state, long plane, long high, long low, int port) {
        state.slab.putLong(plane + PENDING_HIGH, high);
        state.slab.putLong(plane + PENDING_LOW, low);
        state.slab.putInt(plane + PENDING_PORT, port);
        state.slab.putInt(plane + PENDING_SEQUENCE, TOLD_AT_FIRST);
        state.slab.putInt(plane + CHALLENGE_TRIES, 1);
    }

    /** The connection knows the peer now; what changed on our side since its handshake began is to be stated, what is doubted challenged. */
    void onEstablished(long c, long nowNs) {
        for (int p = 0; p < slab.getInt(c + ConnectionRecord.PLANES); p++) {
            long plane = state.plane(c, p);
            if (slab.getInt(plane + CHALLENGE_TRIES) > 0) {
                slab.putLong(plane + CHALLENGE_NS, nowNs);
                wake(c, nowNs);
            }
            if (slab.getInt(plane + STATED_SEQUENCE) != state.ownSequence[p]) {
                slab.putLong(plane + STATE_NS, nowNs);
                wake(c, nowNs);
            }
        }
    }

    private void wake(long c, long nowNs) {
        slab.putInt(c + ConnectionRecord.PLANE_NEWS, 1);
        state.wakeBy(c, nowNs);
    }

    /** All paths of the plane take new routes: they carry data again when a probe of theirs is answered. */
    private void enter(long c, int p, long plane, long nowNs) {
        for (int i = 0; i < slab.getInt(c + ConnectionRecord.PATHS_PER_PLANE); i++) {
            long path = state.path(c, p, i);
            paths.retire(c, plane, path);
            paths.newRoute(c, plane, path, nowNs);
        }
        slab.putInt(plane + PlaneRecord.STATE, PlaneRecord.UP);
        size.measure(c, plane);
        // It may be farther away now: the least RTT is measured anew.
        slab.putLong(plane + PlaneRecord.MIN_RTT_SINCE_NS, nowNs - Limits.MIN_RTT_WINDOW_NS - 1);
        slab.putInt(plane + PlaneRecord.MEASURED_NS, 0);
        slab.putLong(plane + PlaneRecord.LAST_PROGRESS_NS, nowNs);
        slab.putLong(plane + PlaneRecord.SUSPECT_NS, 0);
        state.makeReady(c);
    }

    private void leave(long c, int p, long plane, long nowNs) {
        if (slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.ABSENT) {
            return;
        }
        for (int i = 0; i < slab.getInt(c + ConnectionRecord.PATHS_PER_PLANE); i++) {
            paths.retire(c, plane, state.path(c, p, i));
        }
        share.forget(p, plane);
        slab.putInt(plane + PlaneRecord.STATE, PlaneRecord.ABSENT);
        size.onPlane(c);
        state.makeReady(c);
    }

    // ---- by time ----

    /** States and challenges what is due. */
    void onTimer(long c, long nowNs) {
        boolean more = false;
        for (int p = 0; p < slab.getInt(c + ConnectionRecord.PLANES); p++) {
            long plane = state.plane(c, p);
            if (slab.getInt(plane + STATED_SEQUENCE) != state.ownSequence[p]) {
                more = true;
                if (slab.getLong(plane + STATE_NS) - nowNs <= 0) {
                    int tries = slab.addInt(plane + STATE_TRIES, 1) - 1;
                    // The peer may have left the plane that is held for up; on the next one it may be where it was.
                    declare(c, p, state.callablePlane(c, state.firstPlaneUp(c) + tries));
                    slab.putLong(plane + STATE_NS, nowNs + Math.min(Limits.INIT_RETRY_NS << Math.min(tries, 8), Limits.INIT_RETRY_MAX_NS));
                }
                state.wakeBy(c, slab.getLong(plane + STATE_NS));
            }
            if (slab.getInt(plane + CHALLENGE_TRIES) > 0) {
                if (slab.getLong(plane + CHALLENGE_NS) - nowNs <= 0) {
                    boolean often = slab.getInt(plane + CHALLENGE_TRIES) <= Limits.CLOSE_TRIES;
                    if (!often && slab.getInt(plane + PENDING_SEQUENCE) != TOLD_AT_FIRST) {
                        // Nobody there: what was known before stays in force.
                        slab.putInt(plane + CHALLENGE_TRIES, 0);
                        continue;
                    }
                    challenge(c, p, plane);
                    // A plane that fails while the connection is made is not stated again when it is repaired.
                    slab.addInt(plane + CHALLENGE_TRIES, often ? 1 : 0);
                    slab.putLong(plane + CHALLENGE_NS, nowNs + (often ? Limits.INIT_RETRY_NS : Limits.KEEPALIVE_NS));
                }
                more = true;
                state.wakeBy(c, slab.getLong(plane + CHALLENGE_NS));
            }
        }
        slab.putInt(c + ConnectionRecord.PLANE_NEWS, more ? 1 : 0);
    }

    // ---- datagrams ----

    /** @param over the plane on which it came */
    void onPlane(long c, int over, long at, long nowNs) {
        int p = PlaneHeader.plane(at);
        if (p >= slab.getInt(c + ConnectionRecord.PLANES)) {
            // We have no such plane, so it makes no difference where the peer's is.
            if (PlaneHeader.kind(at) == PlaneHeader.STATE) {
                taken(c, p, PlaneHeader.sequence(at), over);
            }
            return;
        }
        long plane = state.plane(c, p);
        switch (PlaneHeader.kind(at)) {
            case PlaneHeader.STATE -> onState(c, p, plane, over, at, nowNs);
            case PlaneHeader.CHALLENGE -> {
                if (PlaneHeader.sequence(at) == state.ownSequence[p] || PlaneHeader.sequence(at) == TOLD_AT_FIRST) {
                    send(c, PlaneHeader.RESPONSE, p, PlaneHeader.sequence(at), PlaneHeader.token(at), over);
                }
            }
            case PlaneHeader.RESPONSE -> {
                if (slab.getInt(plane + CHALLENGE_TRIES) > 0 && PlaneHeader.sequence(at) == slab.getInt(plane + PENDING_SEQUENCE)
                        && PlaneHeader.token(at) == token(c, p, plane)) {
                    take(c, p, plane, over, nowNs);
                } else if (PlaneHeader.sequence(at) != slab.getInt(plane + PEER_SEQUENCE)) {
                    state.counters.forged++;
                }
            }
            case PlaneHeader.TAKEN -> {
                // What was sent before the peer had its own end of the plane may not have been kept.
                boolean isOld = (int) PlaneHeader.token(at) - slab.getInt(plane + PEER_SEQUENCE) < 0;
                if (!isOld && PlaneHeader.sequence(at) == state.ownSequence[p] && slab.getInt(plane + STATED_SEQUENCE) != state.ownSequence[p]) {
                    slab.putInt(plane + STATED_SEQUENCE, state.ownSequence[p]);
                    if (slab.getInt(plane + PlaneRecord.STATE) != PlaneRecord.ABSENT) {
                        probeAll(c, p);
                    }
                }
            }
            default -> state.counters.unexpected++;
        }
    }

    private void onState(long c, int p, long plane, int over, long at, long nowNs) {
        int sequence = PlaneHeader.sequence(at);
        int known = slab.getInt(plane + PEER_SEQUENCE);
        if (known != 0 && sequence - known <= 0) {
            if (sequence == known) {
                taken(c, p, sequence, over);
            }
            return;
        }
        boolean pending = slab.getInt(plane + CHALLENGE_TRIES) > 0;
        if (pending && sequence - slab.getInt(plane + PENDING_SEQUENCE) <= 0) {
            // Being looked into.
            return;
        }
        slab.putInt(plane + CHALLENGE_TRIES, 0);
        if (state.ownAddresses[p] == null) {
            // No use to us now; it will be stated again when we have a plane of our own there.
            slab.putInt(plane + REMOTE_PORT, 0);
            taken(c, p, sequence, over);
            return;
        }
        if (PlaneHeader.port(at) == 0) {
            leave(c, p, plane, nowNs);
            slab.putInt(plane + REMOTE_PORT, 0);
            slab.putInt(plane + PEER_SEQUENCE, sequence);
            taken(c, p, sequence, over);
            return;
        }
        slab.putLong(plane + PENDING_HIGH, PlaneHeader.addressHigh(at));
        slab.putLong(plane + PENDING_LOW, PlaneHeader.addressLow(at));
        slab.putInt(plane + PENDING_PORT, PlaneHeader.port(at));
        slab.putInt(plane + PENDING_SEQUENCE, sequence);
        slab.putInt(plane + CHALLENGE_TRIES, 1);
        slab.putLong(plane + CHALLENGE_NS, nowNs);
        wake(c, nowNs);
    }

    /** Somebody who belongs to the connection is at the stated address: it is in force. */
    private void take(long c, int p, long plane, int over, long nowNs) {
        if (state.ownAddresses[p] == null) {
            // Ours has gone since the question was asked; the peer's will be stated again when we have one.
            slab.putInt(plane + CHALLENGE_TRIES, 0);
            slab.putInt(plane + REMOTE_PORT, 0);
            return;
        }
        boolean isNew = slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.ABSENT;
        long high = slab.getLong(plane + PENDING_HIGH);
        long low = slab.getLong(plane + PENDING_LOW);
        int port = slab.getInt(plane + PENDING_PORT);
        boolean isSame = state.isAt(plane, high, low, port);
        state.locate(plane, high, low, port);
        slab.putInt(plane + PEER_SEQUENCE, slab.getInt(plane + PENDING_SEQUENCE));
        slab.putInt(plane + CHALLENGE_TRIES, 0);
        if (isNew || !isSame) {
            enter(c, p, plane, nowNs);
        }
        // The peer may have had no use for our plane before it had its own, and we need not have noticed that it had none for a while.
        slab.putInt(plane + STATED_SEQUENCE, 0);
        slab.putInt(plane + STATE_TRIES, 0);
        slab.putLong(plane + STATE_NS, nowNs);
        wake(c, nowNs);
        taken(c, p, slab.getInt(plane + PEER_SEQUENCE), over);
    }

    private void probeAll(long c, int p) {
        for (int i = 0; i < slab.getInt(c + ConnectionRecord.PATHS_PER_PLANE); i++) {
            paths.wantProbe(c, state.path(c, p, i));
        }
    }

    /** What only we and whoever got our challenge know. */
    private long token(long c, int p, long plane) {
        return state.secret.start().add(slab.getInt(c + ConnectionRecord.LOCAL_CID)).add((long) slab.getInt(c + ConnectionRecord.LOCAL_TAG) << 8 | p)
                .add(slab.getInt(plane + PENDING_SEQUENCE)).finish();
    }

    private void declare(long c, int p, int over) {
        long reply = open(c, PlaneHeader.STATE, p, state.ownSequence[p]);
        if (reply == 0) {
            return;
        }
        NetAddress own = state.ownAddresses[p];
        if (own != null) {
            PlaneHeader.port(reply, own.port());
            PlaneHeader.addressHigh(reply, own.high());
            PlaneHeader.addressLow(reply, own.low());
        }
        replies.commit(c, reply, PlaneHeader.LENGTH, over);
    }

    private void challenge(long c, int p, long plane) {
        long reply = open(c, PlaneHeader.CHALLENGE, p, slab.getInt(plane + PENDING_SEQUENCE));
        if (reply != 0 && state.ownAddresses[p] != null) {
            PlaneHeader.token(reply, token(c, p, plane));
            replies.commit(c, reply, PlaneHeader.LENGTH, p, slab.getLong(plane + PENDING_HIGH), slab.getLong(plane + PENDING_LOW),
                    slab.getInt(plane + PENDING_PORT));
        }
    }

    /** Tells that a statement is in force, and as of which of ours our own end of the plane is. */
    private void taken(long c, int p, int sequence, int over) {
        send(c, PlaneHeader.TAKEN, p, sequence, p < state.ownSequence.length ? state.ownSequence[p] & 0xffff_ffffL : 0, over);
    }

    /** Answers twice where it must: each end may have left the one plane or the other without the other end's knowledge. */
    private void send(long c, int kind, int p, int sequence, long token, int over) {
        int up = state.firstPlaneUp(c);
        int back = state.callablePlane(c, over);
        sendOver(c, kind, p, sequence, token, up);
        if (back != up) {
            sendOver(c, kind, p, sequence, token, back);
        }
    }

    private void sendOver(long c, int kind, int p, int sequence, long token, int over) {
        long reply = open(c, kind, p, sequence);
        if (reply != 0) {
            PlaneHeader.token(reply, token);
            replies.commit(c, reply, PlaneHeader.LENGTH, over);
        }
    }

    private long open(long c, int kind, int p, int sequence) {
        long reply = replies.open();
        if (reply == 0) {
            state.counters.controlOverflow++;
            return 0;
        }
        Prefix.write(reply, Type.PLANE, slab.getInt(c + ConnectionRecord.REMOTE_CID));
        PlaneHeader.kind(reply, kind);
        PlaneHeader.plane(reply, p);
        PlaneHeader.senderCid(reply, slab.getInt(c + ConnectionRecord.LOCAL_CID));
        PlaneHeader.sequence(reply, sequence);
        return reply;
    }
}
