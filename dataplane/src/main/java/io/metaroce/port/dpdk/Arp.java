// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static io.metaroce.port.dpdk.Frame.i32;
import static io.metaroce.port.dpdk.Frame.putI32;
import static io.metaroce.port.dpdk.Frame.putMac;
import static io.metaroce.port.dpdk.Frame.u16;

import java.lang.foreign.MemorySegment;

/** ARP for IPv4 over Ethernet (RFC 826): offsets from the ARP header, checks and writing. Stateless. */
final class Arp {
    static final int OPERATION = 6;
    static final int SENDER_MAC = 8;
    static final int SENDER_IP = 14;
    static final int TARGET_MAC = 18;
    static final int TARGET_IP = 24;
    static final int LENGTH = 28;

    static final int REQUEST = 1;
    static final int REPLY = 2;

    /** Hardware type Ethernet, protocol IPv4; address lengths 6 and 4. */
    private static final int TYPES = 0x0001_0800;
    private static final int LENGTHS = 0x0604;

    private Arp() {
    }

    /** Whether a whole, well-formed ARP packet with a usable sender stands at {@code l3}. */
    static boolean isValid(MemorySegment f, int l3) {
        return f.byteSize() >= l3 + LENGTH && i32(f, l3) == TYPES && u16(f, l3 + 4) == LENGTHS && isUnicast(Frame.mac(f, l3 + SENDER_MAC));
    }

    static boolean isUnicast(long mac) {
        return mac != 0 && (mac >>> 40 & 1) == 0;
    }

    static void write(MemorySegment f, int l3, int operation, long senderMac, int senderIp, long targetMac, int targetIp) {
        putI32(f, l3, TYPES);
        putI32(f, l3 + 4, LENGTHS << 16 | operation);
        putMac(f, l3 + SENDER_MAC, senderMac);
        putI32(f, l3 + SENDER_IP, senderIp);
        putMac(f, l3 + TARGET_MAC, targetMac);
        putI32(f, l3 + TARGET_IP, targetIp);
    }
}
