// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What memory this process occupies, as Linux has it. */
final class Resident {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String FIELD = "VmRSS:";

    private Resident() {
    }

    /** Mebibytes; NaN where the system does not say. */
    static double mebibytes() {
        try {
            for (String line : Files.readAllLines(STATUS)) {
                if (line.startsWith(FIELD)) {
                    return Long.parseLong(line.replaceAll("\\D", "")) / 1024.0;
                }
            }
        } catch (IOException e) {
            // No Linux.
        }
        return Double.NaN;
    }
}
