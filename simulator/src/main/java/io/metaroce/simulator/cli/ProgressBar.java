// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import java.io.PrintWriter;

/** How much is done and how long the rest may take: a line that is overwritten on a terminal, a line now and then elsewhere. */
final class ProgressBar {
    private static final int WIDTH = 30;
    private static final long LINE_NS = 5_000_000_000L;

    private final PrintWriter out;
    private final boolean overwrites;
    private final int all;
    private final int before;
    private final long beganNs = System.nanoTime();
    private long shownNs = beganNs - LINE_NS;

    /** @param before what was done before the bar began, which says nothing about speed */
    ProgressBar(PrintWriter out, boolean overwrites, int all, int before) {
        this.out = out;
        this.overwrites = overwrites;
        this.all = all;
        this.before = before;
        show(before);
    }

    void show(int done) {
        long now = System.nanoTime();
        if (!overwrites && now - shownNs < LINE_NS && done < all) {
            return;
        }
        shownNs = now;
        out.print((overwrites ? "\r" : "") + line(done, all, before, (now - beganNs) / 1e9) + (overwrites ? "" : System.lineSeparator()));
        out.flush();
    }

    static String line(int done, int all, int before, double seconds) {
        int filled = all == 0 ? WIDTH : (int) ((long) WIDTH * done / all);
        String left = done == all ? "done in " + time(seconds)
                : done == before ? "" : time(seconds / (done - before) * (all - done)) + " left";
        return "[" + "#".repeat(filled) + "-".repeat(WIDTH - filled) + "] " + done + "/" + all + " " + left + "   ";
    }

    private static String time(double seconds) {
        long s = Math.round(seconds);
        return s < 60 ? s + " s" : s < 3_600 ? s / 60 + " min " + s % 60 + " s" : s / 3_600 + " h " + s % 3_600 / 60 + " min";
    }

    void end() {
        if (overwrites) {
            out.println();
            out.flush();
        }
    }
}
