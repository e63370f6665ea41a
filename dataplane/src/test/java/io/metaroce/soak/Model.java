// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.transport.Completion;
import io.metaroce.transport.ConnectionStats;
import io.metaroce.transport.Event;
import io.metaroce.transport.PathStats;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.Cause;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Reason;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the applications know and may expect: takes every completion and event, and objects to what must not be. */
final class Model {
    private record Name(int host, int incarnation, int handle) { }

    final Map<Check, Long> checks = new EnumMap<>(Check.class);
    private final Map<Name, Side> byName = new HashMap<>();
    /** Who accepted whom, as the wire showed: responder to initiator. */
    private final Map<Name, Name> pairs = new HashMap<>();
    /** Nonce of the attempt that was accepted; one that begins anew has another. */
    private final Map<Name, Long> accepted = new HashMap<>();
    private final Completion completion = new Completion();
    private final Event event = new Event();
    private final ConnectionStats stats = new ConnectionStats();
    private final PathStats pathStats = new PathStats();
    private final List<Host> hosts;
    /** A silence that may end a connection was part of the scenario. */
    boolean silenceIsPossible;
    /** Hosts may have more connections than contexts, and wait for each other's for ever. */
    boolean contextsAreScarce;
    long connections;
    long messages;
    long nowNs;
    private long nextId = 1;

    Model(List<Host> hosts) {
        this.hosts = hosts;
    }

    /** A number for a request or receive. */
    long nextId() {
        return nextId++;
    }

    void count(Check c) {
        checks.merge(c, 1L, Long::sum);
    }

    private void countIf(Check c, boolean seen) {
        if (seen) {
            count(c);
        }
    }

    // ---- connections ----

    Side connecting(Host host, int handle, Host peer, int streams) {
        Side side = new Side(host, handle, peer, streams, nowNs);
        add(side);
        return side;
    }

    private void add(Side side) {
        Name name = new Name(side.host.number, side.incarnation, side.handle);
        if (byName.put(name, side) != null || side.host.sides.put(side.handle, side) != null) {
            throw new Violation(side + ": the handle is in use already");
        }
    }

    /** An ACCEPT reached the initiator: tells which two handles are one connection. */
    void onAccept(Host responder, int responderIncarnation, int responderHandle, Host initiator, int initiatorHandle, long nonce) {
        Name from = new Name(initiator.number, initiator.incarnation, initiatorHandle);
        Name to = new Name(responder.number, responderIncarnation, responderHandle);
        Long before = accepted.put(from, nonce);
        if (before == null || before != nonce) {
            pairs.put(to, from);
            Side side = byName.get(from);
            if (side != null && side.state != Side.DEAD) {
                side.peerIncarnation = responderIncarnation;
            }
        }
    }

    /** The host's process dies: nothing will be heard of its requests. */
    void kill(Host host) {
        for (Side side : host.sides.values()) {
            for (int i = 0; i < side.streams.length; i++) {
                Side.Stream s = side.streams[i];
                s.pending.forEach(m -> {
                    doubt(m);
                    if (Opcode.isAtomic(m.opcode)) {
                        atomicDone(side, m, Completion.CONNECTION_LOST);
                        host.memory.release(m.local);
                    } else {
                        host.memory.doubt(m.local, m.opcode == Opcode.READ_REQUEST ? m.image() : null);
                    }
                });
                s.pending.clear();
                int k = 0;
                for (Side.Receive r : s.receives) {
                    host.memory.doubt(r.range(), incoming(side, i, k++, r));
                }
                s.receives.clear();
            }
            side.state = Side.DEAD;
        }
        host.sides.clear();
        if (host.shared != null) {
            host.shared.drop();
        }
    }

    /** Contents that the k-th receive may hold in part: those of the k-th message on its way. */
    private static byte[] incoming(Side side, int stream, int k, Side.Receive r) {
        if (side.peer == null) {
            return null;
        }
        int i = 0;
        for (Message m : side.peer.streams[stream].undelivered) {
            if (i++ == k) {
                return m.opcode == Opcode.WRITE_IMM || m.length > r.length() ? null : r.image(m.data);
            }
        }
        return null;
    }

    /** The application gave the connection up; its completions follow, no event does. */
    void aborted(Side side, int reason) {
        side.abortedByUs = true;
        side.abortReason = reason;
        drain(side.host);
        end(side);
    }

