// SPDX-License-Identifier: Apache-2.0
package io.metaroce.crypto;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.metaroce.Requirement;
import io.metaroce.SteadyState;
import io.metaroce.bindings.crypto.LibcryptoCalls;
import io.metaroce.wire.SealedHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** libcrypto's ciphers against the JDK's: the same bytes, the same refusals, and no garbage. */
class CiphersTest {
    private static final int ROOM = SealedHeader.MAX_DATAGRAM + 64;

    private final SplittableRandom random = new SplittableRandom(11);
    private final Arena arena = Arena.ofShared();
    private final MemorySegment header = arena.allocate(SealedHeader.LENGTH);
    private final MemorySegment plain = arena.allocate(ROOM);
    private final MemorySegment sealed = arena.allocate(ROOM);
    private final MemorySegment other = arena.allocate(ROOM);
    private final MemorySegment opened = arena.allocate(ROOM);
    private final Ciphers jdk = new JdkCiphers("a test");
    private Ciphers libcrypto;

    @BeforeEach
    void load() {
        if (LibcryptoCalls.missing() != null) {
            System.err.println("NOT RUN: tests of libcrypto's ciphers: " + LibcryptoCalls.missing());
        }
        assumeTrue(LibcryptoCalls.missing() == null, LibcryptoCalls::missing);
        libcrypto = new LibcryptoCiphers();
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private byte[] bytes(int n) {
        byte[] b = new byte[n];
        random.nextBytes(b);
        return b;
    }

    private static byte[] content(MemorySegment m, int n) {
        return m.asSlice(0, n).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    @Requirement("MR-SEAL-010")
    void bothGiveTheSameBytes() {
        byte[] key = bytes(Ciphers.KEY_BYTES);
        byte[] iv = bytes(Ciphers.IV_BYTES);
        Ciphers.Key[] seal = {jdk.sealing(key, iv), libcrypto.sealing(key, iv)};
        Ciphers.Key[] open = {jdk.opening(key, iv), libcrypto.opening(key, iv)};
        for (int round = 0; round < 2_000; round++) {
            int longest = round % 10 == 0 ? SealedHeader.MAX_DATAGRAM - SealedHeader.OVERHEAD : 300;
            int first = 4 + random.nextInt(100);
            int second = random.nextInt(3) == 0 ? 0 : random.nextInt(longest - first);
            int at = random.nextInt(16);
            int lane = random.nextInt(0x10000);
            int number = random.nextInt();
            plain.copyFrom(MemorySegment.ofArray(bytes(at + first + second)));
            header.copyFrom(MemorySegment.ofArray(bytes(SealedHeader.LENGTH)));
            long from = plain.address() + at;
            int n = first + second + SealedHeader.TAG_LENGTH;
            seal[0].seal(header.address(), lane, number, from, first, from + first, second, sealed.address());
            seal[1].seal(header.address(), lane, number, from, first, from + first, second, other.address());
            assertArrayEquals(content(sealed, n), content(other, n), "round " + round);
            for (Ciphers.Key k : open) {
                opened.fill((byte) 0);
                assertTrue(k.open(header.address(), lane, number, sealed.address(), n, opened.address()), "round " + round);
                assertEquals(-1, opened.asSlice(0, first + second).mismatch(plain.asSlice(at, first + second)));
                assertEquals(0, opened.get(ValueLayout.JAVA_LONG_UNALIGNED, first + second), "nothing behind it");
            }
        }
    }

    @Test
    @Requirement({"MR-SEAL-024", "MR-SEAL-025"})
    void bothRefuseWhatWasTouchedAndLeaveNoPlaintext() {
        byte[] key = bytes(Ciphers.KEY_BYTES);
        byte[] iv = bytes(Ciphers.IV_BYTES);
        for (Ciphers c : new Ciphers[] {jdk, libcrypto}) {
            Ciphers.Key seal = c.sealing(key, iv);
            Ciphers.Key open = c.opening(key, iv);
            int n = 200 + SealedHeader.TAG_LENGTH;
            plain.copyFrom(MemorySegment.ofArray(bytes(200)));
            header.copyFrom(MemorySegment.ofArray(bytes(SealedHeader.LENGTH)));
            seal.seal(header.address(), 3, 5, plain.address(), 60, plain.address() + 60, 140, sealed.address());
            for (int bit = 0; bit < 8 * (n + SealedHeader.LENGTH); bit += 3) {
                MemorySegment m = bit < 8 * n ? sealed : header;
                int at = (bit < 8 * n ? bit : bit - 8 * n) / 8;
                m.set(ValueLayout.JAVA_BYTE, at, (byte) (m.get(ValueLayout.JAVA_BYTE, at) ^ 1 << bit % 8));
                opened.fill((byte) 0);
                assertFalse(open.open(header.address(), 3, 5, sealed.address(), n, opened.address()), c.description() + ", bit " + bit);
                assertArrayEquals(new byte[n], content(opened, n), "plaintext of a forgery");
                m.set(ValueLayout.JAVA_BYTE, at, (byte) (m.get(ValueLayout.JAVA_BYTE, at) ^ 1 << bit % 8));
            }
            assertFalse(open.open(header.address(), 3, 6, sealed.address(), n, opened.address()));
            assertFalse(open.open(header.address(), 4, 5, sealed.address(), n, opened.address()));
            assertFalse(open.open(header.address(), 3, 5, sealed.address(), n - 1, opened.address()));
            assertFalse(c.opening(bytes(Ciphers.KEY_BYTES), iv).open(header.address(), 3, 5, sealed.address(), n, opened.address()));
            // Refusals leave the key as it was.
            assertTrue(open.open(header.address(), 3, 5, sealed.address(), n, opened.address()));
            assertEquals(-1, opened.asSlice(0, 200).mismatch(plain.asSlice(0, 200)));
            seal.forget();
            open.forget();
            open.forget();
        }
    }

    @Test
    void libcryptoMakesNoGarbage() {
        Ciphers.Key seal = libcrypto.sealing(new byte[Ciphers.KEY_BYTES], new byte[Ciphers.IV_BYTES]);
        Ciphers.Key open = libcrypto.opening(new byte[Ciphers.KEY_BYTES], new byte[Ciphers.IV_BYTES]);
        int[] number = new int[1];
        assertEquals(0, SteadyState.bytesAPiece(0, () -> {
            for (int i = 0; i < 5_000; i++, number[0]++) {
                seal.seal(header.address(), 1, number[0], plain.address(), 60, plain.address() + 64, 256, sealed.address());
                if (!open.open(header.address(), 1, number[0] + (i & 7), sealed.address(), 60 + 256 + SealedHeader.TAG_LENGTH, opened.address()) && (i & 7) == 0) {
                    throw new AssertionError("does not open");
                }
            }
            return 5_000;
        }), "bytes a packet");
    }

    @Test
    void theChoiceIsNamedAndCanBeForced() {
        assertInstanceOf(LibcryptoCiphers.class, Ciphers.choose());
        assertTrue(Ciphers.choose().description().matches("libcrypto \\(OpenSSL 3.*\\)"), Ciphers.choose().description());
        String before = System.getProperty("metaroce.crypto");
        try {
            System.setProperty("metaroce.crypto", "jdk");
            assertInstanceOf(JdkCiphers.class, Ciphers.choose());
            assertTrue(new PskSecurity(new byte[PskSecurity.PSK_BYTES]).description().startsWith("the JDK ("));
        } finally {
            if (before == null) {
                System.clearProperty("metaroce.crypto");
            } else {
                System.setProperty("metaroce.crypto", before);
            }
        }
    }

    @Test
    void aKeyOfTheWrongLengthIsRefused() {
        assertThrows(RuntimeException.class, () -> libcrypto.sealing(new byte[16], new byte[Ciphers.IV_BYTES]));
        assertThrows(RuntimeException.class, () -> libcrypto.sealing(new byte[Ciphers.KEY_BYTES], new byte[8]));
    }
}
