// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import io.metaroce.simulator.core.EventQueue;
import io.metaroce.simulator.fabric.Topology;
import io.metaroce.simulator.host.HostTransport;
import io.metaroce.simulator.workload.Flow;
import io.metaroce.simulator.workload.Workload;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * What each pair of hosts brought, held against its max-min fair share of the hosts' links and of what joins sites.
 *
 * <p>Time is divided where a pair begins or has brought all. A division counts from so many round trips after its beginning and after the first
 * acknowledgement of each of its pairs; what is left of it is cut into windows that hold enough packets of the smallest share for one packet
 * more or less to be 2 %, and a round trip at least. Divisions too short for one window are not judged; their part of the time is told. Looking changes nothing in the
 * run but its number of events.
 */
public final class Fairness {
    /** Errors above this are counted. */
    private static final double WRONG = 0.1;
    /** Packets of the smallest fair share in a window. */
    private static final int WINDOW_PACKETS = 50;

    /** @param us middle of the window, from the beginning of the workload */
    public record Window(double us, int pairs, double worstError, double jain, double utilisation) { }

    /**
     * @param wrong windows in which a pair was off by more than a tenth
     * @param unjudged part of the time with open flows that no window covers
     */
    public record Outcome(List<Window> windows, int wrong, double firstError, double worstError, double meanError, String worst, double worstJain,
            double leastUtilisation, double meanUtilisation, double unjudged, double peakWindowBytes) { }

    /** Hosts, and what the pair has to do with. */
    private static final class Pair {
        final int source;
        final int destination;
        Flow first;
        long bytes;
        long acks = -1;
        long ackedPs = Flow.NEVER;
        /** When all had come: the time of the sample that saw it. */
        long donePs = Long.MAX_VALUE;

        Pair(Flow f) {
            source = f.source;
            destination = f.destination;
            first = f;
        }
    }

    private final EventQueue events;
    private final Topology topology;
    private final HostTransport[] hosts;
    private final Workload workload;
    private final long beginPs;
    private final long rttPs;
    private final long settlingPs;
    private final int payload;
    private final double payloadPart;
    private final List<Pair> pairs;
    private final List<Long> times = new ArrayList<>();
    private final List<long[]> arrived = new ArrayList<>();
    private double peakWindowBytes;

    /**
     * @param packetBytes of a full packet, all of it, with so much payload
     * @param afterRtts round trips after which shares must be right
     */
    Fairness(EventQueue events, Topology topology, HostTransport[] hosts, Workload workload, long beginPs, int payload, int packetBytes, double afterRtts) {
        this.events = events;
        this.topology = topology;
        this.hosts = hosts;
        this.workload = workload;
        this.beginPs = beginPs;
        this.payload = payload;
        rttPs = topology.baseRttPs(packetBytes);
        settlingPs = (long) (afterRtts * rttPs);
        payloadPart = (double) payload / packetBytes;
        Map<Long, Pair> byHosts = new LinkedHashMap<>();
        for (Flow f : workload.flows()) {
            if (f.startedBy != Flow.NONE) {
                throw new IllegalArgumentException("fairness is known of flows with times, not of those that others start");
            }
            Pair pair = byHosts.computeIfAbsent((long) f.source << 32 | f.destination, k -> new Pair(f));
            pair.bytes += f.bytes;
            pair.first = f.startPs < pair.first.startPs ? f : pair.first;
        }
        pairs = List.copyOf(byHosts.values());
    }

    void sample() {
        long now = events.nowPs() - beginPs;
        long[] bytes = new long[pairs.size()];
        double window = 0;
        boolean withWindows = topology.longHaulRate() > 0;
        for (int i = 0; i < bytes.length; i++) {
            Pair p = pairs.get(i);
            if (p.donePs != Long.MAX_VALUE) {
                bytes[i] = p.bytes;
                continue;
            }
            bytes[i] = hosts[p.destination].bytesFrom(p.source);
            if (bytes[i] >= p.bytes) {
                p.donePs = now;
            }
            if (p.ackedPs == Flow.NEVER) {
                long acks = hosts[p.source].acksFrom(p.destination);
                if (p.acks < 0 || p.first.startedPs == Flow.NEVER) {
                    p.acks = acks;
                } else if (acks > p.acks) {
                    p.ackedPs = now;
                }
            }
            if (withWindows && p.first.startedPs != Flow.NEVER) {
                window = Math.max(window, hosts[p.source].windowBytes(p.destination));
            }
        }
        peakWindowBytes = Math.max(peakWindowBytes, window);
        times.add(now);
        arrived.add(bytes);
    }

