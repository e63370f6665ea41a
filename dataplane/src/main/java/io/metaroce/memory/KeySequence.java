// SPDX-License-Identifier: Apache-2.0
package io.metaroce.memory;

import java.security.SecureRandom;

/**
 * Keys of memory regions: the slot in the low bits; above, for each slot, all numbers in an order that only this table knows. So no key
 * can be guessed, and none comes back before its slot has been used as often as there are numbers (spec: MR-SEC-002). Drawn at random
 * alone, one in a million would.
 */
final class KeySequence {
    private static final int HALF_BITS = (Integer.SIZE - RegionTable.SLOT_BITS) / 2;
    private static final int HALF = (1 << HALF_BITS) - 1;
    private static final int ROUNDS = 6;

    private final long[] secret = new long[ROUNDS];
    private final int[] uses = new int[RegionTable.MAX_REGIONS];

    KeySequence(SecureRandom random) {
        for (int i = 0; i < ROUNDS; i++) {
            secret[i] = random.nextLong();
        }
        for (int i = 0; i < uses.length; i++) {
            uses[i] = random.nextInt();
        }
    }

    int next(int slot) {
        int n = uses[slot]++;
        int left = n >>> HALF_BITS & HALF;
        int right = n & HALF;
        // A Feistel network: a permutation whatever the rounds compute.
        for (long key : secret) {
            int before = left;
            left = right;
            right = before ^ mix(key, (long) slot << Integer.SIZE | right) & HALF;
        }
        return (left << HALF_BITS | right) << RegionTable.SLOT_BITS | slot;
    }

    private static int mix(long key, long value) {
        long x = (value ^ key) * 0xff51afd7ed558ccdL;
        x = (x ^ x >>> 33 ^ key) * 0xc4ceb9fe1a85ec53L;
        return (int) (x ^ x >>> 33);
    }
}
