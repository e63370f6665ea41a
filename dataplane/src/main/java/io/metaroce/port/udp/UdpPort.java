// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import io.metaroce.bindings.libc.SocketCalls;
import io.metaroce.bindings.libc.generated.Libc;
import io.metaroce.port.HeaderSlabs;
import io.metaroce.port.PacketPort;
import io.metaroce.port.PortCounters;
import io.metaroce.port.PortException;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Plain kernel UDP sockets through foreign calls (Linux): no privilege and no special NIC needed.
 *
 * <p>Each plane has one receiving socket, and one sending socket for each source port. Datagrams leave as ECT(0), never fragmented.
 * {@link PortCounters#rxDropped} includes what the kernel dropped for want of receive buffer, as it tells it (a coalesced run counts
 * once). One thread, which need not be the one that opened the port.
 */
public final class UdpPort implements PacketPort {
    /** Receive buffer of sending sockets: nothing should come in there, so as little as the kernel allows. */
    private static final int UNUSED_BUFFER_BYTES = 2048;

    /** Sockets hide who runs when: a wake-up, a soft interrupt or a neighbour on the core costs this much at any time. */
    private static final long TIMING_NOISE_NS = 200_000;

    private final Arena arena = Arena.ofShared();
    /** Four bytes that stay when the port is closed: no call has to hold an arena open for them. */
    private final MemorySegment state = SocketCalls.newCallState(Arena.global());
    private final PortCounters counters = new PortCounters();
    private final HeaderSlabs headers = new HeaderSlabs(arena);
    private final NetAddress[] local;
    private final UdpConfig config;
    private final SendPlane[] sendPlanes;
    private final ReceivePlane[] receivePlanes;
    private final UdpSocket[] receiveSockets;
    private final List<List<UdpSocket>> socketsOfPlane = new ArrayList<>();
    private final int[] receiveBufferBytes;
    private final UdpSender sender;
    private final UdpReceiver receiver;
    private boolean gro = true;
    // As in expectCids; 0: anything goes.
    private int cidBits;
    private int commonCid;
    private boolean closed;

    /** Opens all sockets. Throws {@link PortException} if one of them cannot be had; nothing stays open then. */
    public UdpPort(UdpConfig config) {
        this(config, UnaryOperator.identity());
    }

    /** With a send call that {@code faults} makes of the real one. */
    UdpPort(UdpConfig config, UnaryOperator<SendCall> faults) {
        config.check();
        this.config = config;
        int planes = config.planes.length;
        local = new NetAddress[planes];
        sendPlanes = new SendPlane[planes];
        receiveBufferBytes = new int[planes];
        receivePlanes = new ReceivePlane[planes];
        receiveSockets = new UdpSocket[planes];
        int[] descriptors = new int[planes];
        try {
            for (int plane = 0; plane < planes; plane++) {
                socketsOfPlane.add(new ArrayList<>());
                if (config.planes[plane] != null) {
                    open(plane, config.planes[plane]);
                    descriptors[plane] = receiveSockets[plane].fd;
                }
            }
            SendCall call = (socket, messages, count) -> SocketCalls.sendmmsg(state, socket, messages, count, Libc.MSG_DONTWAIT());
            sender = new UdpSender(faults.apply(call), arena, sendPlanes, config.sourcePorts, counters);
            receiver = new UdpReceiver(state, arena, receivePlanes, descriptors);
        } catch (RuntimeException | Error e) {
            closeSockets();
            arena.close();
            throw e;
        }
    }

    private void open(int plane, NetAddress wished) {
        UdpSocket socket = openReceiver(plane, wished);
        receiveSockets[plane] = socket;
        if (receivePlanes[plane] == null) {
            receivePlanes[plane] = new ReceivePlane(state, arena, plane, socket.fd, config.receiveMessages, counters);
        } else {
            receivePlanes[plane].reopen(socket.fd);
        }
        sendPlanes[plane] = openSenders(plane);
    }

    @Override
    public void setPlane(int plane, NetAddress address) {
        UdpConfig.checkAddress(plane, address);
        removePlane(plane);
        try {
            open(plane, address);
            receiver.open(plane, receiveSockets[plane].fd);
        } catch (PortException e) {
            removePlane(plane);
            throw e;
        }
    }

    @Override
    public void removePlane(int plane) {
        socketsOfPlane.get(plane).forEach(UdpSocket::close);
        socketsOfPlane.get(plane).clear();
        receiveSockets[plane] = null;
        sendPlanes[plane] = null;
        local[plane] = null;
        if (receivePlanes[plane] != null) {
            receivePlanes[plane].reopen(-1);
        }
    }

