// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ChecksumTest {
    private final Checksum checksum = new Checksum();

    static Stream<Vector> wellFormed() {
        return Vector.wellFormed().stream().filter(v -> v.get("checksum").equals("right"));
    }

    /** The first is the usual check value of CRC32C; the others are the examples of RFC 3720, appendix B.4. */
    @ParameterizedTest
    @CsvSource({
        "313233343536373839, e3069283",
        "0000000000000000000000000000000000000000000000000000000000000000, 8a9136aa",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff, 62a8ab43",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f, 46dd794e",
        "1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100, 113fdb5c",
        "01c000000000000000000000000000001400000000000400000000140000001828000000000000000200000000000000, d9963a56"})
    @Requirement("MR-CRC-001")
    void knownValues(String hex, String crc) {
        Datagram d = Datagram.ofHex(hex);
        assertEquals(Integer.parseUnsignedInt(crc, 16), checksum.of(d.at(), d.length));
    }

    @Test
    void twoPiecesAreLikeOne() {
        Random random = new Random(20);
        byte[] bytes = new byte[5000];
        random.nextBytes(bytes);
        Datagram d = new Datagram(bytes);
        int whole = checksum.of(d.at(), d.length);
        for (int cut : new int[] {0, 1, 4, 60, 64, 4999, 5000}) {
            assertEquals(whole, checksum.of(d.at(), cut, d.at() + cut, d.length - cut), "cut at " + cut);
        }
        assertEquals(0, checksum.of(d.at(), 0));
        assertEquals(0, checksum.of(0, 0, 0, 0), "addresses of empty pieces are not used");
    }

    @Test
    @Requirement("MR-CRC-001")
    void fieldOfTwoPiecesIsThatOfOne() {
        Datagram d = Datagram.ofLength(164);
        for (int i = 0; i < d.length; i++) {
            Bytes.putByte(d.at() + i, i * 7);
        }
        int tag = 0x13572468;
        assertEquals(checksum.field(d.at(), d.length, tag), checksum.field(d.at(), 64, d.at() + 64, 100, tag));
        assertEquals(checksum.of(d.at() + 4, 160) ^ tag, checksum.field(d.at(), d.length, tag));
        assertEquals(checksum.field(d.at(), 64, tag), checksum.field(d.at(), 64, d.at() + 64, 0, tag));
    }

    /** Any single bit error of a covered byte is found, one of a byte not covered is not. */
    @ParameterizedTest
    @MethodSource("wellFormed")
    @Requirement({"MR-CRC-002", "MR-CRC-003"})
    void everyCoveredBitCounts(Vector v) {
        Datagram d = v.datagram();
        int covered = Checksum.coveredLength(d.at(), d.length, v.isFull());
        int right = Prefix.checksum(d.at());
        for (int bit = 8 * Checksum.COVERAGE_START; bit < 8 * d.length; bit++) {
            long at = d.at() + bit / 8;
            Bytes.putByte(at, Bytes.getU8(at) ^ 1 << bit % 8);
            int now = checksum.field(d.at(), covered, v.tag());
            if (bit / 8 < covered) {
                assertNotEquals(right, now, "bit " + bit);
            } else {
                assertEquals(right, now, "bit " + bit);
            }
            Bytes.putByte(at, Bytes.getU8(at) ^ 1 << bit % 8);
        }
    }

    @Test
    @Requirement({"MR-CRC-001", "MR-CRC-003"})
    void coverageByIntegrityAndOpcode() {
        Datagram d = Datagram.ofLength(DataHeader.LENGTH + 8);
        Prefix.write(d.at(), Type.DATA, 1);
        for (int opcode = Opcode.WRITE; opcode <= Opcode.ATOMIC_RESPONSE; opcode++) {
            DataHeader.opcode(d.at(), opcode);
            assertEquals(d.length, Checksum.coveredLength(d.at(), d.length, true));
            assertEquals(Opcode.fixedPayload(opcode) != 0 ? d.length : DataHeader.LENGTH, Checksum.coveredLength(d.at(), d.length, false));
        }
        Prefix.write(d.at(), Type.ACK, 1);
        assertEquals(d.length, Checksum.coveredLength(d.at(), d.length, false));

        Datagram parity = Datagram.ofLength(ParityHeader.LENGTH + 2 * ParityEntry.LENGTH + 8);
        Prefix.write(parity.at(), Type.PARITY, 1);
        ParityHeader.count(parity.at(), 2);
        for (boolean full : new boolean[] {true, false}) {
            assertEquals(parity.length - 8, Checksum.coveredLength(parity.at(), parity.length, full), "each packet's payload has its own");
        }
    }

    /**
     * Memory of a DPDK port and of a program lie far apart, where exactly is chance. Two places that displaced each other's view made
     * new ones for each packet: 50 MB a second.
     */
    @Test
    void takesTurnsBetweenAnyPlacesWithoutAllocation(@TempDir Path directory) throws IOException {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long window = 1L << 29;
        int windows = 40;
        try (Arena arena = Arena.ofConfined(); FileChannel sparse = FileChannel.open(directory.resolve("sparse"), CREATE_NEW, READ, WRITE)) {
            long at = sparse.map(FileChannel.MapMode.READ_WRITE, 0, windows * window, arena).address();
            for (int w = 0; w < windows; w++) {
                Bytes.putByte(at + w * window, w);
            }
            int[] first = new int[windows];
            for (int w = 0; w < windows; w++) {
                first[w] = checksum.of(at + w * window, 1);
            }
            assertEquals(windows, Arrays.stream(first).distinct().count(), "of different bytes");
            int wrong = 0;
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int round = 0; round < 20; round++) {
                for (int w = 0; w < windows; w++) {
                    wrong += checksum.of(at + w * window, 1) == first[w] ? 0 : 1;
                }
            }
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            assertEquals(0, wrong);
            assertTrue(allocated < 2_000, allocated + " B for " + 20 * windows + " checksums");
        }
    }
}
