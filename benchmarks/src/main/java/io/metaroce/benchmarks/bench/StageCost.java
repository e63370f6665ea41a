// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import io.metaroce.core.Stages;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What each stage of a packet's life costs in the loops of both ends, with the timestamps that {@code -Dmetaroce.stages=true} compiles in:
 * Writes between two processes.
 *
 * @param port udp or dpdk
 */
record StageCost(String port, int size) implements Measured {
    private static final int SECONDS = 60;
    private static final String FLAG = "-Dmetaroce.stages=true";

    static List<Measured> all() {
        List<Measured> all = new ArrayList<>();
        for (String port : List.of("udp", "dpdk")) {
            for (int size : new int[] {64, 1 << 20}) {
                all.add(new StageCost(port, size));
            }
        }
        return all;
    }

    @Override
    public String group() {
        return "stages";
    }

    @Override
    public String name() {
        return (port.equals("udp") ? "UDP" : "DPDK memif") + ", Write " + Sizes.text(size);
    }

    @Override
    public String missing() {
        return port.equals("udp") ? null : Child.missingDpdk();
    }

    @Override
    public List<Value> round(boolean quick) throws IOException, InterruptedException {
        return values(Child.output(SECONDS, Map.of("METAROCE_JAVA_OPTIONS", FLAG), Child.metaroce("perf", "--local", "--spin", "--json", "--no-verify", "--port", port, "--size",
                Integer.toString(size), "--warmup", "2", "--seconds", quick ? "1" : "2")));
    }

    /** The stages in the order in which a Write passes them, then those of its acknowledgement. */
    static List<Value> values(String json) {
        List<Value> all = new ArrayList<>();
        add(all, json, "client", "sender", Stages.APPLICATION, Stages.TRANSPORT_TRANSMIT, Stages.PORT_SEND);
        add(all, json, "server", "receiver", Stages.PORT_RECEIVE, Stages.TRANSPORT_RECEIVE, Stages.APPLICATION, Stages.TRANSPORT_TRANSMIT, Stages.PORT_SEND);
        add(all, json, "client", "sender", Stages.PORT_RECEIVE, Stages.TRANSPORT_RECEIVE);
        return all;
    }

    private static void add(List<Value> all, String json, String side, String name, int... stages) {
        for (int stage : stages) {
            all.add(new Value(name + " " + Stages.name(stage).replace('_', ' '), "ns/datagram", Child.field(json, side + "_" + Stages.name(stage))));
        }
    }
}