    private void end(Side side) {
        for (int i = 0; i < side.streams.length; i++) {
            Side.Stream s = side.streams[i];
            passUnsignaled(side, s, Long.MAX_VALUE);
            if (!s.pending.isEmpty()) {
                throw new Violation(side + ": no completion of " + s.pending.peek() + ", but the connection is over");
            }
            if (!s.receives.isEmpty()) {
                throw new Violation(side + ": no completion of receive " + s.receives.peek().id() + ", but the connection is over");
            }
        }
        side.state = Side.DEAD;
        side.host.sides.remove(side.handle);
        if (side.host.shared != null) {
            side.host.shared.mayHaveReturned();
        }
    }

    // ---- what an endpoint tells ----

    /** Takes all that the host's endpoint has to tell. */
    void drain(Host host) {
        // Receives first where both wait: the sender may learn of the same moment a little later in this very loop.
        boolean any = false;
        boolean solicited = false;
        while (host.endpoint.pollCompletion(completion)) {
            any = true;
            solicited |= completion.isReceive && completion.isSolicited || completion.status != Completion.OK;
            Side side = host.sides.get(completion.connection);
            if (side == null) {
                throw new Violation(host + ": a completion for connection 0x" + Integer.toHexString(completion.connection)
                        + ", which is not there");
            }
            if (completion.stream < 0 || completion.stream >= side.streams.length) {
                throw new Violation(side + ": a completion on stream " + completion.stream);
            }
            if (completion.isReceive) {
                onReceived(side, completion);
            } else {
                onDone(side, completion);
            }
        }
        while (host.endpoint.pollEvent(event)) {
            onEvent(host, event);
        }
        if ((host.awaitsAny && any || host.awaitsSolicited && solicited) && host.endpoint.counters().eventOverflow == 0) {
            throw new Violation(host + " waits for " + (host.awaitsAny ? "any" : "a solicited") + " completion, and is not told of it");
        }
        if (host.shared != null) {
            host.shared.check();
        }
        host.ending.removeIf(m -> m.delivered || m.done || m.endsOf != host.regions);
        for (Message m : host.ending) {
            if (m.endsOf.find(m.remoteKey) == null) {
                throw new Violation(host + ": the key that " + m + " is to end is invalid before that is complete");
            }
        }
        lookAtPool(host, 0);
    }

    /** The host sleeps until something is complete. */
    void await(Host host, boolean solicitedOnly) {
        drain(host);
        if (!host.awaitsAny && !host.awaitsSolicited) {
            host.endpoint.requestCompletionEvent(solicitedOnly);
            host.awaitsAny = !solicitedOnly;
            host.awaitsSolicited = solicitedOnly;
        }
    }

    private void onCompletionsWait(Host host) {
        if (!host.awaitsAny && !host.awaitsSolicited) {
            throw new Violation(host + " is woken, and has not asked");
        }
        host.awaitsAny = false;
        host.awaitsSolicited = false;
        count(Check.WOKEN);
    }

    /** Whether the host may refuse for want of a connection, with so many INITs at once; some may be taken and over by the end. */
    void lookAtPool(Host host, int inits) {
        if (host.endpoint.liveConnections() + Math.max(0, inits - 1) >= host.config.maxConnections) {
            host.fullAtNs = nowNs;
        }
    }

    private void onDone(Side side, Completion c) {
        Side.Stream s = side.streams[c.stream];
        passUnsignaled(side, s, c.wrId);
        Message m = s.pending.peek();
        if (m == null || m.id != c.wrId) {
            throw new Violation(side + ": completion of " + c.wrId + " on stream " + c.stream + " (status " + c.status + "), expected "
                    + (m == null ? "none" : m));
        }
        if (m.opcode != c.opcode || c.hasImmediate || c.byteLength != (c.status == Completion.OK ? m.length : 0)
                || m.unsignaled && c.status == Completion.OK) {
            throw new Violation(side + ": completion of " + m + " with opcode " + c.opcode + ", " + c.byteLength + " B");
        }
        count(Check.ORDER);
        done(side, s, m, c.status);
    }

    /** Unsignaled messages before the one that completes, or all, were done without a word. */
    void passUnsignaled(Side side, Side.Stream s, long until) {
        for (Message m = s.pending.peek(); m != null && m.unsignaled && m.id != until; m = s.pending.peek()) {
            count(Check.UNSIGNALED);
            done(side, s, m, Completion.OK);
        }
    }

