// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The kernel's TCP, by iperf3: throughput alone. */
record TcpPeer(String congestionControl) implements Peer {
    private static final int SECONDS = 60;
    private static final Path OFFERED = Path.of("/proc/sys/net/ipv4/tcp_available_congestion_control");

    @Override
    public String name() {
        return "TCP " + congestionControl + " (iperf3)";
    }

    @Override
    public String missing() {
        if (!Child.has("iperf3")) {
            return "iperf3 is not installed";
        }
        try {
            return (" " + Files.readString(OFFERED).strip() + " ").contains(" " + congestionControl + " ") ? null : "this kernel has no " + congestionControl;
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    public List<Value> measure(Net net, int size, double seconds) throws IOException, InterruptedException {
        String port = Integer.toString(Net.freePort());
        Ends ends = Ends.run(net, List.of("iperf3", "-s", "-1", "-p", port), null, true, List.of("iperf3", "-c", net.server(), "-p", port, "-t",
                Integer.toString((int) Math.ceil(seconds)), "-O", "1", "-l", Integer.toString(size), "-C", congestionControl, "-J"), Map.of(), SECONDS);
        double gigabytes = Child.number(ends.client(), "\"sum_received\":\\s*\\{[^}]*\"bits_per_second\":\\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)") / 8e9;
        return List.of(Peer.throughput(gigabytes), Peer.cpu(ends, gigabytes));
    }
}
