// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.capture;

import java.nio.ByteBuffer;

/**
 * Ethernet frames around IPv4 and UDP, as a peer of ours sends them. Set-up only: allocates.
 *
 * @param toMac receiver's address, first byte in bits 40 to 47; so is {@code fromMac} the sender's
 * @param to receiver's IPv4 address as a big-endian int; so is {@code from} the sender's
 * @param toPort receiver's UDP port
 */
public record Frames(long toMac, long fromMac, int to, int from, int toPort) {
    /** Bytes of an Ethernet header, of all headers before a datagram's payload, and of the shortest frame here. */
    static final int ETHERNET = 14;
    static final int HEADERS = 42;
    static final int SHORTEST = 64;
    static final int IPV4 = 0x0800;
    static final int UDP = 17;
    private static final int HOPS = 64;

    Frames toMac(long mac) {
        return new Frames(mac, fromMac, to, from, toPort);
    }

    Frames to(int address) {
        return new Frames(toMac, fromMac, address, from, toPort);
    }

    Frames toPort(int port) {
        return new Frames(toMac, fromMac, to, from, port);
    }

    /** A frame with this datagram, padded to {@link #SHORTEST}; without UDP checksum, as our own DPDK port sends it over IPv4. */
    byte[] udp(int sourcePort, byte[] datagram) {
        byte[] frame = new byte[Math.max(SHORTEST, HEADERS + datagram.length)];
        ByteBuffer f = header(frame, IPV4);
        ip(f, UDP, 8 + datagram.length, 0);
        f.putShort((short) sourcePort).putShort((short) toPort).putShort((short) (8 + datagram.length)).putShort((short) 0).put(datagram);
        return frame;
    }

    /** A frame of another protocol than UDP, or a fragment of a datagram. */
    byte[] ip(int protocol, int fragment) {
        byte[] frame = new byte[SHORTEST];
        ip(header(frame, IPV4), protocol, SHORTEST - ETHERNET - 20, fragment);
        return frame;
    }

    /** A frame of this EtherType, otherwise empty. */
    byte[] ethernet(int type) {
        byte[] frame = new byte[SHORTEST];
        header(frame, type);
        return frame;
    }

    private ByteBuffer header(byte[] frame, int type) {
        return ByteBuffer.wrap(frame).putLong(toMac << 16 | fromMac >>> 32).putInt((int) fromMac).putShort((short) type);
    }

    private void ip(ByteBuffer f, int protocol, int payload, int fragment) {
        int at = f.position();
        f.putShort((short) 0x4502).putShort((short) (20 + payload)).putShort((short) 0).putShort((short) fragment);
        f.put((byte) HOPS).put((byte) protocol).putShort((short) 0).putInt(from).putInt(to);
        int sum = 0;
        for (int i = at; i < at + 20; i += 2) {
            sum += f.getShort(i) & 0xffff;
        }
        sum = (sum & 0xffff) + (sum >>> 16);
        f.putShort(at + 10, (short) ~((sum & 0xffff) + (sum >>> 16)));
    }
}
