// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

/** What the sender knows of one plane: its sockets, limits, and whether runs may go out as one. */
final class SendPlane {
    /** Datagram length for which {@link #run} is reckoned: 4,096 bytes of payload and a 64-byte header. */
    private static final int USUAL_DATAGRAM = 4160;
    static final int UNKNOWN = -1;

    final boolean ipv4;
    /** Interface index for link-local destinations, else 0. */
    final int scope;
    final int maxDatagram;
    /** Bound source ports and their sockets, by index. */
    final int[] sourcePorts;
    final int[] sockets;
    /** Cleared for good once the kernel or device has refused. */
    boolean gso;
    /** Index of the source port looked up last: runs name the same one again. */
    private int lastIndex;

    SendPlane(boolean ipv4, int scope, int maxDatagram, int[] sourcePorts, int[] sockets, boolean gso) {
        this.ipv4 = ipv4;
        this.scope = scope;
        this.maxDatagram = maxDatagram;
        this.sourcePorts = sourcePorts;
        this.sockets = sockets;
        this.gso = gso;
    }

    /** Index of a source port, or {@link #UNKNOWN}. */
    int indexOf(int sourcePort) {
        if (sourcePorts[lastIndex] == sourcePort) {
            return lastIndex;
        }
        for (int i = 0; i < sourcePorts.length; i++) {
            if (sourcePorts[i] == sourcePort) {
                lastIndex = i;
                return i;
            }
        }
        return UNKNOWN;
    }

    /** Datagrams of usual size worth sending in a row. */
    int run() {
        return gso ? Math.min(UdpSender.MAX_SEGMENTS, UdpSender.MAX_RUN_BYTES / USUAL_DATAGRAM) : 1;
    }
}
