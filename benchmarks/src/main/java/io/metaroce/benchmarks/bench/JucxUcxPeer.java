// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** UCX over TCP from Java, tagged messages: {@code scripts/lib-bench/JucxPeer.java} on JUCX, which uses the UCX that is installed. */
final class JucxUcxPeer implements Peer {
    private static final int SECONDS = 60;

    @Override
    public String name() {
        return "UCX tcp, tag, from Java";
    }

    private static Path directory() {
        return Child.root().resolve("target/peers");
    }

    @Override
    public String missing() {
        if (!Child.has("ucx_perftest")) {
            return "UCX is not installed (Debian: ucx-utils)";
        }
        return Files.exists(directory().resolve("classes/JucxPeer.class")) ? null : "org.openucx:jucx could not be fetched";
    }

    @Override
    public List<Value> measure(Net net, int size, double seconds) throws IOException, InterruptedException {
        Ends stream = run(net, "sink", "source", size, seconds);
        Ends pingPong = run(net, "pong", "ping", size, seconds);
        return Peer.streamAndPingPong(stream, stream.server(), pingPong);
    }

    private static Ends run(Net net, String server, String client, int size, double seconds) throws IOException, InterruptedException {
        String port = Integer.toString(Net.freePort());
        return Ends.run(net, command(server, net.server(), port), "ready", true, command(client, net.server(), port, Integer.toString(size), Double.toString(seconds)),
                UcxPeer.environment(net), SECONDS);
    }

    private static List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC", "-Xmx256m", "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED", "-cp", directory() + "/*:" + directory().resolve("classes"), "JucxPeer"));
        command.addAll(List.of(arguments));
        return command;
    }
}
