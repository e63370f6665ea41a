// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Validation over truncated, extended and random datagrams. */
class ValidateTest {
    static Stream<Vector> all() {
        return Stream.concat(Vector.wellFormed().stream(), Vector.read("malformed.txt").stream());
    }

    static Stream<Vector> wellFormed() {
        return Vector.wellFormed().stream();
    }

    /** Each datagram, cut at every length, lies at the very end of memory: a read beyond it would be an error. */
    @Test
    @Requirement("MR-PKT-031")
    void nothingBeyondTheLengthIsRead() throws IOException {
        try (CliffEdge edge = new CliffEdge()) {
            assertThrows(InternalError.class, () -> touch(edge.place(new byte[4], 4) + 4), "the edge must be one");
            Tlv.Reader reader = new Tlv.Reader();
            for (Vector v : all().toList()) {
                byte[] whole = v.datagram().bytes();
                for (int length = 0; length <= whole.length; length += length < 1100 ? 1 : 997) {
                    Validate.check(edge.place(whole, length), length);
                    walk(reader, edge, whole, length);
                }
            }
        }
    }

    /** The tail of the datagram as TLVs, well formed or not. */
    private static void walk(Tlv.Reader reader, CliffEdge edge, byte[] whole, int length) {
        int tail = Math.min(length, 60);
        reader.open(edge.place(whole, length) + length - tail, tail);
        while (reader.next()) {
            reader.u32();
            reader.u64();
            reader.text();
        }
    }

    private static void touch(long address) {
        Bytes.getU8(address);
    }

    /** Whatever stands behind the datagram must not matter: so nothing behind it was read into the verdict. */
    @ParameterizedTest
    @MethodSource("all")
    @Requirement("MR-PKT-031")
    void bytesBehindTheLengthDoNotMatter(Vector v) {
        byte[] whole = v.datagram().bytes();
        for (int length = 0; length <= whole.length; length += length < 1100 ? 1 : 997) {
            byte[] cut = Arrays.copyOf(whole, length);
            int zeros = new Datagram(cut, (byte) 0).check();
            assertEquals(zeros, new Datagram(cut, (byte) 0xff).check(), "length " + length);
            assertEquals(zeros, new Datagram(cut, (byte) 0x01).check(), "length " + length);
        }
    }

    @ParameterizedTest
    @MethodSource("wellFormed")
    @Requirement({"MR-PKT-041", "MR-PKT-044"})
    void everyTruncationIsMalformed(Vector v) {
        byte[] whole = v.datagram().bytes();
        // The padding of a probe may have any length.
        int least = Prefix.type(v.datagram().at()) == Type.PROBE ? ProbeHeader.LENGTH : whole.length;
        for (int length = 0; length < least; length++) {
            int code = new Datagram(Arrays.copyOf(whole, length)).check();
            assertTrue(code == Malformation.TOO_SHORT || code == Malformation.LENGTH_MISMATCH, "length " + length + ": " + Malformation.name(code));
        }
    }

    @ParameterizedTest
    @MethodSource("wellFormed")
    @Requirement("MR-PKT-044")
    void everyExtensionIsMalformed(Vector v) {
        byte[] whole = v.datagram().bytes();
        if (Prefix.type(v.datagram().at()) == Type.PROBE) {
            whole = Arrays.copyOf(whole, ProbeHeader.MAX_DATAGRAM);
        }
        for (int more = 1; more <= 16; more++) {
            assertEquals(Malformation.LENGTH_MISMATCH, new Datagram(Arrays.copyOf(whole, whole.length + more)).check(), more + " bytes more");
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void validationChangesNothing(Vector v) {
        Datagram d = v.datagram();
        byte[] before = d.bytes();
        d.check();
        assertArrayEquals(before, d.bytes());
    }

    /** Random changes of good datagrams: the verdict is always a known code, and what passes can be walked within its length. */
    @Test
    @Requirement({"MR-PKT-030", "MR-PKT-031"})
    void mutatedDatagramsAreEitherMalformedOrSafe() {
        Random random = new Random(42);
        byte[][] seeds = wellFormed().map(v -> v.datagram().bytes()).toArray(byte[][]::new);
        int passed = 0;
        for (int round = 0; round < 40_000; round++) {
            byte[] bytes = seeds[random.nextInt(seeds.length)].clone();
            for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
                bytes[4 + random.nextInt(bytes.length - 4)] = (byte) random.nextInt();
            }
            Datagram d = new Datagram(bytes);
            int code = d.check();
            assertTrue(code >= 0 && code < Malformation.COUNT);
            if (code == 0) {
                passed++;
                assertTrue(walk(d) <= d.length, () -> "seed 42: " + d.hex());
            }
        }
        assertTrue(passed > 1_000, "too few passed to prove anything: " + passed);
    }

    /** Returns where the datagram ends by its own fields. */
    private static int walk(Datagram d) {
        long at = d.at();
        return switch (Prefix.type(at)) {
            case Type.DATA -> DataHeader.LENGTH + DataHeader.payloadLength(at);
            case Type.ACK -> {
                int end = AckHeader.LENGTH;
                for (int i = 0; i < AckHeader.pathBlocks(at); i++) {
                    end += PathBlock.length(at + end, AckHeader.isLong(at, i));
                }
                yield end + AckHeader.controlBlocks(at) * ControlBlock.LENGTH;
            }
            case Type.PARITY -> ParityHeader.length(at) + ParityHeader.packetBytes(at);
            case Type.INIT -> walkTlvs(at, InitHeader.LENGTH, InitHeader.tlvBytes(at));
            case Type.ACCEPT -> walkTlvs(at, AcceptHeader.LENGTH, AcceptHeader.tlvBytes(at));
            case Type.REFUSE -> RefuseHeader.LENGTH + RefuseHeader.textBytes(at);
            case Type.SEALED -> SealedHeader.MIN_DATAGRAM;
            default -> Fields.lengthOf(Fields.headerOf(Prefix.type(at)));
        };
    }

    private static int walkTlvs(long at, int header, int bytes) {
        Tlv.Reader reader = new Tlv.Reader();
        reader.open(at + header, bytes);
        int end = header;
        while (reader.next()) {
            end = (int) (reader.value() - at) + reader.length();
        }
        assertTrue(!reader.malformed());
        return Math.max(end, header + bytes);
    }

    @Test
    void randomBytesDoNotPass() {
        Random random = new Random(7);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            Datagram d = new Datagram(bytes, (byte) 0xff);
            int code = d.check();
            // A probe, CLOSE, CHALLENGE of just the right length may pass by chance: that is what the checksum is for.
            if (code == 0) {
                assertTrue(walk(d) <= d.length);
            }
        }
    }

