// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

/** What Linux counts against a socket's receive buffer: not the bytes of a datagram but the memory they lie in. */
final class KernelMemory {
    /** struct sk_buff itself, and what cutting a coalesced run into datagrams adds. */
    private static final int BOOKKEEPING = 256 + 64;
    /** Headers and headroom before, struct skb_shared_info behind the payload. */
    private static final int SURROUNDINGS = 448;
    /** Least size of such a buffer (576 measured for 64 bytes; more where the kernel is built with larger link headers). */
    private static final int LEAST = 768;

    private KernelMemory() {
    }

    /** Upper bound in bytes for one datagram that came alone in a linear buffer, whose size is a power of two. */
    static int perDatagram(int datagramBytes) {
        int room = datagramBytes + SURROUNDINGS;
        return BOOKKEEPING + Math.max(LEAST, Integer.highestOneBit(room - 1) << 1);
    }
}
