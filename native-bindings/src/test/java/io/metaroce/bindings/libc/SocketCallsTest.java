// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.libc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.bindings.libc.generated.Libc;
import io.metaroce.bindings.libc.generated.cmsghdr;
import io.metaroce.bindings.libc.generated.iovec;
import io.metaroce.bindings.libc.generated.mmsghdr;
import io.metaroce.bindings.libc.generated.msghdr;
import io.metaroce.bindings.libc.generated.sockaddr_in;
import io.metaroce.bindings.libc.generated.sockaddr_in6;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** The layouts are those of 64-bit Linux, and results and errno come back as documented. */
class SocketCallsTest {
    @Test
    void layoutsAreThoseOfTheKernel() {
        assertEquals(64, mmsghdr.sizeof());
        assertEquals(56, mmsghdr.msg_len$offset());
        assertEquals(56, msghdr.sizeof());
        assertEquals(16, msghdr.msg_iov$offset());
        assertEquals(32, msghdr.msg_control$offset());
        assertEquals(16, iovec.sizeof());
        assertEquals(16, cmsghdr.sizeof());
        assertEquals(16, sockaddr_in.sizeof());
        assertEquals(28, sockaddr_in6.sizeof());
        assertEquals(103, Libc.UDP_SEGMENT());
        assertEquals(104, Libc.UDP_GRO());
    }

    @Test
    void successGivesTheResultAndFailureTheErrno() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = SocketCalls.newCallState(arena);
            int fd = SocketCalls.socket(state, Libc.AF_INET(), Libc.SOCK_DGRAM() | Libc.SOCK_NONBLOCK(), 0);
            assertTrue(fd >= 0);
            long message = arena.allocate(mmsghdr.layout()).address();
            assertEquals(-1, SocketCalls.recvmmsg(fd, message, 1, Libc.MSG_DONTWAIT(), 0));
            assertEquals(-Libc.EAGAIN(), SocketCalls.recvmmsg(state, fd, message, 1, Libc.MSG_DONTWAIT(), 0));
            int destinationRequired = 89;
            assertEquals(-destinationRequired, SocketCalls.sendmmsg(state, fd, message, 1, Libc.MSG_DONTWAIT()));
            long value = arena.allocate(8, 8).address();
            long length = arena.allocate(8, 8).address();
            RawMemory.putInt(length, Integer.BYTES);
            assertEquals(0, SocketCalls.getsockopt(state, fd, Libc.SOL_SOCKET(), Libc.SO_RCVBUF(), value, length));
            assertTrue(RawMemory.getInt(value) > 0);
            assertEquals(0, SocketCalls.close(state, fd));
            int badDescriptor = 9;
            assertEquals(-badDescriptor, SocketCalls.close(state, fd));
            assertEquals("Address already in use", SocketCalls.errorText(Libc.EADDRINUSE()));
        }
    }

    @Test
    void epollTellsTheReadySocket() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = SocketCalls.newCallState(arena);
            int fd = SocketCalls.socket(state, Libc.AF_INET(), Libc.SOCK_DGRAM(), 0);
            int epoll = SocketCalls.epollCreate1(state, Libc.EPOLL_CLOEXEC());
            long event = arena.allocate(EpollEvent.LENGTH, 8).address();
            int epollOut = 4;
            RawMemory.putInt(event + EpollEvent.EVENTS, epollOut);
            RawMemory.putLong(event + EpollEvent.DATA, 0x1234_5678_9abc_def0L);
            assertEquals(0, SocketCalls.epollCtl(state, epoll, Libc.EPOLL_CTL_ADD(), fd, event));
            RawMemory.putLong(event + EpollEvent.DATA, 0);
            assertEquals(1, SocketCalls.epollWait(epoll, event, 1, 0));
            assertEquals(epollOut, RawMemory.getInt(event + EpollEvent.EVENTS));
            assertEquals(0x1234_5678_9abc_def0L, RawMemory.getLong(event + EpollEvent.DATA));
            SocketCalls.close(state, epoll);
            SocketCalls.close(state, fd);
        }
    }
}
