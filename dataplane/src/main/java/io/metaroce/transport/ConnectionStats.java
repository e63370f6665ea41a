// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Counters of a connection since it was made; a snapshot filled by {@link Endpoint#readStats}. */
public final class ConnectionStats {
    /** Payload bytes of packets sent, repeats included. */
    public long bytesSent;
    /** Payload bytes placed, duplicates excluded. */
    public long bytesReceived;
    /** Data packets, repeats included. */
    public long packetsSent;
    public long packetsReceived;
    public long acksSent;
    public long acksReceived;
    public long retransmissions;
    /** Packets of ours that the peer says it had already: repeats that were not needed. */
    public long spuriousRetransmissions;
    /** Paths given up on because probes stayed unanswered. */
    public long timeouts;
    public long probes;
    /** Our packets that arrived marked by a switch. */
    public long ecnMarks;
    /** Paths declared dead, alone or with their plane. */
    public long deadPaths;
    public long planeFailures;
    /** Data packets that arrived a second time. */
    public long duplicates;
    /** Packets dropped because a field or the window was violated. */
    public long violations;
    public long noResource;

    /** Parity packets sent, and packets of the peer's that were lost and made from its Parity packets. */
    public long parities;
    public long rebuilt;

    void clear() {
        bytesSent = bytesReceived = packetsSent = packetsReceived = retransmissions = spuriousRetransmissions = 0;
        timeouts = probes = ecnMarks = deadPaths = planeFailures = acksSent = acksReceived = duplicates = violations = 0;
        noResource = parities = rebuilt = 0;
    }

    void copyTo(ConnectionStats to) {
        to.bytesSent = bytesSent;
        to.bytesReceived = bytesReceived;
        to.packetsSent = packetsSent;
        to.packetsReceived = packetsReceived;
        to.retransmissions = retransmissions;
        to.spuriousRetransmissions = spuriousRetransmissions;
        to.timeouts = timeouts;
        to.probes = probes;
        to.ecnMarks = ecnMarks;
        to.deadPaths = deadPaths;
        to.planeFailures = planeFailures;
        to.acksSent = acksSent;
        to.acksReceived = acksReceived;
        to.duplicates = duplicates;
        to.violations = violations;
        to.noResource = noResource;
        to.parities = parities;
        to.rebuilt = rebuilt;
    }
}
