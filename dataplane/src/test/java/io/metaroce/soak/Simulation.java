// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.transport.Endpoint;
import io.metaroce.transport.PathStats;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.wire.AcceptHeader;
import io.metaroce.wire.Prefix;
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
    /** Paths given up are tried again at least every 100 ms; several may have to fail on ports of the same bad route first. */
    private static final long RETURN_NS = 2_000 * MS;
    /** A peer that was restarted answers the first keepalive by RESET; or in the next second, if the probes of many paths have used up those of this one. */
    private static final long RESTART_NS = 1_000 * MS;
    private static final long RESTART_OF_MANY_PATHS_NS = 2_000 * MS;
    private static final long END_NS = 6_000 * MS;
    private static final long MOST_TURNS = 3_000_000;
    static final int MOST_HOSTS = 8;

    final Profile profile;
    final Model model;
    final Network network;
    private final List<Host> hosts = new ArrayList<>();
    private final Traffic traffic;
    private final SplittableRandom planned;
    private final SplittableRandom trouble;
    private final SplittableRandom later;
    private final boolean[] has = new boolean[Fault.values().length];
    private final List<Runnable> actions = new ArrayList<>();
    private long[] actionNs;
    private long nowNs = START_NS;
    private final long spanNs;
    private boolean calm;
    boolean anyDeath;
    private long turns;

    Simulation(Profile profile) {
        this.profile = profile;
        SplittableRandom root = new SplittableRandom(profile.seed());
        SplittableRandom shape = root.split();
        SplittableRandom wires = root.split();
        SplittableRandom work = root.split();
        trouble = root.split();
        later = root.split();
        for (Fault f : Fault.values()) {
            int oneIn = switch (f) {
                case OUTAGE -> 40;
                case PATHS -> 10;
                case RESTART, MANY, CLOCK -> 5;
                case NOT_READY -> 4;
                case LOSS -> 2;
                default -> 3;
            };
            has[f.ordinal()] = (f.isLater() ? f.source(profile.seed()) : shape).nextInt(oneIn) == 0 & profile.allows(f);
        }
        int wanted = 3 + shape.nextInt(shape.nextInt(4) == 0 ? MOST_HOSTS - 2 : 3);
        int n = Math.min(has(Fault.MANY) ? wanted : 2, profile.hosts());
        spanNs = (long) ((0.3 + shape.nextDouble() * (shape.nextInt(4) == 0 ? 20 : 4)) * MS);
        int delay = Settings.pick(shape, 2_000, 5_000, 20_000, 100_000);
        int spread = Settings.pick(shape, 1, 2, 10) * delay / 2;
        network = new Network(hosts, n, wires, delay, has(Fault.REORDER) ? spread : 500);
        List<Host> shared = new ArrayList<>();
        boolean scarce = false;
        for (int i = 0; i < n; i++) {
            // Each host draws from its own source, so that one host less leaves the others as they were.
            SplittableRandom own = shape.split();
            EndpointConfig config = Settings.draw(own, i, has(Fault.SMALL) && own.nextBoolean());
            if (profile.seed() % 8 == 5) {
                Settings.encrypt(config, profile.seed() * 100 + i);
            }
            // In the order in which they were thought of, so that each leaves those before it as they were.
            SplittableRandom more = later.split();
            if (has(Fault.NOT_READY)) {
                Settings.giveUpSometimes(config, more);
            }
            if (has(Fault.KEYS)) {
                config.keyPackets = 1 + more.nextInt(1 << more.nextInt(1, 8));
            }
            boolean shares = has(Fault.SHARED) && more.nextInt(4) > 0;
            if (shares) {
                SharedQueue.configure(config, more);
            }
            if (has(Fault.PARK)) {
                Settings.park(config, more);
                scarce |= config.maxConnections <= Traffic.MOST_CONNECTIONS;
            }
            if (has(Fault.PLANES)) {
                PlaneChanges.configure(config, more);
            }
            if (has(Fault.PATHS)) {
                config.pathsPerPlane = Settings.pick(more, 17 + more.nextInt(239), 256, 256);
            }
            HostMemory memory = Workshop.own().memory(i);
            memory.reset(own.nextLong());
            Host host = new Host(i, config, memory, Settings.pick(own, 2, 16, 64), Settings.pick(own, 200, 1_000, 5_000, 20_000));
            if (shares) {
                shared.add(host);
            }
            host.moves = has(Fault.PLANES);
            start(host, own.nextLong());
            host.lastPollNs = START_NS;
            hosts.add(host);
        }
        model = new Model(hosts);
        model.nowNs = nowNs;
        model.contextsAreScarce = scarce;
        shared.forEach(h -> h.shared = new SharedQueue(h, model));
        network.wire = new Wire(model, n);
        traffic = new Traffic(this, hosts, model, work);
        planned = work.split();
    }

    /** A new process on a machine whose clock is its own. */
    private void start(Host h, long secret) {
        if (has(Fault.CLOCK)) {
            SplittableRandom r = new SplittableRandom(secret);
            h.setClock(r.nextLong(1L << r.nextInt(1, 42)), r.nextInt(-300, 301));
        }
        h.start(secret);
    }

    boolean has(Fault f) {
        return has[f.ordinal()];
    }

    // ---- the course of a scenario ----

    /** Runs it to its end; throws {@link Violation}, or whatever escapes from an endpoint. */
    void run() {
        try {
            course();
        } finally {
            for (Host h : hosts) {
                h.inbox.forEach(Workshop.own()::give);
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
        finish(calmNs + (model.silenceIsPossible ? LONG_NS : anyDeath || anyConnecting() || model.contextsAreScarce ? NOTICE_NS : network.hasLastingTrouble() ? AROUND_DEAD_ROUTES_NS : PROGRESS_NS + longestGivingUpNs()), this::workIsDone, "work is not done");
        model.count(Check.PROGRESS);
        if (!network.hasLastingTrouble() && !model.silenceIsPossible && !model.contextsAreScarce) {
            finish(nowNs + RETURN_NS, this::pathsAreGood, "a path that works is not used again");
            model.count(Check.PATHS_RETURN);
        }
        for (Host h : hosts) {
            h.sides.values().forEach(model::inspect);
        }
        traffic.endAll();
        finish(nowNs + (model.silenceIsPossible ? LONG_NS : END_NS), this::nothingLives, "something is left");
        model.count(Check.NOTHING_LEFT);
        model.auditEnd();
    }

    /** A host that gives messages up for want of a receive first asks as often as it was told to. */
    private long longestGivingUpNs() {
        return hosts.stream().mapToLong(Host::givingUpNs).max().orElse(0);
    }

    private boolean anyConnecting() {
        return hosts.stream().anyMatch(h -> h.sides.values().stream().anyMatch(s -> s.state == Side.CONNECTING || s.mayBeForgotten()));
    }

    private boolean workIsDone() {
        for (Host h : hosts) {
            for (Side s : h.sides.values()) {
                // Whether the peer of a parked connection is there shows when it is resumed.
                if (s.state == Side.CONNECTING || s.state == Side.CLOSING || !s.isIdle() || s.peerIsGone() && !s.isParked()) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Encrypted connections learn it by silence alone, as nothing unsealed could be believed; so does who has the address of a peer that moved. */
    private static void requireKnownPeer(Side s) {
        if (s.state == Side.UP && s.host.config.security == null && s.host.config.maxParked == 0 && !s.peerHost.moves && s.peerIncarnation != 0 && s.peerIncarnation != s.peerHost.incarnation) {
            throw new Violation(s + " has not noticed that its peer was restarted");
        }
    }

    private boolean pathsAreGood() {
        return hosts.stream().allMatch(h -> h.sides.values().stream().allMatch(model::pathsAreGood));
    }

    private boolean nothingLives() {
        for (Host h : hosts) {
            Endpoint e = h.endpoint;
            if (!h.sides.isEmpty() || e.liveConnections() + e.parkedConnections() + e.liveStreams() + e.liveWorkRequests() + e.livePackets() + e.liveParities() + e.liveWindows()
                    + e.liveSegmentLists() - (h.shared == null ? 0 : h.shared.lists()) + e.liveInlineRequests() != 0) {
                return false;
            }
        }
        return true;
    }

    private void finish(long untilNs, java.util.function.BooleanSupplier done, String what) {
        while (!done.getAsBoolean()) {
            if (nowNs >= untilNs) {
                throw new Violation(what + " after " + (untilNs - START_NS - spanNs) / MS + " ms of calm: " + describe());
            }
            if (nowNs - START_NS - spanNs > (has(Fault.PATHS) ? RESTART_OF_MANY_PATHS_NS : RESTART_NS) && !model.silenceIsPossible && !network.hasLastingTrouble()) {
                hosts.forEach(h -> h.sides.values().forEach(Simulation::requireKnownPeer));
            }
            traffic.closeLines();
            runUntil(Math.min(untilNs, nowNs + 200_000), done);
        }
    }

    private static void describePaths(StringBuilder s, Endpoint e, int connection) {
        PathStats path = new PathStats();
        for (int i = 0; i < e.pathCount(connection); i++) {
            e.readPath(connection, i, path);
            s.append(String.format(" [%d.%d %s%s epoch %d, port %d, %d out of %.1f, rtt %.0f us, resent %d]", path.plane, path.index,
                    path.stateName(), path.planeDown ? ", plane down" : "", path.epoch, path.sourcePort, path.inflight, path.window, path.rttUs, path.retransmissions));
        }
    }

    private String describe() {
        StringBuilder s = new StringBuilder();
        for (Host h : hosts) {
            Endpoint e = h.endpoint;
            s.append(h).append(" holds ").append(e.liveConnections()).append(" connections, ").append(e.parkedConnections()).append(" parked, ").append(e.liveStreams()).append(" streams, ")
                    .append(e.liveWorkRequests()).append(" requests, ").append(e.livePackets()).append(" packets, ")
                    .append(e.liveParities()).append(" parities, ").append(e.liveWindows()).append(" windows; ");
            for (Side side : h.sides.values()) {
                if (side.isIdle() && side.state == Side.UP && model.pathsAreGood(side)) {
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
                describePaths(s, e, side.handle);
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
                    throw new Violation("no end after " + turns + " turns at " + nowNs + " until " + untilNs + ": " + describe());
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
            if (!h.isOn(f.plane, f.generation)) {
                continue;
            }
            if (!f.corrupt && Prefix.type(f.address) == Type.ACCEPT && network.wire.answersLastCall(h, f.address)) {
                model.onAccept(f.from, f.fromIncarnation, AcceptHeader.responderCid(f.address), h, Prefix.destinationCid(f.address),
                        AcceptHeader.initiatorNonce(f.address));
            }
            if (!f.corrupt) {
                network.wire.heard(h, f.address, f.length);
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
            h.endpoint.receive(h.clock(nowNs), h.rx);
            model.lookAtPool(h, 0);
        }
        taken.forEach(Workshop.own()::give);
        model.drain(h);
        for (Side s : List.copyOf(h.sides.values())) {
            if (s.state == Side.UP) {
                traffic.offerReceives(s, calm);
            }
        }
        if (h.shared != null) {
            h.shared.offer(calm, later);
        }
        boolean more = true;
        for (int round = 0; more && round < 64; round++) {
            h.tx.count = 0;
            more = h.endpoint.transmit(h.clock(nowNs), h.tx) && h.tx.count > 0;
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
        SplittableRandom w = planned;
        int n = Math.min(profile.operations(), 8 + w.nextInt(w.nextInt(4) == 0 ? 120 : 40));
        List<long[]> times = new ArrayList<>();
        int connects = 1 + w.nextInt(hosts.size() + 1);
        for (int i = 0; i < connects; i++) {
            plan(times, i == 0 ? START_NS : START_NS + w.nextLong(spanNs / 4), traffic::connect);
        }
        for (int i = 0; i < n; i++) {
            long at = START_NS + w.nextLong(spanNs / 20, spanNs);
            SplittableRandom own = w.split();
            plan(times, at, () -> traffic.operate(own));
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
        int disturbances = has(Fault.OWN_MEMORY) || has(Fault.SHARED) || has(Fault.PARK) || has(Fault.PLANES) ? Math.min(profile.operations(), 4 + later.nextInt(24)) : 0;
        for (int i = 0; i < disturbances; i++) {
            long at = START_NS + later.nextLong(spanNs / 20, spanNs);
            SplittableRandom own = later.split();
            plan(times, at, () -> traffic.disturb(own));
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
        h.inbox.forEach(Workshop.own()::give);
        h.inbox.clear();
        h.wasRestarted = true;
        start(h, secret);
        h.pausedUntilNs = nowNs + downNs;
        traffic.connect();
    }
}
