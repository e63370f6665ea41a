// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/** Checks at class initialisation that the fields of a header fill it without gap or overlap. */
final class Layout {
    private Layout() {
    }

    /**
     * @param offsetsAndSizes offset and size in bytes of each field, reserved ones included, in order
     * @throws IllegalStateException if the fields do not cover 0 to {@code length} exactly
     */
    static void check(String name, int length, int... offsetsAndSizes) {
        cover(name, 0, length, offsetsAndSizes);
    }

    /** The same for the header of a datagram, whose first bytes, up to the flags, are those of {@link Prefix}: the fields behind them. */
    static void checkPacket(String name, int length, int... offsetsAndSizes) {
        cover(name, Prefix.FLAGS + 1, length, offsetsAndSizes);
    }

    private static void cover(String name, int start, int length, int[] offsetsAndSizes) {
        int end = start;
        for (int i = 0; i < offsetsAndSizes.length; i += 2) {
            if (offsetsAndSizes[i] != end) {
                throw new IllegalStateException(name + ": a field is at " + offsetsAndSizes[i] + ", the one before it ends at " + end);
            }
            end += offsetsAndSizes[i + 1];
        }
        if (end != length) {
            throw new IllegalStateException(name + ": fields end at " + end + ", length is " + length);
        }
    }
}
