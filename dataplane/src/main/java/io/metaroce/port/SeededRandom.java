// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

/** xorshift64*: small, quick, and the same everywhere for a seed. Not for secrets. */
final class SeededRandom {
    private static final long NEVER = 0;

    private long state;

    SeededRandom(long seed) {
        // The SplitMix64 finaliser spreads small seeds; the state must not be 0.
        long z = seed + 0x9e37_79b9_7f4a_7c15L;
        z = (z ^ z >>> 30) * 0xbf58_476d_1ce4_e5b9L;
        z = (z ^ z >>> 27) * 0x94d0_49bb_1331_11ebL;
        z ^= z >>> 31;
        state = z == 0 ? 1 : z;
    }

    long next() {
        state ^= state >>> 12;
        state ^= state << 25;
        state ^= state >>> 27;
        return state * 0x2545_f491_4f6c_dd1dL;
    }

    /** 0 to {@code bound - 1}; the bias of the remainder is below 2^-30 for bounds used here. */
    long below(long bound) {
        return (next() >>> 1) % bound;
    }

    /** A probability as {@link #chance} wants it. */
    static long threshold(double probability) {
        return probability >= 1 ? Long.MAX_VALUE : (long) (probability * 0x1p63);
    }

    /** True with the probability behind {@code threshold}; draws no number for probability 0. */
    boolean chance(long threshold) {
        return threshold != NEVER && next() >>> 1 < threshold;
    }
}
