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
import java.util.Arrays;
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
 * <p>Planes can be opened, moved to another address and closed at run time. A device comes into DPDK when its plane opens, unless it is
 * there already, and leaves it when its plane closes.
 *
 * <p>One thread calls {@link #receive}, {@link #prepare} and {@link #send}; the first call makes it known to DPDK. Bursts prepared on a
 * port are of no use on another, and none may be used after {@link #close}.
 */
public final class DpdkPort implements PacketPort {
    private static final Set<String> VIRTUAL_DRIVERS = Set.of("net_memif", "net_ring", "net_tap", "net_af_packet", "net_af_xdp", "net_pcap", "net_null");
    private static final long VIRTUAL_NOISE_NS = 50_000;
    /** Receive calls between looks at the clock: it serves address and link timers only, which may be milliseconds late. */
    private static final int CALLS_PER_CLOCK = 32;
    private static final long TICK_NS = 5_000_000L;

    private final DpdkConfig config;
    private final LongSupplier clockNs;
    /** Device, prefix, gateway and VLAN of each plane when it is next opened; null if nobody said. */
    private final PlaneConfig[] assigned;
    /** Null where a plane is closed, as in {@link #outputs}. */
    private final Plane[] planes;
    private final PlaneOutput[] outputs;
    private final Pools pools;
    private final TxBuffers buffers;
    private final PortCounters counters = new PortCounters();
    private final int[] sourcePorts;
    /** The transport was told so when it was set up. */
    private final boolean checksums;
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
        assigned = config.planes().toArray(PlaneConfig[]::new);
        planes = new Plane[n];
        outputs = new PlaneOutput[n];
        checksums = Arrays.stream(assigned).allMatch(p -> p != null && !p.isIpv4());
        sourcePorts = IntStream.range(config.sourcePort(), config.sourcePort() + config.sourcePorts()).toArray();
        fate = new byte[config.txSlots()];
        tickedNs = clockNs.getAsLong();
        try {
            Eal.start(config.ealArguments(), EalArguments.complete(config));
            pools = new Pools(config);
        } catch (PmdUnavailableException | PmdException e) {
            throw new PortException(e.getMessage(), e);
        }
        buffers = new TxBuffers(pools, config.txSlots());
        try {
            for (int p = 0; p < n; p++) {
                if (assigned[p] != null) {
                    open(p, openDevice(p, assigned[p]), assigned[p], config.udpPort());
                }
            }
        } catch (PortException e) {
            close();
            throw e;
        }
    }

    /**
     * Says what a plane shall use from the next {@link #setPlane} on: device, prefix, gateway and VLAN. Until then nothing changes.
     *
     * @param plane below {@link #planes()}
     */
    public void assign(int plane, PlaneConfig config) {
        assigned[plane] = config;
    }

    /**
     * {@inheritDoc}
     *
     * <p>A plane that keeps its device only changes its address, and the link stays up. Otherwise the old device leaves DPDK and the
     * new one, found or hot-plugged, is started.
     *
     * @param address of the family that was assigned; its port is where peers send to, 0 for {@link DpdkConfig#udpPort()}
     */
    @Override
    public void setPlane(int plane, NetAddress address) {
        if (assigned[plane] == null) {
            throw new PortException("plane " + plane + " has no device: assign one");
        }
        if (checksums && address.isIpv4()) {
            throw new PortException("plane " + plane + ": this port promised UDP checksums, which it leaves out over IPv4");
        }
        PlaneConfig wish;
        try {
            wish = assigned[plane].at(address.toInetAddress());
        } catch (IllegalArgumentException e) {
            throw new PortException("plane " + plane + ": " + e.getMessage(), e);
        }
        int port = address.port() == 0 ? config.udpPort() : address.port();
        tickedNs = clockNs.getAsLong();
        Plane old = planes[plane];
        if (old != null && old.device.name.equals(wish.device())) {
            old.leave();
            open(plane, old.device, wish, port);
        } else {
            removePlane(plane);
            open(plane, openDevice(plane, wish), wish, port);
        }
        assigned[plane] = wish;
    }

    @Override
    public void removePlane(int plane) {
        if (planes[plane] != null) {
            planes[plane].close();
            planes[plane] = null;
            outputs[plane] = null;
        }
    }

    /** Finds or adds, configures and starts a device; nothing stays of it on failure. */
    private Device openDevice(int plane, PlaneConfig wish) {
        String what = "plane " + plane + " (" + wish.address().getHostAddress() + "): ";
        Device device;
        try {
            device = new Device(wish.device(), config.mtu());
        } catch (PmdException e) {
            throw new PortException(what + e.getMessage(), e);
        }
        for (int p = 0; p < planes.length; p++) {
            if (planes[p] != null && planes[p].device.port == device.port) {
                throw new PortException(what + "plane " + p + " uses " + wish.device());
            }
        }
        try {
            device.open(pools, plane, config, clockNs);
        } catch (PmdException e) {
            device.close();
            throw new PortException(what + e.getMessage(), e);
        }
        return device;
    }

    private void open(int p, Device device, PlaneConfig wish, int port) {
        NetAddress local = NetAddress.of(wish.address(), port);
        planes[p] = new Plane(p, device, wish, local, config, buffers, pools.dataRoom, counters, tickedNs);
        outputs[p] = new PlaneOutput(planes[p], wish, buffers, counters);
        planes[p].open(tickedNs);
    }

    @Override
    public int planes() {
        return planes.length;
    }

    @Override
    public NetAddress localAddress(int plane) {
        return planes[plane] == null ? null : planes[plane].local;
    }

    @Override
    public int[] sourcePorts(int plane) {
        return sourcePorts.clone();
    }

    @Override
    public int maxDatagram(int plane) {
        return planes[plane] == null ? config.mtu() - Frame.V6_LENGTH - Frame.UDP_LENGTH : planes[plane].maxDatagram;
    }

    @Override
    public int preferredRun() {
        return 1;
    }

    /** Over IPv4 it is left out: computing it would read all of the payload, which the transport's own checksum does already. */
    @Override
    public boolean sendsUdpChecksum() {
        return checksums;
    }

    /** A virtual device ends in another process of this host, which may be held up; a NIC does not wait for anyone. */
    @Override
    public long timingNoiseNs() {
        for (Plane plane : planes) {
            if (plane != null && VIRTUAL_DRIVERS.contains(plane.device.info.driver())) {
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
            least = plane == null ? least : Math.min(least, plane.device.rxDescriptors());
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
            if (planes[p] != null) {
                planes[p].receive(burst);
            }
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
                if (plane != null) {
                    plane.tick(nowNs);
                }
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
            if (output != null) {
                output.begin();
            }
        }
        for (int i = 0; i < n; i++) {
            outputs[burst.plane[i]].offer(burst, i, fate);
        }
        for (PlaneOutput output : outputs) {
            if (output != null) {
                output.flush(burst, fate);
            }
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

    /** Whether the plane is open and its link up. A few milliseconds stale. */
    public boolean isUp(int plane) {
        return planes[plane] != null && planes[plane].device.up();
    }

    /** The device behind an open plane. */
    public Pmd.Info device(int plane) {
        return planes[plane].device.info;
    }

    /** The own counters of an open plane's device; among them frames lost for want of ring space or buffers. */
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
        if (planes[p] == null) {
            return "plane " + p + ": closed";
        }
        Device d = planes[p].device;
        boolean guarded = !d.info.has(PmdShim.MRPMD_TRAIT_UNMAPS()) || d.info.has(PmdShim.MRPMD_TRAIT_GUARDED());
        return "plane " + p + ": " + d.info.device() + " (" + d.info.driver() + ") at " + planes[p].local + ", MTU " + config.mtu() + ", link "
                + (d.up() ? "up" : "down") + (d.gathers(config) ? ", payload by reference" : ", payload copied")
                + (guarded ? "" : ", UNGUARDED: a peer that leaves may crash this process");
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (int p = 0; p < planes.length; p++) {
            removePlane(p);
        }
        pools.close();
        if (attached && Thread.currentThread() == owner) {
            Pmd.detachThread();
        }
    }
}
