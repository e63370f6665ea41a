// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.wire.Tlv;

/**
 * Datagrams received in one poll, as parallel arrays: what a port hands to {@link Endpoint#receive}.
 *
 * <p>The port owns the memory behind {@link #address}; it stays valid until the port's next receive call. One thread.
 */
public final class RxBurst {
    /** Most datagrams one burst can hold. */
    public final int capacity;
    /** Datagrams present: indices 0 to {@code count - 1}. */
    public int count;
    /** Address of the first byte of each UDP payload. */
    public final long[] address;
    /** Length of each UDP payload in bytes. */
    public final int[] length;
    /** Plane (port index) each datagram came in on. */
    public final byte[] plane;
    /** The two ECN bits of the IP header: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE. */
    public final byte[] ecn;
    /** Sender's address, an IPv6 or IPv4-mapped address in two big-endian halves. */
    public final long[] sourceHigh;
    public final long[] sourceLow;
    /** Sender's UDP source port. */
    public final int[] sourcePort;
    /**
     * Datagrams of each plane that were of no use: malformed, for no connection of ours, or corrupt. The endpoint adds, the port takes and
     * sets to 0; a port that does not care need not.
     */
    public final int[] useless = new int[Tlv.MAX_PLANES];

    public RxBurst(int capacity) {
        this.capacity = capacity;
        address = new long[capacity];
        length = new int[capacity];
        plane = new byte[capacity];
        ecn = new byte[capacity];
        sourceHigh = new long[capacity];
        sourceLow = new long[capacity];
        sourcePort = new int[capacity];
    }
}
