// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.port.HeaderSlabs;
import io.metaroce.port.PacketPort;
import io.metaroce.port.PortCounters;
import io.metaroce.port.PortException;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Arrays;

/**
 * UDP over java.nio channels, where {@link UdpPort} cannot be had: one system call and one extra copy a datagram.
 *
 * <p>Datagrams leave as ECT(0), but the marks on those received cannot be read: their ECN is always 0, so the peer's sender sees no
 * congestion marks from here. A new source or peer allocates a little. One thread.
 */
public final class ChannelPort implements PacketPort {
    private static final int FRAMES = 64;
    private static final int FRAME_BYTES = 65536;
    private static final int PAGE = 4096;
    /** One page more than a frame, so that frames do not all fall into the same cache sets. */
    private static final int STRIDE = FRAME_BYTES + PAGE;
    private static final int EIO = 5;
    private static final int EMSGSIZE = 90;
    private static final int EAFNOSUPPORT = 97;

    private final Arena arena = Arena.ofShared();
    private final PortCounters counters = new PortCounters();
    private final HeaderSlabs headers = new HeaderSlabs(arena);
    private final PeerCache peers = new PeerCache();
    private final ChannelPlane[] planes;
    private final String reason;
    private final long frames;
    private final ByteBuffer[] frame = new ByteBuffer[FRAMES];
    private final long outgoingAddress;
    private final ByteBuffer outgoing;
    /** The source seen last and its address in halves: java.nio gives the same object again for the same source. */
    private InetSocketAddress lastSource;
    private long lastHigh;
    private long lastLow;
    /** Channels that took no more in the send call under way. */
    private final boolean[] busy;
    private int first;
    private boolean closed;

    /**
     * Opens all channels. {@code reason}, shown in the description, says why it is this port.
     *
     * @throws PortException if one of them cannot be had; nothing stays open then
     */
    public ChannelPort(UdpConfig config, String reason) {
        config.check();
        this.reason = reason;
        planes = new ChannelPlane[config.planes.length];
        busy = new boolean[planes.length * config.sourcePorts];
        try {
            for (int plane = 0; plane < planes.length; plane++) {
                planes[plane] = new ChannelPlane(config, plane);
            }
            MemorySegment slab = arena.allocate((long) FRAMES * STRIDE, PAGE);
            frames = slab.address();
            for (int i = 0; i < FRAMES; i++) {
                frame[i] = slab.asSlice((long) i * STRIDE, FRAME_BYTES).asByteBuffer();
            }
            MemorySegment copy = arena.allocate(FRAME_BYTES, PAGE);
            outgoingAddress = copy.address();
            outgoing = copy.asByteBuffer();
            requireMemoryAccess();
        } catch (RuntimeException | Error e) {
            closePlanes();
            arena.close();
            throw e;
        }
    }

    /** Even this port reads headers and payloads by address. */
    private void requireMemoryAccess() {
        try {
            RawMemory.putByte(outgoingAddress, (byte) 0);
        } catch (LinkageError | IllegalCallerException e) {
            throw new PortException("access to native memory is refused: start java with --enable-native-access=ALL-UNNAMED", e);
        }
    }

    @Override
    public void receive(RxBurst burst) {
        burst.count = 0;
        int room = Math.min(burst.capacity, FRAMES);
        int plane = first;
        for (int i = 0; i < planes.length && burst.count < room; i++) {
            int before = burst.count;
            while (burst.count < room && receiveOne(burst, plane)) {
                counters.rxDatagrams++;
            }
            plane = plane + 1 == planes.length ? 0 : plane + 1;
            if (burst.count > before) {
                first = plane;
            }
        }
    }

    private boolean receiveOne(RxBurst burst, int plane) {
        int i = burst.count;
        ByteBuffer buffer = frame[i].clear();
        try {
            InetSocketAddress source = (InetSocketAddress) planes[plane].receiver.receive(buffer);
            if (source == null) {
                return false;
            }
            if (source != lastSource) {
                remember(source);
            }
        } catch (IOException e) {
            counters.lastErrno = EIO;
            return false;
        }
        burst.address[i] = frames + (long) i * STRIDE;
        burst.length[i] = buffer.position();
        burst.plane[i] = (byte) plane;
        burst.ecn[i] = 0;
        burst.sourceHigh[i] = lastHigh;
        burst.sourceLow[i] = lastLow;
        burst.sourcePort[i] = lastSource.getPort();
        burst.count++;
        counters.rxBytes += burst.length[i];
        return true;
    }

