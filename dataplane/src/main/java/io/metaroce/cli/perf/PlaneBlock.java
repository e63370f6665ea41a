// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A plane to block at a time.
 *
 * @param plane from 0
 * @param afterNs nanoseconds into the measurement
 */
record PlaneBlock(int plane, long afterNs) {
    /** Reads N@T, T in seconds. */
    static final class Converter implements ITypeConverter<PlaneBlock> {
        @Override
        public PlaneBlock convert(String text) {
            int at = text.indexOf('@');
            try {
                int plane = Integer.parseInt(text.substring(0, at));
                double seconds = Double.parseDouble(text.substring(at + 1));
                if (plane < 0 || !(seconds >= 0 && seconds <= 86_400)) {
                    throw new NumberFormatException();
                }
                return new PlaneBlock(plane, (long) (seconds * 1e9));
            } catch (NumberFormatException | StringIndexOutOfBoundsException e) {
                throw new TypeConversionException("'" + text + "' is not PLANE@SECONDS, such as 1@1.5");
            }
        }
    }

    @Override
    public String toString() {
        return plane + "@" + afterNs / 1e9;
    }
}
