// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * Comparison of numbers that wrap around: PSN, SSN, MSN and timestamps (32 bits), epochs (8 bits).
 *
 * <p>The answer is right while the two numbers are less than half the number space apart. Spec: section "Serial numbers".
 */
public final class Serial {
    private Serial() {
    }

    /** Returns how far {@code a} is ahead of {@code b}; negative when it is behind. */
    public static int diff(int a, int b) {
        return a - b;
    }

    /** Tells whether {@code a} comes before {@code b}. */
    public static boolean less(int a, int b) {
        return a - b < 0;
    }

    /** Returns the later of the two. */
    public static int max(int a, int b) {
        return a - b < 0 ? b : a;
    }

    /** Tells whether epoch {@code a} (low 8 bits) came after epoch {@code b} (low 8 bits). */
    public static boolean newerEpoch(int a, int b) {
        return (byte) (a - b) > 0;
    }
}
