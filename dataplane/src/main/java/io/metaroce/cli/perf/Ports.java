// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.core.Clock;
import io.metaroce.crypto.PskFile;
import io.metaroce.crypto.PskSecurity;
import io.metaroce.port.ImpairedPort;
import io.metaroce.port.ImpairmentConfig;
import io.metaroce.port.PacketPort;
import io.metaroce.port.PortException;
import io.metaroce.port.udp.UdpConfig;
import io.metaroce.port.udp.UdpPort;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.wire.NetAddress;
import java.security.SecureRandom;
import java.util.function.Supplier;

/** Opens the port that the options ask for, and says in one line why that is not possible. */
final class Ports {
    /** Spare source ports of a plane beyond one a path: where a path goes when its route has died. */
    private static final int SPARE_SOURCE_PORTS = 4;

    private Ports() {
    }

    /** @throws CliException with exit code {@link ExitCode#ENVIRONMENT} if this machine cannot have the port */
    static PacketPort server(PortOptions options) {
        int udpPort = options.udpPort == null ? Addresses.DEFAULT_UDP_PORT : options.udpPort;
        return open(options, () -> switch (options.kind) {
            case UDP -> udp(options, Addresses.local(options.bindings(), options.planes, Addresses.LOOPBACK, udpPort));
            case DPDK -> DpdkPorts.open(options, true);
        });
    }

    /** @throws CliException with exit code {@link ExitCode#ENVIRONMENT} if this machine cannot have the port */
    static PacketPort client(PortOptions options, NetAddress server) {
        return open(options, () -> switch (options.kind) {
            case UDP -> udp(options, Addresses.local(options.bindings(), options.planes,
                    options.bind.isEmpty() ? Addresses.towards(server) : null, 0));
            case DPDK -> DpdkPorts.open(options, false);
        });
    }

    private static PacketPort open(PortOptions options, Supplier<PacketPort> kind) {
        ImpairmentConfig impairment = impairment(options);
        try {
            PacketPort port = kind.get();
            return impairment == ImpairmentConfig.NONE ? port : impaired(port, impairment, options.seed);
        } catch (PortException e) {
            throw new CliException(ExitCode.ENVIRONMENT, e.getMessage().lines().findFirst().orElse("the port cannot be opened"));
        }
    }

    /** Source ports of a plane: one a path, and some to go to when a route has died. */
    static int sourcePorts(PortOptions options) {
        return Math.min(options.pathsPerPlane() + SPARE_SOURCE_PORTS, UdpConfig.MAX_SOURCE_PORTS);
    }

    private static PacketPort udp(PortOptions options, NetAddress[] local) {
        UdpConfig config = new UdpConfig(local);
        config.sourcePorts = sourcePorts(options);
        config.filter = true;
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
    static EndpointConfig config(PortOptions options) {
        EndpointConfig config = new EndpointConfig();
        config.payloadMtu = (int) options.mtu;
        config.integrity = options.integrity.value;
        config.pathsPerPlane = options.pathsPerPlane();
        config.lineRateKbps = options.rate() / 1000;
        config.seed = options.seed;
        SecureRandom random = new SecureRandom();
        config.secret = random.nextLong();
        config.secretLow = random.nextLong();
        config.service = PerfClient.SERVICE;
        if (options.pskFile != null) {
            config.security = new PskSecurity(PskFile.read(options.pskFile));
        }
        return config;
    }
}
