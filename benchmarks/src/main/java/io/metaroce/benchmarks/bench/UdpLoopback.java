// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import io.metaroce.benchmarks.UdpThroughput;
import java.io.IOException;
import java.util.List;

/** Two processes over UDP on loopback: the port alone, without flow control, and Writes of 1 MiB over the transport. */
record UdpLoopback(boolean transport) implements Measured {
    private static final int SECONDS = 60;

    @Override
    public String group() {
        return "udp";
    }

    @Override
    public String name() {
        return transport ? "loopback, Write 1 MiB, 4 planes" : "loopback, UdpPort alone, 4 planes";
    }

    @Override
    public List<Value> round(boolean quick) throws IOException, InterruptedException {
        if (!transport) {
            String output = Child.output(SECONDS, Child.java(UdpThroughput.class, "rounds=1", "seconds=" + (quick ? 1 : 2)));
            return List.of(new Value("received", "GB/s", Child.number(output, "received ([0-9.]+) GB/s")));
        }
        String json = Child.output(SECONDS, Child.metaroce("perf", "--local", "--spin", "--json", "--planes", "4", "--seconds", quick ? "1" : "3"));
        return List.of(new Value("goodput", "GB/s", Child.field(json, "goodput_gbps") / 8),
                new Value("messages found right", "%", 100 * Child.field(json, "messages_verified") / Child.field(json, "messages_in_all")));
    }
}
