// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Aeron over UDP, media driver and client in one thread on each end: {@code scripts/lib-bench/AeronPeer.java}. */
record AeronUdpPeer(int mtu) implements Peer {
    private static final int SECONDS = 60;
    private static final String SHARED = "/dev/shm/metaroce-bench-" + ProcessHandle.current().pid();

    @Override
    public String name() {
        return "Aeron, MTU " + mtu;
    }

    private static Path directory() {
        return Child.root().resolve("target/peers");
    }

    @Override
    public String missing() {
        return Files.exists(directory().resolve("classes/AeronPeer.class")) ? null : "io.aeron:aeron-all could not be fetched";
    }

    @Override
    public List<Value> measure(Net net, int size, double seconds) throws IOException, InterruptedException {
        Ends stream = run(net, "sink", "source", size, seconds);
        Ends pingPong = run(net, "pong", "ping", size, seconds);
        return Peer.streamAndPingPong(stream, stream.server(), pingPong);
    }

    private Ends run(Net net, String server, String client, int size, double seconds) throws IOException, InterruptedException {
        String there = net.server() + ":" + Net.freePort();
        String back = net.client() + ":" + Net.freePort();
        return Ends.run(net, command(server, "-server", there, back), "ready", true,
                Stream.concat(command(client, "-client", back, there).stream(), Stream.of(Integer.toString(size), Double.toString(seconds))).toList(), Map.of(),
                SECONDS);
    }

    private List<String> command(String mode, String end, String own, String peer) {
        return List.of(System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC", "-Xmx256m", "-XX:-UsePerfData", "--sun-misc-unsafe-memory-access=allow",
                "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED", "-Dagrona.disable.bounds.checks=true", "-cp",
                directory() + "/*:" + directory().resolve("classes"), "AeronPeer", mode, SHARED + end, Integer.toString(mtu), own, peer);
    }
}
