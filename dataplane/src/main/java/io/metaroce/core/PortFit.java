// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import io.metaroce.port.PacketPort;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.SealedHeader;

/** Carries what a port is and can do into an endpoint's configuration, which knows nothing of ports. */
public final class PortFit {
    /**
     * The smallest window of a plane where the other host may be held up: what is in the network alone would be too little. With one
     * burst, which is taken, and acknowledged, as a whole, both ends can fall into step and wait for each other by turns.
     */
    private static final int SLOW_HOST_WINDOW = 2 * CoreLoop.BURST;

    /** Runs that the smallest window of a plane holds. */
    private static final int RUNS_IN_WINDOW = 32;

    private PortFit() {
    }

    /**
     * Fills planes, addresses and source ports of {@code config} from the port, lowers its payload MTU to what the port carries
     * unfragmented, and sets its receive buffer, and how many packets go by one path in a row, as the port wants it. Without UDP's
     * checksum, integrity is full.
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
        int overhead = DataHeader.LENGTH + (config.security == null ? 0 : SealedHeader.OVERHEAD);
        config.payloadMtu = Math.min(config.payloadMtu, largestDatagram - overhead);
        int run = port.preferredRun();
        // A path is a socket, and each socket of a burst a call: where runs pay, a burst goes by one path.
        config.runLength = run > 1 ? CoreLoop.sendBurst(port) : 1;
        config.receiveBufferPackets = Math.max(4, port.receiveBuffer(config.payloadMtu + overhead));
        if (!port.sendsUdpChecksum()) {
            config.integrity = EndpointConfig.INTEGRITY_FULL;
        }
        config.timerFloorNs = port.timingNoiseNs();
        if (config.timerFloorNs > 0) {
            config.minWindowPackets = Math.max(config.minWindowPackets, SLOW_HOST_WINDOW);
        }
        if (run > 1) {
            // Runs pay: windows hold a few of them, and acknowledgements come by the run.
            config.minWindowPackets = Math.max(config.minWindowPackets, RUNS_IN_WINDOW * run);
            config.ackEvery = run;
            config.ackDelayNs = Math.max(config.ackDelayNs, config.timerFloorNs / 10);
        }
        return config;
    }
}
