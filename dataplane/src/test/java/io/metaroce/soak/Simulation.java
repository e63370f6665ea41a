// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Segments;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.AcceptHeader;
import io.metaroce.wire.Cause;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Reason;
import io.metaroce.wire.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One scenario: some endpoints, a bad network, random work, and a model that watches. First faults and work, then calm, in which all
 * that can be finished must be finished in time; then every connection ends, and nothing may be left.
 */
final class Simulation {
    private static final long START_NS = 1_000_000_000L;
    private static final long MS = 1_000_000;
    /** In calm, work must be done within this: before a keepalive, after 400 ms, could wake what should have woken by itself. */
    private static final long PROGRESS_NS = 380 * MS;
    /** Where routes stay dead, hosts with slow timers may have to give up several in a row. */
    private static final long AROUND_DEAD_ROUTES_NS = 1_000 * MS;
    /** A dead peer has to be noticed first. */
    private static final long NOTICE_NS = 5_000 * MS;
    /** After an outage of seconds: CLOSE is repeated eight times, four smoothed round trips apart. */
    private static final long LONG_NS = 60_000 * MS;
    private static final long END_NS = 6_000 * MS;
    private static final long MOST_TURNS = 20_000_000;
    /** So that memory suffices for a receive on every stream. */
    private static final int MOST_CONNECTIONS = 5;
    private static final HostMemory[] MEMORY = new HostMemory[6];

    final Profile profile;
    final Model model;
    final Network network;
    private final List<Host> hosts = new ArrayList<>();
    private final SplittableRandom work;
    private final SplittableRandom trouble;
    private final boolean[] has = new boolean[Fault.values().length];
    private final List<Runnable> actions = new ArrayList<>();
    private final WorkRequest request = new WorkRequest();
    private final Segments segments = new Segments(Settings.SEGMENTS);
    private long[] actionNs;
    private long nowNs = START_NS;
    private final long spanNs;
    private boolean calm;
    private boolean anyDeath;
    private long nextId = 1;
    private long turns;

    Simulation(Profile profile) {
        this.profile = profile;
        SplittableRandom root = new SplittableRandom(profile.seed());
        SplittableRandom shape = root.split();
        SplittableRandom wires = root.split();
        work = root.split();
        trouble = root.split();
        for (Fault f : Fault.values()) {
            int oneIn = switch (f) {
                case OUTAGE -> 40;
                case RESTART, MANY -> 5;
                case LOSS -> 2;
                default -> 3;
            };
            has[f.ordinal()] = shape.nextInt(oneIn) == 0 & profile.allows(f);
        }
        int wanted = 3 + shape.nextInt(4);
        int n = has(Fault.MANY) ? wanted : 2;
        spanNs = (long) ((0.3 + shape.nextDouble() * (shape.nextInt(4) == 0 ? 20 : 4)) * MS);
        int delay = Settings.pick(shape, 2_000, 5_000, 20_000, 100_000);
        int spread = Settings.pick(shape, 1, 2, 10) * delay / 2;
        network = new Network(hosts, n, wires, delay, has(Fault.REORDER) ? spread : 500);
        for (int i = 0; i < n; i++) {
            EndpointConfig config = Settings.draw(shape, i, has(Fault.SMALL) && shape.nextBoolean());
            if (profile.seed() % 8 == 5) {
                Settings.encrypt(config, profile.seed() * 100 + i);
            }
            if (MEMORY[i] == null) {
                MEMORY[i] = new HostMemory();
            }
            MEMORY[i].reset(shape.nextLong());
            Host host = new Host(i, config, MEMORY[i], Settings.pick(shape, 2, 16, 64), Settings.pick(shape, 200, 1_000, 5_000, 20_000));
            host.start(shape.nextLong());
            host.lastPollNs = START_NS;
            hosts.add(host);
        }
        model = new Model(hosts);
        model.nowNs = nowNs;
    }

    private boolean has(Fault f) {
        return has[f.ordinal()];
    }

    // ---- the course of a scenario ----

