// SPDX-License-Identifier: Apache-2.0
package io.metaroce;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/** How little a piece of work allocates once it is compiled. */
public final class SteadyState {
    /** Compilation comes when it comes, on a busy machine late. */
    private static final long PATIENCE_NS = 60_000_000_000L;

    private SteadyState() {
    }

    /**
     * Bytes that the calling thread allocates for a piece of work, the least of as many intervals as it takes to get to {@code enough}, or
     * as a minute has room for. Reading the counter costs some bytes itself, in its first interval.
     *
     * @param interval does some of the work; returns how many pieces
     */
    public static double bytesAPiece(double enough, LongSupplier interval) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        double least = Double.MAX_VALUE;
        long start = System.nanoTime();
        while (least > enough && System.nanoTime() - start < PATIENCE_NS) {
            long before = threads.getCurrentThreadAllocatedBytes();
            long pieces = interval.getAsLong();
            least = Math.min(least, (double) (threads.getCurrentThreadAllocatedBytes() - before) / Math.max(1, pieces));
        }
        return least;
    }
}
