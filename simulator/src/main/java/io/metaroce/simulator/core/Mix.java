// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.core;

/** A 64-bit mixing function (the finaliser of SplitMix64): every bit of the input changes about half the bits of the output. */
public final class Mix {
    private Mix() {
    }

    public static long of(long x) {
        x += 0x9e3779b97f4a7c15L;
        x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
        x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
        return x ^ x >>> 31;
    }

    /** A number in 0..bound-1 from a mixed value: its high bits, without a division. */
    public static int below(long mixed, int bound) {
        return (int) ((mixed >>> 32) * bound >>> 32);
    }
}
