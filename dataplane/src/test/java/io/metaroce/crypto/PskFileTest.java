// SPDX-License-Identifier: Apache-2.0
package io.metaroce.crypto;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PskFileTest {
    @TempDir
    Path folder;

    private Path file(String content, String permissions) throws IOException {
        Path file = Files.writeString(folder.resolve("key"), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    private static String complaint(Path file) {
        return assertThrows(IllegalArgumentException.class, () -> PskFile.read(file)).getMessage();
    }

    @Test
    void readsWhatOpensslWrites() throws IOException {
        String hex = "00112233445566778899aabbccddeeffFFEEDDCCBBAA99887766554433221100";
        assertArrayEquals(HexFormat.of().parseHex(hex), PskFile.read(file(hex + "\n", "rw-------")));
        assertArrayEquals(HexFormat.of().parseHex(hex), PskFile.read(file(hex, "r--------")));
    }

    @Test
    void complaintsNameTheFileAndNotTheKey() throws IOException {
        assertTrue(complaint(folder.resolve("nowhere")).endsWith("nowhere does not exist"));
        assertTrue(complaint(file("00".repeat(32), "rw-r-----")).contains("is accessible to others: chmod 600"));
        assertTrue(complaint(file("00".repeat(31), "rw-------")).contains("holds 62 characters instead of 64 hexadecimal digits"));
        String bad = complaint(file("secretz!".repeat(8), "rw-------"));
        assertTrue(bad.endsWith("holds something other than hexadecimal digits"));
        assertFalse(bad.contains("secret"));
    }

    @Test
    void temporaryKeysAreFreshAndPrivate() throws IOException {
        Path a = PskFile.temporary();
        Path b = PskFile.temporary();
        try {
            assertFalse(Arrays.equals(PskFile.read(a), PskFile.read(b)));
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(a)));
        } finally {
            Files.delete(a);
            Files.delete(b);
        }
    }
}
