// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import io.metaroce.port.PacketPort;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.wire.NetAddress;

/** Carries what a port is and can do into an endpoint's configuration, which knows nothing of ports. */
public final class PortFit {
    /** Bytes that a DATA packet spends ahead of its payload (spec: section "DATA"). */
    private static final int DATA_HEADER = 64;

    /** Runs that the smallest window of a plane holds. */
    private static final int RUNS_IN_WINDOW = 32;

    private PortFit() {
    }

    /**
     * Fills planes, addresses and source ports of {@code config} from the port, lowers its payload MTU to what the port carries
     * unfragmented, and sets its run length and receive buffer to the port's.
     *
     * @return the same {@code config}
     */
    public static EndpointConfig fit(PacketPort port, EndpointConfig config) {
        int planes = port.planes();
        config.localAddresses = new NetAddress[planes];
        config.sourcePorts = new int[planes][];
        int largestDatagram = Integer.MAX_VALUE;
        for (int plane = 0; plane < planes; plane++) {
            config.localAddresses[plane] = port.localAddress(plane);
            config.sourcePorts[plane] = port.sourcePorts(plane);
            largestDatagram = Math.min(largestDatagram, port.maxDatagram(plane));
        }
        config.payloadMtu = Math.min(config.payloadMtu, largestDatagram - DATA_HEADER);
        config.runLength = port.preferredRun();
        config.receiveBufferPackets = Math.max(4, port.receiveBuffer(config.payloadMtu + DATA_HEADER));
        config.timerFloorNs = port.timingNoiseNs();
        if (config.runLength > 1) {
            // Runs pay: windows hold a few of them, and acknowledgements come by the run.
            config.minWindowPackets = Math.max(config.minWindowPackets, RUNS_IN_WINDOW * config.runLength);
            config.ackEvery = config.runLength;
            config.ackDelayNs = Math.max(config.ackDelayNs, config.timerFloorNs / 10);
        }
        return config;
    }
}
