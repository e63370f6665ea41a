// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import java.util.Locale;

/** Writes one JSON object on one line, fields in the order given. One thread. */
public final class JsonLine {
    private final StringBuilder b = new StringBuilder();
    private boolean first = true;

    public JsonLine open() {
        b.append('{');
        first = true;
        return this;
    }

    public JsonLine close() {
        b.append('}');
        first = false;
        return this;
    }

    public JsonLine openObject(String key) {
        key(key);
        return open();
    }

    public JsonLine openArray(String key) {
        key(key);
        b.append('[');
        first = true;
        return this;
    }

    public JsonLine closeArray() {
        b.append(']');
        first = false;
        return this;
    }

    /** Begins an object that is an element of an array. */
    public JsonLine openElement() {
        comma();
        return open();
    }

    public JsonLine put(String key, String value) {
        key(key);
        string(value);
        return this;
    }

    public JsonLine put(String key, boolean value) {
        key(key);
        b.append(value);
        return this;
    }

    public JsonLine put(String key, long value) {
        key(key);
        b.append(value);
        return this;
    }

    /** Up to three decimals; what is not a number becomes 0, as JSON has no such thing. */
    public JsonLine put(String key, double value) {
        key(key);
        b.append(decimal(value));
        return this;
    }

    public JsonLine put(String key, long[] values) {
        key(key);
        numbers(values);
        return this;
    }

    /** Numbers, each as {@link #put(String, double)} writes it. */
    public JsonLine put(String key, double[] values) {
        key(key);
        b.append('[');
        for (int i = 0; i < values.length; i++) {
            b.append(i == 0 ? "" : ",").append(decimal(values[i]));
        }
        b.append(']');
        return this;
    }

    /** An element of an array that is itself an array of numbers. */
    public JsonLine element(long[] values) {
        comma();
        numbers(values);
        return this;
    }

    private static String decimal(double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%.3f", value) : "0";
    }

    private void numbers(long[] values) {
        b.append('[');
        for (int i = 0; i < values.length; i++) {
            b.append(i == 0 ? "" : ",").append(values[i]);
        }
        b.append(']');
    }

    private void key(String key) {
        comma();
        string(key);
        b.append(':');
    }

    private void comma() {
        if (!first) {
            b.append(',');
        }
        first = false;
    }

    private void string(String s) {
        b.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < 0x20) {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        b.append('"');
    }

    @Override
    public String toString() {
        return b.toString();
    }
}
