// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * What figures were taken on, without which they mean nothing.
 *
 * @param load the 1-minute load average when the run began: what others were doing
 * @param date ISO 8601, UTC
 * @param commit of the project, with "+" behind it if there were changes; "" outside of a repository
 */
record Machine(String cpu, int cores, String kernel, String jdk, String load, String date, String commit) {

    /** This machine, now. {@code commit} is found by the script. */
    static Machine here(String commit) {
        return new Machine(cpuModel(), Runtime.getRuntime().availableProcessors(), System.getProperty("os.version"),
                System.getProperty("java.vm.vendor") + " " + Runtime.version(), first("/proc/loadavg", " "), Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(), commit);
    }

    static String loadNow() {
        return first("/proc/loadavg", " ");
    }

    private static String cpuModel() {
        try {
            return Files.readAllLines(Path.of("/proc/cpuinfo")).stream().filter(l -> l.startsWith("model name")).findFirst()
                    .map(l -> l.substring(l.indexOf(':') + 1).strip()).orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }

    private static String first(String file, String until) {
        try {
            return Files.readString(Path.of(file)).split(until)[0];
        } catch (IOException e) {
            return "";
        }
    }
}
