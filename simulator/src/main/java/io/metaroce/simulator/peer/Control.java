// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** What a congestion control decides, and hears. Bytes are payload bytes. */
interface Control {
    /** Bytes that may be out. */
    double windowBytes();

    /** Packets from the first one missing to the last one sent. */
    default long spanPackets() {
        return SelectiveSender.SPAN;
    }

    /**
     * Whether a packet may be sent now.
     *
     * @param out bytes that are out
     * @param bytes of the packet
     * @param backlog bytes that wait, the packet included
     */
    default boolean allows(double out, int bytes, double backlog) {
        return out + bytes <= windowBytes();
    }

    /** Bytes that the sender would like to have been granted in all, of {@code waiting} that it has to send (RCCC). */
    default long demand(double waiting) {
        return 0;
    }

    /** Whether the receiver has to let it send (RCCC). */
    default boolean needsGrants() {
        return false;
    }

    /** Asked where nothing may be sent: whether to ask the receiver now (RCCC). */
    default boolean asks(double out) {
        return false;
    }

    /** The next packet goes no earlier than this, ps; 0: whenever the window lets it. */
    default long earliestPs() {
        return 0;
    }

    default void sent(int bytes, boolean repeat) {
    }

    /**
     * @param bytes newly known to have arrived
     * @param marked whether the packet that caused the acknowledgement was marked
     * @param rttPs of that packet; 0: none can be told
     * @param out bytes that are out now
     */
    default void acknowledged(double bytes, boolean marked, long rttPs, double out) {
    }

    /** A switch took the payload of a packet of so many bytes away. */
    default void trimmed(int bytes, double out) {
    }

    default void lost(int bytes) {
    }

    default void timedOut(int bytes) {
    }

    /** The receiver has seen marked packets (DCQCN). */
    default void notified() {
    }

    /** The receiver lets so many bytes be sent in all (RCCC). */
    default void granted(long bytes) {
    }
}
