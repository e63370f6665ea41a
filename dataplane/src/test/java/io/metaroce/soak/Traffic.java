// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.transport.Endpoint;
import io.metaroce.transport.Segments;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.Cause;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Reason;
import java.util.List;
import java.util.SplittableRandom;

/** What the applications of a scenario do: connections, requests of every kind, right and wrong ones, receives, ends. */
final class Traffic {
    /** So that memory suffices for a receive on every stream. */
    static final int MOST_CONNECTIONS = 5;
    static final int RECEIVE_BYTES = 4_000;
    private static final int[] OPERATIONS = {Opcode.WRITE, Opcode.WRITE, Opcode.WRITE_IMM, Opcode.SEND, Opcode.SEND_IMM, Opcode.SEND_INVALIDATE,
            Opcode.READ_REQUEST, Opcode.READ_REQUEST, Opcode.COMPARE_SWAP, Opcode.FETCH_ADD};

    private final Simulation simulation;
    private final List<Host> hosts;
    final Model model;
    private final SplittableRandom work;
    private final WorkRequest request = new WorkRequest();
    private final Segments segments = new Segments(Settings.SEGMENTS);
    private final OwnMemory ownMemory = new OwnMemory(this);
    private final PlaneChanges planeChanges;
    private boolean ending;

    Traffic(Simulation simulation, List<Host> hosts, Model model, SplittableRandom work) {
        this.simulation = simulation;
        this.hosts = hosts;
        this.model = model;
        this.work = work;
        planeChanges = new PlaneChanges(simulation, hosts, model);
    }

    private boolean has(Fault f) {
        return simulation.has(f);
    }

    // ---- connections ----

    void connect() {
        Host from = hosts.get(work.nextInt(hosts.size()));
        Host to = hosts.get((from.number + 1 + work.nextInt(hosts.size() - 1)) % hosts.size());
        if (from.pausedUntilNs > model.nowNs || from.sides.size() >= MOST_CONNECTIONS || to.sides.size() >= MOST_CONNECTIONS) {
            return;
        }
        int handle = from.endpoint.connect(from.clock(model.nowNs), to.addresses[0], 0);
        if (handle <= 0) {
            if (from.endpoint.liveConnections() != from.config.maxConnections) {
                throw new Violation(from + " cannot connect, but has room");
            }
            return;
        }
        model.connecting(from, handle, to, Math.min(from.config.maxStreams, to.config.maxStreams));
    }

    void abort(Side s) {
        simulation.anyDeath = true;
        int reason = work.nextBoolean() ? Reason.APPLICATION_ABORT : Reason.SHUTDOWN;
        s.host.endpoint.abort(s.host.clock(model.nowNs), s.handle, reason);
        model.aborted(s, reason);
    }

    /** A closing side posts no receives any more, so neither side may need one that is not there. */
    private boolean mayClose(Side s) {
        if (s.peer == null || s.peer.state != Side.UP) {
            return false;
        }
        for (int i = 0; i < s.streams.length; i++) {
            if (s.streams[i].undelivered.size() > s.peer.streams[i].receives.size() && !s.peer.streams[i].shared
                    || s.peer.streams[i].undelivered.size() > s.streams[i].receives.size() && !s.streams[i].shared) {
                return false;
            }
        }
        return true;
    }

    void close(Side s) {
        simulation.anyDeath = true;
        s.closedByUs = true;
        s.state = Side.CLOSING;
        s.host.endpoint.close(s.host.clock(model.nowNs), s.handle);
    }

    void endAll() {
        ending = true;
        for (Host h : hosts) {
            for (Side s : List.copyOf(h.sides.values())) {
                if (s.state == Side.UP && (s.peer == null || s.peer.state != Side.CLOSING) && work.nextInt(5) > 0) {
                    close(s);
                } else if (s.state == Side.UP && work.nextInt(2) == 0) {
                    abort(s);
                }
            }
        }
        // What neither side of a connection chose to end.
        for (Host h : hosts) {
            for (Side s : List.copyOf(h.sides.values())) {
                if (s.state == Side.UP && (s.peer == null || s.peer.state == Side.UP)) {
                    close(s);
                }
            }
        }
    }

