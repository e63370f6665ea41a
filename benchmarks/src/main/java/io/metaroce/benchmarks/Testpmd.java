// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.port.dpdk.EalArguments;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** DPDK's own program in C, the yardstick: forwards frames between devices (Debian: package dpdk-dev). */
final class Testpmd {
    static final String PROGRAM = "dpdk-testpmd";
    /** What {@link #player} needs for its 8,192 buffers. */
    private static final int PLAYER_MIB = 32;

    private Testpmd() {
    }

    /**
     * Processor time of all its threads for a frame, in nanoseconds. One device forwards to itself, two to each other, one burst from each
     * round and round.
     *
     * @param mode io, which does not look at frames, or macswap, which changes them
     * @param frame length of a frame in bytes; what moves must have it
     */
    static double nsAFrame(String mode, List<String> devices, int bufferSize, int frame, int burst, long measureNs) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(PROGRAM));
        List<String> eal = new ArrayList<>();
        for (String device : devices) {
            eal.addAll(List.of("--vdev", device));
        }
        eal.addAll(List.of("--lcores", "0@(0-1),1@(0-1)"));
        command.addAll(EalArguments.complete(eal, 128));
        command.addAll(List.of("--", "-i", "--forward-mode=" + mode, "--mbuf-size=" + (bufferSize + 128), "--txpkts=" + frame,
                "--burst=" + burst, "--total-num-mbufs=4096", "--mbcache=256"));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (OutputStream in = process.getOutputStream()) {
            Thread.sleep(1000);
            say(in, "start tx_first 1");
            Thread.sleep(300);
            long before = cpuNs(process.pid());
            say(in, "show port stats all");
            Thread.sleep(measureNs / 1_000_000);
            say(in, "show port stats all");
            long spent = cpuNs(process.pid()) - before;
            say(in, "quit");
            List<String> counts = process.inputReader().lines().filter(l -> l.contains("RX-packets:") && l.contains("RX-bytes:")).toList();
            process.waitFor();
            long moved = difference(counts, devices.size(), ".*RX-packets:\\s*(\\d+).*");
            long movedBytes = difference(counts, devices.size(), ".*RX-bytes:\\s*(\\d+).*");
            // The counters of a running port are read one after the other; some devices count no bytes.
            if (moved == 0 || movedBytes != 0 && Math.abs(movedBytes / moved - frame) > 40) {
                throw new IllegalStateException("testpmd moved " + moved + " frames, " + movedBytes + " bytes");
            }
            return (double) spent / moved;
        } finally {
            process.destroyForcibly();
        }
    }

    /** A command that plays a file of frames round and round into a device while it is told to by "start" and "stop". */
    static List<String> player(String core, Path pcap, String device) {
        List<String> command = new ArrayList<>(List.of("taskset", "-c", core, PROGRAM));
        command.addAll(EalArguments.complete(List.of("--vdev", "net_pcap0,rx_pcap=" + pcap + ",infinite_rx=1", "--vdev", device, "--lcores", "0@" + core + ",1@" + core), PLAYER_MIB));
        command.addAll(List.of("--", "-i", "--forward-mode=io", "--burst=64", "--total-num-mbufs=8192", "--mbcache=256"));
        return command;
    }

    /** How much the second display of all devices shows more than the first. */
    private static long difference(List<String> counts, int devices, String number) {
        long sum = 0;
        for (int i = 0; i < devices; i++) {
            sum += Long.parseLong(counts.get(devices + i).replaceAll(number, "$1")) - Long.parseLong(counts.get(i).replaceAll(number, "$1"));
        }
        return sum;
    }

    private static void say(OutputStream in, String line) throws IOException {
        in.write((line + "\n").getBytes());
        in.flush();
    }

    private static long cpuNs(long pid) throws IOException {
        long sum = 0;
        try (var tasks = Files.list(Path.of("/proc/" + pid + "/task"))) {
            for (Path task : tasks.toList()) {
                sum += Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ")[0]);
            }
        }
        return sum;
    }
}
