// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every vector of {@code spec/vectors} decodes to its fields, and its fields encode to its bytes. */
class VectorTest {
    private final Checksum checksum = new Checksum();

    static Stream<Vector> wellFormed() {
        return Vector.wellFormed().stream();
    }

    static Stream<Vector> encodable() {
        return wellFormed().filter(Vector::isEncodable);
    }

    static Stream<Vector> parities() {
        return Vector.read("parity.txt").stream();
    }

    static Stream<Vector> malformed() {
        return Vector.read("malformed.txt").stream();
    }

    @ParameterizedTest
    @MethodSource("wellFormed")
    @Requirement({"MR-GEN-001", "MR-GEN-005", "MR-GEN-006", "MR-PKT-010", "MR-PKT-012"})
    void decodesToItsFields(Vector v) {
        Datagram d = v.datagram();
        assertEquals("NONE", Malformation.name(d.check()));
        Class<?> header = Fields.headerOf(Prefix.type(d.at()));
        checkFields(v, "field.", header, d.at());
        if (v.values().containsKey("payload")) {
            assertEquals(v.get("payload"), d.hex().substring(2 * DataHeader.LENGTH));
            checkFixedPayload(v.get("payload"), d.at());
        }
        if (header == AckHeader.class) {
            decodeBlocks(v, d.at());
            assertEquals(v.values().getOrDefault("follower", ""), d.hex().substring(2 * AckHeader.length(d.at())));
        }
        if (header == ParityHeader.class) {
            for (int i = 0; i < ParityHeader.count(d.at()); i++) {
                checkFields(v, "entry" + i + ".", ParityEntry.class, ParityEntry.at(d.at() + ParityHeader.LENGTH, i));
            }
        }
        if (header == InitHeader.class || header == AcceptHeader.class) {
            decodeTlvs(v, d.at() + Fields.lengthOf(header), d.length - Fields.lengthOf(header));
        }
        if (header == RefuseHeader.class) {
            byte[] text = Arrays.copyOfRange(d.bytes(), RefuseHeader.LENGTH, d.length);
            assertEquals(v.values().getOrDefault("text", ""), new String(text, StandardCharsets.UTF_8));
        }
    }

    private static void checkFixedPayload(String payload, long at) {
        List<Long> words = switch (DataHeader.opcode(at)) {
            case Opcode.READ_REQUEST -> List.of(DataHeader.ownRequestId(at));
            case Opcode.COMPARE_SWAP -> List.of(DataHeader.ownRequestId(at), DataHeader.operand(at), DataHeader.compare(at));
            case Opcode.FETCH_ADD -> List.of(DataHeader.ownRequestId(at), DataHeader.operand(at));
            case Opcode.ATOMIC_RESPONSE -> List.of(DataHeader.original(at));
            default -> List.of();
        };
        assertEquals(8 * words.size(), Opcode.fixedPayload(DataHeader.opcode(at)));
        if (!words.isEmpty()) {
            assertEquals(payload, words.stream().map(w -> "%016x".formatted(w)).reduce("", String::concat));
        }
    }

    private static void checkFields(Vector v, String prefix, Class<?> header, long at) {
        for (Map.Entry<String, Long> field : v.numbers(prefix).entrySet()) {
            if (field.getKey().matches("word\\d+")) {
                int i = Integer.parseInt(field.getKey().substring(4));
                assertEquals(field.getValue(), PathBlock.word(at, i), v + " " + prefix + field.getKey());
                continue;
            }
            long read = Fields.of(header, field.getKey()).get(at);
            // Serial numbers and identifiers are read as signed ints: compare their bits.
            assertTrue(read == field.getValue() || (int) read == (int) (long) field.getValue() && read == (int) read,
                    () -> v + " " + prefix + field.getKey() + " is " + read);
        }
    }

    private static void decodeBlocks(Vector v, long at) {
        long block = at + AckHeader.LENGTH;
        for (int i = 0; i < AckHeader.pathBlocks(at); i++) {
            checkFields(v, "block" + i + ".", PathBlock.class, block);
            block += PathBlock.length(block, AckHeader.isLong(at, i));
        }
        for (int i = 0; i < AckHeader.controlBlocks(at); i++) {
            checkFields(v, "control" + i + ".", ControlBlock.class, block);
            block += ControlBlock.LENGTH;
        }
    }