    // ---- operations ----

    private Side anySide(SplittableRandom r) {
        Host h = hosts.get(r.nextInt(hosts.size()));
        for (int i = 0; i < hosts.size(); i++, h = hosts.get((h.number + 1) % hosts.size())) {
            if (h.pausedUntilNs > model.nowNs || h.sides.isEmpty()) {
                continue;
            }
            Side[] up = h.sides.values().stream().filter(s -> s.state == Side.UP).toArray(Side[]::new);
            if (up.length > 0) {
                return up[r.nextInt(up.length)];
            }
        }
        return null;
    }

    void operate(SplittableRandom r) {
        int what = r.nextInt(100);
        Side s = anySide(r);
        if (s == null) {
            if (what < 50) {
                connect();
            }
            return;
        }
        model.inspect(s);
        if (what < 3 && has(Fault.ABORT)) {
            abort(s);
        } else if (what < 8 && has(Fault.CLOSE) && mayClose(s)) {
            close(s);
        } else if (what < 10 && has(Fault.FLEETING)) {
            s.host.memory.deregisterFleeting(s.host.regions);
        } else if (what < 14 && (has(Fault.CLOSE) || has(Fault.ABORT))) {
            connect();
        } else {
            int burst = r.nextInt(6) == 0 ? 8 : 1;
            for (int i = 0; i < burst && s.state == Side.UP; i++) {
                if (has(Fault.BAD_REQUEST) && r.nextInt(25) == 0) {
                    refuseLocally(s, r);
                } else {
                    begin(s, r);
                }
            }
        }
    }

    /** One of the things that scenarios did not know of at first. */
    void disturb(SplittableRandom r) {
        if (has(Fault.PLANES) && r.nextInt(3) == 0) {
            planeChanges.change(r);
            return;
        }
        Side s = anySide(r);
        if (s == null) {
            return;
        }
        model.inspect(s);
        if (has(Fault.PARK) && r.nextInt(3) > 0) {
            park(s);
        } else if (has(Fault.SHARED) && r.nextInt(3) == 0) {
            refuseOwnReceive(s, r);
            model.await(s.host, r.nextBoolean());
        } else if (has(Fault.OWN_MEMORY)) {
            ownMemory.change(s, r);
        }
    }

    private void park(Side s) {
        model.drain(s.host);
        if (s.state == Side.UP && s.host.endpoint.park(s.host.clock(model.nowNs), s.handle)) {
            for (Side.Stream stream : s.streams) {
                for (Message m : stream.pending) {
                    if (!m.unsignaled) {
                        throw new Violation(s + " parks, but " + m + " is not complete");
                    }
                }
            }
        }
    }

    private void begin(Side s, SplittableRandom r) {
        int stream = r.nextInt(s.streams.length);
        int opcode = OPERATIONS[r.nextInt(OPERATIONS.length)];
        boolean bad = has(Fault.BAD_REQUEST) && r.nextInt(20) == 0;
        switch (opcode) {
            case Opcode.WRITE, Opcode.WRITE_IMM -> {
                Message read = r.nextInt(4) == 0 ? readToOverwrite(s.streams[stream]) : null;
                if (read != null) {
                    overwrite(s, stream, opcode, read, r);
                } else {
                    write(s, stream, opcode, bad, r);
                }
            }
            case Opcode.SEND, Opcode.SEND_IMM -> send(s, stream, opcode, bad, r);
            case Opcode.SEND_INVALIDATE -> invalidate(s, stream, bad, r);
            case Opcode.READ_REQUEST -> read(s, stream, bad, r);
            default -> atomic(s, stream, opcode, bad, r);
        }
    }

    private int length(SplittableRandom r, Side s) {
        int mtu = Math.max(256, s.host.endpoint.payloadMtu(s.handle));
        return switch (r.nextInt(10)) {
            case 0 -> 0;
            case 1 -> 1 + r.nextInt(64);
            case 2 -> mtu * (1 + r.nextInt(3));
            case 3 -> mtu + 1;
            case 4 -> r.nextInt(20_000);
            default -> r.nextInt(4_000);
        };
    }

