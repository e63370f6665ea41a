// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import io.metaroce.port.PortException;
import io.metaroce.wire.NetAddress;
import java.io.IOException;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import jdk.net.ExtendedSocketOptions;

/** The channels of one plane: one that receives, one that sends for each source port. */
final class ChannelPlane {
    final NetAddress local;
    final int maxDatagram;
    final int[] sourcePorts;
    final DatagramChannel receiver;
    final DatagramChannel[] senders;
    final int receiveBufferBytes;
    private final List<DatagramChannel> channels = new ArrayList<>();

    ChannelPlane(UdpConfig config, int plane) {
        NetAddress wished = config.planes[plane];
        InetAddress address = scoped(wished.toInetAddress());
        String what = "plane " + plane + " (" + wished + ")";
        try {
            receiver = open(address, wished.port(), what);
            receiver.setOption(StandardSocketOptions.SO_RCVBUF, config.receiveBufferBytes);
            receiveBufferBytes = receiver.getOption(StandardSocketOptions.SO_RCVBUF);
            local = new NetAddress(wished.high(), wished.low(), port(receiver));
            maxDatagram = Interfaces.maxDatagram(address);
            sourcePorts = new int[config.sourcePorts];
            senders = new DatagramChannel[config.sourcePorts];
            for (int i = 0; i < sourcePorts.length; i++) {
                senders[i] = open(address, 0, what);
                senders[i].setOption(StandardSocketOptions.IP_TOS, UdpSocket.ECT0);
                senders[i].setOption(StandardSocketOptions.SO_SNDBUF, config.sendBufferBytes);
                if (senders[i].supportedOptions().contains(ExtendedSocketOptions.IP_DONTFRAGMENT)) {
                    senders[i].setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
                }
                sourcePorts[i] = port(senders[i]);
            }
        } catch (IOException e) {
            close();
            throw new PortException(what + ": " + e.getMessage(), e);
        } catch (PortException e) {
            close();
            throw e;
        }
    }

    private DatagramChannel open(InetAddress address, int port, String what) throws IOException {
        DatagramChannel channel =
            DatagramChannel.open(address instanceof Inet6Address ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
        channels.add(channel);
        channel.configureBlocking(false);
        try {
            channel.bind(new InetSocketAddress(address, port));
        } catch (BindException e) {
            throw new PortException(what + ": cannot bind UDP port " + port + ": " + e.getMessage(), e);
        }
        return channel;
    }

    private static InetAddress scoped(InetAddress address) {
        int scope = Interfaces.scope(address);
        try {
            return scope == 0 ? address : Inet6Address.getByAddress(null, address.getAddress(), scope);
        } catch (UnknownHostException e) {
            throw new PortException(address + " is not an address", e);
        }
    }

    private static int port(DatagramChannel channel) throws IOException {
        SocketAddress bound = channel.getLocalAddress();
        return ((InetSocketAddress) bound).getPort();
    }

    void close() {
        for (DatagramChannel channel : channels) {
            try {
                channel.close();
            } catch (IOException e) {
                // Closing a datagram socket has nothing left to lose.
            }
        }
    }
}
