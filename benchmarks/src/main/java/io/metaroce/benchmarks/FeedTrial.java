// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.benchmarks.capture.Frames;
import io.metaroce.benchmarks.capture.Pcap;
import io.metaroce.benchmarks.capture.TransferCapture;
import io.metaroce.core.Clock;
import io.metaroce.port.dpdk.DpdkConfig;
import io.metaroce.port.dpdk.DpdkPort;
import io.metaroce.port.dpdk.Eal;
import io.metaroce.port.dpdk.EalArguments;
import io.metaroce.port.dpdk.PlaneConfig;
import io.metaroce.transport.ConnectionStats;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.Event;
import io.metaroce.transport.RxBurst;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The receive path fed at line rate: a capture of a transfer's Data packets comes round and round out of a DPDK device (net_pcap), always as many
 * as are asked for. Processor time for a packet, the device's own copy of each frame included; with {@code endpoint} each time round goes to
 * a receiver to which all of it is new, and each packet must be taken.
 *
 * <pre>
 * FeedTrial port|endpoint [key=value ...]   payload=256 packets=8192 passes=300
 * </pre>
 */
public final class FeedTrial {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    /** What net_pcap gives the first of its devices that has no interface behind it. */
    private static final long MAC = 0x0270_6361_7000L;
    private static final long PATIENCE_NS = 30_000_000_000L;
    private static final int BURST = 64;

    private final DpdkPort port;
    private final TransferCapture capture;
    private final int packets;
    private final int payload;
    private final RxBurst burst = new RxBurst(BURST);

    private FeedTrial(DpdkPort port, TransferCapture capture, int packets, int payload) {
        this.port = port;
        this.capture = capture;
        this.packets = packets;
        this.payload = payload;
    }

    public static void main(String[] args) throws IOException {
        Arguments arguments = new Arguments(args);
        int payload = arguments.integer("payload", 256);
        int packets = arguments.integer("packets", 8192) / BURST * BURST;
        int passes = arguments.integer("passes", 300);
        TransferCapture capture = new TransferCapture(payload, packets);
        Path file = Files.createTempFile("metaroce-feed", ".pcap");
        int address = 0x0a00_0002;
        try (Pcap pcap = new Pcap(file)) {
            for (byte[] frame : capture.frames(new Frames(MAC, 0x0200_0000_0001L, address, 0x0a00_0001, DpdkConfig.DEFAULT_UDP_PORT))) {
                pcap.add(frame);
            }
        }
        int mtu = DpdkConfig.mtuFor(payload);
        Eal.start(List.of(), EalArguments.complete(List.of("--vdev", "net_null9"), 64 + (int) ((long) 4 * packets * (mtu + 768) >> 20)));
        PlaneConfig plane = PlaneConfig.parse("net_pcap0,rx_pcap=" + file + ",infinite_rx=1@10.0.0.2");
        // The device keeps the whole capture in the receive pool.
        DpdkPort port = new DpdkPort(DpdkConfig.of(List.of(plane)).withMtu(mtu).withDescriptors(Math.max(1024, 2 * packets), 1024), Clock::nowNs);
        Files.delete(file);
        if (port.device(0).mac() != MAC) {
            throw new IllegalStateException("the device has another MAC address than the capture");
        }
        FeedTrial trial = new FeedTrial(port, capture, packets, payload);
        System.out.printf(Locale.ROOT, "ns=%.2f%n", trial.run(args[0].equals("endpoint"), passes));
        Runtime.getRuntime().halt(0);
    }

    /** Median of the later half of the passes. */
    private double run(boolean withEndpoint, int passes) {
        double[] ns = new double[passes];
        for (int i = 0; i < passes; i++) {
            ns[i] = withEndpoint ? pass(capture.receiver()) : pass(null);
        }
        double[] warm = Arrays.copyOfRange(ns, passes / 2, passes);
        Arrays.sort(warm);
        return warm[warm.length / 2];
    }

    /** One time round the capture. */
    private double pass(Endpoint endpoint) {
        long patience = Clock.nowNs() + PATIENCE_NS;
        long nowNs = 2_000_000_000L;
        long start = THREADS.getCurrentThreadCpuTime();
        for (int taken = 0; taken < packets; taken += burst.count) {
            port.receive(burst);
            if (endpoint != null && burst.count > 0) {
                endpoint.receive(nowNs += 1_000, burst);
            }
            if (burst.count == 0 && Clock.nowNs() - patience > 0) {
                throw new IllegalStateException("the device brings nothing; dropped " + port.counters().rxDropped);
            }
        }
        double ns = (double) (THREADS.getCurrentThreadCpuTime() - start) / packets;
        if (endpoint != null) {
            check(endpoint);
        }
        return ns;
    }

    private void check(Endpoint endpoint) {
        Event event = new Event();
        ConnectionStats stats = new ConnectionStats();
        if (endpoint.pollEvent(event)) {
            endpoint.readStats(event.connection, stats);
        }
        if (stats.packetsReceived != packets || stats.duplicates != 0 || stats.bytesReceived != (long) packets * payload) {
            throw new IllegalStateException(stats.packetsReceived + " packets of " + packets + " were taken, " + stats.duplicates + " of them twice, " + stats.bytesReceived + " bytes placed");
        }
    }
}
