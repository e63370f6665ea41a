// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.benchmarks.capture.Floods;
import io.metaroce.benchmarks.capture.Frames;
import io.metaroce.benchmarks.capture.Pcap;
import io.metaroce.core.Affinity;
import io.metaroce.core.Clock;
import io.metaroce.port.PacketPort;
import io.metaroce.port.dpdk.DpdkConfig;
import io.metaroce.port.dpdk.DpdkPort;
import io.metaroce.port.dpdk.Eal;
import io.metaroce.port.dpdk.EalArguments;
import io.metaroce.port.dpdk.MemifPlanes;
import io.metaroce.port.dpdk.PlaneConfig;
import io.metaroce.port.udp.UdpConfig;
import io.metaroce.port.udp.UdpPort;
import io.metaroce.transport.EndpointCounters;
import io.metaroce.transport.RxBurst;
import io.metaroce.wire.NetAddress;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What a flood of 64-byte frames takes from a running transfer. Sender and receiver take turns on one core, the flood's source has another
 * and sends as fast as it can, in stretches; in between it sends the same to nobody, as two cores share caches and more, and a source that
 * is silent makes everyone faster. Of each few turns the receiver's time for a packet of the transfer is taken; the median without the
 * flood over the median with it is the share of its core that the transfer keeps.
 *
 * <pre>
 * FloodTrial dpdk|udp foreign|malformed|unknown [key=value ...]   payload=4096 stretches=8 (more on a busy machine) ms=150
 * </pre>
 * dpdk: the transfer goes over a memif link, the flood comes over another one of the same receiver, played by dpdk-testpmd from a capture.
 * udp: both come in over the same socket on loopback.
 */
public final class FloodTrial {
    private static final int MESSAGE = 1 << 20;
    private static final int TURNS = 16;
    private static final long WARM_UP_NS = 3_000_000_000L;
    private static final long SETTLE_NS = 30_000_000L;
    private static final long PATIENCE_NS = 20_000_000_000L;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private static Path toDelete;

    private final LoopPair pair;
    private final FloodSource source;
    private final FloodSource elsewhere;
    private final FloodPieces pieces = new FloodPieces();

    private FloodTrial(LoopPair pair, FloodSource source, FloodSource elsewhere) {
        this.pair = pair;
        this.source = source;
        this.elsewhere = elsewhere;
    }

    public static void main(String[] args) throws IOException {
        Arguments arguments = new Arguments(args);
        int payload = arguments.integer("payload", 4096);
        int[] cores = Affinity.allowed();
        Affinity.pin(cores[0]);
        String other = Integer.toString(cores[cores.length > 1 ? 1 : 0]);
        FloodTrial trial = args[0].equals("udp") ? udp(args[1], payload, other) : dpdk(args[1], payload, other);
        try (trial.source; trial.elsewhere) {
            trial.run(arguments.integer("stretches", 8), arguments.integer("ms", 150) * 1_000_000L);
        }
        if (toDelete != null) {
            Files.deleteIfExists(toDelete);
        }
        Runtime.getRuntime().halt(0);
    }

    // ---- the two networks ----

    private static FloodTrial dpdk(String kind, int payload, String core) throws IOException {
        Eal.start(List.of(), EalArguments.complete(List.of("--vdev", "net_null9"), 512));
        String link = "flood-" + ProcessHandle.current().pid();
        int mtu = DpdkConfig.mtuFor(payload);
        PlaneConfig from = MemifPlanes.of(link, true, 1, mtu).get(0);
        PlaneConfig to = MemifPlanes.of(link, false, 1, mtu).get(0);
        PlaneConfig flooded = MemifPlanes.of(link + "-stranger", true, 2, mtu).get(1);
        DpdkPort sender = port(mtu, from);
        DpdkPort receiver = port(mtu, renamed(to, 3), renamed(flooded, 4));
        RxBurst burst = new RxBurst(64);
        while (!sender.isUp(0) || !receiver.isUp(0)) {
            sender.receive(burst);
            receiver.receive(burst);
        }
        LoopPair pair = new LoopPair(sender, receiver, payload, MESSAGE);
        Path capture = Files.createTempFile("metaroce-flood", ".pcap");
        // Not when the process exits: it halts, without DPDK's clean-up.
        toDelete = capture;
        Frames frames = new Frames(receiver.device(1).mac(), 0x0200_0000_0001L, (int) receiver.localAddress(1).low(), (int) receiver.localAddress(1).low() + 7,
                receiver.localAddress(1).port());
        try (Pcap file = new Pcap(capture)) {
            for (byte[] frame : Floods.frames(kind, frames)) {
                file.add(frame);
            }
        }
        String device = MemifPlanes.of(link + "-stranger", false, 2, mtu).get(1).device();
        return new FloodTrial(pair, FloodSource.testpmd(core, capture, device), FloodSource.testpmd(core, capture, "net_null0"));
    }

