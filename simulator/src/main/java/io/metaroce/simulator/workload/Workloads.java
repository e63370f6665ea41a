// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.workload;

import java.util.SplittableRandom;

/** The usual patterns of traffic. Same arguments, same flows. */
public final class Workloads {
    private Workloads() {
    }

    /**
     * Every host sends to one other and receives from one, none within its leaf: all flows cross the spines.
     *
     * @param perLeaf hosts of a leaf; there are at least two leaves
     */
    public static Workload permutation(int hosts, int perLeaf, long bytes, long seed) {
        if (hosts < 2 * perLeaf) {
            throw new IllegalArgumentException("a permutation across leaves needs two leaves");
        }
        SplittableRandom random = new SplittableRandom(seed);
        int[] to = new int[hosts];
        for (int i = 0; i < hosts; i++) {
            to[i] = i;
        }
        for (int i = hosts - 1; i > 0; i--) {
            swap(to, i, random.nextInt(i + 1));
        }
        for (int i = firstWithin(to, perLeaf); i >= 0; i = firstWithin(to, perLeaf)) {
            swap(to, i, random.nextInt(hosts));
        }
        Workload w = new Workload("permutation of " + hosts, hosts);
        for (int i = 0; i < hosts; i++) {
            w.add(i, to[i], bytes);
        }
        return w;
    }

    private static int firstWithin(int[] to, int perLeaf) {
        for (int i = 0; i < to.length; i++) {
            if (i / perLeaf == to[i] / perLeaf) {
                return i;
            }
        }
        return -1;
    }

    private static void swap(int[] a, int i, int j) {
        int kept = a[i];
        a[i] = a[j];
        a[j] = kept;
    }

    /** Hosts 1 to {@code senders}, or as many others, send to host 0 at once. */
    public static Workload incast(int hosts, int senders, long bytes) {
        if (senders >= hosts) {
            throw new IllegalArgumentException("incast of " + senders + " senders needs " + (senders + 1) + " hosts");
        }
        Workload w = new Workload("incast " + senders + ":1", hosts);
        for (int i = 0; i < senders; i++) {
            // Spread over the leaves, not the first ones full.
            w.add(1 + (int) ((long) i * (hosts - 1) / senders), 0, bytes);
        }
        return w;
    }

    /** Host 0 sends to so many others at once. */
    public static Workload outcast(int hosts, int receivers, long bytes) {
        if (receivers >= hosts) {
            throw new IllegalArgumentException("outcast to " + receivers + " receivers needs " + (receivers + 1) + " hosts");
        }
        Workload w = new Workload("outcast 1:" + receivers, hosts);
        for (int i = 0; i < receivers; i++) {
            w.add(0, 1 + (int) ((long) i * (hosts - 1) / receivers), bytes);
        }
        return w;
    }

    /**
     * Every host sends to every other, in the order of distance.
     *
     * @param inFlight flows that a host has under way; 0: all at once
     */
    public static Workload allToAll(int hosts, long bytes, int inFlight) {
        Workload w = new Workload("all-to-all of " + hosts, hosts);
        int[][] done = new int[hosts][hosts];
        for (int step = 1; step < hosts; step++) {
            for (int s = 0; s < hosts; s++) {
                Flow f = w.add(s, (s + step) % hosts, bytes);
                if (inFlight > 0) {
                    if (step > inFlight) {
                        f.startedBy = done[s][step - inFlight];
                    }
                    if (step + inFlight < hosts) {
                        f.whenSent = done[s][step] = w.addTrigger(1);
                    }
                }
            }
        }
        return w;
    }

    /**
     * Ring all-reduce: 2 (n - 1) steps, in each of which every host sends a chunk to the next, once the chunk of the step before has
     * come from the one before. Neighbours are in different leaves.
     *
     * @param bytes of the whole vector; a chunk is an n-th of it
     * @param byReceipt whether the receiver's completion starts the next step, or the sender's, which comes half a round trip later
     */
    public static Workload ring(int hosts, int perLeaf, long bytes, boolean byReceipt) {
        int leaves = hosts / perLeaf;
        Workload w = new Workload("ring all-reduce of " + hosts, hosts);
        int steps = 2 * (hosts - 1);
        int[] before = new int[hosts];
        for (int step = 0; step < steps; step++) {
            int[] now = new int[hosts];
            for (int rank = 0; rank < hosts; rank++) {
                Flow f = w.add(host(rank, leaves, perLeaf), host((rank + 1) % hosts, leaves, perLeaf), bytes / hosts);
                if (step > 0) {
                    f.startedBy = before[(rank + hosts - 1) % hosts];
                }
                if (step < steps - 1) {
                    now[rank] = w.addTrigger(1);
                    if (byReceipt) {
                        f.whenReceived = now[rank];
                    } else {
                        f.whenSent = now[rank];
                    }
                }
            }
            before = now;
        }
        return w;
    }

    private static int host(int rank, int leaves, int perLeaf) {
        return rank % leaves * perLeaf + rank / leaves;
    }

    public static Workload single(int hosts, int source, int destination, long bytes) {
        Workload w = new Workload("one flow", hosts);
        w.add(source, destination, bytes);
        return w;
    }
}