    Outcome outcome() {
        TreeSet<Long> changes = new TreeSet<>();
        for (Pair p : pairs) {
            if (p.first.startedPs != Flow.NEVER) {
                changes.add(p.first.startedPs);
            }
            changes.add(Math.min(p.donePs, times.getLast()));
        }
        List<Window> windows = new ArrayList<>();
        Sum sum = new Sum();
        long judged = 0;
        long all = 0;
        Long from = changes.pollFirst();
        while (from != null && !changes.isEmpty()) {
            long begin = from;
            long end = changes.pollFirst();
            from = end;
            List<Integer> active = IntStream.range(0, pairs.size()).filter(i -> pairs.get(i).first.startedPs != Flow.NEVER
                    && pairs.get(i).first.startedPs <= begin && pairs.get(i).donePs >= end).boxed().toList();
            if (!active.isEmpty()) {
                all += end - begin;
                judged += divide(active, begin, end, windows, sum);
            }
        }
        return new Outcome(windows, (int) windows.stream().filter(w -> w.worstError > WRONG).count(), sum.first, sum.worst, sum.errors / sum.count, sum.where, windows.stream().mapToDouble(Window::jain).min().orElse(Double.NaN),
                windows.stream().mapToDouble(Window::utilisation).min().orElse(Double.NaN),
                windows.stream().mapToDouble(Window::utilisation).average().orElse(Double.NaN), 1 - (double) judged / all, peakWindowBytes);
    }

    /** Errors of all windows. The first windows of divisions, and all of them. */
    private static final class Sum {
        double first = Double.NaN;
        double worst = Double.NaN;
        String where = "";
        double errors;
        long count;
    }

    /** Judges one division, and returns how much of its time windows cover. */
    private long divide(List<Integer> active, long begin, long end, List<Window> windows, Sum sum) {
        double[] fair = fairRates(active);
        long settledPs = begin + settlingPs;
        for (int i : active) {
            // Without a word of acknowledgements (other transports): as if the first came a round trip after the start.
            Pair p = pairs.get(i);
            long acked = p.ackedPs == Flow.NEVER ? p.first.startedPs + rttPs : p.ackedPs;
            settledPs = Math.max(settledPs, acked + settlingPs);
        }
        int first = sampleFrom(settledPs);
        int last = sampleFrom(end) - 1;
        double windowPs = Math.max(rttPs, WINDOW_PACKETS * payload * 8e12 / Arrays.stream(fair).min().orElseThrow());
        int count = last <= first ? 0 : (int) ((times.get(last) - times.get(first)) / windowPs);
        for (int w = 0; w < count; w++) {
            int a = first + (int) ((long) (last - first) * w / count);
            int b = first + (int) ((long) (last - first) * (w + 1) / count);
            windows.add(window(active, fair, a, b, w == 0, sum));
        }
        return count == 0 ? 0 : times.get(last) - times.get(first);
    }

    private Window window(List<Integer> active, double[] fair, int a, int b, boolean isFirst, Sum sum) {
        double us = (times.get(a) + times.get(b)) / 2e6;
        double worst = 0;
        double parts = 0;
        double squares = 0;
        double brought = 0;
        for (int k = 0; k < fair.length; k++) {
            int i = active.get(k);
            double rate = (arrived.get(b)[i] - arrived.get(a)[i]) * 8e12 / (times.get(b) - times.get(a));
            double part = rate / fair[k];
            double error = Math.abs(part - 1);
            parts += part;
            squares += part * part;
            brought += rate;
            sum.errors += error;
            sum.count++;
            worst = Math.max(worst, error);
            if (!(error <= sum.worst)) {
                sum.worst = error;
                sum.where = "%d -> %d at %.0f us: %.2f of %.2f Gb/s".formatted(pairs.get(i).source, pairs.get(i).destination, us, rate / 1e9, fair[k] / 1e9);
            }
        }
        if (isFirst && !(worst <= sum.first)) {
            sum.first = worst;
        }
        return new Window(us, fair.length, worst, parts * parts / (squares * fair.length), brought / Arrays.stream(fair).sum());
    }

    /** Payload, bit/s. */
    private double[] fairRates(List<Integer> active) {
        int n = topology.hosts();
        double[] capacities = new double[2 * n + 2];
        for (int h = 0; h < n; h++) {
            capacities[h] = capacities[n + h] = topology.hostRate(h) * topology.planes() * payloadPart;
        }
        capacities[2 * n] = capacities[2 * n + 1] = Math.max(1, topology.longHaulRate()) * payloadPart;
        int[][] uses = new int[active.size()][];
        double[] demands = new double[active.size()];
        for (int k = 0; k < uses.length; k++) {
            Pair p = pairs.get(active.get(k));
            int site = topology.siteOf(p.source);
            uses[k] = site == topology.siteOf(p.destination) ? new int[] {p.source, n + p.destination}
                    : new int[] {p.source, n + p.destination, 2 * n + site};
            demands[k] = workload.demand(p.source, p.destination);
        }
        return MaxMin.rates(capacities, uses, demands);
    }

    /** The first sample at this time or later. */
    private int sampleFrom(long ps) {
        int low = 0;
        int high = times.size();
        while (low < high) {
            int mid = (low + high) >>> 1;
            if (times.get(mid) < ps) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        return low;
    }
}
