// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Assigns field offsets in a slab record one after another and checks the record's size at class initialisation. */
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
        if (next % bytes != 0) {
            throw new IllegalStateException(name + ": field at " + next + " is not aligned to " + bytes);
        }
        int at = next;
        next += bytes;
        return at;
    }

    int bytes(int count) {
        int at = next;
        next += count;
        return at;
    }

    /** Call last: the fields must fit the stated record length. */
    void end() {
        if (next > length) {
            throw new IllegalStateException(name + ": " + next + " B of fields in a record of " + length + " B");
        }
    }
}
