// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.util.List;

/** A program that moves messages between two processes, and how it is run and understood. */
interface Peer {
    String name();

    /** Why this machine cannot run it, or null. */
    String missing();

    /**
     * Throughput and latency for messages of one size, as far as the program tells them.
     *
     * @param seconds length of each measurement behind its warm-up
     */
    List<Value> measure(Net net, int size, double seconds) throws IOException, InterruptedException;

    static Value throughput(double gigabytes) {
        return new Value("throughput", "GB/s", gigabytes);
    }

    static Value latency(String percentile, double us) {
        return new Value(percentile, "us", us);
    }

    /**
     * What programs tell that stream one way, then play ping-pong, and print {@code gbps}, {@code p50_us}, {@code p99_us} and {@code p999_us}.
     *
     * @param counts output of the end of the stream that counts
     */
    static List<Value> streamAndPingPong(Ends stream, String counts, Ends pingPong) {
        double gigabytes = Child.number(counts, "gbps=([0-9.]+)");
        return List.of(throughput(gigabytes), latency("p50", Child.number(pingPong.client(), "p50_us=([0-9.]+)")),
                latency("p99", Child.number(pingPong.client(), "p99_us=([0-9.]+)")),
                latency("p99.9", Child.number(pingPong.client(), "p999_us=([0-9.]+)")), cpu(stream, gigabytes));
    }

    /** Processor time of both ends for what was moved. */
    static Value cpu(Ends ends, double gigabytesASecond) {
        return new Value("CPU", "s/GB", ends.cores() / gigabytesASecond);
    }
}
