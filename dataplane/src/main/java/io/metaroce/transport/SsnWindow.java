// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;

/** A ring of bits indexed by SSN. All zero when not in use, so that a window given back can be taken again as it is. */
final class SsnWindow {
    private SsnWindow() {
    }

    /** @param mask number of bits - 1, a power of two - 1 */
    static void set(Slab slab, long window, int mask, int ssn) {
        long word = word(window, mask, ssn);
        slab.putLong(word, slab.getLong(word) | 1L << ssn);
    }

    static boolean get(Slab slab, long window, int mask, int ssn) {
        return (slab.getLong(word(window, mask, ssn)) >>> ssn & 1) != 0;
    }

    /** Clears the bit and tells whether it was set. */
    static boolean clear(Slab slab, long window, int mask, int ssn) {
        long word = word(window, mask, ssn);
        long bits = slab.getLong(word);
        if ((bits >>> ssn & 1) == 0) {
            return false;
        }
        slab.putLong(word, bits & ~(1L << ssn));
        return true;
    }

    static void wipe(Slab slab, long window, long bytes) {
        slab.zero(window, bytes);
    }

    private static long word(long window, int mask, int ssn) {
        return window + ((long) (ssn & mask) >>> 6 << 3);
    }
}
