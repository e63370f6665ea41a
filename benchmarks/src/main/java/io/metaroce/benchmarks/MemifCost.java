// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.bindings.dpdk.Pmd;
import io.metaroce.bindings.dpdk.PmdCalls;
import io.metaroce.bindings.dpdk.generated.mrpmd_rx;
import io.metaroce.bindings.dpdk.generated.mrpmd_tx;
import io.metaroce.core.Clock;
import io.metaroce.port.dpdk.DpdkConfig;
import io.metaroce.port.dpdk.DpdkPort;
import io.metaroce.port.dpdk.Eal;
import io.metaroce.port.dpdk.EalArguments;
import io.metaroce.port.dpdk.MemifPlanes;
import io.metaroce.port.dpdk.PlaneConfig;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What sending and receiving one frame costs over memif, in nanoseconds of processor time: both ends of a link in one thread of one
 * process, so that other work on the machine changes little.
 * <ul>
 * <li>{@code testpmd}: DPDK's C program forwards frames round and round (io mode), the yardstick;
 * <li>{@code raw}: the same from Java through the shim's bursts;
 * <li>{@code port}: {@link DpdkPort} with two planes that send to each other: headers written and checked, payload from a region.
 * </ul>
 *
 * <pre>
 * MemifCost [key=value ...]   seconds=1 rounds=5 datagram=4160 burst=64 kinds=testpmd,raw,port gather=1 ipv6=0 bsize=0 ring=10 region=1
 * </pre>
 */
public final class MemifCost {
    private static final int HEADERS = 42;
    private static final int HEADER = 64;
    private static final long WARM_UP_NS = 1_500_000_000L;

    private final Arguments arguments;
    private final int datagram;
    private final int burst;
    private final long measureNs;
    private long seen;

    private MemifCost(Arguments arguments) {
        this.arguments = arguments;
        datagram = arguments.integer("datagram", 4160);
        burst = arguments.integer("burst", 64);
        measureNs = arguments.integer("seconds", 1) * 1_000_000_000L;
    }

    public static void main(String[] args) throws Exception {
        MemifCost harness = new MemifCost(new Arguments(args));
        switch (args.length > 0 ? args[0] : "") {
            case "raw" -> harness.raw();
            case "port" -> harness.port();
            case "testpmd" -> System.out.println(harness.testpmd());
            default -> harness.runAll();
        }
    }

    private void runAll() throws IOException, InterruptedException {
        Map<String, List<Double>> results = new HashMap<>();
        String[] kinds = arguments.text("kinds", "testpmd,raw,port").split(",");
        for (int round = 0; round < arguments.integer("rounds", 5); round++) {
            for (String kind : kinds) {
                double ns = kind.equals("testpmd") ? testpmd() : child(kind);
                results.computeIfAbsent(kind, k -> new ArrayList<>()).add(ns);
            }
        }
        for (String kind : kinds) {
            double[] sorted = results.get(kind).stream().mapToDouble(d -> d).sorted().toArray();
            System.out.printf(Locale.ROOT, "%-8s median %.0f ns, least %.0f, most %.0f%n", kind, sorted[sorted.length / 2], sorted[0],
                    sorted[sorted.length - 1]);
        }
    }