    private static DpdkPort port(int mtu, PlaneConfig... planes) {
        return new DpdkPort(DpdkConfig.of(List.of(planes)).withMtu(mtu), Clock::nowNs);
    }

    /** Devices of one process have numbers of their own. */
    private static PlaneConfig renamed(PlaneConfig plane, int number) {
        return new PlaneConfig(plane.device().replaceFirst("net_memif\\d+", "net_memif" + number), plane.address(), plane.prefixLength());
    }

    private static FloodTrial udp(String kind, int payload, String core) throws IOException {
        PacketPort receiver = udpPort("127.0.0.2");
        LoopPair pair = new LoopPair(udpPort("127.0.0.1"), receiver, payload, MESSAGE);
        // Never read: the kernel drops what does not fit.
        DatagramSocket nobody = new DatagramSocket(0, InetAddress.getByName("127.0.0.3"));
        return new FloodTrial(pair, FloodSource.udp(core, kind, receiver.localAddress(0).toString()),
                FloodSource.udp(core, kind, "127.0.0.3:" + nobody.getLocalPort()));
    }

    private static UdpPort udpPort(String host) throws UnknownHostException {
        UdpConfig config = new UdpConfig(NetAddress.of(InetAddress.getByName(host), 0));
        config.filter = true;
        return new UdpPort(config);
    }

    // ---- the trial ----

    private void run(int stretches, long stretchNs) throws IOException {
        turnsFor(WARM_UP_NS);
        elsewhere.start();
        toggle(true);
        turnsFor(WARM_UP_NS / 3);
        toggle(false);
        long patience = Clock.nowNs() + PATIENCE_NS;
        for (int i = 0; i < stretches || !pieces.areEnough() && Clock.nowNs() - patience < 0; i++) {
            stretch(false, stretchNs);
            toggle(true);
            stretch(true, stretchNs);
            toggle(false);
        }
        System.out.println(pieces.summary() + " again=" + pair.retransmissions());
        PacketPort port = pair.receiver.port();
        EndpointCounters counters = pair.receiver.endpoint().counters();
        System.out.println("dropped by the port " + port.counters().rxDropped + ", malformed " + counters.malformed + ", unknown " + counters.unknownConnection);
    }

    private void turnsFor(long ns) {
        long end = Clock.nowNs() + ns;
        while (Clock.nowNs() - end < 0) {
            pair.turn();
        }
    }

    /** Has the flood begin or end, and waits until it did. */
    private void toggle(boolean on) throws IOException {
        long patience = Clock.nowNs() + PATIENCE_NS;
        (on ? elsewhere : source).stop();
        (on ? source : elsewhere).start();
        for (long before = dropped(); ; before = dropped()) {
            turnsFor(SETTLE_NS);
            if (dropped() > before == on) {
                return;
            }
            if (Clock.nowNs() - patience > 0) {
                throw new IllegalStateException(on ? "no flood came in" : "the flood does not end");
            }
        }
    }

    private long dropped() {
        EndpointCounters counters = pair.receiver.endpoint().counters();
        return pair.receiver.port().counters().rxDropped + counters.malformed + counters.unknownConnection;
    }

    private void stretch(boolean flooded, long ns) {
        for (long start = Clock.nowNs(); Clock.nowNs() - start < ns; ) {
            piece(flooded);
        }
    }

    private void piece(boolean flooded) {
        long packets = pair.packets();
        long strangers = dropped();
        long spent = pair.receiverNs;
        long cpu = THREADS.getCurrentThreadCpuTime();
        long wall = System.nanoTime();
        for (int turn = 0; turn < TURNS; turn++) {
            pair.turn();
        }
        wall = System.nanoTime() - wall;
        cpu = THREADS.getCurrentThreadCpuTime() - cpu;
        pieces.add(flooded, pair.packets() - packets, dropped() - strangers, pair.receiverNs - spent, wall, wall - cpu);
    }
}