    private UdpSocket openReceiver(int plane, NetAddress wished) {
        UdpSocket socket = open(plane, wished, wished.port());
        receiveBufferBytes[plane] = socket.receiveBuffer(config.receiveBufferBytes);
        gro &= config.gro && socket.option(Libc.IPPROTO_UDP(), Libc.UDP_GRO(), 1);
        socket.receiveEcn();
        filter(socket);
        // Best effort: without it the kernel's drops go uncounted.
        socket.option(Libc.SOL_SOCKET(), Libc.SO_RXQ_OVFL(), 1);
        local[plane] = new NetAddress(wished.high(), wished.low(), socket.port());
        return socket;
    }

    /** Best effort: the endpoint looks at everything itself. */
    private void filter(UdpSocket socket) {
        if (config.filter) {
            SocketFilter.attach(state, socket.fd, cidBits, commonCid);
        }
    }

    @Override
    public void expectCids(int bits, int common) {
        cidBits = bits;
        commonCid = common;
        for (UdpSocket socket : receiveSockets) {
            if (socket != null) {
                filter(socket);
            }
        }
    }

    private SendPlane openSenders(int plane) {
        InetAddress address = local[plane].toInetAddress();
        int[] ports = new int[config.sourcePorts];
        int[] descriptors = new int[config.sourcePorts];
        boolean gso = config.gso;
        for (int i = 0; i < ports.length; i++) {
            UdpSocket socket = open(plane, local[plane], 0);
            socket.dontFragment();
            socket.sendEcn();
            socket.sendBuffer(config.sendBufferBytes);
            socket.option(Libc.SOL_SOCKET(), Libc.SO_RCVBUF(), UNUSED_BUFFER_BYTES);
            // Segment size 0 leaves segmentation off; the call fails where the kernel knows no segmentation.
            gso = gso && socket.option(Libc.IPPROTO_UDP(), Libc.UDP_SEGMENT(), 0);
            ports[i] = socket.port();
            descriptors[i] = socket.fd;
        }
        return new SendPlane(local[plane].isIpv4(), Interfaces.scope(address), Interfaces.maxDatagram(address), ports, descriptors, gso);
    }

    private UdpSocket open(int plane, NetAddress wished, int port) {
        NetAddress address = new NetAddress(wished.high(), wished.low(), port);
        String what = "plane " + plane + " (" + wished + ")";
        UdpSocket socket = new UdpSocket(state, arena, what, address, Interfaces.scope(address.toInetAddress()));
        socketsOfPlane.get(plane).add(socket);
        return socket;
    }

    @Override
    public int planes() {
        return local.length;
    }

    @Override
    public NetAddress localAddress(int plane) {
        return local[plane];
    }

    @Override
    public int[] sourcePorts(int plane) {
        return sendPlanes[plane] == null ? new int[0] : sendPlanes[plane].sourcePorts.clone();
    }

    @Override
    public int maxDatagram(int plane) {
        return sendPlanes[plane] == null ? Interfaces.MAX_DATAGRAM : sendPlanes[plane].maxDatagram;
    }

    /** 15 while every plane can send runs as one (what 65,507 bytes hold of 4,160-byte datagrams), else 1. */
    @Override
    public int preferredRun() {
        int run = Integer.MAX_VALUE;
        for (SendPlane plane : sendPlanes) {
            run = Math.min(run, plane == null ? run : plane.run());
        }
        return run;
    }

    @Override
    public long timingNoiseNs() {
        return TIMING_NOISE_NS;
    }

    @Override
    public int receiveBuffer(int datagramBytes) {
        int smallest = Integer.MAX_VALUE;
        for (int bytes : receiveBufferBytes) {
            smallest = bytes == 0 ? smallest : Math.min(smallest, bytes);
        }
        return Math.max(1, smallest / KernelMemory.perDatagram(datagramBytes));
    }

    @Override
    public void receive(RxBurst burst) {
        requireOpen();
        receiver.receive(burst);
    }

    @Override
    public void prepare(TxBurst burst) {
        if (headers.prepare(burst)) {
            sender.reserve(burst.capacity);
        }
    }

    @Override
    public void send(TxBurst burst) {
        requireOpen();
        sender.send(burst);
    }

    /** Its memory is gone with the port, and another may have its descriptors. */
    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the port is closed");
        }
    }

    @Override
    public PortCounters counters() {
        return counters;
    }

    /** For people: what this port is and what the kernel granted. */
    @Override
    public String description() {
        return "UDP sockets through foreign calls, " + local.length + " plane(s) of " + config.sourcePorts
            + " source ports, segmentation offload " + (preferredRun() > 1 ? "on" : "off") + ", coalescing " + (gro ? "on" : "off")
            + ", receive buffer " + java.util.Arrays.stream(receiveBufferBytes).max().orElse(0) / 2048 + " KiB a plane";
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            receiver.close();
            closeSockets();
            arena.close();
        }
    }

    private void closeSockets() {
        socketsOfPlane.forEach(all -> all.forEach(UdpSocket::close));
    }
}
