// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.port.PacketPort;
import io.metaroce.port.udp.UdpConfig;
import io.metaroce.port.udp.UdpPort;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Raw throughput of UdpPort between two processes, each pinned to a core: runs of datagrams over several planes and source ports,
 * without transport and so without flow control. What the receiver counts is the result; what it could not take is lost.
 *
 * <pre>
 * UdpThroughput [key=value ...]   seconds=2 rounds=3 planes=4 ports=4 run=15 datagram=4160 messages=8 burst=64 reference=COMMAND
 * </pre>
 * {@code reference} is a command, such as a C program doing the same, that runs before each round for comparison on the same machine.
 * The two halves also run by themselves, as on two machines: {@code receive hosts=A,B} prints its addresses, which
 * {@code send HOST:PORT... hosts=C,D} takes; {@code poll} measures a poll that finds nothing.
 */
public final class UdpThroughput {
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final int HEADER = 64;
    private static final long IDLE_END_NS = 500_000_000L;
    private static final long WARM_UP_NS = 1_000_000_000L;

    private final Arguments arguments;
    private int[][] sourcePorts;

    private UdpThroughput(Arguments arguments) {
        this.arguments = arguments;
    }

    public static void main(String[] args) throws Exception {
        String role = args.length > 0 && args[0].indexOf('=') < 0 ? args[0] : "all";
        UdpThroughput harness = new UdpThroughput(new Arguments(args));
        switch (role) {
            case "receive" -> harness.receive();
            case "send" -> harness.send(List.of(args).subList(1, args.length).stream().filter(a -> a.indexOf('=') < 0).toList());
            case "poll" -> harness.pollEmpty();
            default -> harness.runAll();
        }
    }

    private void runAll() throws IOException, InterruptedException {
        for (int round = 0; round < arguments.integer("rounds", 3); round++) {
            String reference = arguments.text("reference", "");
            if (!reference.isEmpty()) {
                new ProcessBuilder("sh", "-c", reference).inheritIO().start().waitFor();
            }
            Process receiver = child(1, "receive", List.of());
            BufferedReader output = new BufferedReader(new InputStreamReader(receiver.getInputStream()));
            List<String> addresses = List.of(output.readLine().split(" "));
            Process sender = child(0, "send", addresses);
            String sent = new BufferedReader(new InputStreamReader(sender.getInputStream())).readLine();
            System.out.println(output.readLine() + "; " + sent);
            sender.waitFor();
            receiver.waitFor();
        }
    }

    private Process child(int core, String role, List<String> operands) throws IOException {
        List<String> command = new ArrayList<>(List.of("taskset", "-c", Integer.toString(core),
            System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC", "-Xmx256m", "--enable-native-access=ALL-UNNAMED",
            "-cp", System.getProperty("java.class.path"), UdpThroughput.class.getName(), role));
        command.addAll(operands);
        command.addAll(arguments.given());
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private UdpPort open() throws IOException {
        String[] hosts = arguments.text("hosts", "127.0.0.1,127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.5,127.0.0.6,127.0.0.7,127.0.0.8").split(",");
        NetAddress[] local = new NetAddress[Math.min(arguments.integer("planes", 4), hosts.length)];
        for (int plane = 0; plane < local.length; plane++) {
            local[plane] = NetAddress.of(InetAddress.getByName(hosts[plane]), 0);
        }
        UdpConfig config = new UdpConfig(local);
        config.sourcePorts = arguments.integer("ports", 4);
        config.receiveMessages = arguments.integer("messages", config.receiveMessages);
        config.gso = arguments.integer("gso", 1) != 0;
        config.gro = arguments.integer("gro", 1) != 0;
        return new UdpPort(config);
    }

    private void receive() throws IOException {
        try (UdpPort port = open()) {
            StringBuilder line = new StringBuilder();
            for (int plane = 0; plane < port.planes(); plane++) {
                line.append(port.localAddress(plane)).append(' ');
            }
            System.out.println(line);
            RxBurst burst = new RxBurst(arguments.integer("burst", 64));
            long touched = 0;
            long bytes = 0;
            long datagrams = 0;
            long calls = 0;
            long startNs = 0;
            long firstNs = 0;
            long lastNs = System.nanoTime();
            while (firstNs == 0 || System.nanoTime() - lastNs < IDLE_END_NS) {
                port.receive(burst);
                if (burst.count == 0) {
                    continue;
                }
                lastNs = System.nanoTime();
                firstNs = firstNs == 0 ? lastNs : firstNs;
                if (lastNs - firstNs < WARM_UP_NS) {
                    startNs = lastNs;
                    continue;
                }
                calls++;
                datagrams += burst.count;
                for (int i = 0; i < burst.count; i++) {
                    bytes += burst.length[i];
                    touched += ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, burst.address[i]);
                }
            }
            double seconds = (lastNs - startNs) * 1e-9;
            System.out.printf(Locale.ROOT, "received %.2f GB/s, %.3f Mpps, %.1f a call, kernel dropped at least %d%s%n", bytes / seconds * 1e-9,
                datagrams / seconds * 1e-6, (double) datagrams / calls, port.counters().rxDropped, touched == 1 ? " " : "");
        }
    }

