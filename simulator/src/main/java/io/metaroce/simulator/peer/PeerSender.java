// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** The sending end of a channel: a queue pair, or a connection. */
interface PeerSender {
    /** Takes a message, or a part of one. */
    void post(int flow, int bytes);

    /**
     * Sends one packet if it has one that may go now, on a plane whose port takes more.
     *
     * @param busyPlanes bits of the planes whose ports do not
     * @return whether it sent one. If not, it calls {@link PeerHost#pump} when that may have changed
     */
    boolean sendOne(int busyPlanes);

    /** An acknowledgement, or whatever the receiver sends; the slot stays the caller's. */
    void onControl(int packet, long header);

    /** Bytes that may be out now; of a transport that is ruled by a rate, what the rate brings in a round trip. */
    double windowBytes();

    /** The rate that a control has set, of line rate; NaN: none does. */
    default double share() {
        return Double.NaN;
    }

    String describe();
}
