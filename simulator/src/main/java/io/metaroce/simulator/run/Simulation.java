// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import io.metaroce.simulator.core.EventQueue;
import io.metaroce.simulator.core.Mix;
import io.metaroce.simulator.fabric.Fabric;
import io.metaroce.simulator.fabric.FabricConfig;
import io.metaroce.simulator.fabric.Topology;
import io.metaroce.simulator.host.HostConfig;
import io.metaroce.simulator.host.HostPlan;
import io.metaroce.simulator.host.HostTransport;
import io.metaroce.simulator.workload.Flow;
import io.metaroce.simulator.workload.Workload;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One run: hosts with their transports on a fabric, a workload on top. Connections are made first, one for each pair of hosts with
 * flows, and rest until their keepalives have gone; then the workload begins. Same arguments, same result, bit for bit.
 */
public final class Simulation implements HostTransport.Application {
    /** Kinds of events, above the number that they are about. */
    private static final long ARRIVAL = 0;
    private static final long WAKE = 1L << 32;
    private static final long CONNECT = 2L << 32;
    private static final long START = 3L << 32;
    private static final long FAULT = 4L << 32;
    private static final long SAMPLE = 5L << 32;
    private static final long EXPECT = 6L << 32;
    private static final long WATCH = 7L << 32;
    private static final long TRACE = 8L << 32;
    private static final long FAIR = 9L << 32;
    private static final long NUMBER = 0xffff_ffffL;

    /** What the run costs; nothing in it depends on this. */
    private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
    private static final long PS_PER_US = 1_000_000;
    /** Between two connects, so that handshakes do not crowd. */
    private static final long CONNECT_GAP_PS = 50_000;
    /** Rest between the last connect and the workload: three keepalives. */
    private static final long REST_PS = 1_300_000_000_000L;
    /** From here on the queues of an incast should be short: round trips. */
    private static final double LATE_RTT = 6;
    /** Unfinished flows that a result describes. */
    private static final int DESCRIBED = 8;

    private final Topology topology;
    private final FabricConfig fabricConfig;
    private final Workload workload;
    private final List<Fault> faults;
    private final EventQueue events = new EventQueue();
    private final Fabric fabric;
    private final HostTransport[] hosts;
    private final List<int[]> pairs = new ArrayList<>();
    private final int[] fired;
    private final List<List<Integer>> startedBy = new ArrayList<>();
    private final long beginPs;
    private final long limitPs;
    private final int packetBytes;
    private double jain;
    private long samplePs;
    private long tracePs;
    private Trace trace;
    private long fairPs;
    private Fairness fairness;
    private int open;
    private long watchUntilPs;
    private double firstPlaneDownUs;
    private double lastPlaneDownUs;

    /** @param limitUs time of the workload after which the run ends, complete or not */
    public Simulation(Topology topology, FabricConfig fabricConfig, HostPlan.Factory factory, HostConfig hostConfig, Workload workload,
            List<Fault> faults, double limitUs, long seed) {
        if (workload.hosts() > topology.hosts()) {
            throw new IllegalArgumentException("the workload has " + workload.hosts() + " hosts, the topology " + topology.hosts());
        }
        this.topology = topology;
        this.fabricConfig = fabricConfig;
        this.workload = workload;
        this.faults = faults;
        fabric = new Fabric(topology, fabricConfig, events, ARRIVAL, this::deliver);
        packetBytes = hostConfig.payloadMtu + 64 + fabricConfig.frameOverhead;
        fired = new int[workload.triggers()];
        for (int t = 0; t < workload.triggers(); t++) {
            startedBy.add(new ArrayList<>());
        }
        open = workload.flows().size();
        events.foresight(this::look);
        hosts = makeHosts(factory, hostConfig, seed);
        beginPs = REST_PS + CONNECT_GAP_PS * pairs.size();
        limitPs = beginPs + (long) (limitUs * PS_PER_US);
    }

