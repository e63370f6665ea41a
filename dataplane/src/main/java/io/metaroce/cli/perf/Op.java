// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

/** What a run measures. */
public enum Op {
    WRITE, SEND, READ;

    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
