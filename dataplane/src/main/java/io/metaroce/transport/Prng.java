// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Seeded xorshift64* generator for choices that need no secrecy (spray, jitter). Secrets come from {@link SipHash}. */
final class Prng {
    private long state;

    Prng(long seed) {
        state = seed == 0 ? 0x9e3779b97f4a7c15L : seed;
        nextLong();
        nextLong();
    }

    long nextLong() {
        state ^= state >>> 12;
        state ^= state << 25;
        state ^= state >>> 27;
        return state * 0x2545f4914f6cdd1dL;
    }

    /** Uniform in [0, 1). */
    float nextFloat() {
        return (nextLong() >>> 40) * 0x1p-24f;
    }

    int nextInt() {
        return (int) (nextLong() >>> 32);
    }

    /** Uniform in [0, bound). */
    int nextInt(int bound) {
        return (int) (((nextLong() >>> 33) * bound) >>> 31);
    }
}
