// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** The line that shows a run going on, about once a second, on the standard error stream. One thread. */
final class ProgressLine {
    private final PrintWriter err;
    private final boolean terminal;
    private long lastBytes;
    private long lastNs;
    private boolean shown;

    ProgressLine(PrintWriter err) {
        this.err = err;
        terminal = errorIsTerminal();
    }

    /** Whether standard error goes to a terminal, where a line can be written over. */
    static boolean errorIsTerminal() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    void show(Progress p) {
        String line;
        if (!p.phase.equals("measuring")) {
            line = p.phase + " ...";
        } else {
            long ns = p.elapsedNs;
            double gbps = ns > lastNs ? (p.bytes - lastBytes) * 8.0 / (ns - lastNs) : 0;
            line = String.format(Locale.ROOT, "%5.1f s  %8.3f Gb/s  %,d messages  %,d retransmissions  %d timeouts",
                    ns / 1e9, gbps, p.messages, p.retransmissions, p.timeouts);
            lastBytes = p.bytes;
            lastNs = ns;
        }
        err.print(terminal ? "\r\u001b[K" + line : line + System.lineSeparator());
        err.flush();
        shown = true;
    }

    /** Clears the line on a terminal. */
    void end() {
        if (terminal && shown) {
            err.print("\r\u001b[K");
            err.flush();
        }
    }
}
