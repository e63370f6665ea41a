// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import io.metaroce.port.PortException;
import io.metaroce.wire.NetAddress;
import java.util.List;

/** What a UDP port is opened with. Set the fields, then open; later changes have no effect. */
public final class UdpConfig {
    public static final int MAX_PLANES = 8;
    public static final int MAX_SOURCE_PORTS = 256;
    private static final int MAX_RECEIVE_MESSAGES = 256;
    private static final int MIN_BUFFER_BYTES = 4096;

    /** Local address of each plane, 1 to 8. Port 0 lets the kernel choose; null leaves the plane to be opened later. */
    public final NetAddress[] planes;
    /** Sending sockets of each plane, 1 to 256: as many source ports are told apart by ECMP. */
    public int sourcePorts = 16;
    /** Wished SO_RCVBUF of each plane in bytes; the kernel may grant less, see {@code receiveBuffer}. */
    public int receiveBufferBytes = 8 << 20;
    /** Wished SO_SNDBUF of each sending socket in bytes. */
    public int sendBufferBytes = 2 << 20;
    /** Kernel messages taken from a plane in one call, 1 to 256; each holds up to 64 KiB of coalesced datagrams. */
    public int receiveMessages = 8;
    /** Send runs of datagrams as one (UDP_SEGMENT) where the kernel can. */
    public boolean gso = true;
    /** Receive runs of datagrams as one (UDP_GRO) where the kernel can. */
    public boolean gro = true;
    /** Have the kernel drop what is plainly no datagram of the transport's, where it can; counted in {@link io.metaroce.port.PortCounters#rxDropped}. */
    public boolean filter;
    /** Let {@link UdpPorts} try {@link UdpPort}; without it {@link ChannelPort} is taken. */
    public boolean foreignCalls = true;

    public UdpConfig(NetAddress... planes) {
        this.planes = planes.clone();
    }

    public UdpConfig(List<NetAddress> planes) {
        this(planes.toArray(NetAddress[]::new));
    }

    /** Throws {@link PortException} for the first field outside its range. */
    void check() {
        range("number of planes", planes.length, 1, MAX_PLANES);
        range("source ports of a plane", sourcePorts, 1, MAX_SOURCE_PORTS);
        range("receive messages", receiveMessages, 1, MAX_RECEIVE_MESSAGES);
        range("receive buffer bytes", receiveBufferBytes, MIN_BUFFER_BYTES, Integer.MAX_VALUE / 2);
        range("send buffer bytes", sendBufferBytes, MIN_BUFFER_BYTES, Integer.MAX_VALUE / 2);
        boolean any = false;
        for (int plane = 0; plane < planes.length; plane++) {
            if (planes[plane] != null) {
                any = true;
                checkAddress(plane, planes[plane]);
            }
        }
        if (!any) {
            throw new PortException("no plane has an address");
        }
    }

    static void checkAddress(int plane, NetAddress address) {
        if (address.toInetAddress().isAnyLocalAddress()) {
            throw new PortException("plane " + plane + ": " + address + " is a wildcard; name the address that peers shall send to");
        }
    }

    private static void range(String what, int value, int low, int high) {
        if (value < low || value > high) {
            throw new PortException(what + " is " + value + ", outside " + low + ".." + high);
        }
    }
}
