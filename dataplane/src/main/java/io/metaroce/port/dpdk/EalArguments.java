// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Chooses DPDK's arguments: hugepages where enough are free, ordinary memory otherwise; no PCI scan where only virtual devices are
 * wanted; no files shared with other processes, no telemetry socket; this process's CPUs.
 */
public final class EalArguments {
    private static final Path HUGEPAGES = Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
    private static final int HUGEPAGE_MIB = 2;
    /** DPDK's own needs: ports, rings, malloc headers. */
    private static final int BASE_MIB = 24;

    private EalArguments() {
    }

    /** Arguments for a process with this port alone. */
    public static List<String> choose(DpdkConfig config) {
        boolean virtual = config.planes().stream().allMatch(p -> p.device().startsWith("net_"));
        return choose((int) (Pools.memoryBytes(config) >> 20), virtual, freeHugepages());
    }

    /** Arguments for a process whose ports need {@code mebibytes} for buffers, all of them on virtual devices or not. */
    public static List<String> choose(int mebibytes, boolean virtualDevices) {
        return choose(mebibytes, virtualDevices, freeHugepages());
    }

    static List<String> choose(int mebibytes, boolean virtualDevices, int freeHugepages) {
        int memory = (mebibytes + BASE_MIB + HUGEPAGE_MIB - 1) / HUGEPAGE_MIB * HUGEPAGE_MIB;
        boolean huge = freeHugepages >= memory / HUGEPAGE_MIB;
        List<String> arguments = new ArrayList<>();
        if (huge) {
            // Needs no hugetlbfs mount and leaves no files. Another process's pages are not touched.
            arguments.add("--in-memory");
            arguments.add("--single-file-segments");   // what memif's zero copy needs
        } else {
            arguments.add("--no-huge");
            arguments.add("--no-shconf");
        }
        arguments.add("-m");
        arguments.add(Integer.toString(memory));
        if (virtualDevices) {
            arguments.add("--no-pci");
            arguments.add("--iova-mode=va");   // physical addresses need privileges and are of use to hardware only
        }
        arguments.add("--no-telemetry");
        arguments.add("--lcores");
        arguments.add("0@(" + cpus() + ")");
        return List.copyOf(arguments);
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
