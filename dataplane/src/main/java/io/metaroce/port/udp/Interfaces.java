// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Arrays;
import java.util.Collections;

/** What the port needs to know about the network interface behind a plane's address. Set-up only. */
final class Interfaces {
    /** Ethernet's, where the interface cannot be found (an address reachable by a local route alone). */
    private static final int DEFAULT_MTU = 1500;
    private static final int UDP_HEADER = 8;
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;
    /** Largest UDP payload in an IPv4 packet; kept for IPv6 as well. */
    static final int MAX_DATAGRAM = 65507;

    private Interfaces() {
    }

    /** Largest UDP payload in bytes that leaves {@code local} unfragmented. */
    static int maxDatagram(InetAddress local) {
        int headers = UDP_HEADER + (local instanceof Inet6Address ? IPV6_HEADER : IPV4_HEADER);
        return Math.min(mtu(local) - headers, MAX_DATAGRAM);
    }

    /** Index of the interface for a link-local IPv6 address, else 0. */
    static int scope(InetAddress local) {
        NetworkInterface found = local.isLinkLocalAddress() && local instanceof Inet6Address ? find(local) : null;
        return found == null ? 0 : found.getIndex();
    }

    private static int mtu(InetAddress local) {
        NetworkInterface found = find(local);
        try {
            return found == null ? DEFAULT_MTU : found.getMTU();
        } catch (SocketException e) {
            return DEFAULT_MTU;
        }
    }

    /** The interface that has the address; for 127.0.0.2 and the like the loopback interface. Null if none. */
    private static NetworkInterface find(InetAddress local) {
        try {
            for (NetworkInterface candidate : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                if (local.isLoopbackAddress() ? candidate.isLoopback() : has(candidate, local)) {
                    return candidate;
                }
            }
        } catch (SocketException e) {
            // No interface can be listed, as in a bare sandbox: the default MTU stands.
        }
        return null;
    }

    private static boolean has(NetworkInterface candidate, InetAddress local) {
        // Compared by bytes: InetAddress.equals of link-local addresses also compares the scope.
        return candidate.inetAddresses().anyMatch(a -> Arrays.equals(a.getAddress(), local.getAddress()));
    }
}
