// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.fabric;

import io.metaroce.simulator.core.EventQueue;
import io.metaroce.simulator.core.Mix;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

/**
 * Switches and links in virtual time. A packet takes one event a hop: an output is a queue in order of arrival, so its backlog is the
 * time until it is free, and the departure of a packet is known when it enters.
 *
 * <p>Routes are all shortest ones; a switch takes one of them by the hash of the packet's five-tuple with the switch's own seed. An
 * output marks by RED thresholds on what waits and drops what does not fit. Options ({@link FabricConfig}): pausing instead of dropping
 * ({@link Pausing}), trimming instead of dropping, a buffer shared by the outputs of a switch.
 */
public final class Fabric {
    /** Takes the packets that reach a host. */
    public interface Sink {
        /** The packet is the receiver's: it gives the slot back. */
        void deliver(int host, int packet);
    }

    /** The input of what a host sends. */
    private static final int NO_INPUT = -1;
    /** Numbers of packets and links have fewer bits; above stands the kind of an event of {@link Pausing}. */
    private static final int KIND_SHIFT = 28;
    /** When a host may look again whether its port is still paused. */
    private static final long PAUSED_PS = 200_000;
    /** A packet that overtakes finds one half sent. */
    private static final int HALF_PACKET_BYTES = 2_080;

    private final Topology topology;
    private final FabricConfig config;
    private final EventQueue events;
    private final long eventKind;
    private final Sink sink;
    private final SplittableRandom random;
    public final Packets packets = new Packets();

    private final int hosts;
    private final int linkCount;
    /** By number of the link. */
    private final Output[] outputs;
    private final Pausing pausing;
    private final long[] hashSeed;
    private final int[] leaf;
    private final int[] leafIndex;
    /** By switch and destination leaf: where its next hops begin in {@link #nextHops}; the number of hops stands there first. */
    private int[] route;
    /** By node: its outputs, where they share a buffer. */
    private final int[][] sharing;
    private int[] nextHops;
    private final int[][] leavesOfPlane;
    private final int mostLeaves;

    private long watchFromPs;
    private long forwarded;
    private long trims;

    /**
     * @param eventKind added to the packet number in the events of this fabric, which go to {@link #arrive}
     */
    public Fabric(Topology topology, FabricConfig config, EventQueue events, long eventKind, Sink sink) {
        this.topology = topology;
        this.config = config;
        this.events = events;
        this.eventKind = eventKind;
        this.sink = sink;
        random = new SplittableRandom(Mix.of(config.seed ^ 0xfab));
        hosts = topology.hosts();
        linkCount = topology.links().size();
        outputs = new Output[linkCount];
        for (int l = 0; l < linkCount; l++) {
            Topology.Link link = topology.links().get(l);
            outputs[l] = new Output(link, link.queueBytes() > 0 ? link.queueBytes() : config.queueBytes);
        }
        for (int plane = 0; plane < topology.planes(); plane++) {
            for (int h = 0; h < hosts; h++) {
                Output up = outputs[topology.up(plane, h)];
                up.ofHost = true;
                // A host's own queue is memory: what may wait there is up to the host.
                up.queueBytes = Long.MAX_VALUE / 4;
                setLoss(topology.up(plane, h), config.loss / 2);
                setLoss(topology.down(plane, h), config.loss / 2);
            }
        }
        hashSeed = new long[hosts + topology.switches()];
        for (int i = 0; i < hashSeed.length; i++) {
            hashSeed[i] = Mix.of(config.seed * 0x1_0000_0001L + i);
        }
        leaf = new int[topology.planes() * hosts];
        leafIndex = new int[hosts + topology.switches()];
        leavesOfPlane = new int[topology.planes()][];
        int most = 0;
        for (int plane = 0; plane < topology.planes(); plane++) {
            leavesOfPlane[plane] = topology.switches(plane, 0);
            most = Math.max(most, leavesOfPlane[plane].length);
            for (int i = 0; i < leavesOfPlane[plane].length; i++) {
                leafIndex[leavesOfPlane[plane][i]] = i;
            }
            for (int h = 0; h < hosts; h++) {
                leaf[plane * hosts + h] = topology.leafOf(plane, h);
            }
        }
        mostLeaves = most;
        findRoutes();
        if (config.pauseBytes > 0 && config.trim) {
            throw new IllegalArgumentException("a fabric either pauses or trims");
        }
        pausing = config.pauseBytes > 0 ? new Pausing(this, events, linkCount, config) : null;
        sharing = new int[hosts + topology.switches()][];
        for (int n = 0; n < sharing.length; n++) {
            int node = n;
            sharing[n] = config.sharedBytes > 0 ? IntStream.range(0, linkCount).filter(l -> outputs[l].from == node).toArray() : null;
        }
    }

