// SPDX-License-Identifier: Apache-2.0
package io.metaroce.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.cli.Main;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A laboratory of network namespaces, built by {@code scripts/lab} and gone when this is closed or the process ends. */
final class Lab implements AutoCloseable {
    /** Tag of tests that the short form leaves out. */
    static final String LONG = "long";
    /** Whether the tests take their short form, that of {@code scripts/test}. */
    static final boolean SHORT = Boolean.getBoolean("lab.short");

    private static final AtomicInteger MADE = new AtomicInteger();
    private static final Path SCRIPT = script();

    private final String name = "test" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet();
    private final Thread atExit = new Thread(this::down);
    final int planes;
    final boolean fabric;
    private final boolean bare;

    /** @param options of {@code scripts/lab up}, apart from the number of planes or links */
    Lab(int planes, String... options) {
        this.planes = planes;
        fabric = List.of(options).contains("--fabric");
        bare = List.of(options).contains("--bare");
        Runtime.getRuntime().addShutdownHook(atExit);
        List<String> words = new ArrayList<>(List.of("--first", "up", "--planes", Integer.toString(planes)));
        words.addAll(List.of(options));
        lab(words.toArray(String[]::new));
    }

    private static Path script() {
        Path at = Path.of("scripts/lab").toAbsolutePath();
        return Files.exists(at) ? at : Path.of("../scripts/lab").toAbsolutePath().normalize();
    }

    /** Runs {@code scripts/lab} with these words and returns what it printed. */
    String lab(String... words) {
        List<String> command = new ArrayList<>(List.of(SCRIPT.toString(), "--name", name));
        command.addAll(List.of(words));
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), () -> String.join(" ", command) + ": " + output);
            return output;
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What becomes of a plane, or of a link of a fabric: {@code "rate 200M"}. In mid-transfer it is an order of that. */
    void plane(int plane, String action) {
        List<String> words = new ArrayList<>(List.of("plane", Integer.toString(plane)));
        words.addAll(List.of(action.split(" ")));
        lab(words.toArray(String[]::new));
    }

    void everyPlane(String action) {
        for (int plane = 0; plane < planes; plane++) {
            plane(plane, action);
        }
    }

    /** A counter of the switch port that sends towards b ({@code "ab"}) or a. */
    long counter(int plane, String direction, String counter) {
        return counter(lab("stats").lines().map(Lab::fields).toList(), plane, direction, counter);
    }

    /** The same of what {@code stats} has answered. */
    static long counter(List<Map<String, String>> stats, int plane, String direction, String counter) {
        for (Map<String, String> fields : stats) {
            if (Integer.toString(plane).equals(fields.get("plane")) && direction.equals(fields.get("direction"))) {
                return Long.parseLong(fields.get(counter));
            }
        }
        throw new IllegalArgumentException("no port " + plane + " " + direction);
    }

    /** Of a line {@code NAME=VALUE NAME=VALUE...}. */
    static Map<String, String> fields(String line) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String field : line.split(" ")) {
            fields.put(field.split("=")[0], field.split("=")[1]);
        }
        return fields;
    }

    /** Starts the metaroce command on a host, ahead of what else wants the processor. */
    Process start(String host, List<String> arguments) throws IOException {
        return command(host, arguments).start();
    }

    /**
     * The same, and what passes its output on and carries out orders in the meantime, from the line on that matches the pattern:
     * {@code scripts/lab orders}.
     *
     * @return the command, of which only the errors can be read, and what follows it
     */
    List<Process> start(String host, List<String> arguments, String pattern, List<String> orders) throws IOException {
        List<String> follower = new ArrayList<>(List.of(SCRIPT.toString(), "--name", name, "--first", "orders", pattern));
        follower.addAll(orders);
        return ProcessBuilder.startPipeline(List.of(command(host, arguments), new ProcessBuilder(follower)));
    }

    private ProcessBuilder command(String host, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(SCRIPT.toString(), "--name", name, "--first", "on", host,
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow", "-Xmx512m", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(arguments);
        return new ProcessBuilder(command);
    }

    /** The address of a host on a plane. */
    String address(String host, int plane) {
        int last = host.equals("a") ? 1 : 2;
        return fabric ? "10.68." + last + ".2" : "10.66." + plane + "." + last;
    }

    /**
     * Arguments that name the port and the addresses of a host's planes: DPDK where the kernel has no addresses, on ordinary memory, as
     * hugepages are few and others may take them meanwhile.
     */
    String port(String host) {
        StringBuilder all = new StringBuilder("--planes " + (fabric ? 1 : planes) + (bare ? " --port dpdk --eal '--no-huge --no-shconf -m 192'" : ""));
        for (int plane = 0; plane < (fabric ? 1 : planes); plane++) {
            all.append(" --bind ").append(bare ? "net_af_packet" + plane + ",iface=p" + plane + "@" : "").append(address(host, plane))
                    .append(bare ? "/24" : "");
        }
        return all.toString();
    }

    @Override
    public void close() {
        down();
        Runtime.getRuntime().removeShutdownHook(atExit);
    }

    private void down() {
        assertTrue(lab("down").isEmpty());
    }
}
