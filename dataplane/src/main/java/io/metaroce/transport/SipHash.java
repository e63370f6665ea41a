// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/**
 * SipHash-2-4 over whole 64-bit words (Aumasson and Bernstein, 2012): a keyed function for cookies, connection identifiers
 * and tags that outsiders cannot predict. Allocation-free; one thread.
 */
final class SipHash {
    private final long key0;
    private final long key1;
    private long v0;
    private long v1;
    private long v2;
    private long v3;
    private int words;

    SipHash(long key0, long key1) {
        this.key0 = key0;
        this.key1 = key1;
    }

    SipHash start() {
        v0 = key0 ^ 0x736f6d6570736575L;
        v1 = key1 ^ 0x646f72616e646f6dL;
        v2 = key0 ^ 0x6c7967656e657261L;
        v3 = key1 ^ 0x7465646279746573L;
        words = 0;
        return this;
    }

    SipHash add(long word) {
        v3 ^= word;
        round();
        round();
        v0 ^= word;
        words++;
        return this;
    }

    long finish() {
        add(((long) words * Long.BYTES) << 56);
        v2 ^= 0xff;
        round();
        round();
        round();
        round();
        return v0 ^ v1 ^ v2 ^ v3;
    }

    private void round() {
        v0 += v1;
        v1 = Long.rotateLeft(v1, 13) ^ v0;
        v0 = Long.rotateLeft(v0, 32);
        v2 += v3;
        v3 = Long.rotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = Long.rotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = Long.rotateLeft(v1, 17) ^ v2;
        v2 = Long.rotateLeft(v2, 32);
    }
}