    private void remember(InetSocketAddress source) {
        NetAddress address = NetAddress.of(source.getAddress(), source.getPort());
        lastHigh = address.high();
        lastLow = address.low();
        lastSource = source;
    }

    @Override
    public void prepare(TxBurst burst) {
        headers.prepare(burst);
    }

    @Override
    public void send(TxBurst burst) {
        int kept = 0;
        for (int i = 0; i < burst.count; i++) {
            if (!sendOne(burst, i)) {
                burst.swap(kept++, i);
            }
        }
        if (kept > 0) {
            counters.txBusy++;
            Arrays.fill(busy, false);
        }
        burst.count = kept;
    }

    /** False if the channel is busy: the entry stays, and so do later ones of the same channel. */
    private boolean sendOne(TxBurst burst, int i) {
        ChannelPlane plane = planes[burst.plane[i]];
        int index = indexOf(plane, burst.sourcePort[i]);
        int socket = burst.plane[i] * plane.sourcePorts.length + index;
        int length = burst.headerLength[i] + burst.payloadLength[i];
        if (busy[socket]) {
            return false;
        }
        if (length > plane.maxDatagram) {
            drop(EMSGSIZE);
            return true;
        }
        if (NetAddress.isIpv4(burst.destinationHigh[i], burst.destinationLow[i]) != plane.local.isIpv4()) {
            drop(EAFNOSUPPORT);
            return true;
        }
        RawMemory.copy(burst.header[i], outgoingAddress, burst.headerLength[i]);
        if (burst.payloadLength[i] > 0) {
            RawMemory.copy(burst.payload[i], outgoingAddress + burst.headerLength[i], burst.payloadLength[i]);
        }
        busy[socket] = !write(plane.senders[index], length, burst, i);
        return !busy[socket];
    }

    private boolean write(DatagramChannel channel, int length, TxBurst burst, int i) {
        try {
            InetSocketAddress peer = peers.get(burst.destinationHigh[i], burst.destinationLow[i], burst.destinationPort[i]);
            if (channel.send(outgoing.position(0).limit(length), peer) < length) {
                return false;
            }
            counters.txDatagrams++;
            counters.txBytes += length;
        } catch (IOException e) {
            drop(EIO);
        }
        return true;
    }

    private static int indexOf(ChannelPlane plane, int sourcePort) {
        for (int i = 0; i < plane.sourcePorts.length; i++) {
            if (plane.sourcePorts[i] == sourcePort) {
                return i;
            }
        }
        throw new IllegalArgumentException("source port " + sourcePort + " is not one of the plane's");
    }

    private void drop(int errno) {
        counters.txErrors++;
        counters.lastErrno = errno;
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
        return planes[plane].sourcePorts.clone();
    }

    @Override
    public int maxDatagram(int plane) {
        return planes[plane].maxDatagram;
    }

    @Override
    public int preferredRun() {
        return 1;
    }

    @Override
    public int receiveBuffer(int datagramBytes) {
        int smallest = Integer.MAX_VALUE;
        for (ChannelPlane plane : planes) {
            smallest = Math.min(smallest, plane.receiveBufferBytes);
        }
        return Math.max(1, smallest / KernelMemory.perDatagram(datagramBytes));
    }

    @Override
    public PortCounters counters() {
        return counters;
    }

    @Override
    public String description() {
        return "UDP through java.nio channels, " + planes.length + " plane(s) of " + planes[0].sourcePorts.length
            + " source ports, slower and blind to congestion marks (" + reason + ")";
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            closePlanes();
            arena.close();
        }
    }

    private void closePlanes() {
        for (ChannelPlane plane : planes) {
            if (plane != null) {
                plane.close();
            }
        }
    }
}
