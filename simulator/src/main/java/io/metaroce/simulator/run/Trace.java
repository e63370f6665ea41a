// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import io.metaroce.simulator.core.EventQueue;
import io.metaroce.simulator.fabric.Fabric;
import io.metaroce.simulator.fabric.Topology;
import io.metaroce.simulator.host.HostTransport;
import io.metaroce.simulator.workload.Flow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** What was going on while a run went on, sampled at equal intervals. Looking changes nothing in the run but its number of events. */
public final class Trace {
    /** @param us times, from the beginning of the workload */
    public record Series(String name, double[] us, double[] values) { }

    /** Flows and queues that are shown one by one. */
    private static final int SHOWN = 12;
    /** Rates are means over so many samples that no more than this are left. */
    private static final int MOST_RATES = 100;

    private final EventQueue events;
    private final Fabric fabric;
    private final HostTransport[] hosts;
    private final long beginPs;
    private final List<Flow> flows = new ArrayList<>();
    private final List<Double> us = new ArrayList<>();
    private final List<long[]> arrived = new ArrayList<>();
    private final List<double[]> windows = new ArrayList<>();
    private final List<double[]> shares = new ArrayList<>();
    private final List<long[]> waiting = new ArrayList<>();
    private final List<long[]> overSpines = new ArrayList<>();
    private final List<int[]> intoSpine = new ArrayList<>();
    private final List<String> spineName = new ArrayList<>();
    private final double bdpBytes;

    Trace(EventQueue events, Fabric fabric, HostTransport[] hosts, List<Flow> all, long beginPs, double bdpBytes) {
        this.events = events;
        this.fabric = fabric;
        this.hosts = hosts;
        this.beginPs = beginPs;
        this.bdpBytes = bdpBytes;
        int shown = Math.min(SHOWN, all.size());
        for (int i = 0; i < shown; i++) {
            flows.add(all.get((int) ((long) i * all.size() / shown)));
        }
        Topology t = fabric.topology();
        for (int plane = 0; plane < t.planes(); plane++) {
            int[] spines = t.switches(plane, t.topTier());
            for (int s = 0; s < spines.length; s++) {
                int node = spines[s];
                intoSpine.add(Arrays.stream(fabric.linksOf(node)).filter(l -> t.links().get(l).to() == node).toArray());
                spineName.add(t.planes() > 1 ? "plane " + plane + " spine " + s : "spine " + s);
            }
        }
    }

    void sample() {
        us.add((events.nowPs() - beginPs) / 1e6);
        arrived.add(flows.stream().mapToLong(f -> hosts[f.destination].bytesFrom(f.source)).toArray());
        windows.add(flows.stream().mapToDouble(f -> f.startedPs == Flow.NEVER ? 0 : hosts[f.source].windowBytes(f.destination)).toArray());
        shares.add(flows.stream().mapToDouble(f -> f.startedPs == Flow.NEVER ? Double.NaN : hosts[f.source].share(f.destination)).toArray());
        long[] queues = new long[fabric.topology().links().size()];
        for (int l = 0; l < queues.length; l++) {
            queues[l] = fabric.topology().links().get(l).from() < hosts.length ? 0 : fabric.bytesWaiting(l);
        }
        waiting.add(queues);
        overSpines.add(intoSpine.stream().mapToLong(links -> Arrays.stream(links).mapToLong(fabric::bytesOf).sum()).toArray());
    }

    public int samples() {
        return us.size();
    }

    private double[] times() {
        return us.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** Payload that came in each interval, Gb/s, by pair of hosts. */
    public List<Series> goodputByFlow() {
        return rates(arrived, flows.stream().map(Trace::name).toList());
    }

    /** All bytes that went over each switch of the highest tier in each interval, Gb/s: how traffic spreads over the ways. */
    public List<Series> rateBySpine() {
        return rates(overSpines, spineName);
    }

    /** What senders may have out towards their receivers, KiB. */
    public List<Series> windows() {
        return byFlow(windows, 1.0 / 1024);
    }

    /** What receivers' shares, or rate controls, let senders send: per cent of line rate. None if nothing of the kind rules. */
    public List<Series> shares() {
        return byFlow(shares, 100);
    }

    private List<Series> byFlow(List<double[]> samples, double unit) {
        List<Series> all = new ArrayList<>();
        for (int i = 0; i < flows.size(); i++) {
            int n = i;
            int[] known = IntStream.range(0, samples.size()).filter(t -> !Double.isNaN(samples.get(t)[n])).toArray();
            if (known.length > 0) {
                all.add(new Series(name(flows.get(i)), Arrays.stream(known).mapToDouble(us::get).toArray(),
                        Arrays.stream(known).mapToDouble(t -> samples.get(t)[n] * unit).toArray()));
            }
        }
        return all;
    }

    /** The deepest queues of switches, in bandwidth-delay products. */
    public List<Series> queues() {
        int links = fabric.topology().links().size();
        long[] most = new long[links];
        for (long[] sample : waiting) {
            for (int l = 0; l < links; l++) {
                most[l] = Math.max(most[l], sample[l]);
            }
        }
        List<Integer> order = new ArrayList<>();
        for (int l = 0; l < links; l++) {
            order.add(l);
        }
        order.sort(Comparator.comparingLong(l -> -most[l]));
        return order.stream().limit(SHOWN).filter(l -> most[l] > 0)
                .map(l -> new Series(nameOf(l), times(), waiting.stream().mapToDouble(w -> w[l] / bdpBytes).toArray())).toList();
    }

    private List<Series> rates(List<long[]> bytes, List<String> names) {
        int step = Math.max(1, (us.size() + MOST_RATES - 1) / MOST_RATES);
        int n = (us.size() - 1) / step;
        List<Series> all = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            double[] at = new double[n];
            double[] rate = new double[n];
            for (int k = 0; k < n; k++) {
                double length = us.get((k + 1) * step) - us.get(k * step);
                at[k] = us.get(k * step) + length / 2;
                rate[k] = (bytes.get((k + 1) * step)[i] - bytes.get(k * step)[i]) * 8e-3 / length;
            }
            all.add(new Series(names.get(i), at, rate));
        }
        return all;
    }

    private static String name(Flow f) {
        return f.source + " to " + f.destination;
    }

    private String nameOf(int link) {
        Topology.Link l = fabric.topology().links().get(link);
        int hostCount = fabric.topology().hosts();
        String to = l.to() < hostCount ? "host " + l.to() : "switch " + (l.to() - hostCount);
        return "switch " + (l.from() - hostCount) + " to " + to;
    }
}