    private HostTransport[] makeHosts(HostPlan.Factory factory, HostConfig config, long seed) {
        int n = topology.hosts();
        int[] degree = new int[n];
        int[] sends = new int[n];
        Map<Long, Integer> toldOf = new HashMap<>();
        int[] mostTold = new int[n];
        Set<Long> seen = new HashSet<>();
        int longest = 1;
        for (int i = 0; i < workload.flows().size(); i++) {
            Flow f = workload.flows().get(i);
            longest = Math.max(longest, f.bytes);
            sends[f.source]++;
            int low = Math.min(f.source, f.destination);
            int high = Math.max(f.source, f.destination);
            if (seen.add((long) low << 32 | high)) {
                pairs.add(new int[] {f.source, f.destination});
                degree[low]++;
                degree[high]++;
            }
            if (f.startedBy != Flow.NONE) {
                startedBy.get(f.startedBy).add(i);
            }
            if (f.whenReceived != Flow.NONE) {
                int told = toldOf.merge((long) f.source << 32 | f.destination, 1, Integer::sum);
                mostTold[f.destination] = Math.max(mostTold[f.destination], told);
            }
        }
        for (int i = 0; i < pairs.size(); i++) {
            events.at(CONNECT_GAP_PS * i, CONNECT | i);
        }
        int expectation = 0;
        for (Map.Entry<Long, Integer> told : toldOf.entrySet().stream().sorted(Map.Entry.comparingByKey()).toList()) {
            expectations.add(new int[] {(int) (long) told.getKey(), (int) (told.getKey() >>> 32), told.getValue()});
            events.at(REST_PS / 2 + CONNECT_GAP_PS * pairs.size(), EXPECT | expectation++);
        }
        return factory.make(new HostPlan(events, fabric, WAKE, config, this, degree, sends, mostTold, longest, Mix.of(seed)));
    }

    /** Receiver, sender, number of messages. */
    private final List<int[]> expectations = new ArrayList<>();

    /** Asks for Jain's index over what the flows have brought at a time of the workload. */
    public void sampleAt(double us) {
        samplePs = (long) (us * PS_PER_US);
    }

    /** Asks for a trace of the workload's time. */
    public void traceEvery(double us) {
        tracePs = Math.max(1, (long) (us * PS_PER_US));
        trace = new Trace(events, fabric, hosts, workload.flows(), beginPs, topology.baseRttPs(packetBytes) / 8e12 * topology.hostRate());
    }

    /** Asks how rates compare with fair ones, by looks at such intervals, so many round trips after a change. */
    public void judgeFairnessEvery(double us, double afterRtts) {
        fairPs = Math.max(1, (long) (us * PS_PER_US));
        fairness = new Fairness(events, topology, hosts, workload, beginPs, packetBytes - 64 - fabricConfig.frameOverhead, packetBytes, afterRtts);
    }

    public Result run() {
        long startedNs = CPU.getCurrentThreadCpuTime();
        long startedWallNs = System.nanoTime();
        if (fairness != null) {
            // Before the flows that begin at the same time.
            events.at(beginPs, FAIR);
        }
        for (int i = 0; i < faults.size(); i++) {
            if (faults.get(i).atPs() < 0) {
                faults.get(i).apply(fabric);
            } else {
                events.at(beginPs + faults.get(i).atPs(), FAULT | i);
            }
        }
        for (int i = 0; i < workload.flows().size(); i++) {
            Flow f = workload.flows().get(i);
            if (f.startedBy == Flow.NONE) {
                events.at(beginPs + f.startPs, START | i);
            }
        }
        fabric.watchFrom(beginPs + (long) (LATE_RTT * topology.baseRttPs(packetBytes)));
        if (samplePs > 0) {
            events.at(beginPs + samplePs, SAMPLE);
        }
        if (trace != null) {
            events.at(beginPs, TRACE);
        }
        while (open > 0 && !events.isEmpty()) {
            long event = events.take();
            if (events.nowPs() > limitPs) {
                break;
            }
            dispatch(event);
        }
        if (fairness != null) {
            fairness.sample();
        }
        Result r = result((CPU.getCurrentThreadCpuTime() - startedNs) / 1e9);
        r.residentMib = Resident.mebibytes();
        r.wallSeconds = (System.nanoTime() - startedWallNs) / 1e9;
        return r;
    }

    private void dispatch(long event) {
        int number = (int) (event & NUMBER);
        switch ((int) (event >>> 32)) {
            case (int) (ARRIVAL >>> 32) -> fabric.arrive(number);
            case (int) (WAKE >>> 32) -> hosts[number >>> HostTransport.TIMER_BITS].wake(number & (1 << HostTransport.TIMER_BITS) - 1);
            case (int) (CONNECT >>> 32) -> hosts[pairs.get(number)[0]].connect(pairs.get(number)[1]);
            case (int) (START >>> 32) -> start(number);
            case (int) (FAULT >>> 32) -> {
                faults.get(number).apply(fabric);
                watchUntilPs = events.nowPs() + 1_000 * PS_PER_US;
                events.at(events.nowPs(), WATCH);
            }
            case (int) (SAMPLE >>> 32) -> sample();
            case (int) (TRACE >>> 32) -> {
                trace.sample();
                events.at(events.nowPs() + tracePs, TRACE);
            }
            case (int) (FAIR >>> 32) -> {
                fairness.sample();
                events.at(events.nowPs() + fairPs, FAIR);
            }
            case (int) (EXPECT >>> 32) -> hosts[expectations.get(number)[0]].expect(expectations.get(number)[1], expectations.get(number)[2]);
            default -> watch();
        }
    }