    // ---- packets ----

    /** Hash that switches choose by: of both addresses, both ports and the plane, which is part of the addresses. */
    public static long flowHash(int source, int destination, int plane, int sourcePort) {
        return Mix.of((long) source << 40 ^ (long) destination << 20 ^ (long) plane << 60 ^ sourcePort);
    }

    /** The host sends a packet whose fields are set, apart from link and hash; it waits for its turn at the host's port. */
    public void send(int packet) {
        int source = packets.source(packet);
        int plane = packets.plane(packet);
        packets.marked(packet, false);
        packets.trimmed(packet, false);
        packets.size(packet, packets.headerLength(packet) + packets.payloadLength(packet) + config.frameOverhead);
        packets.flowHash(packet, flowHash(source, packets.destination(packet), plane, packets.sourcePort(packet)));
        enter(topology.up(plane, source), packet, NO_INPUT);
    }

    /** What waits at the host's port, this packet included, in ps. */
    public long hostBacklogPs(int plane, int host) {
        int link = topology.up(plane, host);
        if (pausing != null) {
            long waitingPs = (long) (pausing.waiting(link) * outputs[link].psPerByte);
            return pausing.isPaused(link) ? waitingPs + PAUSED_PS : waitingPs;
        }
        return outputs[link].waitPs(events.nowPs());
    }

    /** The event of a packet at the end of a link, or of {@link Pausing}. */
    public void arrive(int number) {
        int kind = number >>> KIND_SHIFT;
        if (kind == 0) {
            arrived(number);
        } else {
            pausing.event(kind, number & (1 << KIND_SHIFT) - 1);
        }
    }

    /** First look at what an event of {@link #arrive} needs, so that it is at hand soon; the result means nothing. */
    public long look(int number) {
        return number >>> KIND_SHIFT == 0 ? packets.look(number) : 0;
    }

    /** Second look, after {@link #look} was asked for all that follow: the headers of packets that reach a host. */
    public long lookAgain(int number) {
        return number >>> KIND_SHIFT == 0 && outputs[packets.link(number)].to < hosts ? packets.lookAtHeader(number) : 0;
    }

    long event(int kind, int number) {
        return eventKind | (long) kind << KIND_SHIFT | number;
    }

    private void arrived(int packet) {
        int input = packets.link(packet);
        int node = outputs[input].to;
        if (node < hosts) {
            sink.deliver(node, packet);
            return;
        }
        int destination = packets.destination(packet);
        int plane = packets.plane(packet);
        int last = leaf[plane * hosts + destination];
        if (node == last) {
            enter(topology.down(plane, destination), packet, input);
            return;
        }
        int at = route[(node - hosts) * mostLeaves + leafIndex[last]];
        int choices = nextHops[at];
        if (choices == 0) {
            packets.give(packet);
            return;
        }
        int hop = choices == 1 ? 0 : Mix.below(Mix.of(packets.flowHash(packet) ^ hashSeed[node]), choices);
        enter(nextHops[at + 1 + hop], packet, input);
    }

