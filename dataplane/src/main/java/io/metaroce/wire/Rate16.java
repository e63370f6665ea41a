// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * A rate in 16 bits: mantissa in the high 11 bits, exponent in the low 5; the rate is {@code mantissa << exponent} kbit/s.
 *
 * <p>Spec: section "Rate16". Relative error below 2^-10. Stateless, any thread.
 */
public final class Rate16 {
    private static final int EXPONENT_BITS = 5;
    private static final int MANTISSA_BITS = 11;
    private static final int EXPONENT_MAX = (1 << EXPONENT_BITS) - 1;
    private static final int MANTISSA_MAX = (1 << MANTISSA_BITS) - 1;

    /** Largest rate that can be told, in kbit/s. */
    public static final long MAX_KBPS = (long) MANTISSA_MAX << EXPONENT_MAX;

    private Rate16() {
    }

    /** Encodes a rate, rounding down; rates above {@link #MAX_KBPS} become it, negative ones 0. */
    public static int encode(long kbps) {
        if (kbps <= 0) {
            return 0;
        }
        if (kbps >= MAX_KBPS) {
            return MANTISSA_MAX << EXPONENT_BITS | EXPONENT_MAX;
        }
        int exponent = Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(kbps) - MANTISSA_BITS);
        return (int) (kbps >>> exponent) << EXPONENT_BITS | exponent;
    }

    /** Returns kbit/s. Every 16-bit value has a meaning; several may mean the same rate. */
    public static long decode(int rate16) {
        return (long) (rate16 >>> EXPONENT_BITS & MANTISSA_MAX) << (rate16 & EXPONENT_MAX);
    }
}
