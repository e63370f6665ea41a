// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Numbers as people write them: 64, 4K, 1M, 100G. */
public final class Quantity {
    private Quantity() {
    }

    /** Bytes; K, M and G are powers of 1024; an optional B or iB may follow. */
    public static final class Bytes implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return parse(text, 1024, "bytes, such as 64, 4K or 1M");
        }
    }

    /** Bits per second; K, M and G are powers of 1000. */
    public static final class BitsPerSecond implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            return parse(text, 1000, "bits per second, such as 400M or 100G");
        }
    }

    /** Nanoseconds; ns, us, ms or s must follow. */
    public static final class Nanoseconds implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            String s = text.trim();
            long unit = s.endsWith("ns") ? 1 : s.endsWith("us") ? 1_000 : s.endsWith("ms") ? 1_000_000 : 1_000_000_000;
            String number = s.replaceFirst("(ns|us|ms|s)$", "");
            if (number.equals(s) || !number.matches("[0-9]{1,9}(\\.[0-9]{1,9})?")) {
                throw new TypeConversionException("'" + text + "' is not a time with its unit, such as 10ms");
            }
            return Math.round(Double.parseDouble(number) * unit);
        }
    }

    static long parse(String text, long step, String expected) {
        String s = text.trim().toUpperCase(java.util.Locale.ROOT);
        if (s.endsWith("IB")) {
            s = s.substring(0, s.length() - 2);
        } else if (s.endsWith("B")) {
            s = s.substring(0, s.length() - 1);
        }
        long factor = 1;
        int unit = s.isEmpty() ? -1 : "KMG".indexOf(s.charAt(s.length() - 1));
        if (unit >= 0) {
            for (int i = 0; i <= unit; i++) {
                factor *= step;
            }
            s = s.substring(0, s.length() - 1);
        }
        try {
            double value = Double.parseDouble(s) * factor;
            if (!s.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9')) || value != Math.rint(value) || value > 1e15) {
                throw new NumberFormatException();
            }
            return (long) value;
        } catch (NumberFormatException e) {
            throw new TypeConversionException("'" + text + "' is not a number of " + expected);
        }
    }

    /** 64 B, 4 KiB, 1 MiB, 1.5 MiB. */
    public static String formatBytes(long bytes) {
        if (bytes < 1024) {
            return bytes + " B";
        }
        double value = bytes;
        int unit = -1;
        while (value >= 1024 && unit < 3) {
            value /= 1024;
            unit++;
        }
        String number = value == Math.rint(value) ? Long.toString((long) value) : String.format(java.util.Locale.ROOT, "%.1f", value);
        return number + " " + "KMGT".charAt(unit) + "iB";
    }
}
