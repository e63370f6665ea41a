// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Chooses DPDK's arguments: hugepages where enough are free, ordinary memory otherwise; no PCI scan where only virtual devices are
 * wanted; no files shared with other processes, no telemetry socket; this process's CPUs.
 */
public final class EalArguments {
    private static final Path HUGEPAGES = Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
    private static final int HUGEPAGE_MIB = 2;
    /** DPDK's own needs: ports, rings, malloc headers. */
    private static final int BASE_MIB = 24;

    private static final Pattern PCI = Pattern.compile("([0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7].*");

    private EalArguments() {
    }

    /** Splits a command line at blanks; single and double quotes hold blanks together. */
    public static List<String> split(String line) {
        List<String> words = new ArrayList<>();
        StringBuilder word = null;
        char quote = 0;
        for (char c : line.toCharArray()) {
            if (quote != 0 ? c == quote : c == '"' || c == '\'') {
                quote = quote != 0 ? 0 : c;
                word = word == null ? new StringBuilder() : word;
            } else if (quote == 0 && Character.isWhitespace(c)) {
                if (word != null) {
                    words.add(word.toString());
                }
                word = null;
            } else {
                word = (word == null ? new StringBuilder() : word).append(c);
            }
        }
        if (quote != 0) {
            throw new IllegalArgumentException("a " + quote + " is not closed in: " + line);
        }
        if (word != null) {
            words.add(word.toString());
        }
        return words;
    }

    /** Completes arguments for devices that need {@code mebibytes} for buffers in all. */
    public static List<String> complete(List<String> given, int mebibytes) {
        return complete(given, mebibytes, false, freeHugepages());
    }

    /** Arguments for a process with this port alone: what the configuration gives, and a choice for what it leaves open. */
    static List<String> complete(DpdkConfig config) {
        List<String> devices = config.planes().stream().filter(Objects::nonNull).map(PlaneConfig::device).toList();
        boolean virtual = devices.stream().allMatch(d -> d.startsWith("net_"));
        List<String> given = new ArrayList<>(config.ealArguments());
        if (!has(given, "-a", "--allow", "-b", "--block")) {
            // Without a list DPDK tries every PCI device of the machine, its way to the world among them.
            devices.stream().filter(d -> PCI.matcher(d).matches()).forEach(d -> given.addAll(List.of("-a", d)));
        }
        return complete(given, (int) (Pools.memoryBytes(config) >> 20), virtual, freeHugepages());
    }

    /**
     * Completes arguments.
     *
     * @param mebibytes     what the ports need for buffers
     * @param virtual       whether the ports are on virtual devices that they make themselves
     * @param freeHugepages of 2 MiB
     */
    static List<String> complete(List<String> given, int mebibytes, boolean virtual, int freeHugepages) {
        List<String> all = new ArrayList<>(given);
        if (!has(given, "--no-huge", "--in-memory", "--huge-dir", "--file-prefix", "--socket-mem", "--legacy-mem", "--no-shconf", "-m")) {
            memory(all, mebibytes, freeHugepages);
        }
        boolean onlyVirtual = (virtual || has(given, "--vdev")) && !has(given, "-a", "--allow", "-b", "--block");
        if (onlyVirtual && !has(given, "--no-pci")) {
            all.add("--no-pci");
        }
        if (onlyVirtual && !has(given, "--iova-mode")) {
            all.add("--iova-mode=va");   // physical addresses need privileges and are of use to hardware only
        }
        if (!has(given, "--telemetry", "--no-telemetry")) {
            all.add("--no-telemetry");
        }
        if (!has(given, "-l", "-c", "--lcores", "--main-lcore")) {
            all.add("--lcores");
            all.add("0@(" + cpus() + ")");
        }
        return List.copyOf(all);
    }

    private static void memory(List<String> all, int mebibytes, int freeHugepages) {
        int memory = (mebibytes + BASE_MIB + HUGEPAGE_MIB - 1) / HUGEPAGE_MIB * HUGEPAGE_MIB;
        if (freeHugepages >= memory / HUGEPAGE_MIB) {
            // Needs no hugetlbfs mount and leaves no files.
            all.add("--in-memory");
            all.add("--single-file-segments");   // what memif's zero copy needs
        } else {
            all.add("--no-huge");
            all.add("--no-shconf");
        }
        all.add("-m");
        all.add(Integer.toString(memory));
    }

    /** Whether one of the options is given, alone or as {@code option=value}, or, for {@code -x}, with its value attached. */
    private static boolean has(List<String> given, String... options) {
        for (String argument : given) {
            for (String option : options) {
                boolean attached = option.startsWith("--") ? argument.startsWith(option + "=") : argument.startsWith(option) && !argument.startsWith("--");
                if (argument.equals(option) || attached) {
                    return true;
                }
            }
        }
        return false;
    }

    /** 2 MiB hugepages nobody uses, 0 if the kernel has none. */
    static int freeHugepages() {
        try {
            return Integer.parseInt(Files.readString(HUGEPAGES).trim());
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }

    /** CPUs this process may run on, such as "0-1": DPDK's one thread floats over them, and pinning stays the caller's matter. */
    private static String cpus() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("Cpus_allowed_list:")) {
                    return line.substring(line.indexOf(':') + 1).trim();
                }
            }
        } catch (IOException e) {
            // No /proc: the first CPU is always there.
        }
        return "0";
    }
}
