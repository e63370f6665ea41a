// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.metaroce.wire.NetAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The port against the kernel's own IP stack, over a tap device and over a veth pair: addresses, pings, datagrams both ways. */
class KernelInteropTest {
    private static final int TAP_MTU = 1500;
    private static final int VETH_MTU = DpdkConfig.DEFAULT_MTU;

    private final List<String[]> undo = new ArrayList<>();
    private PortDriver driver;

    @BeforeAll
    static void permitted() {
        DpdkTesting.require();
        boolean able = DpdkTesting.succeeds("ip", "link", "add", "mrprobe0", "type", "veth", "peer", "name", "mrprobe1");
        if (able) {
            DpdkTesting.succeeds("ip", "link", "del", "mrprobe0");
        }
        String missing = !able ? "making network interfaces is not permitted here (needs root, ip, veth)"
                : !Files.exists(Path.of("/dev/net/tun")) ? "there is no /dev/net/tun" : null;
        if (missing != null) {
            System.err.println("NOT RUN: DpdkPort against the kernel: " + missing);
        }
        assumeTrue(missing == null, missing);
        DpdkTesting.start();
    }

    @AfterEach
    void cleanUp() {
        if (driver != null) {
            driver.close();
        }
        for (String[] command : undo) {
            DpdkTesting.succeeds(command);
        }
    }

    @Test
    void tapIpv4() throws Exception {
        tap("10.177.1.1", "10.177.1.2", 24);
    }

    @Test
    void tapIpv6() throws Exception {
        tap("fd77:1::1", "fd77:1::2", 64);
    }

    @Test
    void afPacketIpv4() throws Exception {
        afPacket("10.177.2.1", "10.177.2.2", 24);
    }

    @Test
    void afPacketIpv6() throws Exception {
        afPacket("fd77:2::1", "fd77:2::2", 64);
    }

    private void tap(String kernel, String own, int prefix) throws Exception {
        String device = DpdkTesting.newDevice("net_tap");
        String name = "mrt" + ProcessHandle.current().pid() % 10000;
        open(device + ",iface=" + name, own, prefix, TAP_MTU);
        configure(name, kernel, prefix, TAP_MTU);
        exchange(InetAddress.ofLiteral(kernel), InetAddress.ofLiteral(own));
    }

    private void afPacket(String kernel, String own, int prefix) throws Exception {
        long id = ProcessHandle.current().pid() % 10000;
        String ours = "mra" + id;
        String theirs = "mrb" + id;
        String mtu = Integer.toString(VETH_MTU);
        run("ip", "link", "add", ours, "mtu", mtu, "type", "veth", "peer", "name", theirs, "mtu", mtu);
        undo.add(new String[] {"ip", "link", "del", ours});
        // A veth leaves checksums to hardware that is not there: frames would reach a packet socket without.
        run("ethtool", "-K", theirs, "tx", "off");
        run("ip", "link", "set", ours, "up", "addrgenmode", "none");
        configure(theirs, kernel, prefix, VETH_MTU);
        open(DpdkTesting.newDevice("net_af_packet") + ",iface=" + ours, own, prefix, VETH_MTU);
        exchange(InetAddress.ofLiteral(kernel), InetAddress.ofLiteral(own));
    }

    private void open(String device, String own, int prefix, int mtu) {
        PlaneConfig plane = new PlaneConfig(device, InetAddress.ofLiteral(own), prefix);
        driver = new PortDriver(new DpdkPort(DpdkConfig.of(List.of(plane)).withDescriptors(256, 256).withTxSlots(64).withMtu(mtu), System::nanoTime), 32);
    }

    private void configure(String name, String address, int prefix, int mtu) throws Exception {
        run("ip", "link", "set", name, "mtu", Integer.toString(mtu), "up");
        List<String> command = new ArrayList<>(List.of("ip", "addr", "add", address + "/" + prefix, "dev", name));
        if (address.contains(":")) {
            command.add("nodad");
        }
        run(command.toArray(String[]::new));
    }

    private static void run(String... command) throws IOException, InterruptedException {
        Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(p.getInputStream().readAllBytes());
        assertEquals(0, p.waitFor(), () -> String.join(" ", command) + ": " + output);
    }

    private void exchange(InetAddress kernel, InetAddress own) throws Exception {
        long endNs = System.nanoTime() + 5_000_000_000L;
        while (!driver.port.isUp(0) && System.nanoTime() - endNs < 0) {
            driver.receive();
        }
        assertTrue(driver.port.isUp(0), "link");
        try (DatagramChannel socket = DatagramChannel.open()) {
            socket.bind(new InetSocketAddress(kernel, 0));
            socket.configureBlocking(false);
            int socketPort = ((InetSocketAddress) socket.getLocalAddress()).getPort();
            pings(own);
            toPort(socket, own);
            fromPort(socket, kernel, socketPort);
        }
    }

    /** The kernel resolves our address and pings us. */
    private void pings(InetAddress own) throws Exception {
        CompletableFuture<Boolean> answered = CompletableFuture.supplyAsync(() -> {
            try {
                return own.isReachable(3000);
            } catch (IOException e) {
                return false;
            }
        });
        while (!answered.isDone()) {
            driver.receive();
        }
        assertTrue(answered.get(), "no answer to a ping");
    }

    private void toPort(DatagramChannel socket, InetAddress own) throws IOException {
        for (int size : new int[] {1, 64, 1001, driver.port.maxDatagram(0)}) {
            byte[] data = Packets.pattern(size);
            long endNs = System.nanoTime() + 3_000_000_000L;
            List<PortDriver.Datagram> got = new ArrayList<>();
            socket.send(ByteBuffer.wrap(data), new InetSocketAddress(own, DpdkConfig.DEFAULT_UDP_PORT));
            while (got.isEmpty() && System.nanoTime() - endNs < 0) {
                got.addAll(driver.receive());
            }
            assertEquals(1, got.size(), size + " bytes to the port; dropped " + driver.port.counters().rxDropped);
            assertArrayEquals(data, got.get(0).data());
            assertEquals(0, got.get(0).ecn());
        }
    }

    private void fromPort(DatagramChannel socket, InetAddress kernel, int socketPort) throws IOException {
        for (int payload : new int[] {0, 1, 999, driver.port.maxDatagram(0) - 64}) {
            byte[] header = Packets.pattern(64);
            byte[] rest = Packets.pattern(payload);
            driver.add(0, 50123, NetAddress.of(kernel, socketPort), header, rest);
            long endNs = System.nanoTime() + 3_000_000_000L;
            ByteBuffer got = ByteBuffer.allocate(1 << 14);
            InetSocketAddress from = null;
            while (from == null && System.nanoTime() - endNs < 0) {
                driver.send();
                driver.receive();
                from = (InetSocketAddress) socket.receive(got);
            }
            assertEquals(64 + payload, got.position(), payload + " bytes from the port; errors " + driver.port.counters().txErrors);
            assertArrayEquals(header, Packets.slice(got.array(), 0, 64));
            assertArrayEquals(rest, Packets.slice(got.array(), 64, payload));
            assertEquals(50123, from.getPort());
        }
    }
}
