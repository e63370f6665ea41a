// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.cli.Quantity;
import io.metaroce.crypto.PskFile;
import io.metaroce.transport.EndpointConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** Options that both sides of a run have: the network below and how it is treated. */
public final class PortOptions {
    /** Kinds of port. */
    public enum Kind {
        UDP, DPDK;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** What the transport's checksum covers. */
    public enum Integrity {
        FULL(EndpointConfig.INTEGRITY_FULL), HEADER(EndpointConfig.INTEGRITY_HEADER);

        /** As {@link EndpointConfig#integrity} has it. */
        final int value;

        Integrity(int value) {
            this.value = value;
        }

        static Integrity of(int value) {
            return value == FULL.value ? FULL : HEADER;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Option(names = "--port", paramLabel = "KIND", defaultValue = "udp",
            description = "udp (plain sockets) or dpdk. Default: ${DEFAULT-VALUE}.")
    Kind kind;

    @Option(names = "--eal", paramLabel = "ARGS",
            description = "DPDK only: arguments for DPDK's environment layer, such as \"--no-huge -m 512\" or \"-a 0000:01:00.0\".")
    String eal;

    @Option(names = "--planes", paramLabel = "N", defaultValue = "1",
            description = "Network planes, 1 to 8, each with an address (DPDK: a port) of its own. Default: ${DEFAULT-VALUE}.")
    int planes;

    @Option(names = "--paths", paramLabel = "N",
            description = "Paths in all, a multiple of --planes, at most 256 a plane. Default: 4 a plane.")
    Integer paths;

    @Option(names = "--bind", paramLabel = "ADDRESS",
            description = "Own address of each plane; several separated by commas, or the option several times. Default: for a server and "
                    + "for a peer on this machine 127.0.0.1 and the addresses that follow; else the address that reaches the peer. "
                    + "DPDK: DEVICE@ADDRESS[/PREFIX][@GATEWAY][#VLAN], once for each plane.")
    List<String> bind = new ArrayList<>();

    @Option(names = "--link", paramLabel = "NAME", defaultValue = "perf",
            description = "DPDK without --bind and devices in --eal: the shared-memory link (memif) between two processes of this machine. "
                    + "Default: ${DEFAULT-VALUE}.")
    String link;

    @Option(names = "--udp-port", paramLabel = "PORT",
            description = "UDP port that the server receives on; 0 takes a free one. Default: 14791.")
    Integer udpPort;

    @Option(names = "--mtu", paramLabel = "BYTES", defaultValue = "4096", converter = Quantity.Bytes.class,
            description = "Payload of a packet, 256 to 16384 bytes; lowered to what the port carries. Default: ${DEFAULT-VALUE}.")
    long mtu;

    @Option(names = "--integrity", paramLabel = "KIND",
            description = "full: the transport's checksum is over whole packets; header: over headers, payload has UDP's checksum alone. "
                    + "The stronger of both sides' is used; DPDK over IPv4 is always full. Default: full.")
    Integrity integrity = Integrity.FULL;

    @Option(names = "--rate", paramLabel = "BITS", converter = Quantity.BitsPerSecond.class,
            description = "Line rate of a plane in bits per second. Default: 25G for udp, 100G for dpdk.")
    Long rate;

    long rate() {
        return rate != null ? rate : kind == Kind.UDP ? 25_000_000_000L : 100_000_000_000L;
    }

    @Option(names = "--encrypt", description = "Encrypts the connection; --local makes a key, others need --psk-file.")
    boolean encrypt;

    @Option(names = "--psk-file", paramLabel = "FILE",
            description = "Encrypts the connection with the key in this file, which both sides must have: 64 hexadecimal digits, "
                    + "readable by its owner alone, such as \"openssl rand -hex 32\" writes.")
    Path pskFile;

    boolean encrypts() {
        return encrypt || pskFile != null;
    }

    /** For a side that cannot make a key, as the other must have the same. */
    void checkKey() {
        require(!encrypt || pskFile != null, "--encrypt needs --psk-file, the same key for both sides");
    }

    @Option(names = "--loss", paramLabel = "FRACTION", defaultValue = "0",
            description = "Drops this fraction of the packets this side sends, 0 to 0.9 (with --local: both sides). Default: none.")
    double loss;

    @Option(names = "--impair", paramLabel = "SPEC",
            description = "Other ill-treatment of the packets this side sends (with --local: both sides), such as "
                    + "\"delay=50us,skew=1ms,dup=0.001,corrupt=1e-4\"; see the README.")
    String impair;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1",
            description = "Seed of everything random: contents, loss, spraying. Default: ${DEFAULT-VALUE}.")
    long seed;

    @Option(names = "--cpu", paramLabel = "N", description = "Pins the loop to this core. Default: with --local one core a side, else none.")
    Integer cpu;

    @Option(names = "--spin", description = "The loop never yields its core, not even to others that want it; without, an idle loop does.")
    boolean spin;

    /** Paths of one plane. */
    int pathsPerPlane() {
        return paths == null ? 4 : paths / planes;
    }

    /** What {@code --bind} names, one entry a plane. Device arguments hold commas themselves. */
    List<String> bindings() {
        return kind == Kind.DPDK ? bind : bind.stream().flatMap(b -> Stream.of(b.split(","))).toList();
    }

    /** @throws IllegalArgumentException with the line to show, for what picocli cannot check by itself */
    void check() {
        require(planes >= 1 && planes <= 8, "--planes " + planes + " is outside 1..8");
        require(paths == null || (paths >= planes && paths % planes == 0 && paths / planes <= 256),
                "--paths " + paths + " is not a multiple of --planes " + planes + " with 1 to 256 a plane");
        require(mtu >= 256 && mtu <= 16_384, "--mtu " + mtu + " is outside 256..16384");
        require(rate() >= 1_000_000 && rate() <= 4_000_000_000_000L, "--rate " + rate() + " is outside 1M..4000G");
        require(loss >= 0 && loss <= 0.9, "--loss " + loss + " is outside 0..0.9");
        require(bind.isEmpty() || bindings().size() == planes, "--bind names " + bindings().size() + " addresses for " + planes + " planes");
        require(udpPort == null || (udpPort >= 0 && udpPort <= 65_535), "--udp-port " + udpPort + " is outside 0..65535");
        require(kind == Kind.DPDK || eal == null, "--eal needs --port dpdk");
        require(cpu == null || cpu >= 0, "--cpu " + cpu + " is negative");
        Ports.impairment(this);
        if (pskFile != null) {
            PskFile.read(pskFile);
        }
    }

    static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