    private Message message(Side s, int stream, int opcode, int length, SplittableRandom r) {
        Message m = describe(s, stream, opcode, length, r);
        m.local = s.host.memory.take(length);
        if (m.local != null) {
            m.data = s.host.memory.fill(m.local);
        }
        return m;
    }

    /** A message of all of {@code local}, which is filled anew. */
    Message message(Side s, int stream, int opcode, HostMemory.Range local, SplittableRandom r) {
        Message m = describe(s, stream, opcode, local.length(), r);
        m.local = local;
        m.data = s.host.memory.fill(local);
        return m;
    }

    private static Message describe(Side s, int stream, int opcode, int length, SplittableRandom r) {
        Message m = new Message();
        m.opcode = opcode;
        m.stream = stream;
        m.from = s.streams[stream];
        m.length = length;
        m.immediate = r.nextInt();
        m.fence = r.nextInt(8) == 0;
        m.unsignaled = r.nextInt(6) == 0;
        m.solicited = r.nextInt(4) == 0;
        return m;
    }

    private void write(Side s, int stream, int opcode, boolean bad, SplittableRandom r) {
        Message m = message(s, stream, opcode, length(r, s), r);
        HostMemory there = s.peerHost.memory;
        if (m.local == null) {
            return;
        }
        if (bad && m.length > 0) {
            aimBadly(there, m, r);
        } else if (!aim(there, m, r)) {
            s.host.memory.release(m.local);
            return;
        }
        post(s, m);
    }

    /** A place of its own in the peer's memory, or in its region that may end at any time. False if there is no room. */
    private boolean aim(HostMemory there, Message m, SplittableRandom r) {
        if (m.length == 0) {
            // Neither key nor address counts.
            m.remoteAddress = r.nextLong();
            m.remoteKey = r.nextInt();
            return true;
        }
        if (has(Fault.FLEETING) && r.nextInt(3) == 0) {
            m.remote = there.takeFleeting(m.length);
            m.possibleCause = Cause.BAD_KEY;
        } else {
            m.remote = there.take(m.length);
        }
        if (m.remote == null) {
            return false;
        }
        m.aimAt(m.remote);
        return true;
    }

    /** A place of its own in the peer's memory. False if there is no room; its own memory is given up then. */
    boolean aimOwn(HostMemory there, Message m) {
        m.remote = there.take(m.length);
        if (m.remote == null) {
            m.local.memory().release(m.local);
            return false;
        }
        m.aimAt(m.remote);
        return true;
    }

    private void aimBadly(HostMemory there, Message m, SplittableRandom r) {
        boolean read = m.opcode == Opcode.READ_REQUEST;
        m.aimAt(there.main[0], there.main[0].address());
        switch (r.nextInt(5)) {
            case 0 -> {
                m.badCause = Cause.BAD_KEY;
                m.remoteKey ^= 1 << r.nextInt(12, 32);
            }
            case 1 -> {
                // The last bytes lie beyond the region; those before may be written.
                m.badCause = Cause.OUT_OF_BOUNDS;
                m.remoteAddress += there.main[0].length() - (m.length == 1 ? 0 : Math.min(m.length - 1, r.nextInt(HostMemory.TAIL)));
            }
            case 2 -> {
                m.badCause = Cause.OUT_OF_BOUNDS;
                m.remoteAddress -= m.length + r.nextInt(100);
            }
            case 3 -> {
                m.badCause = Cause.PROTECTION_DOMAIN;
                m.aimAt(there.foreign, there.foreign.address());
            }
            default -> {
                m.badCause = Cause.ACCESS_DENIED;
                var region = read ? there.writeOnly : there.readOnly;
                m.aimAt(region, region.address());
            }
        }
    }

    private void send(Side s, int stream, int opcode, boolean bad, SplittableRandom r) {
        Message m = message(s, stream, opcode, bad ? RECEIVE_BYTES + 1 + r.nextInt(3_000) : Math.min(RECEIVE_BYTES, length(r, s)), r);
        if (m.local != null) {
            m.badCause = bad ? Cause.BAD_LENGTH : 0;
            post(s, m);
        }
    }

