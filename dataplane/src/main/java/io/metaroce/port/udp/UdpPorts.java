// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import io.metaroce.port.PacketPort;
import io.metaroce.port.PortException;

/** Opens the best port over UDP sockets that this machine allows; {@link PacketPort#description} says which one it is. */
public final class UdpPorts {
    private UdpPorts() {
    }

    /**
     * A {@link UdpPort}, or a {@link ChannelPort} where foreign calls are refused or the C library lacks a call.
     *
     * @throws PortException if a plane's sockets cannot be had, naming plane and address
     */
    public static PacketPort open(UdpConfig config) {
        if (!config.foreignCalls) {
            return new ChannelPort(config, "foreign calls are switched off");
        }
        try {
            return new UdpPort(config);
        } catch (LinkageError | IllegalCallerException e) {
            return new ChannelPort(config, "foreign socket calls are not to be had: " + rootMessage(e));
        }
    }

    private static String rootMessage(Throwable thrown) {
        Throwable cause = thrown;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage();
    }
}
