// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

class QuantityTest {
    @Test
    void bytesArePowersOf1024() {
        Quantity.Bytes bytes = new Quantity.Bytes();
        assertEquals(64, bytes.convert("64"));
        assertEquals(4096, bytes.convert("4K"));
        assertEquals(4096, bytes.convert("4KiB"));
        assertEquals(1 << 20, bytes.convert("1m"));
        assertEquals(1 << 20, bytes.convert("1MB"));
        assertEquals(1536 << 10, bytes.convert("1.5M"));
        assertEquals(1L << 30, bytes.convert("1G"));
        assertEquals(100, bytes.convert("100B"));
    }

    @Test
    void ratesArePowersOf1000() {
        assertEquals(100_000_000_000L, new Quantity.BitsPerSecond().convert("100G"));
        assertEquals(400_000_000L, new Quantity.BitsPerSecond().convert("400M"));
    }

    @Test
    void nonsenseIsRefused() {
        for (String wrong : new String[] {"", "K", "3X", "-1", "1e3", "0x10", "1.0001", "1 K K", "NaN", "99999999G", "1.2.3"}) {
            assertThrows(TypeConversionException.class, () -> new Quantity.Bytes().convert(wrong), wrong);
        }
    }

    @Test
    void bytesAreShownShort() {
        assertEquals("64 B", Quantity.formatBytes(64));
        assertEquals("4 KiB", Quantity.formatBytes(4096));
        assertEquals("1 MiB", Quantity.formatBytes(1 << 20));
        assertEquals("1.5 MiB", Quantity.formatBytes(1536 << 10));
        assertEquals("2 TiB", Quantity.formatBytes(2L << 40));
    }
}
