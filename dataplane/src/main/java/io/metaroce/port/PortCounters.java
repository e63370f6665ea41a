// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

/** Plain counters of a port; written by its one thread, read by that thread or, loosely, by others. */
public final class PortCounters {
    public long rxDatagrams;
    public long rxBytes;
    public long txDatagrams;
    public long txBytes;
    /** Calls to send that could not take all they were given. */
    public long txBusy;
    /** Datagrams dropped because they could not be sent at all (no route, too long, permission). */
    public long txErrors;
    /** The last errno behind {@link #txErrors}, 0 if none. */
    public int lastErrno;
    /** Received frames dropped before the transport saw them (not for us, malformed below UDP, truncated). */
    public long rxDropped;
    /** Those of {@link #rxDropped} that were for someone else: another MAC or IP address, UDP port, protocol or VLAN. DPDK only. */
    public long rxForeign;
}