    /** Runs it to its end; throws {@link Violation}, or whatever escapes from an endpoint. */
    void run() {
        try {
            course();
        } finally {
            for (Host h : hosts) {
                h.inbox.forEach(Network::give);
                h.inbox.clear();
            }
        }
    }

    private void course() {
        planTroubles();
        planWork();
        runUntil(START_NS + spanNs);
        calm = true;
        network.calmDown();
        for (Host h : hosts) {
            h.pausedUntilNs = Math.min(h.pausedUntilNs, nowNs);
        }
        long calmNs = nowNs;
        anyDeath |= model.silenceIsPossible;
        finish(calmNs + (model.silenceIsPossible ? LONG_NS : anyDeath || anyConnecting() ? NOTICE_NS : network.hasLastingTrouble() ? AROUND_DEAD_ROUTES_NS : PROGRESS_NS), this::workIsDone, "work is not done");
        model.count(Check.PROGRESS);
        for (Host h : hosts) {
            h.sides.values().forEach(model::inspect);
        }
        endAll();
        finish(nowNs + (model.silenceIsPossible ? LONG_NS : END_NS), this::nothingLives, "something is left");
        model.count(Check.NOTHING_LEFT);
        model.auditEnd();
    }

    private boolean anyConnecting() {
        return hosts.stream().anyMatch(h -> h.sides.values().stream().anyMatch(s -> s.state == Side.CONNECTING));
    }

