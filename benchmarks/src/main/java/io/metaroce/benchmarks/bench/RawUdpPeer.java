// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** UDP from C without a transport, the floor and the ceiling: {@code scripts/lib-bench/udp_peer.c}. */
final class RawUdpPeer implements Peer {
    private static final int SECONDS = 60;

    @Override
    public String name() {
        return "raw UDP in C";
    }

    private static Path program() {
        return Child.root().resolve("target/peers/udp_peer");
    }

    @Override
    public String missing() {
        return Files.isExecutable(program()) ? null : "no C compiler";
    }

    @Override
    public List<Value> measure(Net net, int size, double seconds) throws IOException, InterruptedException {
        Ends stream = run(net, "sink", "source", size, seconds);
        Ends pingPong = run(net, "pong", "ping", size, seconds);
        return Peer.streamAndPingPong(stream, stream.client(), pingPong);
    }

    private static Ends run(Net net, String server, String client, int size, double seconds) throws IOException, InterruptedException {
        String port = Integer.toString(Net.freePort());
        return Ends.run(net, List.of(program().toString(), server, net.server(), port), null, false,
                List.of(program().toString(), client, net.server(), port, Integer.toString(size), Double.toString(seconds)), Map.of(), SECONDS);
    }
}
