// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.port.PortCounters;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.NetAddress;
import java.net.Inet4Address;

/** What goes out on one plane: routes, headers, and the line-up for the device. One thread. */
final class PlaneOutput {
    /** What became of a slot. */
    static final byte KEPT = 0;
    static final byte GONE = 1;
    static final byte DROPPED = 2;

    static final int EHOSTUNREACH = 113;
    private static final int EMSGSIZE = 90;
    private static final int EAFNOSUPPORT = 97;
    private static final int ENETDOWN = 100;
    private static final int ENETUNREACH = 101;

    /**
     * Frames offered to the device at once. After a refusal it shrinks, as refused frames were prepared for nothing, and doubles with
     * each success.
     */
    private static final int MOST_STAGED = 64;
    private static final int LEAST_STAGED = 4;
    /**
     * A device that has taken nothing for this long does not send: what is offered to it is dropped, so that it does not hold up the
     * other planes. Some virtual devices show no other sign of a link that is down.
     */
    private static final long STALLED_NS = 10_000_000L;

    private final Plane plane;
    private final TxBuffers buffers;
    private final PortCounters counters;
    private final UdpOutput headers;
    private final TxStage stage = new TxStage();
    private final int[] slots = new int[MOST_STAGED];
    private final long onLinkHigh;
    private final long onLinkLow;
    private final boolean hasGateway;
    private final long gatewayHigh;
    private final long gatewayLow;
    private int staged;
    private int stagedBytes;
    private int chunk = MOST_STAGED;
    private boolean blocked;
    /** When the device began to take nothing; 0 while it takes. */
    private long refusingSinceNs;

    PlaneOutput(Plane plane, PlaneConfig config, TxBuffers buffers, PortCounters counters) {
        this.plane = plane;
        this.buffers = buffers;
        this.counters = counters;
        headers = new UdpOutput(plane.device, config, plane.local);
        int prefix = config.prefixLength() + (config.address() instanceof Inet4Address ? 96 : 0);
        onLinkHigh = prefix >= 64 ? -1 : prefix == 0 ? 0 : -1L << 64 - prefix;
        onLinkLow = prefix <= 64 ? 0 : -1L << 128 - prefix;
        hasGateway = config.gateway() != null;
        NetAddress gateway = hasGateway ? NetAddress.of(config.gateway(), 0) : plane.local;
        gatewayHigh = gateway.high();
        gatewayLow = gateway.low();
    }

    /** Starts a send call. */
    void begin() {
        blocked = false;
    }

    /** Takes slot {@code i}; its fate is in {@code fate[i]} after {@link #flush} at the latest. */
    void offer(TxBurst burst, int i, byte[] fate) {
        fate[i] = KEPT;
        if (blocked) {
            if (isStalled()) {
                drop(fate, i, ENETDOWN);
            }
            return;
        }
        int datagram = burst.headerLength[i] + burst.payloadLength[i];
        long high = burst.destinationHigh[i];
        long low = burst.destinationLow[i];
        int error = errorOf(datagram, high, low);
        if (error != 0) {
            drop(fate, i, error);
            return;
        }
        if (buffers.isSpare(burst.header[i])) {
            long header = buffers.promote(burst.header[i], burst.headerLength[i]);
            if (header == 0) {
                counters.txBusy++;
                blocked = true;
                return;
            }
            burst.header[i] = header;
        }
        long mac = nextHop(high, low);
        if (mac < 0) {
            park(burst, i, fate, mac);
            return;
        }
        long frame = burst.header[i] - headers.length;
        headers.write(frame, mac, burst.sourcePort[i], high, low, burst.destinationPort[i], datagram);
        stage.set(staged, buffers.mbufOf(burst.header[i]), frame, headers.length + burst.headerLength[i], burst.payload[i],
                burst.payloadLength[i], headers.flags);
        slots[staged++] = i;
        stagedBytes += datagram;
        if (staged == chunk) {
            flush(burst, fate);
        }
    }

    private int errorOf(int datagram, long high, long low) {
        return datagram > plane.maxDatagram ? EMSGSIZE : !plane.device.up() ? ENETDOWN
                : NetAddress.isIpv4(high, low) != headers.isIpv4() ? EAFNOSUPPORT
                : !hasGateway && !isOnLink(high, low) ? ENETUNREACH : 0;
    }

    private boolean isOnLink(long high, long low) {
        return ((high ^ plane.local.high()) & onLinkHigh | (low ^ plane.local.low()) & onLinkLow) == 0;
    }

    private long nextHop(long high, long low) {
        return isOnLink(high, low) ? plane.neighbours.lookup(high, low, plane.nowNs(), plane)
                : plane.neighbours.lookup(gatewayHigh, gatewayLow, plane.nowNs(), plane);
    }

    private void drop(byte[] fate, int i, int errno) {
        fate[i] = DROPPED;
        counters.txErrors++;
        counters.lastErrno = errno;
    }

    /** Keeps a whole copy of the frame until its next hop answers. Payload memory may be gone by then. */
    private void park(TxBurst burst, int i, byte[] fate, long why) {
        if (why == Neighbours.FULL || plane.parked.isFull()) {
            drop(fate, i, EHOSTUNREACH);
            return;
        }
        long header = burst.header[i];
        int headerLength = burst.headerLength[i];
        int payloadLength = burst.payloadLength[i];
        long high = burst.destinationHigh[i];
        long low = burst.destinationLow[i];
        headers.write(header - headers.length, 0, burst.sourcePort[i], high, low, burst.destinationPort[i], headerLength + payloadLength);
        if (payloadLength != 0) {
            Bytes.copy(burst.payload[i], header + headerLength, payloadLength);
        }
        boolean direct = isOnLink(high, low);
        plane.parked.add(direct ? high : gatewayHigh, direct ? low : gatewayLow, buffers.mbufOf(header), header - headers.length,
                headers.length + headerLength + payloadLength, headers.flags);
        burst.header[i] = 0;
        fate[i] = GONE;
    }

    /** Of a device that does not send any more, what it refused is lost, as on a link that is down. */
    private void refused(int sent, int offered, byte[] fate) {
        if (sent > 0) {
            refusingSinceNs = 0;
        } else if (refusingSinceNs == 0) {
            refusingSinceNs = plane.nowNs();
        } else if (isStalled()) {
            for (int k = 0; k < offered; k++) {
                drop(fate, slots[k], ENETDOWN);
            }
        }
    }

    private boolean isStalled() {
        return refusingSinceNs != 0 && plane.nowNs() - refusingSinceNs >= STALLED_NS;
    }

    /** Hands what is lined up to the device. */
    void flush(TxBurst burst, byte[] fate) {
        int n = staged;
        if (n == 0) {
            return;
        }
        staged = 0;
        int sent = plane.device.send(stage.address(), n);
        for (int k = 0; k < sent; k++) {
            int i = slots[k];
            burst.header[i] = 0;   // the device owns the buffer
            fate[i] = GONE;
        }
        counters.txDatagrams += sent;
        if (sent == n) {
            counters.txBytes += stagedBytes;
            chunk = Math.min(MOST_STAGED, chunk * 2);
        } else {
            for (int k = 0; k < sent; k++) {
                counters.txBytes += burst.headerLength[slots[k]] + burst.payloadLength[slots[k]];
            }
            counters.txBusy++;
            chunk = Math.max(LEAST_STAGED, sent);
            blocked = true;
        }
        refused(sent, n, fate);
        stagedBytes = 0;
    }
}
