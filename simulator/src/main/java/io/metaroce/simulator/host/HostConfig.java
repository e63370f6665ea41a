// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.host;

/** What all hosts are built with: the hardware profile of the specification's "Limits", and the port. */
public final class HostConfig {
    public int payloadMtu = 4096;
    public int pathsPerPlane = 48;
    public int ackEvery = 4;
    public long ackDelayNs = 1_000;
    /** Packets of one stream that may be out of order, a power of two. */
    public int streamWindowPackets = 4096;
    /** Packets that a plane holds unread: what arrives is taken at once, so this bounds only windows. */
    public int receiveBufferPackets = 1 << 20;
    /** Bytes that wait at a port before it wants no more Data: so little that what is chosen is chosen late. */
    public int portBytes = 4_226;
}