    private double child(String kind) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC", "-Xmx128m",
                "-XX:-UsePerfData", "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"), MemifCost.class.getName(), kind));
        command.addAll(arguments.given());
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        double ns = Double.parseDouble(process.inputReader().readLine());
        process.waitFor();
        return ns;
    }

    private String device(boolean server) {
        String device = MemifPlanes.of("cost-" + ProcessHandle.current().pid(), server, 1, mtu()).get(0).device();
        int bsize = arguments.integer("bsize", 0);
        device = bsize == 0 ? device : device.replaceAll("bsize=\\d+", "bsize=" + bsize);
        return device.replace("net_memif0", server ? "net_memif0" : "net_memif1").replaceAll("rsize=\\d+", "rsize=" + arguments.integer("ring", 10));
    }

    private int mtu() {
        return DpdkConfig.mtuFor(datagram - HEADER);
    }

    private int bufferSize() {
        return Integer.parseInt(device(true).replaceAll(".*bsize=(\\d+).*", "$1"));
    }

    // ---- testpmd ----

    private double testpmd() throws IOException, InterruptedException {
        return Testpmd.nsAFrame("io", List.of(device(true), device(false)), bufferSize(), datagram + HEADERS, burst, measureNs);
    }

    private static long myCpuNs() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    // ---- raw ----

    private void raw() {
        Eal.start(List.of(), EalArguments.complete(List.of("--vdev", "net_null0"), 64));
        long pool = Pmd.createPool("raw", 4096, bufferSize(), 256, -1);
        int[] ports = {open(true, pool), open(false, pool)};
        Pmd.attachThread();
        while (!Pmd.linkUp(ports[0]) || !Pmd.linkUp(ports[1])) {
            Thread.onSpinWait();
        }
        MemorySegment rx = mrpmd_rx.allocate(Arena.global()).fill((byte) 0);
        MemorySegment tx = mrpmd_tx.allocate(Arena.global());
        int n = RawFrames.fresh(tx, pool, burst, datagram + HEADERS);
        // A memif server can send only once its client has polled.
        MemorySegment nothing = mrpmd_rx.allocate(Arena.global()).fill((byte) 0);
        while (PmdCalls.receive(ports[1], 0, nothing.address(), burst) == 0 && PmdCalls.send(ports[0], 0, tx.address(), n) == 0) {
            Thread.onSpinWait();
        }
        turns(ports, rx, WARM_UP_NS);
        long before = myCpuNs();
        long moved = turns(ports, rx, measureNs);
        System.out.println((double) (myCpuNs() - before) / moved);
        if (seen == 1) {
            System.err.println("unlikely");
        }
        Runtime.getRuntime().halt(0);
    }

    private int open(boolean server, long pool) {
        int port = Pmd.addDevice(device(server));
        Pmd.configure(port, new Pmd.Setup(pool, 0, 1500, 1, 1024, 1024, 0));
        Pmd.start(port);
        return port;
    }

    private long turns(int[] ports, MemorySegment rx, long forNs) {
        long endNs = Clock.nowNs() + forNs;
        long moved = 0;
        for (int turn = 0; (turn & 63) != 0 || Clock.nowNs() - endNs < 0; turn++) {
            int n = PmdCalls.receive(ports[turn & 1 ^ 1], 0, rx.address(), burst);
            seen += RawFrames.look(rx, n);
            moved += PmdCalls.forward(ports[turn & 1 ^ 1], 0, rx.address(), n);
        }
        return moved;
    }

    // ---- the port ----

    private void port() {
        boolean ipv6 = arguments.integer("ipv6", 0) != 0;
        PlaneConfig[] planes = new PlaneConfig[2];
        for (int p = 0; p < 2; p++) {
            planes[p] = PlaneConfig.parse(device(p == 0) + "@" + (ipv6 ? "fd00::" + (p + 1) : "10.0.0." + (p + 1)));
        }
        DpdkPort port = new DpdkPort(DpdkConfig.of(List.of(planes)).withMtu(mtu()).withGather(arguments.integer("gather", 1) != 0), Clock::nowNs);
        RxBurst rx = new RxBurst(burst);
        TxBurst tx = new TxBurst(burst);
        MemorySegment region = Arena.global().allocate((long) arguments.integer("region", 1) << 20, 4096).fill((byte) 2);
        while (!port.isUp(0) || !port.isUp(1)) {
            port.receive(rx);
        }
        turns(port, rx, tx, region, WARM_UP_NS);
        long before = myCpuNs();
        long moved = turns(port, rx, tx, region, measureNs);
        System.out.println((double) (myCpuNs() - before) / moved);
        Runtime.getRuntime().halt(0);
    }

    private long turns(DpdkPort port, RxBurst rx, TxBurst tx, MemorySegment region, long forNs) {
        long endNs = Clock.nowNs() + forNs;
        NetAddress to = port.localAddress(1);
        int payload = datagram - HEADER;
        long moved = 0;
        long at = 0;
        for (int turn = 0; (turn & 63) != 0 || Clock.nowNs() - endNs < 0; turn++) {
            port.prepare(tx);
            for (int i = tx.count; i < burst; i++) {
                tx.headerLength[i] = HEADER;
                tx.payload[i] = region.address() + at;
                tx.payloadLength[i] = payload;
                tx.plane[i] = 0;
                tx.sourcePort[i] = 49152 + i;
                tx.destinationHigh[i] = to.high();
                tx.destinationLow[i] = to.low();
                tx.destinationPort[i] = to.port();
                at = at + 2L * payload > region.byteSize() ? 0 : at + payload;
            }
            tx.count = burst;
            port.send(tx);
            port.receive(rx);
            moved += rx.count;
        }
        return moved;
    }
}
