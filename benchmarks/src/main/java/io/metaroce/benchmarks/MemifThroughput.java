// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.bindings.dpdk.Pmd;
import io.metaroce.bindings.dpdk.PmdCalls;
import io.metaroce.bindings.dpdk.generated.PmdShim;
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
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * One way over memif between two processes, each pinned to a core, in turn by
 * <ul>
 * <li>{@code testpmd}: DPDK's own C program, txonly to rxonly, the yardstick;
 * <li>{@code raw}: the same from Java, through the shim's bursts: frames are allocated, given headers, sent; received, touched, freed;
 * <li>{@code port}: {@link DpdkPort}, payload from and, with {@code copy=1}, to regions of {@code region} MiB;
 * </ul>
 * The receiver counts. Rounds alternate, as the machine's speed drifts.
 *
 * <pre>
 * MemifThroughput [key=value ...]   seconds=2 rounds=3 datagram=4160 burst=64 ring=10 bsize=0 (chosen) kinds=testpmd,raw,port
 *                                   region=16 copy=0 gather=1 zerocopy=0
 * </pre>
 */
public final class MemifThroughput {
    private static final int HEADERS = 42;
    private static final int HEADER = 64;
    private static final long WARM_UP_NS = 1_500_000_000L;
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private final Arguments arguments;
    private final int datagram;
    private final int burst;
    private final long measureNs;

    private MemifThroughput(Arguments arguments) {
        this.arguments = arguments;
        datagram = arguments.integer("datagram", 4160);
        burst = arguments.integer("burst", 64);
        measureNs = arguments.integer("seconds", 2) * 1_000_000_000L;
    }

    public static void main(String[] args) throws Exception {
        MemifThroughput harness = new MemifThroughput(new Arguments(args));
        switch (args.length > 0 ? args[0] : "") {
            case "raw-receive" -> harness.rawReceive();
            case "raw-send" -> harness.rawSend();
            case "port-receive" -> harness.portReceive();
            case "port-send" -> harness.portSend();
            default -> harness.runAll();
        }
    }

    // ---- both ends ----

    private void runAll() throws IOException, InterruptedException {
        Map<String, List<Double>> results = new HashMap<>();
        String[] kinds = arguments.text("kinds", "testpmd,raw,port").split(",");
        for (int round = 0; round < arguments.integer("rounds", 3); round++) {
            for (String kind : kinds) {
                double mpps = kind.equals("testpmd") ? testpmd(round) : java(kind, round);
                results.computeIfAbsent(kind, k -> new ArrayList<>()).add(mpps);
                System.out.printf(Locale.ROOT, "round %d %-8s %.3f Mpps %.1f Gb/s%n", round, kind, mpps, mpps * 8e-3 * (datagram + HEADERS));
            }
        }
        for (String kind : kinds) {
            double[] sorted = results.get(kind).stream().mapToDouble(d -> d).sorted().toArray();
            System.out.printf(Locale.ROOT, "median  %-8s %.3f Mpps %s%n", kind, sorted[sorted.length / 2], Arrays.toString(sorted));
        }
    }

    private double java(String kind, int round) throws IOException, InterruptedException {
        Process receiver = child(1, kind + "-receive", round);
        BufferedReader output = receiver.inputReader();
        output.readLine();
        Process sender = child(0, kind + "-send", round);
        double mpps = Double.parseDouble(output.readLine());
        sender.destroyForcibly().waitFor();
        receiver.destroyForcibly().waitFor();
        return mpps;
    }

