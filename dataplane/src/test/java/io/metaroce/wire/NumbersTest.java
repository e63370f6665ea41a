// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.SpecFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rate16 and serial numbers: the vectors of {@code numbers.txt}, wrap-around and properties. */
class NumbersTest {
    static Stream<String> cases() throws IOException {
        return Files.readAllLines(SpecFiles.directory().resolve("vectors/numbers.txt")).stream().filter(l -> !l.startsWith("#") && !l.isEmpty());
    }

    @ParameterizedTest
    @MethodSource("cases")
    @Requirement({"MR-GEN-010", "MR-GEN-011", "MR-GEN-014", "MR-GEN-015", "MR-CRC-001"})
    void vectorsHold(String line) {
        String[] words = line.split(" ");
        String result = words[words.length - 1];
        switch (words[0]) {
            case "rate16.encode" -> assertEquals(Vector.number(result), Rate16.encode(Vector.number(words[1])));
            case "rate16.decode" -> assertEquals(Vector.number(result), Rate16.decode((int) Vector.number(words[1])));
            case "serial.diff" -> assertEquals(Vector.number(result), Serial.diff((int) Vector.number(words[1]), (int) Vector.number(words[2])));
            case "epoch.newer" -> assertEquals(Boolean.parseBoolean(result), Serial.newerEpoch(Integer.parseInt(words[1]), Integer.parseInt(words[2])));
            case "crc32c" -> {
                Datagram d = Datagram.ofHex(words[1].equals("-") ? "" : words[1]);
                assertEquals((int) Vector.number(result), new Checksum().of(d.at(), d.length));
            }
            default -> throw new AssertionError(line);
        }
    }

    @Test
    @Requirement({"MR-GEN-014", "MR-GEN-015"})
    void ratesAreRoundedDownByLessThanOneIn1024() {
        Random random = new Random(16);
        for (int i = 0; i < 200_000; i++) {
            long kbps = random.nextLong() >>> 1 + random.nextInt(62);
            long told = Rate16.decode(Rate16.encode(kbps));
            if (kbps >= Rate16.MAX_KBPS) {
                assertEquals(Rate16.MAX_KBPS, told);
            } else {
                assertTrue(told <= kbps && kbps - told <= kbps >> 10, kbps + " told as " + told);
            }
        }
    }

    @Test
    @Requirement("MR-GEN-015")
    void everyCodeSurvivesDecodingAndEncoding() {
        for (int code = 0; code <= 0xffff; code++) {
            long kbps = Rate16.decode(code);
            assertTrue(kbps >= 0 && kbps <= Rate16.MAX_KBPS);
            assertEquals(kbps, Rate16.decode(Rate16.encode(kbps)), "code " + code);
        }
        assertEquals(0, Rate16.encode(-5));
        assertEquals(0, Rate16.encode(Long.MIN_VALUE));
    }

    @Test
    @Requirement("MR-GEN-014")
    void encodingIsMonotonic() {
        long before = -1;
        for (long kbps = 0; kbps < 1 << 16; kbps++) {
            long told = Rate16.decode(Rate16.encode(kbps));
            assertTrue(told >= before);
            before = told;
        }
    }

    @Test
    @Requirement("MR-GEN-010")
    void serialNumbersCompareAcrossTheWrap() {
        Random random = new Random(32);
        for (int i = 0; i < 100_000; i++) {
            int base = random.nextInt();
            int ahead = 1 + random.nextInt(Integer.MAX_VALUE - 1);
            assertTrue(Serial.less(base, base + ahead));
            assertFalse(Serial.less(base + ahead, base));
            assertEquals(ahead, Serial.diff(base + ahead, base));
            assertEquals(-ahead, Serial.diff(base, base + ahead));
            assertEquals(base + ahead, Serial.max(base, base + ahead));
            assertEquals(base + ahead, Serial.max(base + ahead, base));
        }
        assertFalse(Serial.less(5, 5));
    }

    @Test
    @Requirement("MR-GEN-011")
    void epochsCompareAcrossTheWrap() {
        for (int base = 0; base < 256; base++) {
            for (int ahead = 0; ahead < 256; ahead++) {
                assertEquals(ahead >= 1 && ahead <= 127, Serial.newerEpoch(base + ahead & 0xff, base), base + " + " + ahead);
                assertEquals(ahead >= 1 && ahead <= 127, Serial.newerEpoch(base + ahead, base), "unmasked " + base + " + " + ahead);
            }
        }
    }
}
