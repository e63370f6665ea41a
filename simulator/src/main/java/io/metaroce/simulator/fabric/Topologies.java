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
            int[] leaf = leaves(t, plane, size);
            for (int s = 0; s < spines; s++) {
                int spine = t.addSwitch(plane, 1);
                for (int l = 0; l < leaves; l++) {
                    t.join(plane, leaf[l], spine, size.bitsPerSecond, size.linkDelayNs * PS_PER_NS, 0, 0);
                }
            }
        }
        return t;
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