    private Process child(int core, String role, int round) throws IOException {
        List<String> command = new ArrayList<>(List.of("taskset", "-c", Integer.toString(core),
                System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC", "-Xmx256m", "-XX:-UsePerfData", "--enable-native-access=ALL-UNNAMED",
                "-cp", System.getProperty("java.class.path"), MemifThroughput.class.getName(), role));
        command.addAll(arguments.given());
        command.add("link=" + link(round));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static String link(int round) {
        return "bench-" + ProcessHandle.current().pid() + "-" + round;
    }

    /** The device arguments of one side. */
    private String device(String link, boolean server) {
        String device = MemifPlanes.of(link, server, 1, mtu()).get(0).device();
        int bsize = arguments.integer("bsize", 0);
        if (bsize != 0) {
            device = device.replaceAll("bsize=\\d+", "bsize=" + bsize);
        }
        return device.replaceAll("rsize=\\d+", "rsize=" + arguments.integer("ring", 10))
                + (!server && arguments.integer("zerocopy", 0) != 0 ? ",zero-copy=yes" : "");
    }

    private int mtu() {
        return DpdkConfig.mtuFor(datagram - HEADER);
    }

    // ---- testpmd ----

    private double testpmd(int round) throws IOException, InterruptedException {
        String link = link(round) + "-c";
        Process receiver = testpmd(1, device(link, true), "rxonly");
        Thread.sleep(500);
        Process sender = testpmd(0, device(link, false), "txonly");
        Thread.sleep(WARM_UP_NS / 1_000_000);
        OutputStream in = receiver.getOutputStream();
        in.write("show port stats 0\n".getBytes());
        in.flush();
        Thread.sleep(measureNs / 1_000_000);
        in.write("show port stats 0\nquit\n".getBytes());
        in.flush();
        double mpps = 0;
        for (String line : receiver.inputReader().lines().toList()) {
            if (line.contains("Rx-pps:")) {
                mpps = Double.parseDouble(line.replaceAll(".*Rx-pps:\\s*(\\d+).*", "$1")) * 1e-6;
                double bytes = Double.parseDouble(line.replaceAll(".*Rx-bps:\\s*(\\d+).*", "$1")) / 8e6 / mpps;
                if (mpps > 0 && Math.abs(bytes - datagram - HEADERS) > 1) {
                    throw new IllegalStateException("testpmd sent frames of " + bytes + " bytes");
                }
            }
        }
        sender.destroyForcibly().waitFor();
        receiver.waitFor();
        return mpps;
    }

    private Process testpmd(int core, String device, String mode) throws IOException {
        // The same choice of memory as Java's.
        List<String> memory = new ArrayList<>(EalArguments.complete(List.of("--vdev", device, "--lcores", "0@" + core + ",1@" + core), 128));
        List<String> command = new ArrayList<>(List.of("dpdk-testpmd"));
        command.addAll(memory);
        // The buffer size goes first: testpmd holds a packet size against the one it knows by then and silently sends 64 bytes.
        command.addAll(List.of("--", "-i", "--auto-start", "--forward-mode=" + mode, "--mbuf-size=" + (bufferSize() + 128),
                "--txpkts=" + (datagram + HEADERS), "--burst=" + burst, "--total-num-mbufs=4096", "--mbcache=256"));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private int bufferSize() {
        return Integer.parseInt(device("x", true).replaceAll(".*bsize=(\\d+).*", "$1"));
    }

    // ---- raw bursts ----

    private int openRaw(boolean server) {
        Eal.start(List.of(), EalArguments.complete(List.of("--vdev", "net_null0"), 64));
        int port = Pmd.addDevice(device(arguments.text("link", "x"), server));
        pool = Pmd.createPool("raw", 4096, bufferSize(), 256, -1);
        Pmd.configure(port, new Pmd.Setup(pool, 0, 1500, 1, 1024, 1024, 0));
        Pmd.start(port);
        Pmd.attachThread();
        return port;
    }

    private long pool;

    private void rawReceive() {
        int port = openRaw(true);
        System.out.println("ready");
        MemorySegment rx = mrpmd_rx.allocate(Arena.global());
        rx.fill((byte) 0);
        long startNs = 0;
        long frames = 0;
        long touched = 0;
        while (true) {
            int n = PmdCalls.receive(port, 0, rx.address(), burst);
            touched += RawFrames.look(rx, n);
            frames += n;
            if (n == 0 && startNs == 0) {
                continue;
            }
            if (startNs == 0) {
                startNs = Clock.nowNs() + WARM_UP_NS;
            }
            if (Clock.nowNs() - startNs < 0) {
                frames = 0;
            } else if (Clock.nowNs() - startNs > measureNs) {
                report(frames, Clock.nowNs() - startNs, touched);
                return;
            }
        }
    }

    private static void report(long frames, long ns, long touched) {
        System.out.println((double) frames / ns * 1e3 + (touched == 1 ? " " : ""));
        try {
            Thread.sleep(10_000);   // the sender goes first
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void rawSend() {
        int port = openRaw(false);
        while (!Pmd.linkUp(port)) {
            Thread.onSpinWait();
        }
        MemorySegment tx = mrpmd_tx.allocate(Arena.global());
        MemorySegment mbufs = Arena.global().allocate(ValueLayout.JAVA_LONG, burst);
        int dataOffset = PmdShim.mrpmd_data_offset();
        int waiting = 0;
        while (true) {
            int fresh = PmdCalls.alloc(pool, mbufs.address(), burst - waiting);
            for (int i = 0; i < fresh; i++) {
                rawFrame(tx, waiting + i, mbufs.getAtIndex(ValueLayout.JAVA_LONG, i), dataOffset);
            }
            waiting += fresh;
            // An ordinary call: a loop of critical ones would never end (see PmdCalls).
            int sent = PmdCalls.sendBlocking(port, 0, tx.address(), waiting);
            int rest = waiting - sent;
            for (int i = 0; sent > 0 && i < rest; i++) {
                long mbuf = tx.get(ValueLayout.JAVA_LONG, mrpmd_tx.mbuf$offset() + 8L * (sent + i));
                rawFrame(tx, i, mbuf, dataOffset);
            }
            waiting = rest;
        }
    }

    private void rawFrame(MemorySegment tx, int i, long mbuf, int dataOffset) {
        long data = mbuf + dataOffset;
        MemorySegment frame = MemorySegment.ofAddress(data).reinterpret(64);
        for (int k = 0; k < 40; k += 8) {
            frame.set(ValueLayout.JAVA_LONG_UNALIGNED, k, data + k);
        }
        frame.set(ValueLayout.JAVA_SHORT_UNALIGNED, 40, (short) i);
        RawFrames.line(tx, i, mbuf, data, datagram + HEADERS);
    }

    // ---- the port ----

    private DpdkPort openPort(boolean server) {
        PlaneConfig plane = new PlaneConfig(device(arguments.text("link", "x"), server), MemifPlanes.address(0, server), 24);
        return new DpdkPort(DpdkConfig.of(List.of(plane)).withMtu(mtu()).withGather(arguments.integer("gather", 1) != 0), Clock::nowNs);
    }

    private long regionBytes() {
        return (long) arguments.integer("region", 16) << 20;
    }

    private void portReceive() {
        DpdkPort port = openPort(true);
        System.out.println("ready");
        boolean copy = arguments.integer("copy", 0) != 0;
        MemorySegment region = Arena.global().allocate(regionBytes(), 4096).fill((byte) 1);
        RxBurst rx = new RxBurst(burst);
        long at = 0;
        long startNs = 0;
        long frames = 0;
        long touched = 0;
        while (true) {
            port.receive(rx);
            for (int i = 0; i < rx.count; i++) {
                touched += ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, rx.address[i]);
                if (copy) {
                    int n = rx.length[i] - HEADER;
                    MemorySegment.copy(ALL, rx.address[i] + HEADER, ALL, region.address() + at, n);
                    at = at + 2L * n > region.byteSize() ? 0 : at + n;
                }
            }
            frames += rx.count;
            if (rx.count == 0 && startNs == 0) {
                continue;
            }
            if (startNs == 0) {
                startNs = Clock.nowNs() + WARM_UP_NS;
            }
            if (Clock.nowNs() - startNs < 0) {
                frames = 0;
            } else if (Clock.nowNs() - startNs > measureNs) {
                report(frames, Clock.nowNs() - startNs, touched);
                return;
            }
        }
    }

    private void portSend() {
        DpdkPort port = openPort(false);
        RxBurst rx = new RxBurst(burst);
        TxBurst tx = new TxBurst(burst);
        MemorySegment region = Arena.global().allocate(regionBytes(), 4096).fill((byte) 2);
        NetAddress to = NetAddress.of(MemifPlanes.address(0, true), DpdkConfig.DEFAULT_UDP_PORT);
        int payload = datagram - HEADER;
        long at = 0;
        while (true) {
            port.receive(rx);
            port.prepare(tx);
            for (int i = tx.count; i < burst; i++) {
                MemorySegment h = MemorySegment.ofAddress(tx.header[i]).reinterpret(HEADER);
                for (int k = 0; k < HEADER; k += 8) {
                    h.set(ValueLayout.JAVA_LONG, k, at);
                }
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
        }
    }
}
