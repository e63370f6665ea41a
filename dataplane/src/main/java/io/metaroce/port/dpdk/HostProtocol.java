// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import java.lang.foreign.MemorySegment;

/** The host's side of one IP version on one plane, UDP apart. One thread. */
interface HostProtocol {
    /** Told when a host's link-layer address is known or has changed. */
    interface Resolved {
        void resolved(long high, long low, long mac);
    }

    /**
     * Takes a frame that is not UDP for us.
     *
     * @param f    the whole frame, no more; an IP packet's header was checked, nothing behind it
     * @param l3   where the network header starts
     * @param type its EtherType
     * @return false if the frame is of no use
     */
    boolean input(MemorySegment f, int l3, int type, long nowNs);

    /** Asks for a host's address: everyone, or, to confirm it, the host at {@code known} if that is not -1. */
    void ask(long high, long low, long known);

    /** Tells the link which address we have. */
    void announce();
}
