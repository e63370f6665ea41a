// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.SpecFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Fields stand where the specification says, are read as written, and do not touch one another. */
class FieldLayoutTest {
    static final List<Class<?>> HEADERS = Fields.HEADERS;
    private static final Map<String, Integer> SIZE = Map.of("u8", 1, "u16", 2, "u24", 3, "u32", 4, "u64", 8);

    @ParameterizedTest
    @FieldSource("HEADERS")
    void everyFieldIsReadAsWritten(Class<?> header) {
        Random random = new Random(header.getName().hashCode());
        for (Fields.Accessor field : Fields.of(header)) {
            int bytes = footprint(header, field).cardinality();
            Datagram d = Datagram.ofLength(Fields.lengthOf(header));
            for (int round = 0; round < 200; round++) {
                long mask = bytes == Long.BYTES ? -1 : (1L << 8 * bytes) - 1;
                long value = random.nextLong() & mask;
                field.set(d.at(), value);
                assertEquals(value, field.get(d.at()) & mask, field.name());
            }
            assertTrue(d.guardIs((byte) 0), field.name());
        }
    }

    /** Bytes that setting the field to all ones changes. */
    private static BitSet footprint(Class<?> header, Fields.Accessor field) {
        Datagram d = Datagram.ofLength(Fields.lengthOf(header));
        field.set(d.at(), -1);
        byte[] bytes = d.bytes();
        BitSet changed = new BitSet();
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] != 0) {
                changed.set(i);
            }
        }
        assertEquals(field.offset(), changed.nextSetBit(0), field.name());
        assertEquals(changed.cardinality(), changed.length() - field.offset(), field.name() + " is in one piece");
        return changed;
    }

    @ParameterizedTest
    @FieldSource("HEADERS")
    void fieldsThatDoNotShareTheirOffsetDoNotOverlap(Class<?> header) {
        List<Fields.Accessor> fields = Fields.of(header);
        for (Fields.Accessor a : fields) {
            for (Fields.Accessor b : fields) {
                boolean overlap = footprint(header, a).intersects(footprint(header, b));
                assertEquals(a.offset() == b.offset(), overlap, a.name() + " and " + b.name());
            }
        }
    }

    @ParameterizedTest
    @FieldSource("HEADERS")
    @Requirement("MR-GEN-001")
    void headersBeginWithThePrefix(Class<?> header) {
        if (Fields.BLOCKS.contains(header)) {
            return;
        }
        for (String name : List.of("checksum", "versionType", "flags", "destinationCid")) {
            assertEquals(Fields.of(Prefix.class, name).offset(), Fields.of(header, name).offset(), name);
        }
    }

    /** Reads the tables of the specification and looks for a field of each offset and size. */
    @Test
    @Requirement("MR-GEN-001")
    void fieldsStandWhereTheSpecificationSays() throws IOException {
        Map<String, Class<?>> sections = new HashMap<>(Map.of("Common prefix", Prefix.class, "Data packet", DataHeader.class, "Acknowledgement", AckHeader.class,
                "Path block", PathBlock.class, "Control block", ControlBlock.class, "Probe", ProbeHeader.class, "Close", CloseHeader.class,
                "INIT", InitHeader.class, "CHALLENGE", ChallengeHeader.class, "ACCEPT", AcceptHeader.class));
        sections.put("Parity packet", ParityHeader.class);
        sections.put("Entry of a packet:", ParityEntry.class);
        sections.put("Park", ParkHeader.class);
        sections.put("Plane", PlaneHeader.class);
        sections.put("REFUSE", RefuseHeader.class);
        Class<?> header = null;
        int compared = 0;
        for (String line : Files.readAllLines(SpecFiles.directory().resolve("02-packets.md"))) {
            if (line.startsWith("#") || sections.containsKey(line)) {
                header = sections.get(line.replaceFirst("#+ ", ""));
            }
            Matcher row = Pattern.compile("\\| (\\d+) \\| (u8|u16|u24|u32|u64) \\| ([^|]+) \\|.*").matcher(line);
            if (header != null && row.matches() && !row.group(3).isBlank() && !row.group(3).equals("reserved")) {
                int offset = Integer.parseInt(row.group(1));
                int size = SIZE.get(row.group(2));
                Class<?> in = header;
                assertTrue(Fields.of(in).stream().anyMatch(f -> f.offset() == offset && footprint(in, f).cardinality() == size),
                        () -> in.getSimpleName() + " has no field like: " + line);
                compared++;
            }
        }
        assertTrue(compared >= 60, "only " + compared + " rows found");
    }

    @Test
    void lengthsAreThoseOfTheSpecification() {
        assertEquals(List.of(12, 64, 20, 16, 16, 32, 64, 12, 20, 20, 48, 48, 40, 32, 28, 36), HEADERS.stream().map(Fields::lengthOf).toList());
        assertEquals(916, AckHeader.MAX_LENGTH);
    }

    @Test
    void layoutCheckFindsGapsAndOverlaps() {
        Layout.check("fits", 4, 0, 1, 1, 1, 2, 2);
        assertThrows(IllegalStateException.class, () -> Layout.check("gap", 4, 0, 1, 2, 2));
        assertThrows(IllegalStateException.class, () -> Layout.check("overlap", 4, 0, 2, 1, 2));
        assertThrows(IllegalStateException.class, () -> Layout.check("short", 8, 0, 4));
    }

    @Test
    @Requirement("MR-GEN-004")
    void prefixWriteClearsWhatItDoesNotSet() {
        Datagram d = new Datagram(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1});
        Prefix.write(d.at(), Type.DATA, 0x01020304);
        assertEquals("000000001500000001020304", d.hex());
        assertEquals(1, Prefix.version(d.at()));
        assertEquals(Type.DATA, Prefix.type(d.at()));
    }

    @Test
    void pathNumbersHoldPlaneAndIndex() {
        for (int plane = 0; plane < 8; plane++) {
            for (int index = 0; index < 256; index++) {
                int path = DataHeader.pathOf(plane, index);
                assertEquals(plane, DataHeader.planeOf(path));
                assertEquals(index, DataHeader.indexOf(path));
            }
        }
    }

    @Test
    @Requirement("MR-PKT-016")
    void cumulativeIsFoundNextToTheNextPsn() {
        Random random = new Random(24);
        Datagram d = Datagram.ofLength(PathBlock.SHORT_LENGTH);
        for (int round = 0; round < 10_000; round++) {
            int next = random.nextInt();
            int distance = round < 4 ? new int[] {0, 1, -(1 << 23), (1 << 23) - 1}[round] : random.nextInt(-(1 << 23), 1 << 23);
            PathBlock.index(d.at(), round & 0xff);
            PathBlock.cumulative(d.at(), next + distance);
            assertEquals(next + distance, PathBlock.cumulativeNear(d.at(), next));
            assertEquals(round & 0xff, PathBlock.index(d.at()));
        }
    }
}
