// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import io.metaroce.benchmarks.FeedTrial;
import java.io.IOException;
import java.util.List;

/**
 * The receive path fed by a capture of our own packets at line rate, through our port alone or into an endpoint.
 *
 * @param kind port or endpoint
 */
record Feed(String kind, int payload) implements Measured {
    private static final int SECONDS = 60;

    @Override
    public String group() {
        return "feed";
    }

    @Override
    public String name() {
        return "net_pcap, " + payload + " B a packet, " + (kind.equals("port") ? "DpdkPort" : "DpdkPort and transport");
    }

    @Override
    public String missing() {
        return Child.missingDpdk();
    }

    @Override
    public int rounds(boolean quick) {
        return quick ? 1 : 5;
    }

    @Override
    public List<Value> round(boolean quick) throws IOException, InterruptedException {
        String output = Child.output(SECONDS, Child.java(FeedTrial.class, kind, "payload=" + payload, "passes=" + (quick ? 100 : 300)));
        return List.of(new Value("processor time", "ns/packet", Child.number(output, "ns=([0-9.]+)")));
    }
}
