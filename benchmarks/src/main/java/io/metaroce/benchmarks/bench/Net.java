// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.net.DatagramSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What lies between the two ends of a comparison. The server has core 1, the client core 0; with one core they share it.
 *
 * @param server address of the server, {@code client} of the client
 * @param device their network interface
 * @param name what results are to say of it, "" for loopback
 * @param rate of the line as {@code metaroce perf --rate} takes it, "" for what it takes by itself
 * @param bestMtu longest datagram that travels in one piece, a multiple of 32 as Aeron wants it
 * @param planes addresses of all planes of the server, for who can use several, {@code ownPlanes} of the client; separated by commas
 * @param onServer what begins a command line that is to run on the server's host, {@code onClient} on the client's
 */
record Net(String name, String server, String client, String device, String rate, int bestMtu, String planes, String ownPlanes, List<String> onServer, List<String> onClient) {
    static final Net LOOPBACK = new Net("", "127.0.0.1", "127.0.0.1", "lo", "", 65_504, "127.0.0.1", "127.0.0.1", List.of(), List.of());

    /** Hosts a and b of a lab (scripts/lab) of this name, on its plane 0, 1 Gb/s and 9,000 B a packet. */
    static Net lab(String lab, double loss) {
        return new Net(loss == 0 ? "no loss" : String.format(Locale.ROOT, loss < 0.01 ? "%.1f %% lost" : "%.0f %% lost", 100 * loss), "10.66.0.2", "10.66.0.1", "p0",
                "1G", 8_960, "10.66.0.2", "10.66.0.1", inLab(lab, "b"), inLab(lab, "a"));
    }

    /** The same with all of {@link LabPlanes#PLANES} planes; who can use one alone has plane 0, which nothing happens to. */
    static Net labPlanes(String lab) {
        Net one = lab(lab, 0);
        return new Net(LabPlanes.PLANES + " planes, one marked, one dying", one.server, one.client, one.device, LabPlanes.RATE, one.bestMtu, planes(2), planes(1), one.onServer, one.onClient);
    }

    private static String planes(int host) {
        return IntStream.range(0, LabPlanes.PLANES).mapToObj(p -> "10.66." + p + "." + host).collect(Collectors.joining(","));
    }

    int planeCount() {
        return planes.split(",").length;
    }

    /** With a /sys of its own, where UCX looks for the interface. */
    private static List<String> inLab(String lab, String host) {
        return List.of(Child.root().resolve("scripts/lab").toString(), "--name", lab, "on", host, "unshare", "--mount", "sh", "-c",
                "mount -t sysfs sysfs /sys && exec \"$@\"", "sh");
    }

    List<String> serverCommand(List<String> command) {
        return pinned(onServer, Runtime.getRuntime().availableProcessors() > 1 ? 1 : 0, command);
    }

    List<String> clientCommand(List<String> command) {
        return pinned(onClient, 0, command);
    }

    private static List<String> pinned(List<String> before, int core, List<String> command) {
        List<String> all = new ArrayList<>(before);
        all.addAll(List.of("taskset", "-c", Integer.toString(core)));
        all.addAll(command);
        return all;
    }

    /** A port that nobody has now. */
    static int freePort() {
        try (DatagramSocket socket = new DatagramSocket()) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new IllegalStateException("no free port", e);
        }
    }
}
