// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import io.metaroce.bindings.libc.EpollEvent;
import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.bindings.libc.SocketCalls;
import io.metaroce.bindings.libc.generated.Libc;
import io.metaroce.port.PortException;
import io.metaroce.transport.RxBurst;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Receives from all planes, in turn. One epoll_wait tells which planes have something: an empty poll costs as much as asking one socket,
 * whatever the number of planes. A port with one plane does without: to be watched costs a socket two microseconds for each datagram.
 */
final class UdpReceiver {
    private static final int NOT_ASKED = -1;
    /** In place of the epoll descriptor. */
    private static final int UNWATCHED = -1;

    private final MemorySegment state;
    private final ReceivePlane[] planes;
    private final int epoll;
    private final long events;
    /** The plane served first by the next call: the one after the plane served last, so that a busy plane cannot keep others out. */
    private int first;

    UdpReceiver(MemorySegment state, Arena arena, ReceivePlane[] planes, int[] sockets) {
        this.state = state;
        this.planes = planes;
        events = arena.allocate((long) planes.length * EpollEvent.LENGTH, Long.BYTES).address();
        epoll = planes.length == 1 ? UNWATCHED : checked(SocketCalls.epollCreate1(state, Libc.EPOLL_CLOEXEC()), "epoll_create1");
        for (int plane = 0; plane < sockets.length; plane++) {
            if (planes[plane] != null) {
                int result = watch(plane, sockets[plane]);
                if (result < 0) {
                    close();
                }
                checked(result, "epoll_ctl");
            }
        }
    }

    private int watch(int plane, int socket) {
        if (epoll == UNWATCHED) {
            return 0;
        }
        RawMemory.putInt(events + EpollEvent.EVENTS, Libc.EPOLLIN());
        RawMemory.putLong(events + EpollEvent.DATA, plane);
        return SocketCalls.epollCtl(state, epoll, Libc.EPOLL_CTL_ADD(), socket, events);
    }

    /** The plane has a new socket; the old one left the epoll set when it was closed. */
    void open(int plane, int socket) {
        checked(watch(plane, socket), "epoll_ctl");
    }

    void receive(RxBurst burst) {
        burst.count = 0;
        int ready = epoll == UNWATCHED ? 1 : NOT_ASKED;
        int plane = first;
        for (int i = 0; i < planes.length && burst.count < burst.capacity; i++) {
            int before = burst.count;
            if (planes[plane] == null) {
                plane = after(plane);
                continue;
            }
            if (!planes[plane].hasLeftover()) {
                ready = ready == NOT_ASKED ? readyPlanes() : ready;
                if ((ready & 1 << plane) != 0) {
                    planes[plane].pull();
                }
            }
            planes[plane].drain(burst);
            if (burst.count > before) {
                first = after(plane);
            }
            plane = after(plane);
        }
    }

    private int after(int plane) {
        return plane + 1 == planes.length ? 0 : plane + 1;
    }

    /** One bit for each plane that has something; none after an interruption, as the next call asks again. */
    private int readyPlanes() {
        int count = SocketCalls.epollWait(epoll, events, planes.length, 0);
        int ready = 0;
        for (int i = 0; i < count; i++) {
            ready |= 1 << (int) RawMemory.getLong(events + (long) i * EpollEvent.LENGTH + EpollEvent.DATA);
        }
        return ready;
    }

    void close() {
        if (epoll != UNWATCHED) {
            SocketCalls.close(state, epoll);
        }
    }

    private static int checked(int result, String call) {
        if (result < 0) {
            throw new PortException("cannot watch the receive sockets: " + call + ": " + SocketCalls.errorText(-result));
        }
        return result;
    }
}
