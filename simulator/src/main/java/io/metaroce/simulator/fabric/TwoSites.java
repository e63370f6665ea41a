// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.fabric;

/**
 * Two sites of leaves and spines, joined by long-haul lines. At each site all spines have links to one border switch, of which every line
 * takes the traffic that hashes on it. A line is two links with a node between them that only forwards: so all shortest ways between sites go
 * up to the lines and down again, as they do over the cores of a fat tree.
 */
public final class TwoSites {
    private static final long PS_PER_NS = 1_000;

    private TwoSites() {
    }

    /**
     * @param size of both sites together: each has half the hosts
     * @param spines of each site
     * @param lines between the sites, in each plane
     * @param lineRate of a line, bit/s
     * @param lineDelayNs one way, from border to border
     * @param lineQueueBytes what may wait before a line; 0: as before any other link
     */
    public static Topology of(Topologies.Size size, int spines, int lines, long lineRate, long lineDelayNs, long lineQueueBytes) {
        int leaves = size.hosts() / size.hostsPerLeaf();
        if (leaves % 2 != 0) {
            throw new IllegalArgumentException(leaves + " leaves are not the same number at both sites");
        }
        Topology t = new Topology("two sites of " + size.hosts() / 2 + " hosts, " + leaves / 2 + " leaves, " + spines + " spines, " + lines + " lines of "
                + lineDelayNs / 1e6 + " ms" + Topologies.planes(size), size.hosts(), size.planes());
        for (int plane = 0; plane < size.planes(); plane++) {
            int[] leaf = Topologies.leaves(t, plane, size);
            int[] border = new int[2];
            for (int site = 0; site < 2; site++) {
                border[site] = t.addSwitch(plane, 2);
                for (int s = 0; s < spines; s++) {
                    int spine = t.addSwitch(plane, 1);
                    for (int l = 0; l < leaves / 2; l++) {
                        t.join(plane, leaf[site * leaves / 2 + l], spine, size.bitsPerSecond(), size.linkDelayNs() * PS_PER_NS, 0, 0);
                    }
                    t.join(plane, spine, border[site], size.bitsPerSecond(), size.linkDelayNs() * PS_PER_NS, 0, 0);
                }
            }
            for (int i = 0; i < lines; i++) {
                int line = t.addSwitch(plane, 3);
                t.join(plane, border[0], line, lineRate, lineDelayNs * PS_PER_NS / 2, lineQueueBytes, lineQueueBytes);
                t.join(plane, border[1], line, lineRate, lineDelayNs * PS_PER_NS / 2, lineQueueBytes, lineQueueBytes);
            }
        }
        t.setSites(size.hosts() / 2, lines * lineRate * size.planes());
        return t;
    }
}
