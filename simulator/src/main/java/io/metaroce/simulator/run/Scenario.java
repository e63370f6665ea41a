// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import io.metaroce.simulator.fabric.FabricConfig;
import io.metaroce.simulator.fabric.TopoFile;
import io.metaroce.simulator.fabric.Topologies;
import io.metaroce.simulator.fabric.Topology;
import io.metaroce.simulator.host.HostConfig;
import io.metaroce.simulator.peer.Peers;
import io.metaroce.simulator.workload.MatrixFile;
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
    /* Topology: a file of htsim's, or leaves and spines, or three tiers if leavesPerPod is set. */
    public Path topologyFile;
    public int hosts = 64;
    public int hostsPerLeaf = 8;
    public int spines = 8;
    public int leavesPerPod;
    public int aggregations;
    public int coresPerGroup;
    public int planes = 1;
    public double gigabits = 400;
    public long linkDelayNs = 1_000;
    /* Queues, in bandwidth-delay products of a host's link over the longest way. */
    public double queueBdp = 5;
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
    /* Workload: a matrix file of htsim's, or a pattern. */
    public Path matrixFile;
    public String pattern = "permutation";
    public long bytes = 8 << 20;
    public int senders = 63;
    public int inFlight;
    public boolean byReceipt;
    /* The run. */
    public final List<Fault> faults = new ArrayList<>();
    public double limitUs = 50_000;
    /** When Jain's index is taken; 0: not. */
    public double jainUs;
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
            Result result = simulation.run();
            result.transport = transport;
            return result;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Topology topology() throws IOException {
        if (topologyFile != null) {
            return TopoFile.read(topologyFile, planes);
        }
        Topologies.Size size = new Topologies.Size(hosts, hostsPerLeaf, planes, Math.round(gigabits * 1e9), linkDelayNs);
        return leavesPerPod > 0 ? Topologies.fatTree(size, leavesPerPod, aggregations, coresPerGroup) : Topologies.leafSpine(size, spines);
    }

    private FabricConfig fabric(Topology topology, Peers peers, long seed) {
        double bdp = topology.baseRttPs(payload + 64 + frameOverhead) / 8e12 * topology.hostRate();
        FabricConfig c = new FabricConfig();
        c.trim = trim || peers.trim();
        c.queueBytes = (long) ((c.trim ? trimBdp : queueBdp) * bdp);
        c.markFromBytes = (long) (markFromBdp * bdp);
        c.markAllBytes = (long) (markAllBdp * bdp);
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
            case "all-to-all" -> Workloads.allToAll(hosts, bytes, inFlight);
            case "ring" -> Workloads.ring(hosts, hostsPerLeaf, bytes, byReceipt);
            case "one" -> Workloads.single(hosts, 0, hosts - 1, bytes);
            default -> throw new IllegalArgumentException("pattern '" + pattern
                    + "' is none of permutation, incast, all-to-all, ring, one");
        };
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
