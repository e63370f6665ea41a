// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import io.metaroce.simulator.fabric.FabricConfig;
import io.metaroce.simulator.fabric.TopoFile;
import io.metaroce.simulator.fabric.Topologies;
import io.metaroce.simulator.fabric.Topology;
import io.metaroce.simulator.fabric.TwoSites;
import io.metaroce.simulator.host.HostConfig;
import io.metaroce.simulator.peer.Peers;
import io.metaroce.simulator.workload.Arrivals;
import io.metaroce.simulator.workload.Collectives;
import io.metaroce.simulator.workload.MatrixFile;
import io.metaroce.simulator.workload.Services;
import io.metaroce.simulator.workload.Workload;
import io.metaroce.simulator.workload.Workloads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** All that one run is made of, but the seed. Fields have the names of scenario files; see {@link ScenarioFile}. */
public final class Scenario implements Cloneable {
    public String name = "";
    /* Topology: a file of htsim's, or leaves and spines, or three tiers if leavesPerPod is set, or rails. */
    public Path topologyFile;
    public int hosts = 64;
    public int hostsPerLeaf = 8;
    public int spines = 8;
    /** NICs of a server, each on a rail of its own; hosts are NICs then, and hostsPerLeaf the servers of a pod. 0: none. */
    public int rails;
    public int leavesPerPod;
    public int aggregations;
    public int coresPerGroup;
    public int planes = 1;
    public double gigabits = 400;
    public long linkDelayNs = 1_000;
    /** Lines between two sites that have half the hosts each; 0: there is one site. */
    public int lines;
    public double lineGigabits = 400;
    public double lineDelayUs = 1_000;
    /** What may wait before a line; 0: as before any other link. */
    public long lineQueueBytes;
    /** Hosts whose links have another rate. */
    public final List<HostRate> hostRates = new ArrayList<>();
    /* Queues, in bandwidth-delay products of a host's link over the longest way. */
    public double queueBdp = 5;
    /** The same in bytes, where that is not 0: over long lines a bandwidth-delay product says nothing about switches. */
    public long queueBytes;
    public long markFromBytes;
    public long markAllBytes;
    /** The same where the fabric trims what does not fit. */
    public double trimBdp = 1;
    public double markFromBdp = 0.2;
    public double markAllBdp = 0.8;
    public double loss;
    public double lossBurst = 1;
    /** Bytes of a packet beyond its UDP payload. 66 is Ethernet with preamble and gap; htsim, and so the anchors, count none. */
    public int frameOverhead = 66;
    /** Whether what does not fit loses its payload only, bytes of buffer that a switch's outputs share (0: each its own). */
    public boolean trim;
    public long sharedBuffer;
    public boolean pfc;
    /** Bytes of an input in a switch at which it is paused, where there is PFC. */
    public double pauseBdp = 0.5;
    /* Hosts. */
    /** See {@link Peers}. */
    public String transport = Peers.OWN;
    public int paths = 48;
    public int payload = 4_096;
    /** Packets of one stream that may be out of order, a power of two. */
    public int streamWindow = 4_096;
    /* Workload: a matrix file of htsim's, or a pattern. */
    public Path matrixFile;
    public String pattern = "permutation";
    public long bytes = 8 << 20;
    public int senders = 63;
    public int inFlight;
    public boolean byReceipt;
    /** Whether the bytes of an all-to-all are those of a host's vector, and not of each message. */
    public boolean vector;
    /** Parts that follow each other: chunks of a tree, rounds of a read, blocks of a KV fetch. */
    public int parts = 8;
    /** Senders of pattern "groups". */
    public final List<Arrivals.Group> groups = new ArrayList<>();
    /** Sizes of pattern "mixed", flows of pattern "trace". */
    public Path sizesFile;
    public Path traceFile;
    public double load = 0.5;
    public double durationUs = 1_000;
    /* The run. */
    public final List<Fault> faults = new ArrayList<>();
    public double limitUs = 50_000;
    /** When Jain's index is taken; 0: not. */
    public double jainUs;
    /** Interval of the looks of {@link Fairness}; 0: it is not judged. */
    public double fairUs;
    /** Round trips after which shares must be right. */
    public double fairAfter = 2;
    /** Interval of {@link Trace}; 0: none. */
    public double traceUs;
    public List<Long> seeds = List.of(1L);

