// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One of two ports joined in memory, for tests: a lossless, orderly network without threads or time. A full queue drops what comes,
 * as a socket's receive buffer does, and the receiver counts it.
 *
 * <p>The left port's plane N is 10.0.N.1, the right one's 10.0.N.2, UDP port 14791. Each port belongs to one thread; the two threads
 * may differ.
 */
public final class LoopbackPort implements PacketPort {
    /** The two ends. */
    public record Pair(LoopbackPort left, LoopbackPort right) implements AutoCloseable {
        @Override
        public void close() {
            left.close();
            right.close();
        }
    }

    /** Source ports of each plane. */
    public static final int SOURCE_PORTS = 16;
    /** Longest datagram: 16 KiB of payload and the largest header. */
    public static final int MAX_DATAGRAM = 16384 + TxBurst.HEADER_ROOM;
    /** Default bytes of each queue: some 1,000 datagrams of 4 KiB. */
    public static final int QUEUE_BYTES = 4 << 20;

    private static final int MAX_PLANES = 8;
    private static final int UDP_PORT = 14791;
    private static final int FIRST_SOURCE_PORT = 49152;
    private static final byte ECT0 = 2;
    private static final int EMSGSIZE = 90;
    private static final int ENETUNREACH = 101;

    /** A queue of one plane in one direction, and what it had to drop: written by the sender, read by the receiver. */
    private static final class Link {
        final FrameRing ring;
        final NetAddress from;
        final NetAddress to;
        volatile long dropped;

        Link(Arena arena, int bytes, NetAddress from, NetAddress to) {
            ring = new FrameRing(arena, bytes);
            this.from = from;
            this.to = to;
        }
    }

    private final Link[] in;
    private final Link[] out;
    private final Arena arena;
    private final AtomicInteger openEnds;
    private final HeaderSlabs headers;
    private final PortCounters counters = new PortCounters();
    private int first;
    private boolean closed;

    private LoopbackPort(Link[] in, Link[] out, Arena arena, AtomicInteger openEnds) {
        this.in = in;
        this.out = out;
        this.arena = arena;
        this.openEnds = openEnds;
        headers = new HeaderSlabs(arena);
    }

    /** Two joined ports of 1 to 8 planes; each direction of a plane holds {@code queueBytes} (a power of two). */
    public static Pair pair(int planes, int queueBytes) {
        if (planes < 1 || planes > MAX_PLANES) {
            throw new PortException("number of planes is " + planes + ", outside 1.." + MAX_PLANES);
        }
        Arena arena = Arena.ofShared();
        Link[] leftToRight = new Link[planes];
        Link[] rightToLeft = new Link[planes];
        for (int plane = 0; plane < planes; plane++) {
            NetAddress left = address(plane, 1);
            NetAddress right = address(plane, 2);
            leftToRight[plane] = new Link(arena, queueBytes, left, right);
            rightToLeft[plane] = new Link(arena, queueBytes, right, left);
        }
        AtomicInteger openEnds = new AtomicInteger(2);
        return new Pair(new LoopbackPort(rightToLeft, leftToRight, arena, openEnds),
            new LoopbackPort(leftToRight, rightToLeft, arena, openEnds));
    }

    public static Pair pair(int planes) {
        return pair(planes, QUEUE_BYTES);
    }

    private static NetAddress address(int plane, int end) {
        return new NetAddress(0, 0x0000_ffff_0a00_0000L | plane << 8 | end, UDP_PORT);
    }

    @Override
    public int planes() {
        return in.length;
    }

    @Override
    public NetAddress localAddress(int plane) {
        return in[plane].to;
    }

    @Override
    public int[] sourcePorts(int plane) {
        int[] ports = new int[SOURCE_PORTS];
        for (int i = 0; i < SOURCE_PORTS; i++) {
            ports[i] = FIRST_SOURCE_PORT + plane * SOURCE_PORTS + i;
        }
        return ports;
    }

    @Override
    public int maxDatagram(int plane) {
        return MAX_DATAGRAM;
    }

    @Override
    public int preferredRun() {
        return 1;
    }

    @Override
    public int receiveBuffer(int datagramBytes) {
        return in[0].ring.capacity(datagramBytes);
    }

    @Override
    public void receive(RxBurst burst) {
        burst.count = 0;
        long dropped = 0;
        int plane = first;
        for (int i = 0; i < in.length; i++) {
            int before = burst.count;
            in[plane].ring.release();
            drain(plane, burst);
            dropped += in[plane].dropped;
            int after = plane + 1 == in.length ? 0 : plane + 1;
            first = burst.count > before ? after : first;
            plane = after;
        }
        counters.rxDropped = dropped;
    }

    private void drain(int plane, RxBurst burst) {
        Link link = in[plane];
        while (burst.count < burst.capacity) {
            long frame = link.ring.next();
            if (frame == FrameRing.EMPTY) {
                return;
            }
            int i = burst.count++;
            burst.address[i] = frame;
            burst.length[i] = FrameRing.length(frame);
            burst.plane[i] = (byte) plane;
            burst.ecn[i] = ECT0;
            burst.sourceHigh[i] = link.from.high();
            burst.sourceLow[i] = link.from.low();
            burst.sourcePort[i] = FrameRing.tag(frame);
            counters.rxDatagrams++;
            counters.rxBytes += burst.length[i];
        }
    }

    @Override
    public void prepare(TxBurst burst) {
        headers.prepare(burst);
    }

    /** Takes everything: what does not fit the peer's queue is lost. */
    @Override
    public void send(TxBurst burst) {
        for (int i = 0; i < burst.count; i++) {
            Link link = out[burst.plane[i]];
            int length = burst.headerLength[i] + burst.payloadLength[i];
            if (length > MAX_DATAGRAM) {
                drop(EMSGSIZE);
            } else if (burst.destinationLow[i] != link.to.low() || burst.destinationHigh[i] != link.to.high()
                || burst.destinationPort[i] != link.to.port()) {
                drop(ENETUNREACH);
            } else {
                copy(link, burst, i, length);
            }
        }
        burst.count = 0;
    }

    private void copy(Link link, TxBurst burst, int i, int length) {
        counters.txDatagrams++;
        counters.txBytes += length;
        long frame = link.ring.reserve(length, burst.sourcePort[i]);
        if (frame == FrameRing.EMPTY) {
            link.dropped = link.dropped + 1;
            return;
        }
        RawMemory.copy(burst.header[i], frame, burst.headerLength[i]);
        if (burst.payloadLength[i] > 0) {
            RawMemory.copy(burst.payload[i], frame + burst.headerLength[i], burst.payloadLength[i]);
        }
        link.ring.publish();
    }

    private void drop(int errno) {
        counters.txErrors++;
        counters.lastErrno = errno;
    }

    @Override
    public PortCounters counters() {
        return counters;
    }

    @Override
    public String description() {
        return "in-memory loopback, " + in.length + " plane(s)";
    }

    /** The memory goes when both ends are closed. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            if (openEnds.decrementAndGet() == 0) {
                arena.close();
            }
        }
    }
}