    @Test
    @Requirement({"MR-PKT-048", "MR-PKT-049"})
    void limitsOfDataAreInclusive() {
        Datagram longest = Datagram.ofLength(DataHeader.LENGTH + DataHeader.MAX_PAYLOAD);
        long at = longest.at();
        Prefix.write(at, Type.DATA, 1);
        DataHeader.opcode(at, Opcode.WRITE);
        DataHeader.payloadLength(at, DataHeader.MAX_PAYLOAD);
        DataHeader.messageLength(at, DataHeader.MAX_MESSAGE);
        assertEquals(0, longest.check());
        DataHeader.offset(at, DataHeader.MAX_MESSAGE - DataHeader.MAX_PAYLOAD);
        assertEquals(Malformation.BAD_LAST, longest.check());
        Prefix.flags(at, DataHeader.LAST);
        assertEquals(0, longest.check());
        DataHeader.offset(at, DataHeader.MAX_MESSAGE - DataHeader.MAX_PAYLOAD + 1);
        assertEquals(Malformation.BAD_MESSAGE_LENGTH, longest.check());
    }

    @Test
    @Requirement({"MR-PKT-015", "MR-PKT-048", "MR-PKT-049", "MR-PKT-051"})
    void limitsOfParityAreInclusive() {
        int bytes = ParityHeader.MAX_CONTENT - ParityHeader.MAX_ENTRIES;
        int before = DataHeader.MAX_MESSAGE - ParityHeader.MAX_PACKETS * bytes;
        Datagram longest = Datagram.ofLength(16_448);
        long at = longest.at();
        Prefix.write(at, Type.PARITY, 1);
        DataHeader.opcode(at, Opcode.WRITE);
        ParityHeader.count(at, ParityHeader.MAX_PACKETS);
        ParityHeader.packetBytes(at, bytes);
        ParityHeader.lastBytes(at, bytes);
        DataHeader.messageLength(at, DataHeader.MAX_MESSAGE);
        DataHeader.offset(at, before - 1);
        assertEquals(0, longest.check());
        DataHeader.offset(at, before);
        assertEquals(Malformation.BAD_LAST, longest.check());
        long last = ParityEntry.at(at + ParityHeader.LENGTH, ParityHeader.MAX_PACKETS - 1);
        ParityEntry.flags(last, DataHeader.LAST);
        assertEquals(0, longest.check());
        DataHeader.offset(at, before + 1);
        assertEquals(Malformation.BAD_MESSAGE_LENGTH, longest.check());
    }

    @Test
    @Requirement({"MR-PKT-011", "MR-PKT-053"})
    void bitmapBitsAreCheckedAtEverySpan() {
        for (int span = 1; span <= PathBlock.MAX_SPAN; span++) {
            int words = (span + 63) / 64;
            for (int bit = 0; bit < 64 * words; bit++) {
                Datagram d = Datagram.ofLength(AckHeader.LENGTH + PathBlock.length(words));
                Prefix.write(d.at(), Type.ACK, 1);
                AckHeader.pathBlocks(d.at(), 1);
                AckHeader.longBlocks(d.at(), 1);
                long block = d.at() + AckHeader.LENGTH;
                PathBlock.span(block, span);
                PathBlock.words(block, words);
                PathBlock.word(block, bit / 64, 1L << bit);
                int expected = bit == 0 || bit >= span ? Malformation.BAD_BITMAP : 0;
                assertEquals(expected, d.check(), "span " + span + ", bit " + bit);
            }
        }
    }

    @Test
    @Requirement({"MR-PKT-055", "MR-GEN-010"})
    void floorsOfProbesAreComparedAcrossTheWrap() {
        Datagram d = Datagram.ofLength(ProbeHeader.LENGTH);
        long at = d.at();
        Prefix.write(at, Type.PROBE, 1);
        for (int distance = -2; distance <= 258; distance++) {
            ProbeHeader.nextPsn(at, 100);
            ProbeHeader.floor(at, 100 - distance);
            ProbeHeader.floorDistance(at, Math.clamp(distance, 0, 255));
            assertEquals(distance < 0 || distance > 256 ? Malformation.BAD_FLOOR : 0, d.check(), "distance " + distance);
        }
    }

    @Test
    void malformationsHaveDistinctNames() {
        String[] names = new String[Malformation.COUNT];
        for (int i = 0; i < names.length; i++) {
            names[i] = Malformation.name(i);
            assertNotEquals("malformation " + i, names[i]);
        }
        assertEquals(names.length, Arrays.stream(names).distinct().count());
        assertEquals("malformation 21", Malformation.name(Malformation.COUNT));
    }
}
