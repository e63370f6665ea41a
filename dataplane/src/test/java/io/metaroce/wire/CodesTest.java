// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.SpecFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The codes of the Java constants are those of the specification's tables. */
class CodesTest {
    @Test
    void packetTypes() throws IOException {
        assertEquals(15, compare("02-packets.md", "## Packet types", "## ", "\\| (\\d+) \\| ([A-Z_]+) \\|.*", Type::name));
    }

    @Test
    void opcodes() throws IOException {
        assertEquals(10, compare("02-packets.md", "| Opcode | Name", "## ", "\\| (\\d+) \\| ([A-Z_]+) \\|.*", Opcode::name));
    }

    @Test
    void malformations() throws IOException {
        assertEquals(Malformation.COUNT - 1, compare("02-packets.md", "## Malformed datagrams", "## ", "\\| (\\d+) \\| ([A-Z_]+) \\|.*", Malformation::name));
    }

    @Test
    void reasons() throws IOException {
        assertEquals(13, compare("07-limits.md", "### Reasons", "## ", "\\| (\\d+) \\| ([A-Z_]+) \\|.*", Reason::name));
    }

    @Test
    void causes() throws IOException {
        assertEquals(13, compare("07-limits.md", "### Causes", "### ", "(\\d+)\\s+([A-Z_]+)", Cause::name));
        assertEquals(10, compare("06-streams.md", "### Checks", "### ", "\\| (\\d+) ([A-Z_]+) \\|", Cause::name));
    }

    @Test
    void parameters() throws IOException, ReflectiveOperationException {
        String section = section("03-connection.md", "## Parameters", "## ");
        Matcher m = Pattern.compile("\\| (\\d+) \\| ([A-Z_]+) \\|").matcher(section);
        int found = 0;
        for (; m.find(); found++) {
            assertEquals(Integer.parseInt(m.group(1)), Tlv.class.getDeclaredField(m.group(2)).getInt(null), m.group(2));
        }
        assertEquals(Tlv.LAST_DEFINED + 1, found);
    }

    @Test
    void unknownCodesHaveNamesToo() {
        assertEquals("type 0", Type.name(0));
        assertEquals("opcode 200", Opcode.name(200));
        assertEquals("cause 0", Cause.name(0));
        assertEquals("reason 255", Reason.name(255));
    }

    @Test
    void operationsThatUseAReceive() {
        for (int opcode = 0; opcode <= 12; opcode++) {
            boolean uses = opcode == Opcode.WRITE_IMM || opcode == Opcode.SEND || opcode == Opcode.SEND_IMM || opcode == Opcode.SEND_INVALIDATE;
            assertEquals(uses, Opcode.consumesReceive(opcode), Opcode.name(opcode));
            assertEquals(opcode >= 1 && opcode <= 10, Opcode.isDefined(opcode), Opcode.name(opcode));
        }
        assertTrue(Opcode.hasImmediate(Opcode.WRITE_IMM));
        assertFalse(Opcode.hasImmediate(Opcode.SEND));
    }

    private static int compare(String file, String from, String to, String pattern, IntFunction<String> name) throws IOException {
        Matcher m = Pattern.compile(pattern).matcher(section(file, from, to));
        int found = 0;
        for (; m.find(); found++) {
            assertEquals(m.group(2), name.apply(Integer.parseInt(m.group(1))));
        }
        return found;
    }

    private static String section(String file, String from, String to) throws IOException {
        String text = Files.readString(SpecFiles.directory().resolve(file));
        int start = text.indexOf(from);
        assertTrue(start >= 0, from);
        int end = text.indexOf("\n" + to, start + from.length());
        return text.substring(start, end < 0 ? text.length() : end);
    }
}
