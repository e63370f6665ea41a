// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.fabric;

import java.util.ArrayList;
import java.util.List;

/**
 * Hosts, switches and directed links, plane by plane. A node is a number: hosts first, then switches. Built once, then read by
 * {@link Fabric} and by scenarios that name links.
 *
 * <p>Every host has one link up to a leaf switch and one down from it in each plane.
 */
public final class Topology {
    /**
     * A directed link with the output queue in front of it.
     *
     * @param bitsPerSecond line rate
     * @param delayPs propagation, and what the node at its end takes to forward
     * @param queueBytes what may wait and be sent, 0: by the scenario
     */
    public record Link(int plane, int from, int to, long bitsPerSecond, long delayPs, long queueBytes) { }

    private final String name;
    private final int hosts;
    private final int planes;
    private final List<Link> links = new ArrayList<>();
    /** Tier of each switch, 0: leaf. By node number less the number of hosts. */
    private final List<Integer> tiers = new ArrayList<>();
    private final List<Integer> planeOfSwitch = new ArrayList<>();
    private final int[][] up;
    private final int[][] down;
    private int firstOfSecond = Integer.MAX_VALUE;
    private long longHaulRate;

    Topology(String name, int hosts, int planes) {
        this.name = name;
        this.hosts = hosts;
        this.planes = planes;
        up = new int[planes][hosts];
        down = new int[planes][hosts];
    }

    /** Adds a switch and returns its node number. */
    int addSwitch(int plane, int tier) {
        tiers.add(tier);
        planeOfSwitch.add(plane);
        return hosts + tiers.size() - 1;
    }

    /** Adds a link in each direction. */
    void join(int plane, int a, int b, long bitsPerSecond, long delayPs, long queueAtoB, long queueBtoA) {
        links.add(new Link(plane, a, b, bitsPerSecond, delayPs, queueAtoB));
        links.add(new Link(plane, b, a, bitsPerSecond, delayPs, queueBtoA));
    }

    /** Joins a host with its leaf. */
    void attach(int plane, int host, int leaf, long bitsPerSecond, long delayPs, long queueDown) {
        up[plane][host] = links.size();
        down[plane][host] = links.size() + 1;
        join(plane, host, leaf, bitsPerSecond, delayPs, 0, queueDown);
    }

    public String name() {
        return name;
    }

    public int hosts() {
        return hosts;
    }

    public int planes() {
        return planes;
    }

    public int switches() {
        return tiers.size();
    }

    public List<Link> links() {
        return links;
    }

    /** Number of the link from the host into the plane. */
    public int up(int plane, int host) {
        return up[plane][host];
    }

    /** Number of the last link to the host in the plane. */
    public int down(int plane, int host) {
        return down[plane][host];
    }

    public int leafOf(int plane, int host) {
        return links.get(up[plane][host]).to();
    }

    public int tierOf(int node) {
        return tiers.get(node - hosts);
    }

    /** Node numbers of the switches of a plane and tier, in order. */
    public int[] switches(int plane, int tier) {
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < tiers.size(); i++) {
            if (tiers.get(i) == tier && planeOfSwitch.get(i) == plane) {
                found.add(hosts + i);
            }
        }
        return found.stream().mapToInt(Integer::intValue).toArray();
    }

    public int topTier() {
        return tiers.stream().mapToInt(Integer::intValue).max().orElse(0);
    }

    /** Gives a host's links, in all planes and both directions, another rate. Before a {@link Fabric} is made of it. */
    public void setHostRate(int host, long bitsPerSecond) {
        for (int plane = 0; plane < planes; plane++) {
            for (int l : new int[] {up[plane][host], down[plane][host]}) {
                Link old = links.get(l);
                links.set(l, new Link(old.plane, old.from, old.to, bitsPerSecond, old.delayPs, old.queueBytes));
            }
        }
    }

    /** Rate of the first host's link, bit/s. */
    public long hostRate() {
        return hostRate(0);
    }

    /** Rate of a host's link in each plane, bit/s. */
    public long hostRate(int host) {
        return links.get(up[0][host]).bitsPerSecond();
    }

    /** Says that hosts from this number on are at another site, and what leads there, bit/s in each direction and all planes. */
    void setSites(int firstOfSecond, long longHaulRate) {
        this.firstOfSecond = firstOfSecond;
        this.longHaulRate = longHaulRate;
    }

    /** Site of a host: 0 where there is only one. */
    public int siteOf(int host) {
        return host < firstOfSecond ? 0 : 1;
    }

    /** Rate between the sites, bit/s in each direction; 0: there is one site. */
    public long longHaulRate() {
        return longHaulRate;
    }

    /** Delay of the longest shortest way between two hosts, one way, ps: all links of the way up and down to the highest tier. */
    public long oneWayDelayPs() {
        long sum = 0;
        int node = 0;
        for (int tier = 0; tier <= topTier(); tier++) {
            Link way = null;
            for (Link link : links) {
                if (link.from() == node && link.to() >= hosts && tierOf(link.to()) == tier) {
                    way = link;
                    break;
                }
            }
            if (way == null) {
                break;
            }
            sum += 2 * way.delayPs();
            node = way.to();
        }
        return sum;
    }

    /** Links of the longest way between two hosts. */
    public int hops() {
        return 2 * (topTier() + 1);
    }

    /** Time of a packet of {@code packetBytes} there and of an acknowledgement back through an empty fabric, ps (serialisation once a hop). */
    public long baseRttPs(int packetBytes) {
        return 2 * oneWayDelayPs() + Math.round(hops() * packetBytes * 8e12 / hostRate());
    }
}