    /** A region of the peer's that serves once: perhaps a Write to it, the Send that ends it, perhaps a Write that comes too late. */
    private void invalidate(Side s, int stream, boolean bad, SplittableRandom r) {
        HostMemory there = s.peerHost.memory;
        HostMemory.Range place = there.take(HostMemory.SERVES_ONCE);
        if (place == null) {
            return;
        }
        var region = there.registerOnce(s.peerHost.regions, place, bad && r.nextBoolean() ? HostMemory.FOREIGN_DOMAIN : 0);
        boolean wrong = bad && region.protectionDomain() == 0;
        if (!bad && r.nextBoolean()) {
            Message before = message(s, stream, Opcode.WRITE, 1 + r.nextInt(HostMemory.SERVES_ONCE / 2), r);
            if (before.local != null) {
                before.aimAt(before.remote = place.part(region, 0, before.length));
                post(s, before);
            }
        }
        Message m = message(s, stream, Opcode.SEND_INVALIDATE, Math.min(RECEIVE_BYTES, length(r, s)), r);
        if (m.local == null) {
            return;
        }
        m.remoteKey = wrong ? region.key() ^ 1 << r.nextInt(12, 32) : region.key();
        m.badCause = bad ? Cause.BAD_KEY : 0;
        m.ends = bad ? null : region;
        m.endsOf = s.peerHost.regions;
        if (!post(s, m) || bad) {
            return;
        }
        s.peerHost.ending.add(m);
        if (has(Fault.BAD_REQUEST) && r.nextInt(4) == 0) {
            Message late = message(s, stream, Opcode.WRITE, 1 + r.nextInt(HostMemory.SERVES_ONCE / 2), r);
            if (late.local != null) {
                late.aimAt(late.remote = place.part(region, HostMemory.SERVES_ONCE / 2, late.length));
                late.possibleCause = Cause.BAD_KEY;
                post(s, late);
            }
        }
    }

    private void read(Side s, int stream, boolean bad, SplittableRandom r) {
        Message source = !bad && r.nextInt(3) == 0 ? writeToRead(s.streams[stream]) : null;
        Message m = message(s, stream, Opcode.READ_REQUEST, source != null ? source.length : length(r, s), r);
        if (m.local == null) {
            return;
        }
        HostMemory there = s.peerHost.memory;
        if (source != null) {
            m.source = source;
            m.data = source.data;
            m.aimAt(source.remote);
        } else if (bad && m.length > 0) {
            aimBadly(there, m, r);
        } else if (!aim(there, m, r)) {
            s.host.memory.release(m.local);
            return;
        } else if (m.remote != null) {
            m.data = there.fill(m.remote);
        }
        if (post(s, m) && source != null) {
            source.readers++;
        }
    }

    /** A Write in this stream's line whose bytes a Read behind it must see, or null. */
    private static Message writeToRead(Side.Stream stream) {
        for (Message w : stream.pending) {
            if (w.opcode == Opcode.WRITE && w.remote != null && w.remote.isOwn() && w.badCause == 0 && w.possibleCause == 0 && w.length > 0) {
                return w;
            }
        }
        return null;
    }

    /** A Read in this stream's line whose source a fenced Write may change: the Read must not see it. */
    private static Message readToOverwrite(Side.Stream stream) {
        for (Message m : stream.pending) {
            if (m.opcode == Opcode.READ_REQUEST && m.remote != null && m.remote.isOwn() && m.badCause == 0 && m.possibleCause == 0) {
                return m;
            }
        }
        return null;
    }

    private void overwrite(Side s, int stream, int opcode, Message read, SplittableRandom r) {
        Message m = message(s, stream, opcode, read.length, r);
        if (m.local == null) {
            return;
        }
        m.fence = true;
        m.aimAt(read.remote);
        if (post(s, m)) {
            // The place is the Write's from now on.
            m.remote = read.remote;
            read.remote = null;
        }
    }

