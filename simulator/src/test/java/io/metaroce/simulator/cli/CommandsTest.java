// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.simulator.run.Records;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What {@code metaroce sim} prints and returns. */
class CommandsTest {
    @TempDir
    private Path dir;
    private String file;
    private int exit;

    @BeforeEach
    void scenario() throws IOException {
        file = Files.writeString(dir.resolve("s.toml"), "name = \"s\"\npattern = \"permutation\"\nhosts = 8\nhosts_per_leaf = 4\nspines = 2\nbytes = 400000\n")
                .toString();
    }

    private List<String> run(String... arguments) {
        StringWriter out = new StringWriter();
        exit = new CommandLine(new SimCommand()).setOut(new PrintWriter(out)).setErr(new PrintWriter(new StringWriter())).execute(arguments);
        return out.toString().lines().toList();
    }

    @Test
    void compareHasALineForEachTransport() {
        List<String> lines = run("compare", file, "--transports", "metaroce,irn,rocev2+pfc", "--seeds", "1,2");
        assertEquals(0, exit);
        assertEquals(5, lines.size(), lines.toString());
        assertTrue(lines.get(0).contains("2 seeds"));
        assertTrue(lines.get(2).startsWith("metaroce ") && lines.get(3).startsWith("irn ") && lines.get(4).startsWith("rocev2+pfc "));
        double irnUs = Double.parseDouble(lines.get(3).split(" +")[1]);
        double meanUs = run("compare", file, "--transports", "irn", "--seeds", "1,2", "--json").stream().map(Records::parse)
                .mapToDouble(f -> (Double) f.get("last_us")).average().orElseThrow();
        assertEquals(meanUs, irnUs, .06, "the mean of the seeds");
    }

    @Test
    void speedShowsBothInputsBesideGoals() {
        List<String> lines = run("speed", "--megabytes", "64", "--rounds", "1");
        assertEquals(6, lines.size(), lines.toString());
        assertTrue(lines.get(1).startsWith("all-to-all of 4032 flows ") && lines.get(2).startsWith("permutation of 64 flows "), lines.toString());
        assertTrue(lines.stream().noneMatch(l -> l.contains("NOT THE SAME")), lines.toString());
        assertEquals(lines.getLast().equals("MISS") ? 1 : 0, exit);
        assertTrue(Double.parseDouble(lines.get(1).split(" +")[7]) > 0, "us a packet");
    }

    @Test
    void compareAsCsvHasALineForEachRun() {
        List<String> lines = run("compare", file, "--transports", "irn,uec", "--seeds", "1,2", "--csv");
        assertEquals(5, lines.size());
        assertTrue(lines.get(0).startsWith("transport,topology,workload,seed,"));
        assertTrue(lines.get(4).startsWith("uec,"));
    }

    @Test
    void whatIsNotFinishedIsAFailure() throws IOException {
        Files.writeString(Path.of(file), "limit_us = 3\npattern = \"one\"\nhosts = 8\nhosts_per_leaf = 4\nspines = 2\n");
        run("compare", file, "--transports", "irn");
        assertEquals(1, exit);
        assertTrue(run("run", file, "--transport", "uec").stream().anyMatch(l -> l.contains("unfinished: 0 -> 7")));
        assertEquals(1, exit);
    }

    @Test
    void sweepWritesItsFiles() throws IOException {
        Path out = dir.resolve("o.jsonl");
        Path csv = dir.resolve("o.csv");
        run("sweep", file, "--set", "transport=irn,uec", "--seeds", "1", "--out", out.toString(), "--csv", csv.toString());
        assertEquals(0, exit);
        assertEquals(2, Files.readAllLines(out).size());
        assertEquals(3, Files.readAllLines(csv).size());
    }
}