    private static void decodeTlvs(Vector v, long at, int bytes) {
        Tlv.Reader reader = new Tlv.Reader();
        reader.open(at, bytes);
        for (int i = 0; v.values().containsKey("tlv" + i + ".type"); i++) {
            int type = (int) Vector.number(v.get("tlv" + i + ".type"));
            if (type == Tlv.PAD) {
                continue;
            }
            assertTrue(reader.next(), () -> v + " has too few TLVs");
            assertEquals(type, reader.type());
            assertEquals(Vector.number(v.get("tlv" + i + ".length")), reader.length());
            assertEquals(v.values().getOrDefault("tlv" + i + ".value", "00".repeat(reader.length())), valueOf(reader));
        }
        assertFalse(reader.next());
        assertFalse(reader.malformed());
    }

    private static String valueOf(Tlv.Reader reader) {
        byte[] value = new byte[reader.length()];
        for (int i = 0; i < value.length; i++) {
            value[i] = (byte) Bytes.getU8(reader.value() + i);
        }
        return HexFormat.of().formatHex(value);
    }

    /** The payload of a Parity packet and those of all packets but one leave that one, and header and entry what is needed to take it. */
    @ParameterizedTest
    @MethodSource("parities")
    @Requirement("MR-PKT-015")
    void everyPacketIsMadeOfTheOthers(Vector v) {
        Datagram parity = v.datagram();
        int count = ParityHeader.count(parity.at());
        for (int i = 0; i < count; i++) {
            Datagram d = v.datagram();
            int payload = ParityHeader.length(d.at());
            for (int other = 0; other < count; other++) {
                if (other != i) {
                    xor(v, other, d.at() + payload);
                }
            }
            ParityHeader.toData(d.at(), ParityEntry.at(d.at() + ParityHeader.LENGTH, i), i);
            int length = DataHeader.payloadLength(d.at());
            assertEquals(v.get("packet" + i), d.hex().substring(2 * payload, 2 * (payload + length)));
            Datagram made = Datagram.ofHex(d.hex().substring(0, 2 * DataHeader.LENGTH) + v.get("packet" + i));
            assertEquals("NONE", Malformation.name(made.check()));
            int bytes = i * ParityHeader.packetBytes(parity.at());
            assertEquals(DataHeader.ssn(parity.at()) + i, DataHeader.ssn(made.at()));
            assertEquals(DataHeader.remoteAddress(parity.at()) + bytes, DataHeader.remoteAddress(made.at()));
            assertEquals(DataHeader.offset(parity.at()) + (DataHeader.opcode(made.at()) == Opcode.WRITE ? bytes : 0), DataHeader.offset(made.at()));

            Datagram told = Datagram.ofLength(ParityEntry.LENGTH);
            ParityEntry.write(told.at(), made.at(), checksum.of(made.at() + DataHeader.LENGTH, length));
            int from = 2 * (ParityHeader.LENGTH + i * ParityEntry.LENGTH);
            assertEquals(parity.hex().substring(from, from + 2 * ParityEntry.LENGTH), told.hex());
        }
    }

    private static void xor(Vector v, int packet, long payload) {
        Datagram d = Datagram.ofHex(v.get("packet" + packet));
        Bytes.xor(d.at(), payload, d.length);
    }

    @ParameterizedTest
    @MethodSource("encodable")
    @Requirement({"MR-CRC-001", "MR-CRC-003", "MR-GEN-004"})
    void encodesToItsBytes(Vector v) {
        Datagram expected = v.datagram();
        Datagram d = Datagram.ofLength(expected.length);
        long at = d.at();
        Class<?> header = Fields.headerOf((int) Vector.number(v.get("field.versionType")) & 0xf);
        setFields(v, "field.", header, at);
        long end = at + Fields.lengthOf(header);
        if (v.values().containsKey("payload")) {
            put(end, HexFormat.of().parseHex(v.get("payload")));
        }
        if (v.values().containsKey("text")) {
            put(end, v.get("text").getBytes(StandardCharsets.UTF_8));
        }
        if (v.values().containsKey("echo")) {
            put(at + ResetHeader.ECHO, HexFormat.of().parseHex(v.get("echo")));
        }
        if (header == AckHeader.class) {
            put(encodeBlocks(v, at, end), HexFormat.of().parseHex(v.values().getOrDefault("follower", "")));
        }
        if (header == ParityHeader.class) {
            for (int i = 0; i < ParityHeader.count(at); i++) {
                setFields(v, "entry" + i + ".", ParityEntry.class, ParityEntry.at(end, i));
                xor(v, i, at + ParityHeader.length(at));
            }
        }
        encodeTlvs(v, end);
        Prefix.checksum(at, checksum.field(at, Checksum.coveredLength(at, d.length, v.isFull()), v.tag()));
        assertEquals(expected.hex(), d.hex());
        assertTrue(d.guardIs((byte) 0), "wrote beyond the datagram");
    }

