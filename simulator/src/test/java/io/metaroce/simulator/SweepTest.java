// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.cli.CliException;
import io.metaroce.simulator.run.Records;
import io.metaroce.simulator.run.Sweep;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A grid is run once, whatever breaks it off. */
class SweepTest {
    private static final Map<String, List<String>> GRID = new LinkedHashMap<>();

    static {
        GRID.put("loss", List.of("0", "0.1"));
        GRID.put("transport", List.of("irn", "rocev2"));
    }

    @TempDir
    private Path dir;
    private Path file;
    private Path out;
    private int ran;

    @BeforeEach
    void scenario() throws IOException {
        file = Files.writeString(dir.resolve("s.toml"), "pattern = \"one\"\nhosts = 16\nhosts_per_leaf = 4\nspines = 2\nbytes = 200000\n");
        out = dir.resolve("out.jsonl");
    }

    private Sweep sweep() throws InterruptedException {
        ran = 0;
        Sweep sweep = new Sweep(file, GRID, List.of(1L, 2L), out);
        sweep.run(2, done -> ran++);
        return sweep;
    }

    @Test
    void everyCellHasItsLine() throws Exception {
        Sweep sweep = sweep();
        assertEquals(8, sweep.cells());
        assertEquals(8, ran);
        List<String> lines = Files.readAllLines(out);
        assertEquals(8, lines.stream().distinct().count());
        for (String transport : List.of("irn", "rocev2")) {
            assertEquals(4, lines.stream().map(Records::parse).filter(f -> f.get("transport").equals(transport)).count());
        }
        assertEquals(4, lines.stream().map(Records::parse).filter(f -> (Long) f.get("losses") == 0).count(), "where there is no loss, and only there");
        Path csv = dir.resolve("out.csv");
        sweep.writeCsv(csv);
        List<String> rows = Files.readAllLines(csv);
        assertEquals(9, rows.size());
        assertTrue(rows.get(0).startsWith("cell,set_loss,set_transport,transport,"));
        assertTrue(rows.get(1).contains(",0,irn,") && rows.get(8).contains(",0.1,rocev2,"), "in the order of the grid");
    }

    @Test
    void goesOnWhereItWasBrokenOff() throws Exception {
        sweep();
        List<String> all = Files.readAllLines(out);
        Files.writeString(out, String.join("\n", all.subList(0, 3)) + "\n" + all.get(3).substring(0, 100));
        sweep();
        assertEquals(5, ran);
        assertEquals(all.stream().map(SweepTest::withoutCpu).sorted().toList(), Files.readAllLines(out).stream().map(SweepTest::withoutCpu).sorted().toList());
        sweep();
        assertEquals(0, ran);
    }

    private static String withoutCpu(String line) {
        return line.substring(0, line.indexOf("\"cpu_seconds\""));
    }

    @Test
    void anotherScenarioIsNotTakenForThisOne() throws Exception {
        sweep();
        Files.writeString(file, Files.readString(file).replace("200000", "300000"));
        sweep();
        assertEquals(8, ran);
    }

    @Test
    void whatIsWrongIsSaidBeforeAnythingRuns() throws IOException {
        Map<String, List<String>> grid = Map.of("colour", List.of("red"));
        assertTrue(assertThrows(CliException.class, () -> new Sweep(file, grid, null, out)).getMessage().contains("colour"));
        Files.writeString(out, "something else\n");
        assertTrue(assertThrows(CliException.class, () -> new Sweep(file, GRID, null, out)).getMessage().contains("something else"));
    }

    @Test
    void recordsAreReadAsTheyWereWritten() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("text", "a \"quoted\", back\\slashed");
        fields.put("whole", -5L);
        fields.put("real", 2.5);
        assertEquals(fields, Records.parse(Records.json(fields)));
        assertEquals("\"a \"\"quoted\"\", back\\slashed\",-5,2.5000", Records.csv(fields));
        assertNull(Records.parse(Records.json(fields).substring(0, 20)));
        assertNull(Records.parse("{\"a\":1} "));
    }
}
