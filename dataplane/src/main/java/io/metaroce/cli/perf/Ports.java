// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.core.Clock;
import io.metaroce.port.ImpairedPort;
import io.metaroce.port.ImpairmentConfig;
import io.metaroce.port.PacketPort;
import io.metaroce.port.PortException;
import io.metaroce.port.udp.UdpConfig;
import io.metaroce.port.udp.UdpPort;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.wire.NetAddress;
import java.security.SecureRandom;

/** Opens the port that the options ask for, and says in one line why that is not possible. */
final class Ports {
    /** Spare source ports of a plane beyond one a path: where a path goes when its route has died. */
    private static final int SPARE_SOURCE_PORTS = 4;
    /** Delays below this are the scheduler's and the kernel's, not the network's. */
    private static final long UDP_TIMER_FLOOR_NS = 200_000;

    private Ports() {
    }

    /** @throws CliException with exit code {@link ExitCode#ENVIRONMENT} if this machine cannot have the port */
    static PacketPort open(PortOptions options, NetAddress[] local, long seed) {
        ImpairmentConfig impairment = impairment(options);
        try {
            PacketPort port = switch (options.kind) {
                case UDP -> udp(options, local);
                case DPDK -> throw new PortException("DPDK is not part of this build");
            };
            return impairment == ImpairmentConfig.NONE ? port : impaired(port, impairment, seed);
        } catch (PortException e) {
            throw new CliException(ExitCode.ENVIRONMENT, e.getMessage());
        }
    }

    private static PacketPort udp(PortOptions options, NetAddress[] local) {
        UdpConfig config = new UdpConfig(local);
        config.sourcePorts = Math.min(options.pathsPerPlane() + SPARE_SOURCE_PORTS, UdpConfig.MAX_SOURCE_PORTS);
        return new UdpPort(config);
    }

    private static PacketPort impaired(PacketPort port, ImpairmentConfig impairment, long seed) {
        try {
            return new ImpairedPort(port, impairment, seed, Clock::nowNs);
        } catch (IllegalArgumentException e) {
            port.close();
            throw new CliException(ExitCode.USAGE, e.getMessage());
        }
    }

    /**
     * What --loss and --impair ask for together.
     *
     * @throws IllegalArgumentException naming the part that is wrong
     */
    static ImpairmentConfig impairment(PortOptions options) {
        String text = options.impair == null ? "" : options.impair;
        if (options.loss > 0) {
            text = (text.isBlank() ? "" : text + ",") + "loss=" + options.loss;
        }
        return text.isBlank() ? ImpairmentConfig.NONE : ImpairmentConfig.parse(text);
    }

    /** What both sides' endpoints have in common. */
    static EndpointConfig config(PacketPort port, PortOptions options) {
        EndpointConfig config = new EndpointConfig();
        config.payloadMtu = (int) options.mtu;
        config.pathsPerPlane = options.pathsPerPlane();
        config.lineRateKbps = options.rate / 1000;
        config.timerFloorNs = options.kind == PortOptions.Kind.UDP ? UDP_TIMER_FLOOR_NS : 0;
        config.seed = options.seed;
        config.secret = new SecureRandom().nextLong();
        config.service = PerfClient.SERVICE;
        return config;
    }
}
