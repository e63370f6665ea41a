// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import io.metaroce.bindings.libc.SocketCalls;
import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.bindings.libc.generated.Libc;
import io.metaroce.port.PortException;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** One bound UDP socket during set-up: options, buffers and the errors an operator sees. */
final class UdpSocket {
    /** IP ECN field ECT(0). */
    static final int ECT0 = 2;

    final int fd;
    private final MemorySegment state;
    private final boolean ipv4;
    private final String what;
    private final long value;
    private final long valueLength;

    /** Opens and binds. {@code what} starts the messages of errors, as "plane 1 (10.0.1.1:14791)". */
    UdpSocket(MemorySegment state, Arena arena, String what, NetAddress local, int scope) {
        this.state = state;
        this.what = what;
        ipv4 = local.isIpv4();
        value = arena.allocate(SocketAddress.ROOM, Long.BYTES).address();
        valueLength = arena.allocate(Long.BYTES, Long.BYTES).address();
        int type = Libc.SOCK_DGRAM() | Libc.SOCK_NONBLOCK() | Libc.SOCK_CLOEXEC();
        fd = checked(SocketCalls.socket(state, ipv4 ? Libc.AF_INET() : Libc.AF_INET6(), type, 0), "cannot open a socket");
        try {
            if (!ipv4) {
                require(Libc.IPPROTO_IPV6(), Libc.IPV6_V6ONLY(), 1, "IPV6_V6ONLY");
            }
            bind(local, scope);
        } catch (PortException e) {
            close();
            throw e;
        }
    }

    private void bind(NetAddress local, int scope) {
        int length;
        if (ipv4) {
            SocketAddress.writeIpv4(value, local.low(), local.port());
            length = SocketAddress.IPV4_LENGTH;
        } else {
            SocketAddress.writeIpv6(value, local.high(), local.low(), local.port(), scope);
            length = SocketAddress.IPV6_LENGTH;
        }
        int result = SocketCalls.bind(state, fd, value, length);
        if (result == -Libc.EADDRINUSE()) {
            throw new PortException(what + ": UDP port " + local.port() + " is in use on this address");
        }
        if (result == -Libc.EADDRNOTAVAIL()) {
            throw new PortException(what + ": not an address of this machine");
        }
        checked(result, "cannot bind UDP port " + local.port());
    }

    /** The bound UDP port. */
    int port() {
        RawMemory.putInt(valueLength, SocketAddress.ROOM);
        checked(SocketCalls.getsockname(state, fd, value, valueLength), "cannot read the socket's own address");
        return SocketAddress.port(value);
    }

    /** Sets an integer option; false if the kernel does not have it. */
    boolean option(int level, int option, int setting) {
        RawMemory.putInt(value, setting);
        return SocketCalls.setsockopt(state, fd, level, option, value, Integer.BYTES) >= 0;
    }

    void require(int level, int option, int setting, String name) {
        RawMemory.putInt(value, setting);
        checked(SocketCalls.setsockopt(state, fd, level, option, value, Integer.BYTES), "cannot set " + name);
    }

    int readOption(int level, int option, String name) {
        RawMemory.putInt(value, 0);
        RawMemory.putInt(valueLength, Integer.BYTES);
        checked(SocketCalls.getsockopt(state, fd, level, option, value, valueLength), "cannot read " + name);
        return RawMemory.getInt(value);
    }

    /** Asks for a receive buffer, past the system's limit where permitted, and returns what the kernel counts against, in bytes. */
    int receiveBuffer(int bytes) {
        if (!option(Libc.SOL_SOCKET(), Libc.SO_RCVBUFFORCE(), bytes)) {
            require(Libc.SOL_SOCKET(), Libc.SO_RCVBUF(), bytes, "SO_RCVBUF");
        }
        return readOption(Libc.SOL_SOCKET(), Libc.SO_RCVBUF(), "SO_RCVBUF");
    }

    void sendBuffer(int bytes) {
        if (!option(Libc.SOL_SOCKET(), Libc.SO_SNDBUFFORCE(), bytes)) {
            require(Libc.SOL_SOCKET(), Libc.SO_SNDBUF(), bytes, "SO_SNDBUF");
        }
    }

    /** Marks what is sent as ECN-capable. */
    void sendEcn() {
        if (ipv4) {
            require(Libc.IPPROTO_IP(), Libc.IP_TOS(), ECT0, "IP_TOS");
        } else {
            require(Libc.IPPROTO_IPV6(), Libc.IPV6_TCLASS(), ECT0, "IPV6_TCLASS");
        }
    }

    /** Asks for the ECN bits of what is received. */
    void receiveEcn() {
        if (ipv4) {
            require(Libc.IPPROTO_IP(), Libc.IP_RECVTOS(), 1, "IP_RECVTOS");
        } else {
            require(Libc.IPPROTO_IPV6(), Libc.IPV6_RECVTCLASS(), 1, "IPV6_RECVTCLASS");
        }
    }

    /** Nothing is ever fragmented on its way: what is too long is refused with EMSGSIZE. */
    void dontFragment() {
        if (ipv4) {
            require(Libc.IPPROTO_IP(), Libc.IP_MTU_DISCOVER(), Libc.IP_PMTUDISC_DO(), "IP_MTU_DISCOVER");
        } else {
            require(Libc.IPPROTO_IPV6(), Libc.IPV6_MTU_DISCOVER(), Libc.IPV6_PMTUDISC_DO(), "IPV6_MTU_DISCOVER");
        }
    }

    void close() {
        SocketCalls.close(state, fd);
    }

    private int checked(int result, String action) {
        if (result < 0) {
            throw new PortException(what + ": " + action + ": " + SocketCalls.errorText(-result) + " (errno " + -result + ")");
        }
        return result;
    }
}
