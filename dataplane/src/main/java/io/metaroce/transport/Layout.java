// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Assigns field offsets in a slab record one after another, aligned to their size, and checks the record's size at class initialisation. */
final class Layout {
    private final String name;
    private final int length;
    private int next;

    Layout(String name, int length) {
        this.name = name;
        this.length = length;
    }

    int i64() {
        return field(Long.BYTES);
    }

    int i32() {
        return field(Integer.BYTES);
    }

    int f32() {
        return field(Float.BYTES);
    }

    private int field(int bytes) {
        next = (next + bytes - 1) & -bytes;
        int at = next;
        next += bytes;
        return at;
    }

    /** An array of 32-bit words; returns the offset of the first. */
    int i32Array(int count) {
        int at = field(Integer.BYTES);
        next += (count - 1) * Integer.BYTES;
        return at;
    }

    /** An array of 64-bit words; returns the offset of the first. */
    int i64Array(int count) {
        int at = field(Long.BYTES);
        next += (count - 1) * Long.BYTES;
        return at;
    }

    /** Call last: the fields must fit the stated record length. */
    void end() {
        if (next > length) {
            throw new IllegalStateException(name + ": " + next + " B of fields in a record of " + length + " B");
        }
    }
}
