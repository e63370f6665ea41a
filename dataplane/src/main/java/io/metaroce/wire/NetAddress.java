// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * An IP address with a UDP port. The address is IPv6, or IPv4 in its IPv4-mapped form, as two big-endian halves.
 * Immutable; made at set-up only.
 */
public record NetAddress(long high, long low, int port) {
    /** Receive port of an endpoint unless configured otherwise (spec: "UDP"). */
    public static final int DEFAULT_PORT = 14791;
    private static final long MAPPED_PREFIX = 0x0000_ffff_0000_0000L;

    public NetAddress {
        if (port < 0 || port > 0xffff) {
            throw new IllegalArgumentException("UDP port " + port + " is outside 0..65535");
        }
    }

    public static NetAddress of(InetAddress address, int port) {
        byte[] bytes = address.getAddress();
        if (bytes.length == 4) {
            return new NetAddress(0, MAPPED_PREFIX | (ByteBuffer.wrap(bytes).getInt() & 0xffff_ffffL), port);
        }
        ByteBuffer b = ByteBuffer.wrap(bytes);
        return new NetAddress(b.getLong(), b.getLong(), port);
    }

    public boolean isIpv4() {
        return isIpv4(high, low);
    }

    public static boolean isIpv4(long high, long low) {
        return high == 0 && (low & 0xffff_ffff_0000_0000L) == MAPPED_PREFIX;
    }

    public InetAddress toInetAddress() {
        try {
            if (isIpv4()) {
                return Inet4Address.getByAddress(ByteBuffer.allocate(4).putInt((int) low).array());
            }
            return InetAddress.getByAddress(ByteBuffer.allocate(16).putLong(high).putLong(low).array());
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** "10.0.0.1:14791" or "[2001:db8::1]:14791". */
    @Override
    public String toString() {
        String host = toInetAddress().getHostAddress();
        return (isIpv4() ? host : "[" + host + "]") + ":" + port;
    }
}