    /** It is parked, so what it had to do is done. */
    void nothingUnderWay(Side side) {
        for (Side.Stream s : side.streams) {
            passUnsignaled(side, s, Long.MAX_VALUE);
            if (!s.pending.isEmpty()) {
                throw new Violation(side + " is parked, but " + s.pending.peek() + " is not complete");
            }
        }
    }

    private void done(Side side, Side.Stream s, Message m, int status) {
        s.pending.remove();
        m.done = true;
        messages++;
        if (status == Completion.OK) {
            ok(side, s, m);
        } else {
            failed(side, s, m, status);
            doubt(m);
        }
        if (m.opcode == Opcode.READ_REQUEST) {
            int wrong = side.host.memory.mismatch(m.local, m.image());
            if (status == Completion.OK && wrong >= 0) {
                throw new Violation(side + ": byte " + wrong + " of " + m + " is wrong");
            }
            if (status != Completion.OK && m.source == null && !side.host.memory.isMixOf(m.local, m.image())) {
                throw new Violation(side + ": unfinished " + m + " left what its source never held");
            }
            if (status == Completion.OK) {
                count(m.source == null ? Check.READ_BYTES : Check.READ_AFTER_WRITE);
            }
            if (m.source != null) {
                Message w = m.source;
                if (--w.readers == 0 && w.delivered && w.remote != null) {
                    w.remote.memory().release(w.remote);
                    w.remote = null;
                }
            } else if (m.remote != null) {
                m.remote.memory().release(m.remote);
                m.remote = null;
            }
        }
        if (Opcode.isAtomic(m.opcode)) {
            atomicDone(side, m, status);
        }
        side.host.memory.release(m.local);
    }

    /** Sorts out whether it was executed: its result tells, whatever the status. */
    private void atomicDone(Side side, Message m, int status) {
        boolean answered = !side.host.memory.isUntouched(m.local);
        if (m.word == null && answered || status == Completion.OK && !answered) {
            throw new Violation(side + ": " + m + " ended with status " + status + (answered ? " and" : " without") + " an original value");
        }
        if (answered) {
            count(m.opcode == Opcode.FETCH_ADD ? Check.FETCH_ADD : Check.COMPARE_SWAP);
            m.word.executed(m, side.host.memory.longAt(m.local));
        } else if (m.word != null) {
            m.word.doubt(m);
        }
    }

    private void ok(Side side, Side.Stream s, Message m) {
        if (m.badCause != 0) {
            throw new Violation(side + ": " + m + " should have been refused with " + Cause.name(m.badCause));
        }
        if (s.refused) {
            throw new Violation(side + ": " + m + " is complete behind a refused message");
        }
        if (Opcode.consumesReceive(m.opcode) && !m.delivered) {
            throw new Violation(side + ": " + m + " is complete, but was not received");
        }
        if (m.opcode == Opcode.WRITE && !m.delivered) {
            see(side, m);
        }
        s.unseen.remove(m);
        if (m.opcode == WorkRequest.LOCAL_INVALIDATE) {
            if (m.endsOf.find(m.remoteKey) != null) {
                throw new Violation(side + ": " + m + " is complete, but the key that it ends still serves");
            }
            count(Check.LOCAL_INVALIDATE);
        } else if (m.length == 0) {
            count(Check.ZERO_LENGTH);
        }
        if (m.fence) {
            count(Check.FENCE);
        }
    }

