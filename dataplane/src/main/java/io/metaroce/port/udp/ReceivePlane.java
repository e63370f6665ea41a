// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.bindings.libc.SocketCalls;
import io.metaroce.bindings.libc.generated.Libc;
import io.metaroce.port.PortCounters;
import io.metaroce.transport.RxBurst;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The receiving side of one plane: takes kernel messages from its socket, splits coalesced ones into datagrams and hands them out.
 *
 * <p>What does not fit a burst stays in its buffers and is handed out first by later calls; until then nothing new is taken, so
 * a frame is never overwritten while it may be read.
 */
final class ReceivePlane {
    /** Longest kernel message: coalesced datagrams together. */
    private static final int MESSAGE_BYTES = 65536;
    private static final int PAGE = 4096;
    /** One page more than a message, so that buffers do not all fall into the same cache sets. */
    private static final int STRIDE = MESSAGE_BYTES + PAGE;
    /** ECN, GRO segment size and the kernel's drop count. */
    private static final int CONTROL_ROOM = 3 * MessageArray.CONTROL_ROOM;
    private static final int ECN_MASK = 3;
    /** Of so many calls that brought nothing, one is asked why. */
    private static final int ASK_WHY = 4096;

    private final MemorySegment state;
    private final int plane;
    private int fd;
    private final PortCounters counters;
    private final MessageArray array;
    private final long buffers;
    /** Messages held, those handed out whole, and the bytes handed out of the next one. */
    private int held;
    private int message;
    private int offset;
    private int kernelDrops;
    private int failures;
    // Facts of the message being split.
    private int messageLength;
    private int segment;
    private byte ecn;
    private long sourceHigh;
    private long sourceLow;
    private int sourcePort;

    ReceivePlane(MemorySegment state, Arena arena, int plane, int fd, int messages, PortCounters counters) {
        this.state = state;
        this.plane = plane;
        this.fd = fd;
        this.counters = counters;
        array = new MessageArray(arena, messages, messages, CONTROL_ROOM);
        buffers = arena.allocate((long) messages * STRIDE, PAGE).address();
        for (int i = 0; i < messages; i++) {
            array.vector(i, buffer(i), MESSAGE_BYTES);
            array.assignVectors(i, i, 1);
            array.bounds(i, SocketAddress.ROOM, CONTROL_ROOM);
        }
    }

    /** Receives from another socket from now on; what was taken from the old one is dropped. */
    void reopen(int socket) {
        fd = socket;
        for (int i = 0; i < held; i++) {
            array.bounds(i, SocketAddress.ROOM, CONTROL_ROOM);
        }
        held = 0;
        message = 0;
        offset = 0;
        kernelDrops = 0;
    }

    /** Whether datagrams taken earlier still wait to be handed out. */
    boolean hasLeftover() {
        return message < held;
    }

    /** Takes what the kernel holds, as far as there are buffers. Frames handed out before become invalid. Only without leftover. */
    void pull() {
        for (int i = 0; i < held; i++) {
            array.bounds(i, SocketAddress.ROOM, CONTROL_ROOM);
        }
        held = 0;
        message = 0;
        if (fd < 0) {
            // The plane is closed.
            return;
        }
        int result = SocketCalls.recvmmsg(fd, array.message(0), array.capacity, Libc.MSG_DONTWAIT(), 0);
        if (result < 0 && ++failures % ASK_WHY == 0) {
            result = receiveOrSayWhy();
        }
        if (result > 0) {
            held = result;
            openMessage();
        }
    }

    /** Nothing but that there is nothing should an unconnected socket report: shown, and the next call tries again. */
    private int receiveOrSayWhy() {
        int result = SocketCalls.recvmmsg(state, fd, array.message(0), array.capacity, Libc.MSG_DONTWAIT(), 0);
        if (result < 0 && result != -Libc.EAGAIN() && result != -Libc.EINTR()) {
            counters.lastErrno = -result;
        }
        return result;
    }

    /** Hands out datagrams until none is left or the burst is full. */
    void drain(RxBurst burst) {
        while (message < held) {
            if (burst.count == burst.capacity) {
                return;
            }
            handOut(burst, Math.min(segment, messageLength - offset));
            offset += segment;
            if (offset >= messageLength) {
                message++;
                openMessage();
            }
        }
    }

    private void handOut(RxBurst burst, int length) {
        int i = burst.count++;
        burst.address[i] = buffer(message) + offset;
        burst.length[i] = length;
        burst.plane[i] = (byte) plane;
        burst.ecn[i] = ecn;
        burst.sourceHigh[i] = sourceHigh;
        burst.sourceLow[i] = sourceLow;
        burst.sourcePort[i] = sourcePort;
        counters.rxDatagrams++;
        counters.rxBytes += length;
    }

    /** Reads the facts of the next message, passing over those that were cut short. */
    private void openMessage() {
        offset = 0;
        while (message < held && (array.flags(message) & Libc.MSG_TRUNC()) != 0) {
            counters.rxDropped++;
            message++;
        }
        if (message < held) {
            long name = array.name(message);
            sourceHigh = SocketAddress.high(name);
            sourceLow = SocketAddress.low(name);
            sourcePort = SocketAddress.port(name);
            messageLength = array.length(message);
            readControl();
        }
    }

    private void readControl() {
        ecn = 0;
        segment = Math.max(messageLength, 1);
        long at = array.control(message);
        long end = at + array.controlLength(message);
        while (end - at >= MessageArray.CONTROL_HEADER) {
            int level = ControlMessage.level(at);
            int type = ControlMessage.type(at);
            long value = ControlMessage.value(at);
            // IP_TOS comes as one byte, the others as ints.
            if (level == Libc.IPPROTO_IP() && type == Libc.IP_TOS()) {
                ecn = (byte) (RawMemory.getByte(value) & ECN_MASK);
            } else if (level == Libc.IPPROTO_IPV6() && type == Libc.IPV6_TCLASS()) {
                ecn = (byte) (RawMemory.getInt(value) & ECN_MASK);
            } else if (level == Libc.IPPROTO_UDP() && type == Libc.UDP_GRO()) {
                segment = Math.max(RawMemory.getInt(value), 1);
            } else if (level == Libc.SOL_SOCKET() && type == Libc.SO_RXQ_OVFL()) {
                int total = RawMemory.getInt(value);
                counters.rxDropped += total - kernelDrops;
                kernelDrops = total;
            }
            at = ControlMessage.next(at);
        }
    }

    private long buffer(int i) {
        return buffers + (long) i * STRIDE;
    }
}