    /** Runs it. The seed rules the patterns that are random, the fabric's hashes and losses, and the hosts. */
    public Result run(long seed) {
        try {
            Topology topology = topology();
            Peers peers = Peers.named(transport);
            Simulation simulation = new Simulation(topology, fabric(topology, peers, seed), peers.factory(), hostConfig(), workload(seed), faults,
                    limitUs, seed);
            if (jainUs > 0) {
                simulation.sampleAt(jainUs);
            }
            if (traceUs > 0) {
                simulation.traceEvery(traceUs);
            }
            if (fairUs > 0) {
                simulation.judgeFairnessEvery(fairUs, fairAfter);
            }
            Result result = simulation.run();
            result.transport = transport;
            return result;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Hosts whose links have another rate than the others'.
     *
     * @param first number of the first; the others follow
     */
    public record HostRate(int first, int count, double gigabits) { }

    public Topology topology() throws IOException {
        Topology t = shape();
        for (HostRate r : hostRates) {
            for (int i = 0; i < r.count; i++) {
                t.setHostRate(r.first + i, Math.round(r.gigabits * 1e9));
            }
        }
        return t;
    }

    private Topology shape() throws IOException {
        if (topologyFile != null) {
            return TopoFile.read(topologyFile, planes);
        }
        Topologies.Size size = new Topologies.Size(hosts, hostsPerLeaf, planes, Math.round(gigabits * 1e9), linkDelayNs);
        if (lines > 0) {
            return TwoSites.of(size, spines, lines, Math.round(lineGigabits * 1e9), Math.round(lineDelayUs * 1e3), lineQueueBytes);
        }
        if (rails > 0) {
            return Topologies.rails(size, rails, spines);
        }
        return leavesPerPod > 0 ? Topologies.fatTree(size, leavesPerPod, aggregations, coresPerGroup) : Topologies.leafSpine(size, spines);
    }

    private FabricConfig fabric(Topology topology, Peers peers, long seed) {
        double bdp = topology.baseRttPs(payload + 64 + frameOverhead) / 8e12 * topology.hostRate();
        FabricConfig c = new FabricConfig();
        c.trim = trim || peers.trim();
        c.queueBytes = (long) ((c.trim ? trimBdp : queueBdp) * bdp);
        c.markFromBytes = (long) (markFromBdp * bdp);
        c.markAllBytes = (long) (markAllBdp * bdp);
        c.queueBytes = queueBytes > 0 ? queueBytes : c.queueBytes;
        c.markFromBytes = markFromBytes > 0 ? markFromBytes : c.markFromBytes;
        c.markAllBytes = markAllBytes > 0 ? markAllBytes : c.markAllBytes;
        c.frameOverhead = frameOverhead;
        c.loss = loss;
        c.lossBurst = lossBurst;
        c.sharedBytes = sharedBuffer;
        c.pauseBytes = pfc || peers.pfc() ? (long) (pauseBdp * bdp) : 0;
        c.seed = seed;
        return c;
    }

    private HostConfig hostConfig() {
        HostConfig c = new HostConfig();
        c.pathsPerPlane = paths;
        c.payloadMtu = payload;
        c.streamWindowPackets = streamWindow;
        c.portBytes = payload + 64 + frameOverhead;
        return c;
    }

    Workload workload(long seed) throws IOException {
        if (matrixFile != null) {
            return MatrixFile.read(matrixFile);
        }
        return switch (pattern) {
            case "permutation" -> Workloads.permutation(hosts, hostsPerLeaf, bytes, seed);
            case "incast" -> Workloads.incast(hosts, senders, bytes);
            case "all-to-all" -> Workloads.allToAll(hosts, vector ? bytes / hosts : bytes, inFlight);
            case "ring" -> Workloads.ring(hosts, hostsPerLeaf, bytes, byReceipt);
            case "one" -> Workloads.single(hosts, 0, hosts - 1, bytes);
            case "outcast" -> Workloads.outcast(hosts, senders, bytes);
            case "tree" -> Collectives.tree(hosts, hostsPerLeaf, bytes, parts, byReceipt);
            case "hierarchical" -> Collectives.hierarchical(hosts, hostsPerLeaf, bytes, byReceipt);
            case "all-gather", "reduce-scatter" -> Collectives.once(pattern, hosts, hostsPerLeaf, bytes, byReceipt);
            case "read-fan-out" -> Services.readFanOut(hosts, senders, bytes, parts);
            case "kv-fetch" -> Services.kvFetch(hosts, parts, bytes, inFlight);
            case "groups" -> Arrivals.groups(hosts, groups);
            case "mixed" -> Arrivals.mixed(needed(sizesFile, "sizes"), hosts, load, durationUs, gigabits * 1e9 * planes, seed);
            case "trace" -> Arrivals.trace(needed(traceFile, "trace"), hosts);
            default -> throw new IllegalArgumentException("pattern '" + pattern + "' is none of permutation, incast, outcast, all-to-all, ring, tree, "
                    + "hierarchical, all-gather, reduce-scatter, read-fan-out, kv-fetch, groups, mixed, trace, one");
        };
    }

    private static Path needed(Path file, String key) {
        if (file == null) {
            throw new IllegalArgumentException("the pattern needs a file: say " + key + " = \"...\"");
        }
        return file;
    }

    /** A copy to change one thing in. */
    public Scenario copy() {
        try {
            Scenario copy = (Scenario) clone();
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException(e);
        }
    }
}