    private void enter(int link, int packet, int input) {
        Output out = outputs[link];
        long now = events.nowPs();
        int size = packets.size(packet);
        double perByte = out.psPerByte;
        if (config.trim && packets.urgent(packet) && !out.ofHost) {
            overtake(link, packet, now);
            return;
        }
        long waitPs = pausing != null ? 0 : out.waitPs(now);
        // An empty queue is the usual case, and a division is not cheap.
        long waiting = pausing != null ? pausing.waiting(link) : waitPs == 0 ? 0 : (long) (waitPs / perByte);
        boolean fits = pausing == null ? waiting + size <= limit(out) : input == NO_INPUT || pausing.admit(input, size);
        if (!fits) {
            if (config.trim) {
                trims++;
                packets.trimmed(packet, true);
                packets.urgent(packet, true);
                packets.size(packet, size - packets.payloadLength(packet));
                packets.payloadLength(packet, 0);
                overtake(link, packet, now);
                return;
            }
            out.drops++;
            packets.give(packet);
            return;
        }
        if (waiting > out.deepestBytes) {
            out.deepestBytes = waiting;
        }
        if (now >= watchFromPs && waiting > out.deepestWatched) {
            out.deepestWatched = waiting;
        }
        if (waiting > config.markFromBytes && !out.ofHost && !packets.marked(packet)) {
            mark(out, packet, waiting);
        }
        if (pausing != null) {
            pausing.enter(link, packet, input);
            return;
        }
        out.busyPs = now + waitPs + (long) (size * perByte);
        launch(link, packet, out.busyPs);
    }

    /** What may wait at an output. */
    private long limit(Output out) {
        if (out.ofHost || sharing[out.from] == null) {
            return out.queueBytes;
        }
        long freeBytes = config.sharedBytes;
        for (int l : sharing[out.from]) {
            freeBytes -= bytesWaiting(l);
        }
        return (long) (config.sharedAlpha * Math.max(0, freeBytes));
    }

    /** An urgent packet goes before all that are not, behind the one that is being sent. */
    private void overtake(int link, int packet, long now) {
        Output out = outputs[link];
        long ownPs = (long) (packets.size(packet) * out.psPerByte);
        long begin = Math.max(out.headersPs, Math.min(out.busyPs, now + (long) (HALF_PACKET_BYTES * out.psPerByte)));
        out.headersPs = Math.max(now, begin) + ownPs;
        out.busyPs = Math.max(now, out.busyPs) + ownPs;
        launch(link, packet, out.headersPs);
    }

    /** The packet's last bit leaves at that time. */
    void launch(int link, int packet, long atPs) {
        Output out = outputs[link];
        out.bytes += packets.size(packet);
        forwarded++;
        if (out.dead || out.lossChance > 0 && isLost(out)) {
            out.losses++;
            packets.give(packet);
            return;
        }
        packets.link(packet, link);
        events.at(atPs + out.delayPs, eventKind | packet);
    }

    long serialisationPs(int link, int size) {
        return (long) (size * outputs[link].psPerByte);
    }

    private void mark(Output out, int packet, long waiting) {
        if (waiting >= config.markAllBytes
                || random.nextDouble() * (config.markAllBytes - config.markFromBytes) < waiting - config.markFromBytes) {
            packets.marked(packet, true);
            out.marks++;
        }
    }

    /** Losses come in runs of geometric length whose mean is the configured one; the share of lost packets stays the same. */
    private boolean isLost(Output out) {
        if (out.lossLeft > 0) {
            out.lossLeft--;
            return true;
        }
        if (random.nextDouble() >= out.lossChance) {
            return false;
        }
        while (config.lossBurst > 1 && random.nextDouble() >= 1 / config.lossBurst) {
            out.lossLeft++;
        }
        return true;
    }

    // ---- what changes while it runs ----

    /** From now on the link runs at this part of its rate; what waits already leaves as it was scheduled. */
    public void setSpeed(int link, double factor) {
        outputs[link].psPerByte = outputs[link].fullPsPerByte / factor;
    }

    /** Share of the link's packets that are lost. */
    public void setLoss(int link, double share) {
        double run = Math.max(1, config.lossBurst);
        // A run starts in a packet that is not inside one.
        outputs[link].lossChance = share <= 0 ? 0 : share / (run - share * (run - 1));
    }

    /** The link loses everything, or works again. Nobody is told: routes stay. */
    public void setDead(int link, boolean isDead) {
        outputs[link].dead = isDead;
    }

    /** Routes avoid these links from now on, or use them again. */
    public void announce(int[] links, boolean usable) {
        for (int link : links) {
            outputs[link].announced = usable;
        }
        findRoutes();
    }

    /** All links from and to a switch. */
    public int[] linksOf(int node) {
        int[] found = new int[linkCount];
        int n = 0;
        for (int l = 0; l < linkCount; l++) {
            if (outputs[l].to == node || outputs[l].from == node) {
                found[n++] = l;
            }
        }
        return Arrays.copyOf(found, n);
    }

