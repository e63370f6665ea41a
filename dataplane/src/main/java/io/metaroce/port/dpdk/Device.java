// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.bindings.dpdk.Pmd;
import io.metaroce.bindings.dpdk.PmdCalls;
import io.metaroce.bindings.dpdk.PmdException;
import io.metaroce.bindings.dpdk.generated.PmdShim;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/** One DPDK device with one queue each way, and its link. One thread after construction. */
final class Device {
    /** A memif client finds its server, at first and after every loss, only by being started again. */
    private static final long RESTART_NS = 300_000_000L;
    private static final long RESTART_MOST_NS = 2_400_000_000L;
    private static final int QUEUE = 0;

    final int port;
    final Pmd.Info info;
    /** This device's MAC address, first byte in bits 40 to 47. */
    final long mac;
    /** What it was asked for by. */
    final String name;
    private final boolean blocking;
    private final boolean restarts;
    private Pmd.Setup setup;
    private boolean started;
    private boolean up;
    private long startedNs;
    private int starts;
    private long patienceNs = RESTART_NS;

    /** Finds the device, or adds it to DPDK's (hot-plugs it) if there is none of this name. */
    Device(String device, int mtu) {
        name = device;
        String id = device.contains(",") ? device.substring(0, device.indexOf(',')) : device;
        boolean isNumber = id.chars().allMatch(Character::isDigit);
        port = isNumber || Pmd.hasPort(id) ? Pmd.findPort(id) : Pmd.addDevice(DeviceArguments.complete(device, mtu));
        info = Pmd.info(port);
        // Some virtual devices have no address of their own; a local one serves.
        mac = info.mac() != 0 ? info.mac() : 0x0200_0000_0000L | ThreadLocalRandom.current().nextLong(1L << 40);
        blocking = info.has(PmdShim.MRPMD_TRAIT_BLOCKING());
        restarts = info.has(PmdShim.MRPMD_TRAIT_RESTART());
    }

    /** Whether payload is passed by reference. */
    boolean gathers(DpdkConfig config) {
        return config.gather() && info.has(PmdShim.MRPMD_TRAIT_COPIES()) && info.offers(PmdShim.MRPMD_OFFLOAD_MULTI_SEGMENT());
    }

    /**
     * Configures and starts the device. A client without its server is no error: it starts later.
     *
     * @param clockNs asked when the device starts: to make it may take longer than a client has patience for an introduction
     */
    void open(Pools pools, int plane, DpdkConfig config, LongSupplier clockNs) {
        int offloads = PmdShim.MRPMD_OFFLOAD_TX_IPV4() | PmdShim.MRPMD_OFFLOAD_TX_UDP() | PmdShim.MRPMD_OFFLOAD_RX_IPV4()
                | PmdShim.MRPMD_OFFLOAD_RX_UDP() | PmdShim.MRPMD_OFFLOAD_FAST_FREE();
        setup = Pmd.configure(port, new Pmd.Setup(pools.receive(plane), gathers(config) ? pools.gather() : 0, config.mtu(), 1,
                within(config.rxDescriptors(), info.maxRxDescriptors()), within(config.txDescriptors(), info.maxTxDescriptors()), offloads));
        startedNs = clockNs.getAsLong();
        try {
            start();
        } catch (PmdException e) {
            if (!restarts) {
                throw e;
            }
        }
    }

    private void start() {
        starts++;
        Pmd.start(port);
        started = true;
    }

    /** How often it was started, successfully or not. */
    int starts() {
        return starts;
    }

    private static int within(int wish, int most) {
        return most > 0 ? Math.min(wish, most) : wish;
    }

    boolean gives(int offload) {
        return (setup.offloads() & offload) != 0;
    }

    int rxDescriptors() {
        return setup.rxDescriptors();
    }

    boolean up() {
        return up;
    }

    /** Looks at the link; returns true if it changed. A client that is down is started again now and then. */
    boolean poll(long nowNs) {
        boolean before = up;
        up = started && Pmd.linkUp(port);
        if (up) {
            patienceNs = RESTART_NS;
        } else if (restarts && nowNs - startedNs >= patienceNs) {
            startedNs = nowNs;
            restart();
        }
        return up != before;
    }

    /** Starting again ends an introduction that is under way with a slow server, so each gets twice the time of the one before. */
    private void restart() {
        if (started) {
            Pmd.stop(port);
            started = false;
            patienceNs = Math.min(2 * patienceNs, RESTART_MOST_NS);
        }
        try {
            start();
        } catch (PmdException e) {
            // Nobody listens yet.
        }
    }

    int receive(long burst, int most) {
        return started ? PmdCalls.receive(port, QUEUE, burst, most) : 0;
    }

    int send(long burst, int count) {
        if (!up) {
            return 0;
        }
        return blocking ? PmdCalls.sendBlocking(port, QUEUE, burst, count) : PmdCalls.send(port, QUEUE, burst, count);
    }

    void close() {
        started = false;
        up = false;
        Pmd.close(port);
    }
}
