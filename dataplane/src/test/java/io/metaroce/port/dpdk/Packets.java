// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Builds and checks frames for tests, independently of the code under test. */
final class Packets {
    static final long PEER_MAC = 0x02_00_00_00_00_99L;

    private Packets() {
    }

    static int sum(byte[] b, int from, int length, int start) {
        int sum = start;
        for (int i = 0; i < length; i++) {
            sum += (b[from + i] & 0xff) << (i % 2 == 0 ? 8 : 0);
        }
        while (sum >>> 16 != 0) {
            sum = (sum & 0xffff) + (sum >>> 16);
        }
        return sum;
    }

    static ByteBuffer ethernet(int length, long to, long from, int type) {
        ByteBuffer b = ByteBuffer.allocate(length);
        return b.putShort((short) (to >>> 32)).putInt((int) to).putShort((short) (from >>> 32)).putInt((int) from).putShort((short) type);
    }

    /** An IPv4 packet with right checksum; {@code options} bytes of padding options. */
    static byte[] ipv4(long to, long from, int tos, int fragment, int protocol, int source, int destination, int options, byte[] payload) {
        int header = 20 + options;
        ByteBuffer b = ethernet(14 + header + payload.length, to, from, 0x0800);
        b.put((byte) (0x40 | header / 4)).put((byte) tos).putShort((short) (header + payload.length)).putShort((short) 7).putShort((short) fragment);
        b.put((byte) 64).put((byte) protocol).putShort((short) 0).putInt(source).putInt(destination);
        for (int i = 0; i < options; i++) {
            b.put((byte) 1);
        }
        b.put(payload);
        b.putShort(24, (short) ~sum(b.array(), 14, header, 0));
        return b.array();
    }

    /** A UDP datagram with a checksum over a pseudo-header's sum, or with none. */
    static byte[] udp(int sourcePort, int destinationPort, byte[] data, int pseudo, boolean checksum) {
        ByteBuffer b = ByteBuffer.allocate(8 + data.length);
        b.putShort((short) sourcePort).putShort((short) destinationPort).putShort((short) (8 + data.length)).putShort((short) 0).put(data);
        if (checksum) {
            b.putShort(6, (short) ~sum(b.array(), 0, b.capacity(), pseudo + 17 + b.capacity()));
        }
        return b.array();
    }

    static int pseudoV4(int source, int destination) {
        return (source >>> 16) + (source & 0xffff) + (destination >>> 16) + (destination & 0xffff);
    }

    static int pseudoV6(byte[] source, byte[] destination) {
        return sum(source, 0, 16, 0) + sum(destination, 0, 16, 0);
    }

    static byte[] ipv6(long to, long from, int trafficClass, int next, int hops, byte[] source, byte[] destination, byte[] payload) {
        ByteBuffer b = ethernet(14 + 40 + payload.length, to, from, 0x86dd);
        b.putInt(6 << 28 | trafficClass << 20).putShort((short) payload.length).put((byte) next).put((byte) hops).put(source).put(destination).put(payload);
        return b.array();
    }

    static byte[] icmpV6(byte[] source, byte[] destination, byte[] message) {
        ByteBuffer b = ByteBuffer.wrap(message.clone());
        b.putShort(2, (short) 0);
        b.putShort(2, (short) ~sum(b.array(), 0, message.length, pseudoV6(source, destination) + 58 + message.length));
        return b.array();
    }

    static byte[] arp(long to, int operation, long senderMac, int senderIp, long targetMac, int targetIp) {
        ByteBuffer b = ethernet(60, to, senderMac, 0x0806);
        b.putInt(0x00010800).putInt(0x06040000 | operation);
        b.putShort((short) (senderMac >>> 32)).putInt((int) senderMac).putInt(senderIp);
        b.putShort((short) (targetMac >>> 32)).putInt((int) targetMac).putInt(targetIp);
        return b.array();
    }

    /** The frame with an 802.1Q tag. */
    static byte[] tagged(byte[] frame, int tag) {
        ByteBuffer b = ByteBuffer.allocate(frame.length + 4);
        b.put(frame, 0, 12).putShort((short) 0x8100).putShort((short) tag).put(frame, 12, frame.length - 12);
        return b.array();
    }

    static byte[] flipped(byte[] frame, int at) {
        byte[] copy = frame.clone();
        copy[at] ^= 0x10;
        return copy;
    }

    static byte[] pattern(int length) {
        byte[] b = new byte[length];
        for (int i = 0; i < length; i++) {
            b[i] = (byte) (i * 7 + 3);
        }
        return b;
    }

    static long mac(byte[] frame, int at) {
        ByteBuffer b = ByteBuffer.wrap(frame);
        return (b.getShort(at) & 0xffffL) << 32 | b.getInt(at + 2) & 0xffff_ffffL;
    }

    static byte[] slice(byte[] frame, int from, int length) {
        return Arrays.copyOfRange(frame, from, from + length);
    }
}
