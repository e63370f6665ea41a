// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import io.metaroce.benchmarks.EndpointPair;
import io.metaroce.benchmarks.PartsBenchmark;
import io.metaroce.transport.TransportBenchmark;
import java.util.ArrayList;
import java.util.List;

/** The standard set: single parts, whole endpoints, poll loops, captures, sockets. */
final class Standard {
    /** 1 % and 10 %, in numbers that do not fall into step with bursts. */
    private static final int[] LOSSES = {0, 101, 11};

    private Standard() {
    }

    static List<Measured> all() {
        List<Measured> all = new ArrayList<>();
        all.add(new Jmh("data header, build", PartsBenchmark.class, "dataHeaderBuild"));
        all.add(new Jmh("data header, check and parse", PartsBenchmark.class, "dataHeaderParse"));
        all.add(new Jmh("acknowledgement, build", PartsBenchmark.class, "ackBuild"));
        all.add(new Jmh("acknowledgement, check and parse", PartsBenchmark.class, "ackParse"));
        all.add(new Jmh("bitmap, packet in order", TransportBenchmark.class, "bitmapInOrder"));
        all.add(new Jmh("bitmap, packet reordered", TransportBenchmark.class, "bitmapReordered"));
        all.add(new Jmh("spray, choice of 64 paths", TransportBenchmark.class, "spray"));
        all.add(new Jmh("timer heap, fire and set, 1,023 timers", TransportBenchmark.class, "timer"));
        all.add(new Jmh("ring, record there and back", PartsBenchmark.class, "ring"));
        all.add(new Jmh("slab, field of a record", PartsBenchmark.class, "slabField"));
        all.add(new Jmh("slab, look-up of a record", PartsBenchmark.class, "slabMap"));
        for (int loss : LOSSES) {
            for (int run : new int[] {1, EndpointPair.UDP_RUN}) {
                all.add(new EndpointLoop(loss, run));
            }
        }
        for (String device : List.of("net_null", "net_ring")) {
            List.of("io", "macswap", "raw").forEach(kind -> all.add(new PollLoop(device, kind)));
        }
        List.of("io", "raw", "port").forEach(kind -> all.add(new PollLoop("net_memif", kind)));
        for (int payload : new int[] {256, 4096}) {
            List.of("port", "endpoint").forEach(kind -> all.add(new Feed(kind, payload)));
        }
        all.add(new UdpLoopback(false));
        all.add(new UdpLoopback(true));
        return all;
    }
}
