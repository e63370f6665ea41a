// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * This project: Write for throughput, ping-pong of Sends for latency, over all planes there are; contents are not checked, and payload has UDP's
 * checksum alone, as with everybody else; loops keep their cores, as others' do.
 */
final class MetaRocePeer implements Peer {
    private static final int SECONDS = 60;

    @Override
    public String name() {
        return "MetaRoCE";
    }

    @Override
    public String missing() {
        return null;
    }

    @Override
    public List<Value> measure(Net net, int size, double seconds) throws IOException, InterruptedException {
        Ends write = run(net, size, seconds, List.of("--op", "write"));
        Ends send = run(net, size, seconds, List.of("--op", "send", "--latency"));
        double gigabytes = Child.field(write.client(), "goodput_gbps") / 8;
        String latency = latency(send.client());
        return List.of(Peer.throughput(gigabytes), Peer.latency("p50", Child.field(latency, "p50")), Peer.latency("p99", Child.field(latency, "p99")),
                Peer.latency("p99.9", Child.field(latency, "p999")), Peer.cpu(write, gigabytes));
    }

    /** Round trips follow, under the same names. */
    private static String latency(String json) {
        int at = json.indexOf("\"latency_us\"");
        if (at < 0) {
            throw new IllegalStateException("no latency: " + Child.last(json));
        }
        return json.substring(at, json.indexOf('}', at));
    }

    private static Ends run(Net net, int size, double seconds, List<String> options) throws IOException, InterruptedException {
        String port = Integer.toString(Net.freePort());
        List<String> client = new ArrayList<>(Child.metaroce("perf", "client", net.server() + ":" + port, "--bind", net.ownPlanes(), "--spin", "--integrity", "header",
                "--json", "--no-verify", "--size", Integer.toString(size), "--warmup", "2", "--seconds", String.format(Locale.ROOT, "%.1f", seconds)));
        client.addAll(options);
        List<String> server = new ArrayList<>(Child.metaroce("perf", "server", "--bind", net.planes(), "--udp-port", port, "--spin", "--integrity", "header"));
        if (net.planeCount() > 1) {
            client.addAll(List.of("--planes", Integer.toString(net.planeCount())));
            server.addAll(List.of("--planes", Integer.toString(net.planeCount())));
        }
        if (!net.rate().isEmpty()) {
            client.addAll(List.of("--rate", net.rate()));
            server.addAll(List.of("--rate", net.rate()));
        }
        return Ends.run(net, server, "ready ", false, client, Map.of(), SECONDS);
    }
}