    private void atomic(Side s, int stream, int opcode, boolean bad, SplittableRandom r) {
        Message m = message(s, stream, opcode, Long.BYTES, r);
        if (m.local == null) {
            return;
        }
        HostMemory there = s.peerHost.memory;
        m.word = there.words.get(r.nextInt(HostMemory.WORDS));
        m.aimAt(there.atomic, there.wordAddress(m.word));
        m.operand = r.nextLong();
        m.compare = r.nextInt(4) == 0 ? r.nextLong() : m.word.likely(there);
        if (bad) {
            m.word = null;
            switch (r.nextInt(6)) {
                case 0 -> {
                    m.badCause = Cause.BAD_KEY;
                    m.remoteKey ^= 1 << r.nextInt(12, 32);
                }
                case 1 -> {
                    m.badCause = Cause.OUT_OF_BOUNDS;
                    m.remoteAddress = there.atomic.address() + there.atomic.length();
                }
                case 2 -> {
                    m.badCause = Cause.OUT_OF_BOUNDS;
                    m.remoteAddress = there.atomic.address() - Long.BYTES;
                }
                case 3 -> {
                    m.badCause = Cause.PROTECTION_DOMAIN;
                    m.aimAt(there.foreign, there.foreign.address());
                }
                case 4 -> {
                    m.badCause = Cause.ACCESS_DENIED;
                    m.aimAt(there.main[1], there.main[1].address());
                }
                default -> {
                    m.badCause = Cause.ALIGNMENT;
                    m.remoteAddress += 1 + r.nextInt(7);
                }
            }
        }
        post(s, m);
    }

    /** Posts it, or gives back what it holds if the endpoint has a reason to refuse it. */
    boolean post(Side s, Message m) {
        m.id = model.nextId();
        request.opcode = m.opcode;
        request.stream = m.stream;
        request.localAddress = m.local.address();
        request.localKey = m.opcode == WorkRequest.LOCAL_INVALIDATE ? m.remoteKey : m.local.region().key();
        request.length = m.length;
        request.remoteAddress = m.remoteAddress;
        request.remoteKey = m.remoteKey;
        request.immediate = m.immediate;
        request.fence = m.fence;
        request.unsignaled = m.unsignaled;
        request.solicited = m.solicited;
        request.operand = m.operand;
        request.compare = m.compare;
        request.wrId = m.id;
        Pieces pieces = !Opcode.isAtomic(m.opcode) && m.opcode != WorkRequest.LOCAL_INVALIDATE && Pieces.mixed(m.id) % 3 == 0 ? Pieces.of(m.length, m.id) : null;
        request.segments = pieces == null ? null : pieces.into(segments, m.local);
        request.inline = !Opcode.isRequest(m.opcode) && m.opcode != WorkRequest.LOCAL_INVALIDATE && m.length <= Settings.INLINE_BYTES && Pieces.mixed(m.id) % 5 < 2;
        Side.Stream stream = s.streams[m.stream];
        int result = s.host.endpoint.post(s.handle, request);
        if (result == Endpoint.OK) {
            m.pieces = pieces;
            if (pieces != null && m.opcode != Opcode.READ_REQUEST) {
                m.data = pieces.message(m.data);
            }
            if (request.inline) {
                model.count(Check.INLINE);
                // It was copied: its memory may hold anything now.
                s.host.memory.fill(m.local);
            }
            if (pieces != null) {
                model.count(Check.SEGMENTS);
            }
            stream.pending.add(m);
            if (Opcode.consumesReceive(m.opcode)) {
                stream.undelivered.add(m);
            }
            if (m.opcode == Opcode.WRITE || m.opcode == Opcode.WRITE_IMM) {
                stream.unseen.add(m);
            }
            if (m.badCause != 0 || m.possibleCause != 0 || s.peerHost.config.streamPool < Settings.AMPLE_STREAMS || s.host.config.streamPool < Settings.AMPLE_STREAMS) {
                setMayFail(s, m.stream);
            }
            if (Opcode.consumesReceive(m.opcode) && s.host.givesUp()) {
                setMayFail(s, m.stream);
                stream.ownCauses.add(Cause.RECEIVER_NOT_READY);
            }
            return true;
        }
        boolean fits = switch (result) {
            case Endpoint.QUEUE_FULL -> posted(s.host) >= s.host.config.maxWorkRequests;
            case Endpoint.BAD_OPCODE -> Opcode.isRequest(m.opcode) && s.peerHost.config.maxReads == 0;
            case Endpoint.STREAM_IN_ERROR -> stream.mayFail;
            case Endpoint.BAD_STREAM -> s.host.endpoint.liveStreams() == s.host.config.streamPool;
            case Endpoint.NO_CONTEXT -> lacksContext(s);
            case Endpoint.BAD_LOCAL_KEY -> s.host.regions.find(m.local.region().key()) == null;
            default -> false;
        };
        if (!fits) {
            throw new Violation(s + ": posting " + m + " returned " + result);
        }
        s.host.memory.release(m.local);
        if (m.remote != null && m.remote.isOwn()) {
            m.remote.memory().release(m.remote);
        }
        return false;
    }

