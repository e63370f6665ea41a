// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.bindings.libc.generated.Libc;
import io.metaroce.port.PortCounters;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * Sends bursts: runs of equal datagrams to one destination become one kernel message (UDP_SEGMENT), all messages of one socket one
 * sendmmsg. Headers and payloads are named by address, so the kernel's copy is the only one.
 *
 * <p>Order is kept within a source port; different source ports are different sockets and may overtake each other.
 */
final class UdpSender {
    /** Most segments that kernels of all versions take in one message (UDP_MAX_SEGMENTS was 64 before it became 128). */
    static final int MAX_SEGMENTS = 64;
    /** Most bytes of a message before segmentation: an IPv4 packet's. */
    static final int MAX_RUN_BYTES = Interfaces.MAX_DATAGRAM;
    private static final int CONTROL_ROOM = MessageArray.CONTROL_ROOM;
    private static final int SEGMENT_SIZE_BYTES = Short.BYTES;
    private static final int NONE = -1;

    private final SendCall call;
    private final Arena arena;
    private final SendPlane[] planes;
    private final PortCounters counters;
    /** Messages of one socket, and of one run that has to go out singly. */
    private MessageArray runs;
    private final MessageArray singles;

    // Entries of the burst by socket, as linked lists through `next`, in order.
    private int[] next = {};
    private final int[] head;
    private final int[] tail;
    private final int[] active;
    private final int stride;
    // Messages made from the socket in hand.
    private int[] firstEntry = {};
    private int[] entries = {};
    private int[] bytes = {};
    private int messages;
    private int vectors;
    /** Entries that stay in the burst. */
    private boolean[] kept = {};
    private int keptCount;

    UdpSender(SendCall call, Arena arena, SendPlane[] planes, int sourcePorts, PortCounters counters) {
        this.call = call;
        this.arena = arena;
        this.planes = planes;
        this.counters = counters;
        stride = sourcePorts;
        head = new int[planes.length * stride];
        tail = new int[head.length];
        active = new int[head.length];
        Arrays.fill(head, NONE);
        singles = newArray(MAX_SEGMENTS);
    }

    /** Makes room for bursts of this capacity; allocates when it grows. */
    void reserve(int capacity) {
        if (next.length < capacity) {
            next = new int[capacity];
            firstEntry = new int[capacity];
            entries = new int[capacity];
            bytes = new int[capacity];
            kept = new boolean[capacity];
            runs = newArray(capacity);
        }
    }

    private MessageArray newArray(int capacity) {
        MessageArray made = new MessageArray(arena, capacity, 2 * capacity, CONTROL_ROOM);
        for (int i = 0; i < capacity; i++) {
            ControlMessage.write(made.control(i), Libc.IPPROTO_UDP(), Libc.UDP_SEGMENT(), SEGMENT_SIZE_BYTES);
        }
        return made;
    }

    void send(TxBurst burst) {
        if (burst.count == 0) {
            return;
        }
        reserve(burst.capacity);
        int sockets = sortBySocket(burst);
        for (int i = 0; i < sockets; i++) {
            int socket = active[i];
            SendPlane plane = planes[socket / stride];
            makeMessages(burst, plane, head[socket]);
            head[socket] = NONE;
            transmit(burst, plane, plane.sockets[socket % stride]);
        }
        compact(burst);
    }

    private int sortBySocket(TxBurst burst) {
        int sockets = 0;
        for (int i = 0; i < burst.count; i++) {
            int plane = burst.plane[i];
            int index = planes[plane].indexOf(burst.sourcePort[i]);
            if (index == SendPlane.UNKNOWN) {
                Arrays.fill(head, NONE);
                throw new IllegalArgumentException("source port " + burst.sourcePort[i] + " is not one of plane " + plane);
            }
            int socket = plane * stride + index;
            if (head[socket] == NONE) {
                head[socket] = i;
                active[sockets++] = socket;
            } else {
                next[tail[socket]] = i;
            }
            tail[socket] = i;
            next[i] = NONE;
        }
        return sockets;
    }

    private void makeMessages(TxBurst burst, SendPlane plane, int first) {
        messages = 0;
        vectors = 0;
        int entry = first;
        while (entry != NONE) {
            int length = length(burst, entry);
            if (length > plane.maxDatagram) {
                drop(1, Libc.EMSGSIZE());
                entry = next[entry];
            } else if (plane.ipv4 != NetAddress.isIpv4(burst.destinationHigh[entry], burst.destinationLow[entry])) {
                drop(1, Libc.EAFNOSUPPORT());
                entry = next[entry];
            } else {
                entry = makeMessage(burst, plane, entry, length);
            }
        }
    }

    /** Makes one message from {@code first} and what may follow it; returns the entry after that. */
    private int makeMessage(TxBurst burst, SendPlane plane, int first, int segment) {
        int message = messages++;
        int firstVector = vectors;
        int total = 0;
        int count = 0;
        int length = segment;
        int entry = first;
        do {
            vectors = addVectors(runs, vectors, burst, entry);
            total += length;
            count++;
            entry = next[entry];
            if (entry == NONE || length < segment || !plane.gso || count == MAX_SEGMENTS) {
                break;
            }
            length = length(burst, entry);
        } while (length <= segment && total + length <= MAX_RUN_BYTES && sameDestination(burst, first, entry));
        firstEntry[message] = first;
        entries[message] = count;
        bytes[message] = total;
        runs.assignVectors(message, firstVector, vectors - firstVector);
        address(runs, message, burst, plane, first, count > 1 ? CONTROL_ROOM : 0);
        RawMemory.putShort(ControlMessage.value(runs.control(message)), (short) segment);
        return entry;
    }

