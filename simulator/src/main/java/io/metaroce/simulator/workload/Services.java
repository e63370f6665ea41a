// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.workload;

/** Clients that ask and servers that answer: a short message there, the data back once it has arrived. Same arguments, same flows. */
public final class Services {
    /** Bytes of a request. */
    private static final int REQUEST_BYTES = 64;

    private Services() {
    }

    /**
     * Storage: host 0 reads a stripe from each of many servers at once, and the next stripes when all have come.
     *
     * @param servers hosts that are asked
     * @param bytes of a stripe of one server
     * @param rounds stripes of each server
     */
    public static Workload readFanOut(int hosts, int servers, long bytes, int rounds) {
        if (servers < 1 || servers >= hosts) {
            throw new IllegalArgumentException("a read from " + servers + " servers needs " + (servers + 1) + " hosts");
        }
        Workload w = new Workload("read from " + servers + " servers", hosts);
        int start = Flow.NONE;
        for (int round = 0; round < rounds; round++) {
            int next = round < rounds - 1 ? w.addTrigger(servers) : Flow.NONE;
            for (int i = 0; i < servers; i++) {
                ask(w, 0, 1 + (int) ((long) i * (hosts - 1) / servers), bytes, start, next);
            }
            start = next;
        }
        return w;
    }

    /**
     * KV cache: every host of the upper half fetches blocks, each from the next host of the lower half, so many at a time.
     *
     * @param blocks that each host fetches
     * @param bytes of a block
     * @param inFlight blocks that a host has asked for at a time; 0: all
     */
    public static Workload kvFetch(int hosts, int blocks, long bytes, int inFlight) {
        int servers = hosts / 2;
        if (servers < 1) {
            throw new IllegalArgumentException("a KV fetch needs two hosts");
        }
        Workload w = new Workload("KV fetch of " + blocks + " blocks by " + (hosts - servers), hosts);
        for (int reader = servers; reader < hosts; reader++) {
            int[] came = new int[blocks];
            for (int b = 0; b < blocks; b++) {
                boolean starts = inFlight > 0 && b + inFlight < blocks;
                came[b] = starts ? w.addTrigger(1) : Flow.NONE;
                // Offset by a stride that spreads readers over servers at every moment.
                ask(w, reader, (reader + b * 7) % servers, bytes, inFlight > 0 && b >= inFlight ? came[b - inFlight] : Flow.NONE, came[b]);
            }
        }
        return w;
    }

    private static void ask(Workload w, int client, int server, long bytes, int startedBy, int fires) {
        int asked = w.addTrigger(1);
        Flow request = w.add(client, server, REQUEST_BYTES);
        request.startedBy = startedBy;
        request.whenReceived = asked;
        Flow answer = w.add(server, client, bytes);
        answer.startedBy = asked;
        answer.whenReceived = fires;
    }
}