    private void failed(Side side, Side.Stream s, Message m, int status) {
        switch (status) {
            case Completion.FLUSHED -> {
                count(Check.FLUSHED);
                if (!s.mayFail) {
                    throw new Violation(side + ": " + m + " was flushed, but nothing failed");
                }
            }
            case Completion.CONNECTION_LOST -> {
                count(Check.LOST);
                if (!side.abortedByUs && !side.peerIsGone() && !silenceIsPossible && !contextsAreScarce && !side.mayBeForgotten() && !peerCloses(side)) {
                    throw new Violation(side + ": " + m + " was lost with the connection, but nothing ended it"
                            + (side.host.endpoint.pollEvent(event) ? ": " + event.text() : ""));
                }
            }
            default -> {
                boolean byPeer = side.peer != null && side.peer.streams[m.stream].ownCauses.contains(status);
                boolean isReady = status != Cause.RECEIVER_NOT_READY || !side.host.givesUp() || !Opcode.consumesReceive(m.opcode);
                count(status == Cause.UNKNOWN_STREAM ? Check.NO_STREAM : !isReady ? Check.NOT_READY : status == Cause.LOCAL_ERROR ? Check.LOCAL_ERROR
                        : m.possibleCause == status ? Check.REGION_GONE : m.badCause == status ? Check.REFUSED_CAUSE : Check.ENDED_BY_PEER);
                if (s.refused) {
                    throw new Violation(side + ": " + m + " ended with " + Cause.name(status) + " behind another that was refused");
                }
                if (status != m.badCause && status != m.possibleCause && isReady && !byPeer
                        && !(status == Cause.UNKNOWN_STREAM && Math.min(side.host.config.streamPool, side.peerHost.config.streamPool) < 64)) {
                    throw new Violation(side + ": " + m + " was refused with " + Cause.name(status) + ", expected "
                            + Cause.name(m.badCause));
                }
                s.refused = true;
            }
        }
    }

    private static boolean peerCloses(Side side) {
        return side.peer != null && side.peer.closedByUs;
    }

    private void onReceived(Side side, Completion c) {
        Side.Stream s = side.streams[c.stream];
        Side.Receive r = s.shared && c.status == Completion.OK ? side.host.shared.complete(side, c.stream, c.wrId) : s.receives.peek();
        if (r == null || r.id() != c.wrId) {
            throw new Violation(side + ": completion of receive " + c.wrId + " on stream " + c.stream + ", expected "
                    + (r == null ? "none" : r.id()));
        }
        count(Check.ORDER);
        if (c.status != Completion.OK) {
            if (c.status == Completion.FLUSHED ? !s.mayFail : c.status != Completion.CONNECTION_LOST) {
                throw new Violation(side + ": receive " + c.wrId + " ended with status " + c.status + ", but nothing failed" + (side.host.endpoint.pollEvent(event) ? ": " + event.text() : ""));
            }
            if (!isOldOr(r, incoming(side, c.stream, 0, r))) {
                throw new Violation(side + ": receive " + c.wrId + " was flushed, and holds what nobody sent");
            }
            s.receives.remove();
            side.host.memory.release(r.range());
            if (side.peer != null) {
                side.peer.streams[c.stream].undelivered.poll();
            }
            return;
        }
        Message m = side.peer == null ? null : side.peer.streams[c.stream].undelivered.poll();
        if (m == null) {
            throw new Violation(side + ": receive " + c.wrId + " on stream " + c.stream + " is complete, but nothing was sent");
        }
        if (!s.shared) {
            s.receives.remove();
        }
        if (m.badCause != 0) {
            throw new Violation(side + ": " + m + " was received, but should have been refused with " + Cause.name(m.badCause));
        }
        boolean immediate = Opcode.hasImmediate(m.opcode);
        if (c.opcode != m.opcode || c.byteLength != m.length || c.hasImmediate != immediate || immediate && c.immediate != m.immediate
                || c.isSolicited != m.solicited) {
            throw new Violation(side + ": received " + c.byteLength + " B, opcode " + c.opcode + ", immediate "
                    + (c.hasImmediate ? c.immediate : "none") + " instead of " + m + ", immediate " + m.immediate);
        }
        if (immediate) {
            count(Check.IMMEDIATE);
        }
        boolean invalidates = m.opcode == Opcode.SEND_INVALIDATE;
        if (c.hasInvalidatedKey != invalidates || invalidates && c.invalidatedKey != m.remoteKey) {
            throw new Violation(side + ": " + m + " was received " + (c.hasInvalidatedKey ? "with another" : "without a") + " key that it ended");
        }
        if (invalidates) {
            if (m.endsOf.find(m.remoteKey) != null) {
                throw new Violation(side + ": " + m + " is received, but the key that it ends still serves");
            }
            count(Check.INVALIDATE);
        }
        // Whatever the stream brought before must be visible now.
        Side.Stream from = side.peer.streams[c.stream];
        while (!from.unseen.isEmpty() && from.unseen.peek().id <= m.id) {
            Message w = from.unseen.remove();
            if (!w.delivered && w.badCause == 0) {
                see(side.peer, w);
                count(Check.RECEIVE_OF_WRITE);
            }
        }
        m.delivered = true;
        if (m.opcode == Opcode.WRITE_IMM) {
            if (!side.host.memory.isUntouched(r.range()) && !(s.shared && side.host.shared.hasReturned())) {
                throw new Violation(side + ": " + m + " touched the memory of its receive");
            }
        } else {
            byte[] is = side.host.memory.contents(r.range());
            int wrong = Arrays.mismatch(r.pieces() == null ? is : r.pieces().message(is), 0, m.length, m.data, 0, m.length);
            if (wrong >= 0) {
                throw new Violation(side + ": byte " + wrong + " of " + m + " was received wrong");
            }
            count(Check.RECEIVE_BYTES);
        }
        side.host.memory.release(r.range());
    }

