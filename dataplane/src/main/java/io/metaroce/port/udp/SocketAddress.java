// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import static io.metaroce.bindings.libc.RawMemory.getByte;
import static io.metaroce.bindings.libc.RawMemory.getInt;
import static io.metaroce.bindings.libc.RawMemory.getLong;
import static io.metaroce.bindings.libc.RawMemory.getShort;
import static io.metaroce.bindings.libc.RawMemory.putByte;
import static io.metaroce.bindings.libc.RawMemory.putInt;
import static io.metaroce.bindings.libc.RawMemory.putLong;
import static io.metaroce.bindings.libc.RawMemory.putShort;

import io.metaroce.bindings.libc.generated.Libc;
import io.metaroce.bindings.libc.generated.sockaddr_in;
import io.metaroce.bindings.libc.generated.sockaddr_in6;
import java.nio.ByteOrder;

/** {@code struct sockaddr_in} and {@code sockaddr_in6} by address, to and from the two-halves form of the bursts. */
final class SocketAddress {
    static final int IPV4_LENGTH = (int) sockaddr_in.sizeof();
    static final int IPV6_LENGTH = (int) sockaddr_in6.sizeof();
    /** Room for either, rounded so that an array of them stays aligned. */
    static final int ROOM = 32;

    private static final long FAMILY = sockaddr_in.sin_family$offset();
    private static final long PORT = sockaddr_in.sin_port$offset();
    private static final long IPV4 = sockaddr_in.sin_addr$offset();
    private static final long FLOW = sockaddr_in6.sin6_flowinfo$offset();
    private static final long IPV6 = sockaddr_in6.sin6_addr$offset();
    private static final long SCOPE = sockaddr_in6.sin6_scope_id$offset();
    private static final long MAPPED_PREFIX = 0x0000_ffff_0000_0000L;
    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    static {
        if (PORT != sockaddr_in6.sin6_port$offset() || FAMILY != sockaddr_in6.sin6_family$offset() || IPV6_LENGTH > ROOM) {
            throw new ExceptionInInitializerError("sockaddr_in and sockaddr_in6 do not share their first fields");
        }
    }

    private SocketAddress() {
    }

    static void writeIpv4(long at, long low, int port) {
        putShort(at + FAMILY, (short) Libc.AF_INET());
        writePort(at, port);
        putInt(at + IPV4, bigEndian((int) low));
    }

    /** {@code scope} is the interface index for link-local addresses, else 0. */
    static void writeIpv6(long at, long high, long low, int port, int scope) {
        putShort(at + FAMILY, (short) Libc.AF_INET6());
        writePort(at, port);
        putInt(at + FLOW, 0);
        putLong(at + IPV6, bigEndian(high));
        putLong(at + IPV6 + Long.BYTES, bigEndian(low));
        putInt(at + SCOPE, isLinkLocal(high) ? scope : 0);
    }

    static int port(long at) {
        return (getByte(at + PORT) & 0xff) << 8 | getByte(at + PORT + 1) & 0xff;
    }

    static long high(long at) {
        return isIpv4(at) ? 0 : bigEndian(getLong(at + IPV6));
    }

    static long low(long at) {
        return isIpv4(at) ? MAPPED_PREFIX | bigEndian(getInt(at + IPV4)) & 0xffff_ffffL : bigEndian(getLong(at + IPV6 + Long.BYTES));
    }

    private static boolean isIpv4(long at) {
        return getShort(at + FAMILY) == Libc.AF_INET();
    }

    private static boolean isLinkLocal(long high) {
        return high >>> 54 == 0xfe80 >>> 6;
    }

    private static void writePort(long at, int port) {
        putByte(at + PORT, (byte) (port >> 8));
        putByte(at + PORT + 1, (byte) port);
    }

    private static int bigEndian(int value) {
        return LITTLE_ENDIAN ? Integer.reverseBytes(value) : value;
    }

    private static long bigEndian(long value) {
        return LITTLE_ENDIAN ? Long.reverseBytes(value) : value;
    }
}
