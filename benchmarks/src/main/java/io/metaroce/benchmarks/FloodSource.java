// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** A program in a process of its own that sends without end, as fast as it can, between two words that it is told. One thread. */
final class FloodSource implements AutoCloseable {
    private final Process process;
    private final OutputStream in;
    private volatile String said = "";

    private FloodSource(List<String> command) throws IOException {
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        in = process.getOutputStream();
        Thread.ofPlatform().daemon().start(this::listen);
    }

    private void listen() {
        try (BufferedReader out = process.inputReader()) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                said = line;
            }
        } catch (IOException e) {
            // It has ended.
        }
    }

    /** DPDK's own program plays this file round and round into a device. */
    static FloodSource testpmd(String core, Path pcap, String device) throws IOException {
        return new FloodSource(Testpmd.player(core, pcap, device));
    }

    /** A process of this Java that runs {@link UdpFlood}. */
    static FloodSource udp(String core, String kind, String address) throws IOException {
        return new FloodSource(List.of("taskset", "-c", core, System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC", "-Xmx64m", "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-cp", System.getProperty("java.class.path"), UdpFlood.class.getName(),
                kind, address));
    }

    void start() throws IOException {
        say("start");
    }

    void stop() throws IOException {
        say("stop");
    }

    private void say(String word) throws IOException {
        if (!process.isAlive()) {
            throw new IOException("the flood's source has ended: " + said);
        }
        in.write((word + "\n").getBytes(StandardCharsets.US_ASCII));
        in.flush();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