    private static int addVectors(MessageArray array, int vector, TxBurst burst, int entry) {
        long header = burst.header[entry];
        int headerLength = burst.headerLength[entry];
        int payloadLength = burst.payloadLength[entry];
        if (payloadLength == 0 || burst.payload[entry] == header + headerLength) {
            array.vector(vector, header, headerLength + payloadLength);
            return vector + 1;
        }
        array.vector(vector, header, headerLength);
        array.vector(vector + 1, burst.payload[entry], payloadLength);
        return vector + 2;
    }

    private static void address(MessageArray array, int message, TxBurst burst, SendPlane plane, int entry, int controlLength) {
        long name = array.name(message);
        int port = burst.destinationPort[entry];
        if (plane.ipv4) {
            SocketAddress.writeIpv4(name, burst.destinationLow[entry], port);
            array.bounds(message, SocketAddress.IPV4_LENGTH, controlLength);
        } else {
            SocketAddress.writeIpv6(name, burst.destinationHigh[entry], burst.destinationLow[entry], port, plane.scope);
            array.bounds(message, SocketAddress.IPV6_LENGTH, controlLength);
        }
    }

    private void transmit(TxBurst burst, SendPlane plane, int fd) {
        int done = 0;
        while (done < messages) {
            int result = call.sendmmsg(fd, runs.message(done), messages - done);
            if (result > 0) {
                for (int end = done + result; done < end; done++) {
                    counters.txDatagrams += entries[done];
                    counters.txBytes += bytes[done];
                }
            } else if (isBusy(-result)) {
                keepFrom(done);
                return;
            } else if (entries[done] > 1 && mayBeSegmentation(-result)) {
                if (!sendSingly(burst, plane, fd, done, -result)) {
                    keepFrom(done + 1);
                    return;
                }
                done++;
            } else if (result != -Libc.EINTR()) {
                drop(entries[done], -result);
                done++;
            }
        }
    }

    /**
     * Sends a refused run datagram by datagram. Where that works, segmentation was at fault and is given up on this plane.
     * Returns false if the socket became busy; what is left of the run then stays.
     */
    private boolean sendSingly(TxBurst burst, SendPlane plane, int fd, int message, int refusal) {
        int count = entries[message];
        int entry = firstEntry[message];
        int vector = 0;
        for (int i = 0; i < count; i++) {
            int after = addVectors(singles, vector, burst, entry);
            singles.assignVectors(i, vector, after - vector);
            address(singles, i, burst, plane, entry, 0);
            vector = after;
            entry = next[entry];
        }
        int done = 0;
        entry = firstEntry[message];
        while (done < count) {
            int result = call.sendmmsg(fd, singles.message(done), count - done);
            if (isBusy(-result)) {
                keep(entry, count - done);
                return false;
            }
            if (result == -Libc.EINTR()) {
                continue;
            }
            if (result > 0) {
                plane.gso &= refusal == Libc.EMSGSIZE();
            } else {
                drop(1, -result);
            }
            for (int end = done + Math.max(result, 1); done < end; done++) {
                if (result > 0) {
                    counters.txDatagrams++;
                    counters.txBytes += length(burst, entry);
                }
                entry = next[entry];
            }
        }
        return true;
    }

    /** EMSGSIZE: a segment does not fit the route, yet the shorter last one may. */
    private static boolean mayBeSegmentation(int errno) {
        return errno == Libc.EIO() || errno == Libc.EINVAL() || errno == Libc.ENOPROTOOPT() || errno == Libc.EOPNOTSUPP()
            || errno == Libc.EMSGSIZE();
    }

    /** The kernel has no room now and will have later. */
    private static boolean isBusy(int errno) {
        return errno == Libc.EAGAIN() || errno == Libc.ENOBUFS() || errno == Libc.ENOMEM();
    }

    private void keepFrom(int message) {
        if (message < messages) {
            counters.txBusy++;
        }
        for (int i = message; i < messages; i++) {
            keep(firstEntry[i], entries[i]);
        }
    }

    private void keep(int first, int count) {
        int entry = first;
        for (int i = 0; i < count; i++) {
            kept[entry] = true;
            entry = next[entry];
        }
        keptCount += count;
    }

    private void drop(int count, int errno) {
        counters.txErrors += count;
        counters.lastErrno = errno;
    }

    /** Moves what stays to the front, in order; every slot keeps one header buffer. */
    private void compact(TxBurst burst) {
        int count = 0;
        for (int i = 0; count < keptCount; i++) {
            if (kept[i]) {
                kept[i] = false;
                burst.swap(count++, i);
            }
        }
        burst.count = count;
        keptCount = 0;
    }

    private static int length(TxBurst burst, int entry) {
        return burst.headerLength[entry] + burst.payloadLength[entry];
    }

    private static boolean sameDestination(TxBurst burst, int a, int b) {
        return burst.destinationLow[a] == burst.destinationLow[b] && burst.destinationHigh[a] == burst.destinationHigh[b]
            && burst.destinationPort[a] == burst.destinationPort[b];
    }
}
