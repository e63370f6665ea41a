// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;

/**
 * A way to send and receive UDP datagrams in bursts on one or more planes (spec: section "Encapsulation").
 *
 * <p>One thread owns a port. No method blocks. Nothing is allocated after construction.
 */
public interface PacketPort extends AutoCloseable {
    /** Number of planes, 1 to 8, those that are not open included. */
    int planes();

    /** Address and UDP port on which peers reach this plane; null where it is not open. */
    NetAddress localAddress(int plane);

    /** UDP source ports that may be named in {@link TxBurst#sourcePort} for this plane; at least one, all distinct. */
    int[] sourcePorts(int plane);

    /** Largest UDP payload in bytes that leaves this plane unfragmented. */
    int maxDatagram(int plane);

    /** Datagrams in a row on one path and of one size that the port sends markedly cheaper together, 1 where it makes no difference. */
    int preferredRun();

    /**
     * Delays below this, in ns, say nothing about the network: they come from how the host schedules and batches. 0 for ports
     * without such noise.
     */
    default long timingNoiseNs() {
        return 0;
    }

    /** Whether every datagram that is sent has a UDP checksum. Without it the transport must cover payload itself (spec: MR-ENC-004). */
    default boolean sendsUdpChecksum() {
        return true;
    }

    /** Datagrams of {@code datagramBytes} that may wait unread on one plane without loss. */
    int receiveBuffer(int datagramBytes);

    /**
     * Opens a plane at this address, or moves it there. Datagrams that wait in the plane to be received are lost, as those are that go
     * to where it was. {@link #sourcePorts} and {@link #localAddress} tell what it became. Set-up: allocates, may block shortly.
     *
     * @param plane below {@link #planes()}
     * @throws PortException if it cannot be had, and the plane is closed then; or if this kind of port has fixed planes
     */
    default void setPlane(int plane, NetAddress address) {
        throw new PortException("the planes of this port are fixed: " + description());
    }

    /** Closes a plane. Nothing may be sent on it until {@link #setPlane} opens it again. */
    default void removePlane(int plane) {
        throw new PortException("the planes of this port are fixed: " + description());
    }

    /**
     * Packets of a connection that do not name {@code common} in these bits of their destination CID are for nobody, from now on: a port
     * may drop them before they cost anything (spec: MR-CON-024). INIT, PROBE and RESET must come in whatever they name. Set-up.
     */
    default void expectCids(int bits, int common) {
    }

    /** Fills {@code burst} anew (count from 0). The frames of the previous call become invalid. */
    void receive(RxBurst burst);

    /** Gives every free slot of {@code burst} a header buffer. */
    void prepare(TxBurst burst);

    /**
     * Sends from the front of the burst. What the device or kernel cannot take now stays, moved to the front, with
     * {@code burst.count} its number: call again later. Datagrams that can never be sent are dropped and counted.
     */
    void send(TxBurst burst);

    /** Counters of this port, live, one writer. */
    PortCounters counters();

    /** For people: what kind of port this is, and what it got of what it asked for. */
    default String description() {
        return getClass().getSimpleName();
    }

    /** Frees sockets or queues. Outstanding frames become invalid. Never throws. */
    @Override
    void close();
}