    private static boolean isOldOr(Side.Receive r, byte[] maybe) {
        HostMemory memory = r.range().memory();
        return memory.isMixOf(r.range(), maybe);
    }

    /** The bytes of a Write must be in their place; then the target's application uses the place for something else. */
    private void see(Side side, Message m) {
        m.delivered = true;
        if (m.remote == null) {
            return;
        }
        int wrong = m.remote.memory().mismatch(m.remote, m.data);
        if (wrong >= 0 && !(m.remote.isFleeting() && m.remote.memory().isFleetingGone())) {
            throw new Violation(side + ": byte " + wrong + " of " + m + " is wrong at its target");
        }
        count(Check.WRITE_BYTES);
        if (m.readers == 0) {
            m.remote.memory().release(m.remote);
            m.remote = null;
        } else {
            m.remote.memory().accept(m.remote, m.data);
        }
    }

    /** What was begun and not finished may have had any part of its effect, and may still have it. */
    private static void doubt(Message m) {
        if (m.remote != null && m.opcode != Opcode.READ_REQUEST && !m.delivered) {
            m.remote.memory().doubt(m.remote, m.data);
            m.remote = null;
        }
    }

    private void onEvent(Host host, Event e) {
        if (e.kind == Event.COMPLETIONS) {
            onCompletionsWait(host);
            return;
        }
        if (e.kind == Event.SHARED_RECEIVES_LOW) {
            host.shared.isLow();
            return;
        }
        Side side = host.sides.get(e.connection);
        if (e.kind == Event.ACCEPTED) {
            accept(host, e, side);
            return;
        }
        if (side == null) {
            throw new Violation(host + ": event for connection 0x" + Integer.toHexString(e.connection) + ", which is not there: " + e.text());
        }
        if (!side.peerHost.isNamedIn(e.text())) {
            throw new Violation(side + ": the event does not name its peer: " + e.text());
        }
        switch (e.kind) {
            case Event.CONNECTED -> {
                require(side.state == Side.CONNECTING, side, e);
                side.state = Side.UP;
                connections++;
                count(Check.CONNECTED);
            }
            case Event.REFUSED -> {
                require(side.state == Side.CONNECTING && e.reason == Reason.NO_CONTEXT && e.retryAfterMs > 0
                        && side.peerHost.fullAtNs >= side.bornNs, side, e);
                count(Check.REFUSED);
                end(side);
            }
            case Event.CLOSED -> {
                require(side.closedByUs || peerCloses(side), side, e);
                count(Check.CLOSED);
                end(side);
            }
            case Event.FAILED -> {
                boolean fits = switch (e.reason) {
                    case Reason.TIMEOUT -> silenceIsPossible || contextsAreScarce || side.peerIsGone() || side.state == Side.CONNECTING && side.peerHost.wasRestarted
                            || side.state == Side.CONNECTING && side.peerHost.moves || side.mayBeForgotten();
                    case Reason.PEER_RESTARTED -> side.mayBeForgotten() || side.peerIsGone() || silenceIsPossible || peerCloses(side);
                    case Reason.APPLICATION_ABORT, Reason.SHUTDOWN -> side.peer != null && side.peer.abortedByUs
                            && side.peer.abortReason == e.reason;
                    default -> false;
                };
                require(fits, side, e);
                count(Check.FAILED);
                end(side);
            }
            case Event.STREAM_FAILED -> {
                require(e.stream >= 0 && e.stream < side.streams.length && side.streams[e.stream].mayFail, side, e);
                if (host.shared != null) {
                    host.shared.mayHaveReturned();
                }
            }
            default -> require(false, side, e);
        }
    }

