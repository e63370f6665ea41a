// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.workload;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Flows, and triggers by which one may start others. */
public final class Workload {
    private final String name;
    private final int hosts;
    private final List<Flow> flows = new ArrayList<>();
    /** Firings that each trigger waits for before it starts its flows. */
    private final List<Integer> needed = new ArrayList<>();
    private final Map<Long, Double> demands = new HashMap<>();

    public Workload(String name, int hosts) {
        this.name = name;
        this.hosts = hosts;
    }

    public String name() {
        return name;
    }

    public int hosts() {
        return hosts;
    }

    public List<Flow> flows() {
        return flows;
    }

    public int triggers() {
        return needed.size();
    }

    public int needed(int trigger) {
        return needed.get(trigger);
    }

    /** Adds a trigger that starts its flows when it was fired so many times, and returns its number. */
    public int addTrigger(int firings) {
        needed.add(firings);
        return needed.size() - 1;
    }

    public Flow add(int source, int destination, long bytes) {
        return add(source, destination, bytes, 0);
    }

    Flow add(int source, int destination, long bytes, long startPs) {
        if (bytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a flow of " + bytes + " bytes is longer than a message can be");
        }
        return add(new Flow(source, destination, (int) bytes, startPs));
    }

    Flow add(Flow flow) {
        check(flow.source);
        check(flow.destination);
        flows.add(flow);
        return flow;
    }

    private void check(int host) {
        if (host < 0 || host >= hosts) {
            throw new IllegalArgumentException("host " + host + " is outside 0.." + (hosts - 1));
        }
    }

    /** Says that a host has no more than this for another to send, bit/s of payload: its flows come at that pace. */
    void setDemand(int source, int destination, double bitsPerSecond) {
        demands.put((long) source << 32 | destination, bitsPerSecond);
    }

    /** What a host has for another to send, bit/s of payload; infinite where it is all there at once. */
    public double demand(int source, int destination) {
        return demands.getOrDefault((long) source << 32 | destination, Double.POSITIVE_INFINITY);
    }

    /** Payload bytes of all flows. */
    public long bytes() {
        return flows.stream().mapToLong(f -> f.bytes).sum();
    }
}
