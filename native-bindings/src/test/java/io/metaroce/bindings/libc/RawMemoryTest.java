// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.libc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RawMemoryTest {
    /** The way is chosen once for a process: both are tried in processes of their own. */
    @ParameterizedTest
    @CsvSource({"allow, true, true", "allow, false, false", "deny, true, false"})
    void bothWaysDoTheSame(String access, boolean wanted, boolean fast) throws Exception {
        Process p = new ProcessBuilder(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=" + access, "-Dmetaroce.unsafe=" + wanted,
                "-cp", System.getProperty("java.class.path"), Check.class.getName(), Boolean.toString(fast)).redirectErrorStream(true).start();
        String out = new String(p.getInputStream().readAllBytes());
        assertTrue(p.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, p.exitValue(), out);
    }

    @Test
    void testsRunTheFastWay() {
        assertTrue(RawMemory.isFast(), "the build allows Unsafe");
    }

    /** Every access at every alignment, beside a bounded segment. */
    static final class Check {
        private Check() {
        }

        public static void main(String[] args) {
            same(Boolean.parseBoolean(args[0]), RawMemory.isFast());
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment m = arena.allocate(64, 64);
                for (int at = 0; at < 16; at++) {
                    long a = m.address() + at;
                    RawMemory.putByte(a, (byte) -3);
                    same((byte) -3, m.get(ValueLayout.JAVA_BYTE, at));
                    same((byte) -3, RawMemory.getByte(a));
                    RawMemory.putShort(a, (short) 0x8123);
                    same((short) 0x8123, m.get(ValueLayout.JAVA_SHORT_UNALIGNED, at));
                    same((short) 0x8123, RawMemory.getShort(a));
                    RawMemory.putInt(a, 0x81234567);
                    same(0x81234567, m.get(ValueLayout.JAVA_INT_UNALIGNED, at));
                    same(0x81234567, RawMemory.getInt(a));
                    RawMemory.putLong(a, 0x8123456789abcdefL);
                    same(0x8123456789abcdefL, m.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
                    same(0x8123456789abcdefL, RawMemory.getLong(a));
                    RawMemory.putFloat(a, -1.5f);
                    same(-1.5f, m.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at));
                    same(-1.5f, RawMemory.getFloat(a));
                    RawMemory.copy(a, a + 3, 8);
                    same(-1.5f, m.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at + 3));
                    RawMemory.zero(a, 11);
                    same(0L, m.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
                }
            }
        }

        private static void same(Object expected, Object actual) {
            if (!expected.equals(actual)) {
                throw new AssertionError(expected + " expected, got " + actual);
            }
        }
    }
}
