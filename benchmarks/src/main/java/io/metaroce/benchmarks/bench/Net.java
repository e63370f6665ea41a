// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.net.DatagramSocket;
import java.util.ArrayList;
import java.util.List;

/**
 * What lies between the two ends of a comparison. The server has core 1, the client core 0; with one core they share it.
 *
 * @param server address of the server, {@code client} of the client
 * @param device their network interface
 * @param onServer what begins a command line that is to run on the server's host, {@code onClient} on the client's
 */
record Net(String server, String client, String device, List<String> onServer, List<String> onClient) {
    static final Net LOOPBACK = new Net("127.0.0.1", "127.0.0.1", "lo", List.of(), List.of());

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