    static boolean lacksContext(Side s) {
        return s.isParked() && s.host.endpoint.liveConnections() == s.host.config.maxConnections;
    }

    /** Signaled messages behind the unsignaled ones, which tell that these are done. */
    void closeLines() {
        for (Host h : hosts) {
            for (Side s : List.copyOf(h.sides.values())) {
                if (ending && s.state == Side.UP && s.isParked()) {
                    // The peer's end may be gone without a word.
                    close(s);
                }
                if (s.isParked()) {
                    model.drain(h);
                    model.nothingUnderWay(s);
                }
                for (int i = 0; s.state == Side.UP && i < s.streams.length; i++) {
                    Message last = s.streams[i].pending.peekLast();
                    if (last != null && last.unsignaled) {
                        closeLine(s, i);
                    }
                }
            }
        }
    }

    private void closeLine(Side s, int stream) {
        Message m = new Message();
        m.opcode = Opcode.WRITE;
        m.stream = stream;
        m.from = s.streams[stream];
        m.data = new byte[0];
        m.local = s.host.memory.take(0);
        if (m.local != null && !post(s, m) && m.from.mayFail && s.host.endpoint.liveWorkRequests() == 0) {
            // The stream failed, and what it flushed has been told: the others were done before.
            model.passUnsignaled(s, m.from, Long.MAX_VALUE);
        }
    }

    static void setMayFail(Side s, int stream) {
        s.streams[stream].mayFail = true;
        if (s.peer != null) {
            s.peer.streams[stream].mayFail = true;
        }
    }

    private static int posted(Host h) {
        return h.sides.values().stream().mapToInt(s -> java.util.Arrays.stream(s.streams).mapToInt(t -> t.pending.size()).sum()).sum();
    }

    /** Requests that must not even be taken. */
    private void refuseLocally(Side s, SplittableRandom r) {
        HostMemory.Range range = new HostMemory.Range(s.host.memory, s.host.memory.main[0], HostMemory.GAP, 100, 0, 0);
        request.segments = null;
        request.inline = false;
        request.opcode = Opcode.WRITE;
        request.stream = 0;
        request.localAddress = range.address();
        request.localKey = range.region().key();
        request.length = 100;
        int expected;
        int connection = s.handle;
        switch (r.nextInt(7)) {
            case 0 -> {
                request.length = -1 - r.nextInt(1000);
                expected = Endpoint.BAD_LENGTH;
            }
            case 1 -> {
                request.localKey ^= 1 << r.nextInt(12, 32);
                expected = Endpoint.BAD_LOCAL_KEY;
            }
            case 2 -> {
                request.localAddress -= 1 + r.nextInt(1000);
                expected = Endpoint.BAD_LOCAL_KEY;
            }
            case 3 -> {
                request.stream = s.streams.length + r.nextInt(1000);
                expected = Endpoint.BAD_STREAM;
            }
            case 4 -> {
                request.opcode = Settings.pick(r, 0, -1, Opcode.READ_RESPONSE, Opcode.ATOMIC_RESPONSE, 11, 100);
                expected = Endpoint.BAD_OPCODE;
            }
            case 5 -> {
                request.opcode = r.nextBoolean() ? Opcode.COMPARE_SWAP : Opcode.FETCH_ADD;
                request.length = Settings.pick(r, 0, 1, 4, 7, 9, 16);
                expected = s.peerHost.config.maxReads == 0 ? Endpoint.BAD_OPCODE : Endpoint.BAD_LENGTH;
            }
            default -> {
                connection ^= 0x40000000;
                expected = Endpoint.BAD_CONNECTION;
            }
        }
        int result = s.host.endpoint.post(connection, request);
        if (result != expected && !(result == Endpoint.NO_CONTEXT && lacksContext(s))) {
            throw new Violation(s + ": a request that must be refused with " + expected + " returned " + result);
        }
    }

