// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

/** Sizes of messages in words. */
final class Sizes {
    private Sizes() {
    }

    static String text(int bytes) {
        return bytes >= 1 << 20 ? (bytes >> 20) + " MiB" : bytes >= 1 << 10 ? (bytes >> 10) + " KiB" : bytes + " B";
    }
}