    /**
     * Most of the time goes to waiting for memory. Of events that follow each other at once, what each needs is looked at first for all of
     * them, so that the processor waits for it once instead of one by one.
     */
    private void look(long[] words, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            long event = EventQueue.event(words[i]);
            if (event < WAKE) {
                sum += fabric.look((int) event);
            }
        }
        for (int i = 0; i < count; i++) {
            long event = EventQueue.event(words[i]);
            if (event < WAKE) {
                sum += fabric.lookAgain((int) event);
            }
        }
        looked += sum;
    }

    /** Keeps the compiler from leaving the looks out. */
    private long looked;

    private void deliver(int host, int packet) {
        hosts[host].receive(packet);
    }

    private void start(int number) {
        Flow f = workload.flows().get(number);
        f.startedPs = events.nowPs() - beginPs;
        hosts[f.source].write(f.destination, f.bytes, number, f.whenReceived != Flow.NONE);
    }

    @Override
    public void sent(int host, int flow) {
        Flow f = workload.flows().get(flow);
        f.sentPs = events.nowPs() - beginPs;
        open--;
        fire(f.whenSent);
    }

    @Override
    public void received(int host, int flow) {
        Flow f = workload.flows().get(flow);
        f.receivedPs = events.nowPs() - beginPs;
        fire(f.whenReceived);
    }

    private void fire(int trigger) {
        if (trigger != Flow.NONE && ++fired[trigger] == workload.needed(trigger)) {
            for (int flow : startedBy.get(trigger)) {
                events.at(events.nowPs(), START | flow);
            }
        }
    }

    /** Fairness by bytes brought so far; one flow for each pair. */
    private void sample() {
        double sum = 0;
        double squares = 0;
        for (Flow f : workload.flows()) {
            double bytes = hosts[f.destination].bytesFrom(f.source);
            sum += bytes;
            squares += bytes * bytes;
        }
        jain = sum * sum / (squares * workload.flows().size());
    }

    /** After a fault: when connections give planes up. */
    private void watch() {
        long failures = counters().planeFailures;
        double us = (events.nowPs() - beginPs) / (double) PS_PER_US;
        if (failures > seenFailures) {
            firstPlaneDownUs = seenFailures == 0 ? us : firstPlaneDownUs;
            lastPlaneDownUs = us;
            seenFailures = failures;
        }
        if (topology.planes() > 1 && events.nowPs() < watchUntilPs) {
            events.at(events.nowPs() + PS_PER_US, WATCH);
        }
    }

    private long seenFailures;

    private HostTransport.Counters counters() {
        HostTransport.Counters sum = new HostTransport.Counters();
        for (HostTransport host : hosts) {
            host.count(sum);
        }
        return sum;
    }

    private Result result(double cpuSeconds) {
        Result r = new Result();
        r.topology = topology.name();
        r.workload = workload.name();
        r.seed = fabricConfig.seed;
        r.flows = workload.flows();
        long last = 0;
        long lastReceived = 0;
        double sum = 0;
        for (Flow f : r.flows) {
            if (f.sentPs == Flow.NEVER) {
                if (r.unfinished++ < DESCRIBED) {
                    r.unfinishedText += "%d -> %d: %s%n".formatted(f.source, f.destination, hosts[f.source].describe(f.destination));
                }
                continue;
            }
            last = Math.max(last, f.sentPs);
            lastReceived = Math.max(lastReceived, f.receivedPs);
            sum += f.completionPs();
        }
        r.lastUs = last / (double) PS_PER_US;
        r.lastReceivedUs = lastReceived / (double) PS_PER_US;
        r.meanUs = sum / PS_PER_US / Math.max(1, r.flows.size() - r.unfinished);
        r.take(counters());
        r.drops = fabric.drops();
        r.losses = fabric.losses();
        r.marks = fabric.marks();
        r.trims = fabric.trims();
        r.pauses = fabric.pauses();
        long rtt = topology.baseRttPs(packetBytes);
        r.baseRttUs = rtt / (double) PS_PER_US;
        r.bdpBytes = rtt / 8e12 * topology.hostRate();
        r.deepestQueueBdp = fabric.deepestBytes() / r.bdpBytes;
        r.deepestLateQueueBdp = fabric.deepestWatchedBytes() / r.bdpBytes;
        r.trace = trace;
        r.fairness = fairness == null ? null : fairness.outcome();
        for (HostTransport host : hosts) {
            r.stateBytesMost = Math.max(r.stateBytesMost, host.stateBytes());
            r.stateBytesAll += host.stateBytes();
        }
        r.jain = jain;
        r.firstPlaneDownUs = firstPlaneDownUs;
        r.lastPlaneDownUs = lastPlaneDownUs;
        r.events = events.taken();
        r.cpuSeconds = cpuSeconds;
        return r;
    }
}
