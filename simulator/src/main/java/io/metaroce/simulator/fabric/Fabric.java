// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.fabric;

import io.metaroce.simulator.core.EventQueue;
import io.metaroce.simulator.core.Mix;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Switches and links in virtual time. A packet takes one event a hop: an output is a queue in order of arrival, so its backlog is the
 * time until it is free, and the departure of a packet is known when it enters.
 *
 * <p>Routes are all shortest ones; a switch takes one of them by the hash of the packet's five-tuple with the switch's own seed. An
 * output marks by RED thresholds on what waits and drops what does not fit.
 */
public final class Fabric {
    /** Takes the packets that reach a host. */
    public interface Sink {
        /** The packet is the receiver's: it gives the slot back. */
        void deliver(int host, int packet);
    }

    private final Topology topology;
    private final FabricConfig config;
    private final EventQueue events;
    private final long eventKind;
    private final Sink sink;
    private final SplittableRandom random;
    public final Packets packets = new Packets();

    private final int hosts;
    private final int linkCount;
    private final int[] to;
    private final double[] psPerByte;
    private final double[] fullPsPerByte;
    private final long[] delayPs;
    private final long[] queueBytes;
    private final long[] busyPs;
    private final double[] lossChance;
    private final int[] lossLeft;
    private final boolean[] dead;
    /** Outputs of hosts: what waits there is the host's affair. */
    private final boolean[] ofHost;
    /** Links that may be routed over. */
    private final boolean[] announced;
    private final long[] hashSeed;
    private final int[] leaf;
    private final int[] leafIndex;
    /** By switch and destination leaf: where its next hops begin in {@link #nextHops}; the number of hops stands there first. */
    private int[] route;
    private int[] nextHops;
    private final int[][] leavesOfPlane;
    private final int mostLeaves;

