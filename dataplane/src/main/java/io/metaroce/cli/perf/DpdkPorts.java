// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.core.Clock;
import io.metaroce.port.PacketPort;
import io.metaroce.port.PortException;
import io.metaroce.port.dpdk.DpdkConfig;
import io.metaroce.port.dpdk.DpdkPort;
import io.metaroce.port.dpdk.EalArguments;
import io.metaroce.port.dpdk.MemifPlanes;
import io.metaroce.port.dpdk.PlaneConfig;
import io.metaroce.wire.SealedHeader;
import java.util.ArrayList;
import java.util.List;

/** Opens DPDK ports as the options ask. Apart from {@link Ports}, so that nothing of DPDK is loaded without need. */
final class DpdkPorts {
    private static final int FIRST_SOURCE_PORT = 49_152;

    private DpdkPorts() {
    }

    /**
     * Planes are what --bind says; else the devices that --eal makes, in order, or a shared-memory link to another process here,
     * both with the addresses of {@link MemifPlanes}.
     *
     * @throws PortException with the line to show
     */
    static PacketPort open(PortOptions options, boolean isServer) {
        int mtu = DpdkConfig.mtuFor((int) options.mtu + (options.encrypts() ? SealedHeader.OVERHEAD : 0));
        List<PlaneConfig> planes = new ArrayList<>();
        List<String> eal;
        try {
            eal = options.eal == null ? List.of() : EalArguments.split(options.eal);
            for (String binding : options.bindings()) {
                planes.add(PlaneConfig.parse(binding));
            }
        } catch (IllegalArgumentException e) {
            throw new PortException(e.getMessage());
        }
        if (planes.isEmpty() && makesDevices(eal)) {
            for (int plane = 0; plane < options.planes; plane++) {
                planes.add(new PlaneConfig(Integer.toString(plane), MemifPlanes.address(plane, isServer), 24));
            }
        }
        if (planes.isEmpty()) {
            planes = MemifPlanes.of(options.link, isServer, options.planes, mtu);
        }
        int udpPort = options.udpPort == null || options.udpPort == 0 || !isServer ? DpdkConfig.DEFAULT_UDP_PORT : options.udpPort;
        return new DpdkPort(DpdkConfig.of(planes).withEalArguments(eal).withUdpPort(udpPort).withMtu(mtu)
                .withSourcePorts(FIRST_SOURCE_PORT, Ports.sourcePorts(options)), Clock::nowNs);
    }

    private static boolean makesDevices(List<String> eal) {
        return eal.stream().anyMatch(a -> a.startsWith("--vdev") || a.equals("-a") || a.startsWith("--allow"));
    }
}