    private boolean workIsDone() {
        for (Host h : hosts) {
            for (Side s : h.sides.values()) {
                if (s.state == Side.CONNECTING || s.state == Side.CLOSING || !s.isIdle() || s.peerIsGone()) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean nothingLives() {
        for (Host h : hosts) {
            Endpoint e = h.endpoint;
            if (!h.sides.isEmpty() || e.liveConnections() + e.liveStreams() + e.liveWorkRequests() + e.livePackets() + e.liveWindows()
                    + e.liveSegmentLists() + e.liveInlineRequests() != 0) {
                return false;
            }
        }
        return true;
    }

    private void endAll() {
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

    private void finish(long untilNs, java.util.function.BooleanSupplier done, String what) {
        while (!done.getAsBoolean()) {
            if (nowNs >= untilNs) {
                throw new Violation(what + " after " + (untilNs - START_NS - spanNs) / MS + " ms of calm: " + describe());
            }
            runUntil(Math.min(untilNs, nowNs + 200_000), done);
        }
    }

    private String describe() {
        StringBuilder s = new StringBuilder();
        for (Host h : hosts) {
            Endpoint e = h.endpoint;
            s.append(h).append(" holds ").append(e.liveConnections()).append(" connections, ").append(e.liveStreams()).append(" streams, ")
                    .append(e.liveWorkRequests()).append(" requests, ").append(e.livePackets()).append(" packets, ")
                    .append(e.liveWindows()).append(" windows; ");
            for (Side side : h.sides.values()) {
                if (side.isIdle() && side.state == Side.UP) {
                    continue;
                }
                s.append(side).append(" in state ").append(side.state);
                for (int i = 0; i < side.streams.length; i++) {
                    Side.Stream stream = side.streams[i];
                    if (!stream.pending.isEmpty()) {
                        s.append(" waits for ").append(stream.pending.peek()).append(", ").append(stream.undelivered.size())
                                .append(" to be received, receives posted: ").append(side.peer == null ? -1 : side.peer.streams[i].receives.size());
                    }
                }
                s.append("; ");
            }
        }
        return s.toString();
    }

    private void runUntil(long untilNs) {
        runUntil(untilNs, () -> false);
    }

    private void runUntil(long untilNs, java.util.function.BooleanSupplier done) {
        int action = 0;
        if (actionNs != null) {
            while (action < actionNs.length && actionNs[action] < nowNs) {
                action++;
            }
        }
        while (true) {
            long next = Long.MAX_VALUE;
            Host turn = null;
            for (int i = 0; i < hosts.size(); i++) {
                long at = hosts.get(i).nextNs();
                if (at < next) {
                    next = at;
                    turn = hosts.get(i);
                }
            }
            boolean act = !calm && action < actionNs.length && actionNs[action] <= next;
            if (act) {
                next = actionNs[action];
            }
            if (next >= untilNs) {
                setTime(untilNs);
                return;
            }
            setTime(Math.max(nowNs, next));
            if (act) {
                actions.get(action++).run();
            } else {
                turn(turn);
                if (turns > MOST_TURNS) {
                    throw new Violation("no end after " + turns + " turns: " + describe());
                }
                if ((++turns & 15) == 0 && done.getAsBoolean()) {
                    return;
                }
            }
        }
    }

    private void setTime(long ns) {
        nowNs = ns;
        model.nowNs = ns;
    }

    /** What a loop does in one turn: a burst in, the application, all that may go out. */
    private void turn(Host h) {
        h.lastPollNs = nowNs;
        h.rx.count = 0;
        List<Frame> taken = new ArrayList<>();
        int inits = 0;
        while (!h.inbox.isEmpty() && h.inbox.peek().atNs <= nowNs && h.rx.count < h.rx.capacity) {
            Frame f = h.inbox.poll();
            taken.add(f);
            if (f.plane >= h.config.planes()) {
                continue;
            }
            if (!f.corrupt && Prefix.type(f.address) == Type.ACCEPT) {
                model.onAccept(f.from, f.fromIncarnation, AcceptHeader.responderCid(f.address), h, Prefix.destinationCid(f.address));
            }
            inits += Prefix.type(f.address) == Type.INIT ? 1 : 0;
            int i = h.rx.count++;
            h.rx.address[i] = f.address;
            h.rx.length[i] = f.length;
            h.rx.plane[i] = (byte) f.plane;
            h.rx.ecn[i] = (byte) f.ecn;
            h.rx.sourceHigh[i] = f.sourceHigh;
            h.rx.sourceLow[i] = f.sourceLow;
            h.rx.sourcePort[i] = f.sourcePort;
        }
        if (h.rx.count > 0) {
            model.lookAtPool(h, inits);
            h.endpoint.receive(nowNs, h.rx);
            model.lookAtPool(h, 0);
        }
        taken.forEach(Network::give);
        model.drain(h);
        for (Side s : List.copyOf(h.sides.values())) {
            if (s.state == Side.UP) {
                offerReceives(s);
            }
        }
        boolean more = true;
        for (int round = 0; more && round < 64; round++) {
            h.tx.count = 0;
            more = h.endpoint.transmit(nowNs, h.tx) && h.tx.count > 0;
            for (int i = 0; i < h.tx.count; i++) {
                network.send(h, h.tx, i, nowNs);
            }
        }
        model.drain(h);
    }

    // ---- faults ----

    private long soon() {
        return START_NS + trouble.nextLong(spanNs);
    }

    private void planTroubles() {
        SplittableRandom t = trouble;
        // Drawn whether used or not, so that one fault less leaves the others as they were.
        double loss = t.nextInt(4) == 0 ? 0.3 * t.nextDouble() : 0.05 * t.nextDouble();
        double duplicate = 0.1 * t.nextDouble();
        long later = 1L << t.nextInt(8, 24);
        double corrupt = 0.05 * t.nextDouble();
        double mark = t.nextDouble();
        int jitter = 1 + t.nextInt(20_000);
        network.loss = has(Fault.LOSS) ? loss : 0;
        network.duplicate = has(Fault.DUPLICATE) ? duplicate : 0;
        network.duplicateLaterNs = later;
        network.corrupt = has(Fault.CORRUPT) ? corrupt : 0;
        network.mark = has(Fault.MARK) ? mark : 0;
        network.jitterNs = has(Fault.DELAY) ? jitter : 1;
        network.congestion = has(Fault.CONGESTION);
        for (int i = 0; i < 6; i++) {
            long from = soon();
            long length = (long) (spanNs * 0.3 * t.nextDouble());
            int host = t.nextInt(hosts.size() + 1) - 1;
            int plane = t.nextInt(Network.PLANES);
            int port = t.nextInt(Network.PORTS);
            boolean oneWay = t.nextBoolean();
            double p = 0.3 + t.nextDouble();
            boolean outlasts = t.nextInt(3) == 0;
            if (i < 2 && has(Fault.BURST)) {
                add(Fault.BURST, from, from + length / 4, host, t.nextBoolean() ? plane : -1, -1, oneWay, p);
            } else if (i >= 2 && i < 4 && has(Fault.BLACKHOLE)) {
                // A path lives as long as there is another source port, or another plane.
                add(Fault.BLACKHOLE, from, outlasts && plane > 0 ? Long.MAX_VALUE : from + length, host, plane, port, oneWay, 1);
            } else if (i >= 4 && has(Fault.FLAP)) {
                add(Fault.FLAP, from, outlasts && plane > 0 ? Long.MAX_VALUE : from + length, host, plane, -1, oneWay, 1);
            }
        }
        if (has(Fault.OUTAGE)) {
            long from = soon();
            add(Fault.OUTAGE, from, from + 100 * MS + t.nextLong(2_500 * MS), t.nextInt(hosts.size() + 1) - 1, -1, -1, false, 1);
            model.silenceIsPossible = true;
        }
    }

    private void add(Fault kind, long from, long to, int host, int plane, int port, boolean oneWay, double p) {
        // In calm only what leaves a way open goes on.
        long end = to == Long.MAX_VALUE || kind == Fault.OUTAGE ? to : Math.min(to, START_NS + spanNs);
        network.troubles.add(new Network.Trouble(kind, from, end, host, plane, port, oneWay, p));
    }

    // ---- work ----

    private void planWork() {
        SplittableRandom w = work;
        int n = Math.min(profile.operations(), 8 + w.nextInt(w.nextInt(4) == 0 ? 120 : 40));
        List<long[]> times = new ArrayList<>();
        int connects = 1 + w.nextInt(hosts.size() + 1);
        for (int i = 0; i < connects; i++) {
            plan(times, i == 0 ? START_NS : START_NS + w.nextLong(spanNs / 4), this::connect);
        }
        for (int i = 0; i < n; i++) {
            long at = START_NS + w.nextLong(spanNs / 20, spanNs);
            SplittableRandom own = w.split();
            plan(times, at, () -> operate(own));
        }
        for (int i = 0; i < 3; i++) {
            long at = soon();
            long length = trouble.nextLong(Math.max(1, spanNs / 3));
            int host = trouble.nextInt(hosts.size());
            long secret = trouble.nextLong();
            if (has(Fault.PAUSE)) {
                plan(times, at, () -> {
                    network.faults++;
                    hosts.get(host).pausedUntilNs = nowNs + length;
                });
            }
            if (i == 0 && has(Fault.RESTART)) {
                plan(times, at + 1, () -> restart(hosts.get(host), secret, length));
            }
        }
        List<Runnable> unsorted = List.copyOf(actions);
        times.sort((a, b) -> a[0] != b[0] ? Long.compare(a[0], b[0]) : Long.compare(a[1], b[1]));
        actions.clear();
        actionNs = new long[times.size()];
        for (int i = 0; i < actionNs.length; i++) {
            actionNs[i] = times.get(i)[0];
            actions.add(unsorted.get((int) times.get(i)[1]));
        }
    }

    private void plan(List<long[]> times, long atNs, Runnable action) {
        times.add(new long[] {atNs, actions.size()});
        actions.add(action);
    }

    private void restart(Host h, long secret, long downNs) {
        network.faults++;
        anyDeath = true;
        model.kill(h);
        h.inbox.forEach(Network::give);
        h.inbox.clear();
        h.wasRestarted = true;
        h.start(secret);
        h.pausedUntilNs = nowNs + downNs;
        connect();
    }

    private void connect() {
        Host from = hosts.get(work.nextInt(hosts.size()));
        Host to = hosts.get((from.number + 1 + work.nextInt(hosts.size() - 1)) % hosts.size());
        if (from.pausedUntilNs > nowNs || from.sides.size() >= MOST_CONNECTIONS || to.sides.size() >= MOST_CONNECTIONS) {
            return;
        }
        int handle = from.endpoint.connect(nowNs, to.config.localAddresses[0], 0);
        if (handle <= 0) {
            if (from.endpoint.liveConnections() != from.config.maxConnections) {
                throw new Violation(from + " cannot connect, but has room");
            }
            return;
        }
        model.connecting(from, handle, to, Math.min(from.config.maxStreams, to.config.maxStreams));
    }

    private Side anySide(SplittableRandom r) {
        Host h = hosts.get(r.nextInt(hosts.size()));
        for (int i = 0; i < hosts.size(); i++, h = hosts.get((h.number + 1) % hosts.size())) {
            if (h.pausedUntilNs > nowNs || h.sides.isEmpty()) {
                continue;
            }
            Side[] up = h.sides.values().stream().filter(s -> s.state == Side.UP).toArray(Side[]::new);
            if (up.length > 0) {
                return up[r.nextInt(up.length)];
            }
        }
        return null;
    }

    private void operate(SplittableRandom r) {
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
                post(s, r);
            }
        }
    }

    private void abort(Side s) {
        anyDeath = true;
        int reason = work.nextBoolean() ? Reason.APPLICATION_ABORT : Reason.SHUTDOWN;
        s.host.endpoint.abort(nowNs, s.handle, reason);
        model.aborted(s, reason);
    }

    /** A closing side posts no receives any more, so neither side may need one that is not there. */
    private boolean mayClose(Side s) {
        if (s.peer == null || s.peer.state != Side.UP) {
            return false;
        }
        for (int i = 0; i < s.streams.length; i++) {
            if (s.streams[i].undelivered.size() > s.peer.streams[i].receives.size() || s.peer.streams[i].undelivered.size() > s.streams[i].receives.size()) {
                return false;
            }
        }
        return true;
    }

    private void close(Side s) {
        anyDeath = true;
        s.closedByUs = true;
        s.state = Side.CLOSING;
        s.host.endpoint.close(nowNs, s.handle);
    }

    private static void setMayFail(Side s, int stream) {
        s.streams[stream].mayFail = true;
        if (s.peer != null) {
            s.peer.streams[stream].mayFail = true;
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

    private static final int RECEIVE_BYTES = 4_000;

    private void post(Side s, SplittableRandom r) {
        Message m = new Message();
        m.opcode = 1 + r.nextInt(5);
        m.stream = r.nextInt(s.streams.length);
        m.length = length(r, s);
        m.immediate = r.nextInt();
        boolean send = m.opcode == Opcode.SEND || m.opcode == Opcode.SEND_IMM;
        if (send) {
            m.length = Math.min(m.length, RECEIVE_BYTES);
        }
        int bad = r.nextInt(100);
        int how = r.nextInt(10);
        Side.Stream stream = s.streams[m.stream];
        HostMemory there = s.peerHost.memory;
        int wrongKey = 0;
        long wrongAddress = 0;
        if (has(Fault.BAD_REQUEST) && bad < 4) {
            refuseLocally(s, r);
            return;
        }
        if (has(Fault.BAD_REQUEST) && bad < 9) {
            if (send) {
                m.length = RECEIVE_BYTES + 1 + r.nextInt(3_000);
                m.badCause = Cause.BAD_LENGTH;
            } else if (m.length > 0) {
                m.badCause = badTarget(m, how);
            }
        }
        boolean read = m.opcode == Opcode.READ_REQUEST;
        m.local = s.host.memory.take(m.length);
        if (m.local == null) {
            return;
        }
        boolean fleeting = has(Fault.FLEETING) && !send && m.badCause == 0 && how < 3 && m.length > 0;
        if (m.badCause == 0 && !send) {
            m.source = read && how > 6 && m.length > 0 ? writeToRead(stream) : null;
            if (m.source != null) {
                s.host.memory.release(m.local);
                m.length = m.source.length;
                m.local = s.host.memory.take(m.length);
                if (m.local == null) {
                    return;
                }
            } else if (fleeting) {
                m.remote = there.takeFleeting(m.length);
                m.possibleCause = Cause.BAD_KEY;
            } else {
                m.remote = there.take(m.length);
            }
            if (m.remote == null && m.source == null) {
                s.host.memory.release(m.local);
                return;
            }
        }
        byte[] localData = s.host.memory.fill(m.local);
        if (m.source != null) {
            m.data = m.source.data;
        } else if (read && m.remote != null) {
            m.data = there.fill(m.remote);
        } else {
            m.data = localData;
        }
        request.opcode = m.opcode;
        request.stream = m.stream;
        request.localAddress = m.local.address();
        request.localKey = m.local.region().key();
        request.length = m.length;
        request.immediate = m.immediate;
        m.id = nextId++;
        request.wrId = m.id;
        request.segments = style(m.id) % 3 == 0 ? pieces(m.local, m.length, m.id) : null;
        request.inline = !read && m.length <= Settings.INLINE_BYTES && style(m.id) % 5 < 2;
        HostMemory.Range target = m.source != null ? m.source.remote : m.remote;
        request.remoteAddress = target != null ? target.address() : 0;
        request.remoteKey = target != null ? target.region().key() : 0;
        if (m.badCause != 0 && !send) {
            aimBadly(there, m, how, r);
        } else if (m.length == 0 && !send) {
            // Neither key nor address counts.
            request.remoteAddress = r.nextLong();
            request.remoteKey = r.nextInt();
        }
        int result = s.host.endpoint.post(s.handle, request);
        if (result == Endpoint.OK) {
            if (request.inline) {
                // It was copied: its memory may hold anything now.
                s.host.memory.fill(m.local);
            }
            stream.pending.add(m);
            if (Opcode.consumesReceive(m.opcode)) {
                stream.undelivered.add(m);
            }
            if (m.opcode == Opcode.WRITE || m.opcode == Opcode.WRITE_IMM) {
                stream.unseen.add(m);
            }
            if (m.source != null) {
                m.source.readers++;
            }
            if (m.badCause != 0 || m.possibleCause != 0 || s.peerHost.config.streamPool < 64 || s.host.config.streamPool < 64) {
                setMayFail(s, m.stream);
            }
            return;
        }
        boolean fits = switch (result) {
            case Endpoint.QUEUE_FULL -> posted(s.host) == s.host.config.maxWorkRequests;
            case Endpoint.STREAM_IN_ERROR -> stream.mayFail;
            case Endpoint.BAD_STREAM -> s.host.endpoint.liveStreams() == s.host.config.streamPool;
            default -> false;
        };
        if (!fits) {
            throw new Violation(s + ": posting " + m + " returned " + result);
        }
        s.host.memory.release(m.local);
        if (m.remote != null) {
            there.release(m.remote);
        }
    }

    /** How a request is posted, where that makes no difference to its peer: by its number, so that scenarios stay what they were. */
    private static int style(long id) {
        return (int) (id * 0x9e3779b97f4a7c15L >>> 40);
    }

    /** The same memory in pieces, some of them empty. */
    private Segments pieces(HostMemory.Range range, int length, long id) {
        segments.clear();
        int at = 0;
        for (int i = 1; i < Settings.SEGMENTS; i++) {
            int piece = style(id * 31 + i) % (length - at + 1);
            segments.add(range.address() + at, piece, range.region().key());
            at += piece;
        }
        return segments.add(range.address() + at, length - at, range.region().key());
    }

    private static int posted(Host h) {
        return h.sides.values().stream().mapToInt(s -> java.util.Arrays.stream(s.streams).mapToInt(t -> t.pending.size()).sum()).sum();
    }

    /** A Write in this stream's line whose bytes a Read behind it must see, or null. */
    private static Message writeToRead(Side.Stream stream) {
        for (Message w : stream.pending) {
            if (w.opcode == Opcode.WRITE && w.remote != null && w.badCause == 0 && w.possibleCause == 0 && w.length > 0) {
                return w;
            }
        }
        return null;
    }

    private static int badTarget(Message m, int how) {
        return switch (how % 5) {
            case 0 -> Cause.BAD_KEY;
            case 1 -> Cause.OUT_OF_BOUNDS;
            case 2 -> Cause.OUT_OF_BOUNDS;
            case 3 -> Cause.PROTECTION_DOMAIN;
            default -> Cause.ACCESS_DENIED;
        };
    }

    private void aimBadly(HostMemory there, Message m, int how, SplittableRandom r) {
        boolean read = m.opcode == Opcode.READ_REQUEST;
        var region = there.main[0];
        request.remoteKey = region.key();
        request.remoteAddress = region.address();
        switch (how % 5) {
            case 0 -> request.remoteKey ^= 1 << r.nextInt(12, 32);
            // The last bytes lie beyond the region; those before may be written.
            case 1 -> request.remoteAddress = region.address() + region.length() - (m.length == 1 ? 0 : Math.min(m.length - 1, r.nextInt(HostMemory.TAIL)));
            case 2 -> request.remoteAddress = region.address() - m.length - r.nextInt(100);
            case 3 -> {
                request.remoteKey = there.foreign.key();
                request.remoteAddress = there.foreign.address();
            }
            default -> {
                request.remoteKey = read ? there.writeOnly.key() : there.readOnly.key();
                request.remoteAddress = read ? there.writeOnly.address() : there.readOnly.address();
            }
        }
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
        switch (r.nextInt(6)) {
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
                request.opcode = Settings.pick(r, 0, -1, Opcode.READ_RESPONSE, 11, 100);
                expected = Endpoint.BAD_OPCODE;
            }
            default -> {
                connection ^= 0x40000000;
                expected = Endpoint.BAD_CONNECTION;
            }
        }
        int result = s.host.endpoint.post(connection, request);
        if (result != expected) {
            throw new Violation(s + ": a request that must be refused with " + expected + " returned " + result);
        }
    }

    /** In calm as many as are needed, before that now and then. */
    private void offerReceives(Side s) {
        for (int i = 0; i < s.streams.length; i++) {
            Side.Stream stream = s.streams[i];
            int needed = s.peer == null ? 0 : s.peer.streams[i].undelivered.size();
            int wanted = calm ? needed : work.nextInt(8) == 0 ? needed + work.nextInt(4) / 3 : 0;
            while (stream.receives.size() < wanted && !stream.failed) {
                HostMemory.Range range = s.host.memory.take(RECEIVE_BYTES);
                if (range == null) {
                    break;
                }
                long id = nextId++;
                int result = style(id) % 3 == 0 ? s.host.endpoint.postReceive(s.handle, i, pieces(range, RECEIVE_BYTES, id), id)
                        : s.host.endpoint.postReceive(s.handle, i, range.address(), RECEIVE_BYTES, range.region().key(), id);
                if (result == Endpoint.OK) {
                    stream.receives.add(new Side.Receive(id, range, RECEIVE_BYTES));
                    if (s.host.config.streamPool < 64) {
                        setMayFail(s, i);
                    }
                    continue;
                }
                s.host.memory.release(range);
                boolean fits = switch (result) {
                    case Endpoint.QUEUE_FULL -> stream.receives.size() >= s.host.config.receiveQueueDepth;
                    case Endpoint.STREAM_IN_ERROR -> stream.mayFail;
                    case Endpoint.BAD_STREAM -> s.host.endpoint.liveStreams() == s.host.config.streamPool;
                    default -> false;
                };
                if (!fits) {
                    throw new Violation(s + ": posting a receive on stream " + i + " returned " + result);
                }
                stream.failed |= result == Endpoint.STREAM_IN_ERROR;
                break;
            }
        }
    }
}