    /* Statistics, by link. */
    private final long[] deepestBytes;
    private final long[] drops;
    private final long[] losses;
    private final long[] marks;
    private final long[] bytes;
    private long watchFromPs;
    private final long[] deepestWatched;
    private long forwarded;

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
        to = new int[linkCount];
        psPerByte = new double[linkCount];
        fullPsPerByte = new double[linkCount];
        delayPs = new long[linkCount];
        queueBytes = new long[linkCount];
        busyPs = new long[linkCount];
        lossChance = new double[linkCount];
        lossLeft = new int[linkCount];
        dead = new boolean[linkCount];
        ofHost = new boolean[linkCount];
        announced = new boolean[linkCount];
        deepestBytes = new long[linkCount];
        deepestWatched = new long[linkCount];
        drops = new long[linkCount];
        losses = new long[linkCount];
        marks = new long[linkCount];
        bytes = new long[linkCount];
        Arrays.fill(announced, true);
        for (int l = 0; l < linkCount; l++) {
            Topology.Link link = topology.links().get(l);
            to[l] = link.to();
            psPerByte[l] = fullPsPerByte[l] = 8e12 / link.bitsPerSecond();
            delayPs[l] = link.delayPs();
            queueBytes[l] = link.queueBytes() > 0 ? link.queueBytes() : config.queueBytes;
        }
        for (int plane = 0; plane < topology.planes(); plane++) {
            for (int h = 0; h < hosts; h++) {
                ofHost[topology.up(plane, h)] = true;
                // A host's own queue is memory: what may wait there is up to the host.
                queueBytes[topology.up(plane, h)] = Long.MAX_VALUE / 4;
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
    }

    // ---- packets ----

    /** Hash that switches choose by: of both addresses, both ports and the plane, which is part of the addresses. */
    public static long flowHash(int source, int destination, int plane, int sourcePort) {
        return Mix.of((long) source << 40 ^ (long) destination << 20 ^ (long) plane << 60 ^ sourcePort);
    }

    /** The host sends a packet whose fields are set, apart from link and hash; it waits for its turn at the host's port. */
    public void send(int packet) {
        int source = packets.source[packet];
        int plane = packets.plane[packet];
        packets.marked[packet] = false;
        packets.size[packet] = packets.headerLength[packet] + packets.payloadLength[packet] + config.frameOverhead;
        packets.flowHash[packet] = flowHash(source, packets.destination[packet], plane, packets.sourcePort[packet]);
        enter(topology.up(plane, source), packet);
    }

    /** What waits at the host's port, this packet included, in ps. */
    public long hostBacklogPs(int plane, int host) {
        return Math.max(0, busyPs[topology.up(plane, host)] - events.nowPs());
    }

    /** The event of a packet at the end of a link. */
    public void arrive(int packet) {
        int node = to[packets.link[packet]];
        if (node < hosts) {
            sink.deliver(node, packet);
            return;
        }
        int destination = packets.destination[packet];
        int plane = packets.plane[packet];
        int last = leaf[plane * hosts + destination];
        if (node == last) {
            enter(topology.down(plane, destination), packet);
            return;
        }
        int at = route[(node - hosts) * mostLeaves + leafIndex[last]];
        int choices = nextHops[at];
        if (choices == 0) {
            packets.give(packet);
            return;
        }
        int hop = choices == 1 ? 0 : Mix.below(Mix.of(packets.flowHash[packet] ^ hashSeed[node]), choices);
        enter(nextHops[at + 1 + hop], packet);
    }

    private void enter(int link, int packet) {
        long now = events.nowPs();
        int size = packets.size[packet];
        double perByte = psPerByte[link];
        long waitPs = Math.max(0, busyPs[link] - now);
        long waiting = (long) (waitPs / perByte);
        if (waiting + size > queueBytes[link]) {
            drops[link]++;
            packets.give(packet);
            return;
        }
        if (waiting > deepestBytes[link]) {
            deepestBytes[link] = waiting;
        }
        if (now >= watchFromPs && waiting > deepestWatched[link]) {
            deepestWatched[link] = waiting;
        }
        if (waiting > config.markFromBytes && !ofHost[link] && !packets.marked[packet]) {
            mark(link, packet, waiting);
        }
        busyPs[link] = now + waitPs + (long) (size * perByte);
        bytes[link] += size;
        forwarded++;
        if (dead[link] || lossChance[link] > 0 && isLost(link)) {
            losses[link]++;
            packets.give(packet);
            return;
        }
        packets.link[packet] = link;
        events.at(busyPs[link] + delayPs[link], eventKind | packet);
    }

    private void mark(int link, int packet, long waiting) {
        if (waiting >= config.markAllBytes
                || random.nextDouble() * (config.markAllBytes - config.markFromBytes) < waiting - config.markFromBytes) {
            packets.marked[packet] = true;
            marks[link]++;
        }
    }

    /** Losses come in runs of geometric length whose mean is the configured one; the share of lost packets stays the same. */
    private boolean isLost(int link) {
        if (lossLeft[link] > 0) {
            lossLeft[link]--;
            return true;
        }
        if (random.nextDouble() >= lossChance[link]) {
            return false;
        }
        while (config.lossBurst > 1 && random.nextDouble() >= 1 / config.lossBurst) {
            lossLeft[link]++;
        }
        return true;
    }

    // ---- what changes while it runs ----

    /** From now on the link runs at this part of its rate; what waits already leaves as it was scheduled. */
    public void setSpeed(int link, double factor) {
        psPerByte[link] = fullPsPerByte[link] / factor;
    }

    /** Share of the link's packets that are lost. */
    public void setLoss(int link, double share) {
        double run = Math.max(1, config.lossBurst);
        // A run starts in a packet that is not inside one.
        lossChance[link] = share <= 0 ? 0 : share / (run - share * (run - 1));
    }

    /** The link loses everything, or works again. Nobody is told: routes stay. */
    public void setDead(int link, boolean isDead) {
        dead[link] = isDead;
    }

    /** Routes avoid these links from now on, or use them again. */
    public void announce(int[] links, boolean usable) {
        for (int link : links) {
            announced[link] = usable;
        }
        findRoutes();
    }

    /** All links from and to a switch. */
    public int[] linksOf(int node) {
        int[] found = new int[linkCount];
        int n = 0;
        for (int l = 0; l < linkCount; l++) {
            if (to[l] == node || topology.links().get(l).from() == node) {
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
            int from = topology.links().get(l).from();
            if (from >= hosts && to[l] >= hosts && announced[l]) {
                degree[from - hosts]++;
            }
        }
        for (int s = 0; s < switches; s++) {
            out[s] = new int[degree[s]];
        }
        Arrays.fill(degree, 0);
        for (int l = 0; l < linkCount; l++) {
            int from = topology.links().get(l).from() - hosts;
            if (from >= 0 && to[l] >= hosts && announced[l]) {
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
                        if (distance[to[l] - hosts] == distance[s] - 1) {
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
                int other = to[l] - hosts;
                if (announced[l ^ 1] && distance[other] == Integer.MAX_VALUE) {
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
        return most(deepestBytes);
    }

    public long deepestWatchedBytes() {
        return most(deepestWatched);
    }

    private long most(long[] byLink) {
        long most = 0;
        for (int l = 0; l < linkCount; l++) {
            most = ofHost[l] ? most : Math.max(most, byLink[l]);
        }
        return most;
    }

    /** Packets dropped because a queue was full. */
    public long drops() {
        return Arrays.stream(drops).sum();
    }

    /** Packets lost on links. */
    public long losses() {
        return Arrays.stream(losses).sum();
    }

    public long marks() {
        return Arrays.stream(marks).sum();
    }

    /** Bytes that left a link, lost ones included. */
    public long bytesOf(int link) {
        return bytes[link];
    }

    /** Packets times hops. */
    public long forwarded() {
        return forwarded;
    }
}
