// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.dpdk;

import io.metaroce.bindings.dpdk.generated.mrpmd_mbuf;
import io.metaroce.bindings.dpdk.generated.mrpmd_rx;
import io.metaroce.bindings.libc.RawMemory;

/**
 * A received frame's mbuf, by address: where the frame lies and what the device says of it. Read in place, as DPDK laid it out; the shim
 * compares that layout with its DPDK's when it is compiled. The frame belongs to the burst that it came with (see {@code pmd_shim.h}).
 */
public final class Mbuf {
    private static final long MBUFS = mrpmd_rx.mbuf$offset();
    private static final long BUFFER = mrpmd_mbuf.buffer$offset();
    private static final long DATA_OFFSET = mrpmd_mbuf.data_offset$offset();
    private static final long SEGMENTS = mrpmd_mbuf.segments$offset();
    private static final long FLAGS = mrpmd_mbuf.flags$offset();
    private static final long LENGTH = mrpmd_mbuf.length$offset();

    private Mbuf() {
    }

    /** The mbuf of frame {@code i} of a burst that was received (a {@code mrpmd_rx}). */
    public static long of(long burst, int i) {
        return RawMemory.getLong(burst + MBUFS + 8L * i);
    }

    /** Address of the frame's first byte, its Ethernet header's. */
    public static long frame(long mbuf) {
        return RawMemory.getLong(mbuf + BUFFER) + (RawMemory.getShort(mbuf + DATA_OFFSET) & 0xffff);
    }

    /** Bytes from there on in this mbuf: the frame's, unless it {@link #isChained}. */
    public static int length(long mbuf) {
        return RawMemory.getShort(mbuf + LENGTH) & 0xffff;
    }

    /** {@code MRPMD_RX_*}, among others. */
    public static int flags(long mbuf) {
        return (int) RawMemory.getLong(mbuf + FLAGS);
    }

    /** Whether the frame goes on in another mbuf. */
    public static boolean isChained(long mbuf) {
        return RawMemory.getShort(mbuf + SEGMENTS) != 1;
    }
}