    /** All shortest ways from every switch to every leaf of its plane. */
    private void findRoutes() {
        int switches = topology.switches();
        int[][] out = new int[switches][];
        int[] degree = new int[switches];
        for (int l = 0; l < linkCount; l++) {
            int from = outputs[l].from;
            if (from >= hosts && outputs[l].to >= hosts && outputs[l].announced) {
                degree[from - hosts]++;
            }
        }
        for (int s = 0; s < switches; s++) {
            out[s] = new int[degree[s]];
        }
        Arrays.fill(degree, 0);
        for (int l = 0; l < linkCount; l++) {
            int from = outputs[l].from - hosts;
            if (from >= 0 && outputs[l].to >= hosts && outputs[l].announced) {
                out[from][degree[from]++] = l;
            }
        }
        route = new int[switches * mostLeaves];
        // Entry 0: no way.
        int[] hops = new int[1024];
        int used = 1;
        int[] distance = new int[switches];
        int[] order = new int[switches];
        for (int[] leaves : leavesOfPlane) {
            for (int i = 0; i < leaves.length; i++) {
                distances(leaves[i] - hosts, out, distance, order);
                for (int s = 0; s < switches; s++) {
                    if (distance[s] == Integer.MAX_VALUE || distance[s] == 0) {
                        continue;
                    }
                    if (used + out[s].length + 1 > hops.length) {
                        hops = Arrays.copyOf(hops, 2 * hops.length + out[s].length);
                    }
                    int at = used++;
                    for (int l : out[s]) {
                        if (distance[outputs[l].to - hosts] == distance[s] - 1) {
                            hops[used++] = l;
                        }
                    }
                    hops[at] = used - at - 1;
                    route[s * mostLeaves + i] = at;
                }
            }
        }
        nextHops = hops;
    }

    /** Hops to a switch from all others: breadth first, against the links, which come in pairs. */
    private void distances(int goal, int[][] out, int[] distance, int[] order) {
        Arrays.fill(distance, Integer.MAX_VALUE);
        distance[goal] = 0;
        order[0] = goal;
        for (int done = 0, found = 1; done < found; done++) {
            int s = order[done];
            for (int l : out[s]) {
                // Link l leads from s; its twin, l with the lowest bit flipped, leads to s.
                int other = outputs[l].to - hosts;
                if (outputs[l ^ 1].announced && distance[other] == Integer.MAX_VALUE) {
                    distance[other] = distance[s] + 1;
                    order[found++] = other;
                }
            }
        }
    }

    // ---- observation ----

    public Topology topology() {
        return topology;
    }

    public FabricConfig config() {
        return config;
    }

    /** From this time on {@link #deepestWatchedBytes} counts. */
    public void watchFrom(long atPs) {
        watchFromPs = atPs;
    }

    /** Most bytes that ever waited at an output of a switch. */
    public long deepestBytes() {
        return most(o -> o.deepestBytes);
    }

    public long deepestWatchedBytes() {
        return most(o -> o.deepestWatched);
    }

    private long most(ToLongFunction<Output> measure) {
        return Arrays.stream(outputs).filter(o -> !o.ofHost).mapToLong(measure).max().orElse(0);
    }

    private long sum(ToLongFunction<Output> measure) {
        return Arrays.stream(outputs).mapToLong(measure).sum();
    }

    /** Packets dropped because a queue was full. */
    public long drops() {
        return sum(o -> o.drops);
    }

    /** Packets that lost their payload because a queue was full. */
    public long trims() {
        return trims;
    }

    /** Times that a switch told a sender to pause. */
    public long pauses() {
        return pausing == null ? 0 : pausing.pauses();
    }

    /** Bytes that wait at the link's output now. */
    public long bytesWaiting(int link) {
        return pausing != null ? pausing.waiting(link) : (long) (outputs[link].waitPs(events.nowPs()) / outputs[link].psPerByte);
    }

    /** Packets lost on links. */
    public long losses() {
        return sum(o -> o.losses);
    }

    public long marks() {
        return sum(o -> o.marks);
    }

    /** Bytes that left a link, lost ones included. */
    public long bytesOf(int link) {
        return outputs[link].bytes;
    }

    /** Packets times hops. */
    public long forwarded() {
        return forwarded;
    }
}
