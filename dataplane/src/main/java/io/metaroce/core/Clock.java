// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

/**
 * The one place where this project reads a clock. The transport never does: time reaches it as a parameter, so that a
 * simulator or a test can supply its own (a dependency test keeps it so). Any thread.
 */
public final class Clock {
    private Clock() {
    }

    /** Monotonic time in nanoseconds since an arbitrary instant; may be negative. Compare by subtraction. */
    public static long nowNs() {
        return System.nanoTime();
    }

    /** Wall clock in milliseconds since 1970, for log files only. */
    public static long wallMillis() {
        return System.currentTimeMillis();
    }
}