    private void accept(Host host, Event e, Side known) {
        Name from = pairs.get(new Name(host.number, host.incarnation, e.connection));
        Side initiator = from == null ? null : byName.get(from);
        if (known != null || initiator == null) {
            throw new Violation(host + " accepted a connection that nobody made: " + e.text());
        }
        Side side = new Side(host, e.connection, initiator.host, initiator.streams.length, nowNs);
        side.state = Side.UP;
        side.peer = initiator;
        side.peerIncarnation = initiator.incarnation;
        initiator.peer = side;
        for (int i = 0; i < side.streams.length; i++) {
            side.streams[i].mayFail = initiator.streams[i].mayFail;
        }
        add(side);
        count(Check.CONNECTED);
    }

    private static void require(boolean fits, Side side, Event e) {
        if (!fits) {
            throw new Violation(side + ": nothing explains the event: " + e.text());
        }
    }

    /** Unless it is about to end, all its paths carry data. */
    boolean pathsAreGood(Side side) {
        if (side.state != Side.UP || side.peer == null || side.peer.state != Side.UP) {
            return true;
        }
        boolean[] used = new boolean[Network.PLANES];
        int paths = side.host.endpoint.pathCount(side.handle);
        for (int i = 0; i < paths; i++) {
            side.host.endpoint.readPath(side.handle, i, pathStats);
            boolean good = pathStats.state == 0 && !pathStats.planeDown;
            if (side.isCommon(pathStats.plane) ? !good : !pathStats.planeDown) {
                return false;
            }
            used[pathStats.plane] = true;
        }
        for (int p = 0; p < used.length; p++) {
            if (side.isCommon(p) && !used[p] && !side.isParked()) {
                return false;
            }
        }
        return true;
    }

    /** The host's end of the connection to this peer that the peer knows by this handle, or null. */
    Side sideOfPeer(Host host, int peerHandle, Host peer) {
        for (Side s : host.sides.values()) {
            if (s.peerHost == peer && s.peer != null && s.peer.handle == peerHandle) {
                return s;
            }
        }
        return null;
    }

    // ---- states that must hold at any time ----

    void inspect(Side side) {
        side.host.endpoint.readStats(side.handle, stats);
        if (stats.violations != 0) {
            throw new Violation(side + ": " + stats.violations + " packets of an honest peer broke the rules");
        }
        count(Check.NO_VIOLATION);
        countIf(Check.PARKED, side.isParked());
        countIf(Check.MARKED, stats.ecnMarks > 0);
        countIf(Check.PATH_DEAD, stats.deadPaths > 0);
        countIf(Check.PLANE_DEAD, stats.planeFailures > 0);
        countIf(Check.DUPLICATE, stats.duplicates > 0);
        if (side.state != Side.UP) {
            return;
        }
        int[] out = new int[8];
        int paths = side.host.endpoint.pathCount(side.handle);
        for (int i = 0; i < paths; i++) {
            side.host.endpoint.readPath(side.handle, i, pathStats);
            out[pathStats.plane] += pathStats.inflight;
        }
        // Repairs take the place of packets that left; a run may be under way.
        int most = side.peerHost.config.receiveBufferPackets + side.host.config.runLength;
        for (int o : out) {
            if (o > most) {
                throw new Violation(side + ": " + o + " packets are out on a plane where the peer can hold "
                        + side.peerHost.config.receiveBufferPackets);
            }
        }
        count(Check.WINDOW);
    }

    /** All connections are over: nothing may be left of them. */
    void auditEnd() {
        for (Host h : hosts) {
            if (h.shared != null) {
                h.shared.end();
            }
            String wrong = h.memory.audit();
            if (wrong != null) {
                throw new Violation(h + ": " + wrong);
            }
            count(Check.MEMORY);
            countIf(Check.CORRUPT, h.endpoint.counters().checksumErrors > 0);
            countIf(Check.BAD_COOKIE, h.endpoint.counters().badCookies > 0);
            countIf(Check.FORGED, h.endpoint.counters().forged > 0);
            countIf(Check.UNKNOWN, h.endpoint.counters().unknownConnection > 0);
        }
    }
}
