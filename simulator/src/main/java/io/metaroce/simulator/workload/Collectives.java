// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.workload;

import java.util.Arrays;
import java.util.stream.IntStream;

/** Collective operations beyond the ring all-reduce of {@link Workloads}. What a host sends next waits for what it received; same arguments, same flows. */
public final class Collectives {
    private final Workload w;
    private final boolean byReceipt;

    private Collectives(String name, int hosts, boolean byReceipt) {
        w = new Workload(name + " of " + hosts, hosts);
        this.byReceipt = byReceipt;
    }

    /**
     * All-gather, and in mirror image reduce-scatter, over a ring: n - 1 steps, in each of which every host sends an n-th of the vector on to the
     * next. Neighbours are in different leaves.
     *
     * @param byReceipt whether the receiver's completion starts the next step, or the sender's
     */
    public static Workload once(String name, int hosts, int perLeaf, long bytes, boolean byReceipt) {
        Collectives c = new Collectives(name, hosts, byReceipt);
        c.steps(new int[][] {acrossLeaves(hosts, perLeaf)}, hosts - 1, bytes / hosts, c.none(), true);
        return c.w;
    }

    /**
     * All-reduce in three phases: reduce-scatter within each leaf, all-reduce of each part among the hosts of the same place in all leaves,
     * all-gather within each leaf; all of them over rings.
     */
    public static Workload hierarchical(int hosts, int perLeaf, long bytes, boolean byReceipt) {
        int leaves = hosts / perLeaf;
        if (leaves < 2 || perLeaf < 2 || leaves * perLeaf != hosts) {
            throw new IllegalArgumentException("a hierarchical all-reduce needs two full leaves of two hosts");
        }
        Collectives c = new Collectives("hierarchical all-reduce", hosts, byReceipt);
        int[][] inside = IntStream.range(0, leaves).mapToObj(l -> IntStream.range(l * perLeaf, (l + 1) * perLeaf).toArray()).toArray(int[][]::new);
        int[][] across = IntStream.range(0, perLeaf).mapToObj(p -> IntStream.range(0, leaves).map(l -> l * perLeaf + p).toArray())
                .toArray(int[][]::new);
        int[] scattered = c.steps(inside, perLeaf - 1, bytes / perLeaf, c.none(), false);
        int[] reduced = c.steps(across, 2 * (leaves - 1), bytes / perLeaf / leaves, scattered, false);
        c.steps(inside, perLeaf - 1, bytes / perLeaf, reduced, true);
        return c.w;
    }

    /**
     * All-reduce over a binary tree: parts of the vector go up, each as soon as it has come from both children, and from the root down again.
     *
     * @param chunks parts that follow each other
     */
    public static Workload tree(int hosts, int perLeaf, long bytes, int chunks, boolean byReceipt) {
        Collectives c = new Collectives("tree all-reduce", hosts, byReceipt);
        int[] host = acrossLeaves(hosts, perLeaf);
        for (int chunk = 0; chunk < chunks; chunk++) {
            int[] up = new int[hosts];
            int[] down = new int[hosts];
            for (int i = 0; i < hosts; i++) {
                int children = (int) IntStream.of(2 * i + 1, 2 * i + 2).filter(n -> n < hosts).count();
                up[i] = children == 0 ? Flow.NONE : c.w.addTrigger(children);
                down[i] = i == 0 ? up[0] : children == 0 ? Flow.NONE : c.w.addTrigger(1);
            }
            for (int i = 1; i < hosts; i++) {
                c.add(host[i], host[(i - 1) / 2], bytes / chunks, up[i], up[(i - 1) / 2]);
                c.add(host[(i - 1) / 2], host[i], bytes / chunks, down[(i - 1) / 2], down[i]);
            }
        }
        return c.w;
    }

    private static int[] acrossLeaves(int hosts, int perLeaf) {
        int leaves = hosts / perLeaf;
        return IntStream.range(0, hosts).map(rank -> rank % leaves * perLeaf + rank / leaves).toArray();
    }

    private int[] none() {
        int[] none = new int[w.hosts()];
        Arrays.fill(none, Flow.NONE);
        return none;
    }

    /**
     * Steps around rings: in each a host sends to the next, once the one before has sent to it in the step before.
     *
     * @param before by host: the trigger of its first step
     * @param last whether nothing follows
     * @return by host: the trigger that its last receipt fires
     */
    private int[] steps(int[][] rings, int steps, long bytes, int[] before, boolean last) {
        int[] starts = before;
        for (int step = 0; step < steps; step++) {
            int[] next = none();
            for (int[] ring : rings) {
                for (int i = 0; i < ring.length; i++) {
                    int to = ring[(i + 1) % ring.length];
                    next[to] = last && step == steps - 1 ? Flow.NONE : w.addTrigger(1);
                    add(ring[i], to, bytes, starts[ring[i]], next[to]);
                }
            }
            starts = next;
        }
        return starts;
    }

    private void add(int source, int destination, long bytes, int startedBy, int fires) {
        Flow f = w.add(source, destination, bytes);
        f.startedBy = startedBy;
        if (byReceipt) {
            f.whenReceived = fires;
        } else {
            f.whenSent = fires;
        }
    }
}
