// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.bindings.dpdk.Pmd;
import io.metaroce.bindings.dpdk.PmdException;
import io.metaroce.bindings.dpdk.PmdUnavailableException;
import io.metaroce.bindings.dpdk.generated.PmdShim;
import io.metaroce.port.PacketPort;
import io.metaroce.port.PortCounters;
import io.metaroce.port.PortException;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * A port over DPDK devices, one per plane: physical NICs, or virtual devices such as memif (two processes on one host).
 *
 * <p>The port is its planes' IP stack as far as UDP needs one: it answers ARP, neighbour solicitations and pings, resolves link-layer
 * addresses and keeps them, and drops and counts everything else ({@link PortCounters#rxDropped}). Datagrams reach the transport where
 * the device put them. On the way out headers are written in front of the transport's own, in the buffer it wrote to; payload is
 * copied behind it, or passed by reference where the device copies it anyway.
 *
 * <p>Frames carry ECT(0). While a plane's link is down its datagrams are dropped as errors, so that the other planes go on; a memif
 * client looks for its server again every 300 ms.
 *
 * <p>One thread calls {@link #receive}, {@link #prepare} and {@link #send}; the first call makes it known to DPDK. Bursts prepared on a
 * port are of no use on another, and none may be used after {@link #close}.
 */
public final class DpdkPort implements PacketPort {
    /** Receive calls between looks at the clock: it serves address and link timers only, which may be milliseconds late. */
    private static final Set<String> VIRTUAL_DRIVERS = Set.of("net_memif", "net_ring", "net_tap", "net_af_packet", "net_af_xdp", "net_pcap", "net_null");
    private static final long VIRTUAL_NOISE_NS = 50_000;
    private static final int CALLS_PER_CLOCK = 32;
    private static final long TICK_NS = 5_000_000L;

    private final DpdkConfig config;
    private final LongSupplier clockNs;
    private final Plane[] planes;
    private final PlaneOutput[] outputs;
    private final Pools pools;
    private final TxBuffers buffers;
    private final PortCounters counters = new PortCounters();
    private final int[] sourcePorts;
    private byte[] fate;
    private int firstPlane;
    private int calls;
    private long tickedNs;
    private Thread owner;
    private boolean attached;
    private boolean closed;

    /**
     * Starts DPDK if the process has not done so, and opens the devices.
     *
     * @param clockNs nanoseconds of any origin; asked now and then in {@link #receive}
     * @throws PortException if DPDK or the shim is not installed (the message says what to do), or DPDK refuses: no memory, no
     *                       permission, no such device (the message has DPDK's reason)
     */
    public DpdkPort(DpdkConfig config, LongSupplier clockNs) {
        this.config = config;
        this.clockNs = clockNs;
        int n = config.planes().size();
        Device[] devices = new Device[n];
        long nowNs = clockNs.getAsLong();
        try {
            Eal.start(config.ealArguments(), EalArguments.complete(config));
            pools = open(config, devices, nowNs);
        } catch (PmdUnavailableException | PmdException e) {
            throw new PortException(e.getMessage(), e);
        }
        buffers = new TxBuffers(pools, config.txSlots());
        planes = new Plane[n];
        outputs = new PlaneOutput[n];
        for (int p = 0; p < n; p++) {
            PlaneConfig plane = config.planes().get(p);
            planes[p] = new Plane(p, devices[p], plane, config, buffers, pools.dataRoom, counters, nowNs);
            outputs[p] = new PlaneOutput(planes[p], plane, buffers, counters);
            planes[p].tick(nowNs);
        }
        tickedNs = nowNs;
        sourcePorts = IntStream.range(config.sourcePort(), config.sourcePort() + config.sourcePorts()).toArray();
        fate = new byte[config.txSlots()];
    }

    /** Finds, configures and starts the devices; on failure closes those it had. */
    private static Pools open(DpdkConfig config, Device[] devices, long nowNs) {
        Pools pools = null;
        int p = 0;
        try {
            boolean gather = false;
            for (; p < devices.length; p++) {
                devices[p] = new Device(config.planes().get(p).device(), config.mtu());
                gather |= config.gather() && devices[p].takesGather();
            }
            pools = new Pools(config, gather);
            for (p = 0; p < devices.length; p++) {
                devices[p].open(pools.receive[p], pools.gather, config, nowNs);
            }
            return pools;
        } catch (PmdException e) {
            for (Device device : devices) {
                if (device != null) {
                    device.close();
                }
            }
            if (pools != null) {
                pools.close();
            }
            throw p == devices.length ? e
                    : new PmdException("plane " + p + " (" + config.planes().get(p).address().getHostAddress() + "): " + e.getMessage(), e.errno());
        }
    }

    @Override
    public int planes() {
        return planes.length;
    }

    @Override
    public NetAddress localAddress(int plane) {
        return planes[plane].local;
    }

    @Override
    public int[] sourcePorts(int plane) {
        return sourcePorts.clone();
    }

    @Override
    public int maxDatagram(int plane) {
        return planes[plane].maxDatagram;
    }

    @Override
    public int preferredRun() {
        return 1;
    }

    /** A virtual device ends in another process of this host, which may be held up; a NIC does not wait for anyone. */
    /** Over IPv4 it is left out: computing it would read all of the payload, which the transport's own checksum does already. */
    @Override
    public boolean sendsUdpChecksum() {
        for (Plane plane : planes) {
            if (plane.local.isIpv4()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public long timingNoiseNs() {
        for (Plane plane : planes) {
            if (VIRTUAL_DRIVERS.contains(plane.device.info.driver())) {
                return VIRTUAL_NOISE_NS;
            }
        }
        return 0;
    }

    /** The ring's frames, whatever their size; a fair share of them is left to bursts in progress. */
    @Override
    public int receiveBuffer(int datagramBytes) {
        int least = Integer.MAX_VALUE;
        for (Plane plane : planes) {
            least = Math.min(least, plane.device.rxDescriptors());
        }
        return least;
    }

    @Override
    public void receive(RxBurst burst) {
        if (++calls % CALLS_PER_CLOCK == 0 || owner == null) {
            housekeeping();
        }
        burst.count = 0;
        int n = planes.length;
        int p = firstPlane;
        firstPlane = p + 1 == n ? 0 : p + 1;
        for (int k = 0; k < n && burst.count < burst.capacity; k++) {
            planes[p].receive(burst);
            p = p + 1 == n ? 0 : p + 1;
        }
    }

    private void housekeeping() {
        if (owner == null) {
            owner = Thread.currentThread();
            attached = Pmd.attachThread();
        }
        long nowNs = clockNs.getAsLong();
        if (nowNs - tickedNs >= TICK_NS) {
            tickedNs = nowNs;
            for (Plane plane : planes) {
                plane.tick(nowNs);
            }
        }
    }

    @Override
    public void prepare(TxBurst burst) {
        buffers.fill(burst);
    }

    @Override
    public void send(TxBurst burst) {
        int n = burst.count;
        if (n == 0) {
            return;
        }
        if (fate.length < n) {
            fate = new byte[burst.capacity];
        }
        for (PlaneOutput output : outputs) {
            output.begin();
        }
        for (int i = 0; i < n; i++) {
            outputs[burst.plane[i]].offer(burst, i, fate);
        }
        for (PlaneOutput output : outputs) {
            output.flush(burst, fate);
        }
        int kept = 0;
        for (int i = 0; i < n; i++) {
            if (fate[i] == PlaneOutput.KEPT) {
                burst.swap(kept++, i);
            }
        }
        burst.count = kept;
    }

    @Override
    public PortCounters counters() {
        return counters;
    }

    /** Whether the plane's link is up. A few milliseconds stale. */
    public boolean isUp(int plane) {
        return planes[plane].device.up();
    }

    /** The device behind a plane. */
    public Pmd.Info device(int plane) {
        return planes[plane].device.info;
    }

    /** The device's own counters; among them frames lost for want of ring space or buffers. */
    public Pmd.Stats deviceStats(int plane) {
        return planes[plane].stats();
    }

    /** Gives back the header buffers of a burst. Without it they are lost to the pool when the port closes. */
    public void release(TxBurst burst) {
        buffers.reclaim(burst);
    }

    /** What the devices are and how they are used, one line a plane. */
    public List<String> describe() {
        return IntStream.range(0, planes.length).mapToObj(this::describe).toList();
    }

    private String describe(int p) {
        Device d = planes[p].device;
        boolean guarded = !d.info.has(PmdShim.MRPMD_TRAIT_UNMAPS()) || d.info.has(PmdShim.MRPMD_TRAIT_GUARDED());
        return "plane " + p + ": " + d.info.device() + " (" + d.info.driver() + ") at " + planes[p].local + ", MTU " + config.mtu() + ", link "
                + (d.up() ? "up" : "down") + (config.gather() && d.takesGather() ? ", payload by reference" : ", payload copied")
                + (guarded ? "" : ", UNGUARDED: a peer that leaves may crash this process");
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (Plane plane : planes) {
            plane.close();
        }
        pools.close();
        if (attached && Thread.currentThread() == owner) {
            Pmd.detachThread();
        }
    }
}