    private static void setFields(Vector v, String prefix, Class<?> header, long at) {
        v.numbers(prefix).forEach((name, value) -> {
            if (name.matches("word\\d+")) {
                PathBlock.word(at, Integer.parseInt(name.substring(4)), value);
            } else {
                Fields.of(header, name).set(at, value);
            }
        });
    }

    /** Returns the end of the blocks. */
    private static long encodeBlocks(Vector v, long at, long end) {
        long block = end;
        for (int i = 0; i < AckHeader.pathBlocks(at); i++) {
            setFields(v, "block" + i + ".", PathBlock.class, block);
            block += PathBlock.length(block, AckHeader.isLong(at, i));
        }
        for (int i = 0; i < AckHeader.controlBlocks(at); i++) {
            setFields(v, "control" + i + ".", ControlBlock.class, block);
            block += ControlBlock.LENGTH;
        }
        return block;
    }

    private static void encodeTlvs(Vector v, long at) {
        long end = at;
        for (int i = 0; v.values().containsKey("tlv" + i + ".type"); i++) {
            int length = (int) Vector.number(v.get("tlv" + i + ".length"));
            Bytes.putByte(end, (int) Vector.number(v.get("tlv" + i + ".type")));
            Bytes.putShort(end + 2, length);
            put(end + Tlv.HEADER_LENGTH, HexFormat.of().parseHex(v.values().getOrDefault("tlv" + i + ".value", "")));
            end += Tlv.sizeOf(length);
        }
    }

    private static void put(long at, byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            Bytes.putByte(at + i, bytes[i]);
        }
    }

    @ParameterizedTest
    @MethodSource("wellFormed")
    @Requirement({"MR-CRC-001", "MR-CRC-003"})
    void checksumIsAsStated(Vector v) {
        Datagram d = v.datagram();
        int covered = Checksum.coveredLength(d.at(), d.length, v.isFull());
        boolean right = checksum.field(d.at(), covered, v.tag()) == Prefix.checksum(d.at());
        assertEquals(v.get("checksum").equals("right"), right);
        boolean rightWithOtherTag = checksum.field(d.at(), covered, v.tag() ^ 0x10000) == Prefix.checksum(d.at());
        assertFalse(rightWithOtherTag, "a wrong tag must not pass");
    }

    @ParameterizedTest
    @MethodSource("malformed")
    @Requirement({"MR-ENC-001", "MR-PKT-003", "MR-PKT-004", "MR-PKT-005", "MR-PKT-008", "MR-PKT-011", "MR-PKT-013", "MR-PKT-015", "MR-PKT-020", "MR-PKT-021", "MR-PKT-041", "MR-PKT-042", "MR-PKT-043", "MR-PKT-044", "MR-PKT-045",
        "MR-PKT-046", "MR-PKT-047", "MR-PKT-048", "MR-PKT-049", "MR-PKT-050", "MR-PKT-051", "MR-PKT-052", "MR-PKT-053", "MR-PKT-054", "MR-PKT-055", "MR-PKT-056",
        "MR-PKT-057", "MR-PKT-058", "MR-PKT-059", "MR-PKT-060", "MR-CON-002"})
    void malformedIsFound(Vector v) {
        Datagram d = v.datagram();
        assertEquals(v.get("check"), Malformation.name(d.check()));
        if (d.length >= Prefix.LENGTH) {
            int covered = Prefix.type(d.at()) == Type.PARITY ? Math.min(ParityHeader.length(d.at()), d.length) : d.length;
            assertEquals(Prefix.checksum(d.at()), checksum.field(d.at(), covered, v.tag()), "only the malformation is to be wrong");
        }
    }

    @Test
    void everyMalformationAndTypeAndOpcodeHasAVector() {
        TreeSet<String> checks = new TreeSet<>();
        malformed().forEach(v -> checks.add(v.get("check")));
        for (int code = 1; code < Malformation.COUNT; code++) {
            assertTrue(checks.contains(Malformation.name(code)), Malformation.name(code));
        }
        TreeSet<Integer> types = new TreeSet<>();
        TreeSet<Integer> opcodes = new TreeSet<>();
        encodable().forEach(v -> {
            long at = v.datagram().at();
            types.add(Prefix.type(at));
            if (Prefix.type(at) == Type.DATA) {
                opcodes.add(DataHeader.opcode(at));
            }
        });
        assertEquals(14, types.size());
        assertEquals(10, opcodes.size());
    }
}
