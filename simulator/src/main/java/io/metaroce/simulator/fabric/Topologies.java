// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.fabric;

/** The regular topologies. Every plane is a copy of the same fabric. */
public final class Topologies {
    private static final long PS_PER_NS = 1_000;

    /** What is the same for all of them. */
    public record Size(int hosts, int hostsPerLeaf, int planes, long bitsPerSecond, long linkDelayNs) {
        public Size {
            if (hosts < 1 || hostsPerLeaf < 1 || hosts % hostsPerLeaf != 0) {
                throw new IllegalArgumentException(hosts + " hosts do not fill leaves of " + hostsPerLeaf);
            }
            if (planes < 1 || planes > 8) {
                throw new IllegalArgumentException("planes " + planes + " is outside 1..8");
            }
        }
    }

    private Topologies() {
    }

    /** Two tiers: every leaf has a link to every spine. */
    public static Topology leafSpine(Size size, int spines) {
        int leaves = size.hosts / size.hostsPerLeaf;
        Topology t = new Topology(size.hosts + " hosts, " + leaves + " leaves, " + spines + " spines" + planes(size), size.hosts, size.planes);
        for (int plane = 0; plane < size.planes; plane++) {
            joinSpines(t, plane, leaves(t, plane, size), spines, size);
        }
        return t;
    }

    /**
     * Rail-optimised: servers of several NICs, of which NIC r has its link to the leaf of rail r, together with NIC r of the other servers of
     * its pod; every leaf has a link to every spine. So what GPUs of the same rank exchange within a pod takes one switch, and all else goes
     * over spines: also between NICs of one server, as there is nothing else here that joins them. Host {@code s * rails + r} is NIC r of
     * server s.
     *
     * @param size its hosts are NICs, and those of a leaf the servers of a pod
     * @param rails NICs of a server
     */
    public static Topology rails(Size size, int rails, int spines) {
        if (rails < 1 || size.hosts % (rails * size.hostsPerLeaf) != 0) {
            throw new IllegalArgumentException(size.hosts + " NICs do not fill pods of " + size.hostsPerLeaf + " servers with " + rails + " each");
        }
        int pods = size.hosts / (rails * size.hostsPerLeaf);
        Topology t = new Topology(size.hosts / rails + " servers of " + rails + " rails, " + pods + (pods == 1 ? " pod, " : " pods, ") + spines + " spines"
                + planes(size), size.hosts, size.planes);
        long delay = size.linkDelayNs * PS_PER_NS;
        for (int plane = 0; plane < size.planes; plane++) {
            int[] leaf = new int[pods * rails];
            for (int l = 0; l < leaf.length; l++) {
                leaf[l] = t.addSwitch(plane, 0);
                for (int s = 0; s < size.hostsPerLeaf; s++) {
                    int server = l / rails * size.hostsPerLeaf + s;
                    t.attach(plane, server * rails + l % rails, leaf[l], size.bitsPerSecond, delay, 0);
                }
            }
            joinSpines(t, plane, leaf, spines, size);
        }
        return t;
    }

    private static void joinSpines(Topology t, int plane, int[] leaf, int spines, Size size) {
        for (int s = 0; s < spines; s++) {
            int spine = t.addSwitch(plane, 1);
            for (int l : leaf) {
                t.join(plane, l, spine, size.bitsPerSecond, size.linkDelayNs * PS_PER_NS, 0, 0);
            }
        }
    }

    /**
     * Three tiers: pods of leaves that are joined with all aggregation switches of their pod; aggregation switch i of every pod is
     * joined with the cores of group i.
     *
     * @param leavesPerPod leaves in a pod
     * @param aggregations aggregation switches in a pod
     * @param coresPerGroup cores that each aggregation switch has a link to
     */
    public static Topology fatTree(Size size, int leavesPerPod, int aggregations, int coresPerGroup) {
        int leaves = size.hosts / size.hostsPerLeaf;
        if (leaves % leavesPerPod != 0) {
            throw new IllegalArgumentException(leaves + " leaves do not fill pods of " + leavesPerPod);
        }
        int pods = leaves / leavesPerPod;
        Topology t = new Topology(size.hosts + " hosts, " + pods + " pods of " + leavesPerPod + " leaves, " + aggregations * coresPerGroup + " cores"
                + planes(size), size.hosts, size.planes);
        long delay = size.linkDelayNs * PS_PER_NS;
        for (int plane = 0; plane < size.planes; plane++) {
            int[] leaf = leaves(t, plane, size);
            int[][] aggregation = new int[pods][aggregations];
            for (int pod = 0; pod < pods; pod++) {
                for (int a = 0; a < aggregations; a++) {
                    aggregation[pod][a] = t.addSwitch(plane, 1);
                    for (int l = 0; l < leavesPerPod; l++) {
                        t.join(plane, leaf[pod * leavesPerPod + l], aggregation[pod][a], size.bitsPerSecond, delay, 0, 0);
                    }
                }
            }
            for (int a = 0; a < aggregations; a++) {
                for (int c = 0; c < coresPerGroup; c++) {
                    int core = t.addSwitch(plane, 2);
                    for (int pod = 0; pod < pods; pod++) {
                        t.join(plane, aggregation[pod][a], core, size.bitsPerSecond, delay, 0, 0);
                    }
                }
            }
        }
        return t;
    }

    static int[] leaves(Topology t, int plane, Size size) {
        int[] leaf = new int[size.hosts / size.hostsPerLeaf];
        for (int l = 0; l < leaf.length; l++) {
            leaf[l] = t.addSwitch(plane, 0);
            for (int h = 0; h < size.hostsPerLeaf; h++) {
                t.attach(plane, l * size.hostsPerLeaf + h, leaf[l], size.bitsPerSecond, size.linkDelayNs * PS_PER_NS, 0);
            }
        }
        return leaf;
    }

    static String planes(Size size) {
        return size.planes == 1 ? "" : ", " + size.planes + " planes";
    }
}