    /** In calm as many as are needed, before that now and then. */
    void offerReceives(Side s, boolean calm) {
        if (s.host.shared != null && !s.adopted) {
            s.adopted = true;
            s.host.shared.adopt(s);
        }
        for (int i = 0; i < s.streams.length; i++) {
            Side.Stream stream = s.streams[i];
            if (stream.shared) {
                continue;
            }
            int needed = s.peer == null ? 0 : s.peer.streams[i].undelivered.size();
            int wanted = calm ? needed : work.nextInt(8) == 0 ? needed + work.nextInt(4) / 3 : 0;
            while (stream.receives.size() < wanted && !stream.failed && !isDeaf(s, i)) {
                HostMemory.Range range = s.host.memory.takeForReceive(RECEIVE_BYTES);
                if (range == null || postReceive(s, i, range) != Endpoint.OK) {
                    break;
                }
            }
        }
    }

    /** A stream with shared receives takes none of its own. */
    private void refuseOwnReceive(Side s, SplittableRandom r) {
        int i = r.nextInt(s.streams.length);
        HostMemory.Range range = s.host.memory.main[0] == null ? null : new HostMemory.Range(s.host.memory, s.host.memory.main[0], HostMemory.GAP, 100, 0, 0);
        if (s.streams[i].shared && !s.streams[i].mayFail && s.host.endpoint.liveStreams() < s.host.config.streamPool) {
            int result = s.host.endpoint.postReceive(s.handle, i, range.address(), 100, range.region().key(), 0);
            if (result != Endpoint.BAD_QUEUE && !(result == Endpoint.NO_CONTEXT && lacksContext(s))) {
                throw new Violation(s + ": a stream with shared receives takes one of its own: " + result);
            }
        }
    }

    /** Where the peer gives up waiting, some streams never get a receive. */
    private boolean isDeaf(Side s, int stream) {
        return s.peerHost.givesUp() && Pieces.mixed(s.bornNs + stream * 31L) % 4 == 0;
    }

    int postReceive(Side s, int i, HostMemory.Range range) {
        Side.Stream stream = s.streams[i];
        long id = model.nextId();
        Pieces pieces = Pieces.mixed(id) % 3 == 0 ? Pieces.of(RECEIVE_BYTES, id) : null;
        int result = pieces != null ? s.host.endpoint.postReceive(s.handle, i, pieces.into(segments, range), id)
                : s.host.endpoint.postReceive(s.handle, i, range.address(), RECEIVE_BYTES, range.region().key(), id);
        if (result == Endpoint.OK) {
            stream.receives.add(new Side.Receive(id, range, RECEIVE_BYTES, pieces));
            if (s.host.config.streamPool < Settings.AMPLE_STREAMS) {
                setMayFail(s, i);
            }
            return result;
        }
        s.host.memory.release(range);
        boolean fits = switch (result) {
            case Endpoint.QUEUE_FULL -> stream.receives.size() >= s.host.config.receiveQueueDepth;
            case Endpoint.STREAM_IN_ERROR -> stream.mayFail;
            case Endpoint.BAD_STREAM -> s.host.endpoint.liveStreams() == s.host.config.streamPool;
            case Endpoint.NO_CONTEXT -> lacksContext(s);
            default -> false;
        };
        if (!fits) {
            throw new Violation(s + ": posting a receive on stream " + i + " returned " + result);
        }
        stream.failed |= result == Endpoint.STREAM_IN_ERROR;
        return result;
    }
}
