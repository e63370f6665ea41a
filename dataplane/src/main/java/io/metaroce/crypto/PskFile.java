// SPDX-License-Identifier: Apache-2.0
package io.metaroce.crypto;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;

/** A pre-shared key in a file: 64 hexadecimal digits, readable by its owner alone. */
public final class PskFile {
    private static final Set<PosixFilePermission> OTHERS = PosixFilePermissions.fromString("---rwxrwx");

    private PskFile() {
    }

    /** @throws IllegalArgumentException with one line that names the file and what is wrong with it */
    public static byte[] read(Path file) {
        try {
            if (Files.getPosixFilePermissions(file).stream().anyMatch(OTHERS::contains)) {
                throw new IllegalArgumentException("key file " + file + " is accessible to others: chmod 600 " + file);
            }
            String text = Files.readString(file).strip();
            if (text.length() != 2 * PskSecurity.PSK_BYTES) {
                throw new IllegalArgumentException("key file " + file + " holds " + text.length() + " characters instead of "
                        + 2 * PskSecurity.PSK_BYTES + " hexadecimal digits");
            }
            return HexFormat.of().parseHex(text);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException("key file " + file + " does not exist");
        } catch (IOException e) {
            throw new IllegalArgumentException("key file " + file + " cannot be read: " + e.getMessage());
        } catch (NumberFormatException e) {
            throw notHexadecimal(file);
        } catch (IllegalArgumentException e) {
            // The parser's own message quotes what it found, which is nobody's business.
            throw e.getMessage().startsWith("key file ") ? e : notHexadecimal(file);
        }
    }

    private static IllegalArgumentException notHexadecimal(Path file) {
        return new IllegalArgumentException("key file " + file + " holds something other than hexadecimal digits");
    }

    /** Makes a file with a fresh random key in the folder for temporary files. */
    public static Path temporary() throws IOException {
        Path file = Files.createTempFile("metaroce", ".psk", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        byte[] psk = new byte[PskSecurity.PSK_BYTES];
        new SecureRandom().nextBytes(psk);
        return Files.writeString(file, HexFormat.of().formatHex(psk) + "\n");
    }
}
