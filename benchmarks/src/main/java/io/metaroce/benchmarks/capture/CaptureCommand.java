// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.capture;

import io.metaroce.wire.NetAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code scripts/pktgen capture} and {@code scripts/pktgen script}: writes a capture, or what Pktgen-DPDK is told to play one. Exit code 2
 * for wrong arguments.
 */
public final class CaptureCommand {
    /** Data packets of a transfer, beside the floods of {@link Floods}. */
    static final String DATA = "data";
    private static final int MOST_PACKETS = 1 << 20;

    private CaptureCommand() {
    }

    public static void main(String[] args) throws IOException {
        try {
            run(List.of(args));
        } catch (IllegalArgumentException e) {
            System.err.println("error: " + e.getMessage() + " (see scripts/pktgen --help)");
            System.exit(2);
        }
    }

    /** @throws IllegalArgumentException with the line to show */
    static void run(List<String> args) throws IOException {
        List<String> words = new ArrayList<>();
        Map<String, String> options = new LinkedHashMap<>(Map.of("--payload", "256", "--packets", "4096", "--to-mac", "02:70:63:61:70:00", "--from-mac", "02:00:00:00:00:01",
                "--to", "10.0.0.2", "--from", "10.0.0.1", "--udp-port", Integer.toString(NetAddress.DEFAULT_PORT), "--seconds", "10"));
        for (int i = 0; i < args.size(); i++) {
            if (!args.get(i).startsWith("--")) {
                words.add(args.get(i));
            } else if (!options.containsKey(args.get(i)) || i + 1 == args.size()) {
                throw new IllegalArgumentException("'" + args.get(i) + "' is no option, or has no value");
            } else {
                options.put(args.get(i), args.get(++i));
            }
        }
        if (words.size() == 3 && words.getFirst().equals("capture")) {
            capture(words.get(1), Path.of(words.get(2)), options);
        } else if (words.size() == 1 && words.getFirst().equals("script")) {
            System.out.print(script(number(options, "--seconds", 1, 86_400)));
        } else {
            throw new IllegalArgumentException("say 'capture KIND FILE' or 'script'");
        }
    }

    private static void capture(String kind, Path file, Map<String, String> options) throws IOException {
        Frames receiver = new Frames(mac(options.get("--to-mac")), mac(options.get("--from-mac")), address(options.get("--to")), address(options.get("--from")),
                number(options, "--udp-port", 1, 65_535));
        List<byte[]> frames;
        if (kind.equals(DATA)) {
            frames = new TransferCapture(number(options, "--payload", 256, 16_384), number(options, "--packets", 1, MOST_PACKETS)).frames(receiver);
        } else if (Floods.KINDS.contains(kind)) {
            frames = Floods.frames(kind, receiver);
        } else {
            throw new IllegalArgumentException("'" + kind + "' is none of " + DATA + ", " + String.join(", ", Floods.KINDS));
        }
        try (Pcap pcap = new Pcap(file)) {
            for (byte[] frame : frames) {
                pcap.add(frame);
            }
            System.out.println(pcap.frames() + " frames in " + file);
        }
    }

    /** What Pktgen-DPDK runs by {@code -f}: plays the capture of port 0 at full rate, and says what left. */
    static String script(int seconds) {
        return """
                package.path = package.path .. ";?.lua;app/?.lua"
                require "Pktgen"
                pktgen.set("0", "count", 0)
                pktgen.set("0", "rate", 100)
                pktgen.pcap("0", "on")
                local before = pktgen.portStats("0", "port")[0]
                pktgen.start("0")
                pktgen.delay(%d)
                pktgen.stop("0")
                local after = pktgen.portStats("0", "port")[0]
                printf("sent %%d frames in %d s\\n", after.opackets - before.opackets)
                pktgen.quit()
                """.formatted(1000 * seconds, seconds);
    }

    private static int number(Map<String, String> options, String name, int least, int most) {
        int value;
        try {
            value = Integer.parseInt(options.get(name));
        } catch (NumberFormatException e) {
            value = least - 1;
        }
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + " " + options.get(name) + " is outside " + least + ".." + most);
        }
        return value;
    }

    static long mac(String text) {
        if (!text.matches("(?i)([0-9a-f]{2}:){5}[0-9a-f]{2}")) {
            throw new IllegalArgumentException("'" + text + "' is no MAC address");
        }
        return Long.parseLong(text.replace(":", ""), 16);
    }

    private static int address(String text) {
        if (!text.matches("[0-9.]+")) {
            throw new IllegalArgumentException("'" + text + "' is no IPv4 address");
        }
        byte[] bytes = InetAddress.ofLiteral(text).getAddress();
        return ByteBuffer.wrap(bytes).getInt();
    }
}
