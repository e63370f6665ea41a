// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.wire.NetAddress;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.List;

/** Turns what was typed into the addresses of peers and planes. Set-up only; may ask the name service. */
final class Addresses {
    static final int DEFAULT_UDP_PORT = NetAddress.DEFAULT_PORT;
    /** 127.0.0.1, whatever a name service says. */
    static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

    private Addresses() {
    }

    /** Reads HOST, HOST:PORT, an IPv6 address, or [IPv6]:PORT. */
    static NetAddress peer(String text, int defaultPort) {
        String host = text;
        int port = defaultPort;
        int colon = text.lastIndexOf(':');
        boolean bareIpv6 = colon > 0 && text.indexOf(':') != colon && !text.contains("]");
        if (colon > 0 && !bareIpv6 && colon > text.lastIndexOf(']')) {
            host = text.substring(0, colon);
            try {
                port = Integer.parseInt(text.substring(colon + 1));
            } catch (NumberFormatException e) {
                port = -1;
            }
            if (port < 1 || port > 65_535) {
                throw new CliException(ExitCode.USAGE, "'" + text + "' has no port from 1 to 65535 behind its colon");
            }
        }
        return NetAddress.of(resolve(host), port);
    }

    private static InetAddress resolve(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new CliException(ExitCode.PEER, "host '" + host + "' is not known");
        }
    }

    /** The local address of each plane, as given, or else derived from a first one by {@link #planesFrom}. */
    static NetAddress[] local(List<String> given, int planes, InetAddress first, int udpPort) {
        NetAddress[] local = new NetAddress[planes];
        for (int plane = 0; plane < planes; plane++) {
            local[plane] = given.isEmpty() ? planesFrom(first, plane, udpPort) : NetAddress.of(resolve(given.get(plane)), udpPort);
        }
        return local;
    }

    /**
     * Plane 0 is the address itself. On the loopback interface the others are the addresses that follow; elsewhere all planes share
     * the one address, each with a UDP port of its own.
     */
    private static NetAddress planesFrom(InetAddress first, int plane, int udpPort) {
        NetAddress address = NetAddress.of(first, udpPort);
        if (plane == 0) {
            return address;
        }
        if (first.isLoopbackAddress() && address.isIpv4()) {
            return new NetAddress(address.high(), address.low() + plane, udpPort);
        }
        return new NetAddress(address.high(), address.low(), udpPort == 0 ? 0 : udpPort + plane);
    }

    /** The address of this machine that reaches the peer, as the routing table has it. */
    static InetAddress towards(NetAddress peer) {
        try (DatagramSocket probe = new DatagramSocket()) {
            // Connecting a UDP socket sends nothing; it only looks up the route.
            probe.connect(new InetSocketAddress(peer.toInetAddress(), peer.port()));
            return probe.getLocalAddress();
        } catch (SocketException | UncheckedIOException e) {
            throw new CliException(ExitCode.PEER, "there is no route to " + peer + ": " + e.getMessage());
        }
    }
}