    private void send(List<String> addresses) throws IOException {
        try (UdpPort port = open(); Arena arena = Arena.ofConfined()) {
            MemorySegment payload = arena.allocate(1 << 16, 4096);
            TxBurst burst = new TxBurst(arguments.integer("burst", 64));
            long endNs = System.nanoTime() + WARM_UP_NS + arguments.integer("seconds", 2) * 1_000_000_000L;
            int datagram = arguments.integer("datagram", 4160);
            int run = arguments.integer("run", 15);
            int ports = arguments.integer("ports", 4);
            NetAddress[] peers = addresses.stream().map(UdpThroughput::parse).toArray(NetAddress[]::new);
            long turn = 0;
            while (System.nanoTime() - endNs < 0) {
                while (burst.count + run <= burst.capacity) {
                    int plane = (int) (turn % port.planes());
                    int index = (int) (turn / port.planes() % ports);
                    fill(port, burst, plane, index, peers[plane], run, datagram, payload.address());
                    turn++;
                }
                port.send(burst);
            }
            System.out.printf(Locale.ROOT, "sent %.2f GB/s, busy %d, errors %d%n",
                port.counters().txBytes / (WARM_UP_NS * 1e-9 + arguments.integer("seconds", 2)) * 1e-9,
                port.counters().txBusy, port.counters().txErrors);
        }
    }

    private void fill(PacketPort port, TxBurst burst, int plane, int index, NetAddress to, int run, int datagram, long payload) {
        port.prepare(burst);
        if (sourcePorts == null) {
            sourcePorts = new int[port.planes()][];
            for (int p = 0; p < port.planes(); p++) {
                sourcePorts[p] = port.sourcePorts(p);
            }
        }
        for (int k = 0; k < run; k++) {
            int i = burst.count++;
            ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, burst.header[i], i);
            burst.headerLength[i] = Math.min(HEADER, datagram);
            burst.payload[i] = payload + (long) (k % 15) * 4096;
            burst.payloadLength[i] = datagram - burst.headerLength[i];
            burst.plane[i] = (byte) plane;
            burst.sourcePort[i] = sourcePorts[plane][index];
            burst.destinationHigh[i] = to.high();
            burst.destinationLow[i] = to.low();
            burst.destinationPort[i] = to.port();
        }
    }

    private static NetAddress parse(String address) {
        int colon = address.lastIndexOf(':');
        try {
            InetAddress host = InetAddress.getByName(address.substring(0, colon).replaceAll("[\\[\\]]", ""));
            return NetAddress.of(host, Integer.parseInt(address.substring(colon + 1)));
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(address + ": write HOST:PORT", e);
        }
    }

    /** What a poll costs that finds nothing. */
    private void pollEmpty() throws IOException {
        try (UdpPort port = open()) {
            RxBurst burst = new RxBurst(64);
            for (int round = 0; round < 5; round++) {
                int polls = 1_000_000;
                long startNs = System.nanoTime();
                for (int i = 0; i < polls; i++) {
                    port.receive(burst);
                }
                System.out.printf(Locale.ROOT, "an empty poll of %d plane(s) costs %d ns%n", port.planes(), (System.nanoTime() - startNs) / polls);
            }
        }
    }
}
