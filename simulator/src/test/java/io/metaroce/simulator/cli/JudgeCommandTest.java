// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.cli.CliException;
import io.metaroce.simulator.run.Judgement;
import io.metaroce.simulator.run.Records;
import io.metaroce.simulator.run.Scenario;
import io.metaroce.simulator.run.ScenarioFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What {@code metaroce sim judge} runs, prints and returns. */
class JudgeCommandTest {
    private static final String SMALL = """
            name = "small"
            pattern = "permutation"
            hosts = 8
            hosts_per_leaf = 4
            spines = 2
            bytes = 400000
            [judge]
            transports = ["rocev2"]
            show = ["mean_us"]
            [[judge.case]]
            name = "as it is"
            [[judge.case]]
            name = "lossy"
            loss = 0.01
            [[judge.goal]]
            """;

    @TempDir
    private Path dir;
    private int exit;

    private Path file(String goal) throws IOException {
        return Files.writeString(dir.resolve("s.toml"), SMALL + goal);
    }

    private List<String> run(String... arguments) {
        StringWriter out = new StringWriter();
        exit = new CommandLine(new SimCommand()).setOut(new PrintWriter(out)).setErr(new PrintWriter(new StringWriter())).execute(arguments);
        return out.toString().lines().toList();
    }

    @Test
    void reachedAndMissed() throws IOException {
        List<String> lines = run("judge", file("measure = \"last_us\"\nat_most = 60\n").toString());
        assertEquals(0, exit, lines.toString());
        assertTrue(lines.getLast().equals("2 of 2 cases pass"), lines.toString());
        assertTrue(lines.get(1).contains("mean_us") && lines.get(1).contains("last_us"), lines.get(1));
        assertTrue(lines.get(2).startsWith("as it is") && lines.get(2).contains("metaroce") && lines.get(3).contains("rocev2"), lines.toString());
        lines = run("judge", file("measure = \"resent\"\nat_most = 60\n").toString());
        assertTrue(exit != 0, "there is no such measure");
        lines = run("judge", file("measure = \"losses\"\nat_most = 0\n").toString());
        assertEquals(1, exit);
        assertEquals("1 of 2 cases pass", lines.getLast());
        assertTrue(lines.stream().anyMatch(l -> l.contains("MISS: losses") && l.contains("> 0.000 (seed 1)")), lines.toString());
        run("judge", file("measure = \"losses\"\nat_most = 0\ncase = \"as it is\"\n").toString());
        assertEquals(0, exit, "the goal is for a case");
        run("judge", file("measure = \"goodput_gbps\"\nat_least = 4000\n").toString());
        assertEquals(1, exit);
    }

    @Test
    void comparedWithOthers() throws IOException {
        run("judge", file("measure = \"last_us\"\nbetter = \"less\"\n").toString(), "--only", "loss=0.01");
        assertEquals(0, exit);
        List<String> lines = run("judge", file("measure = \"last_us\"\nbetter = \"more\"\n").toString(), "--cases", "lossy");
        assertEquals(1, exit);
        assertTrue(lines.stream().anyMatch(l -> l.contains("MISS: last_us") && l.contains("rocev2 has")), lines.toString());
    }

    @Test
    void linesOfJson() throws IOException {
        List<String> lines = run("judge", file("measure = \"last_us\"\nat_most = 60\n").toString(), "--json", "--seeds", "1,2", "--transports", "irn");
        assertEquals(8, lines.size());
        assertEquals(4, lines.stream().map(Records::parse).filter(f -> f.get("transport").equals("irn")).count());
    }

    @Test
    void gridsMultiplyCases() throws IOException {
        Judgement j = new Judgement(file("measure = \"last_us\"\nat_most = 60\n[judge.grid]\nbytes = [1000, 2000, 3000]\n"));
        assertEquals(6, j.cases.size());
        assertEquals("lossy bytes=2000", j.cases.get(4).name());
        Scenario s = j.scenario(j.cases.get(4), "irn");
        assertEquals(2000, s.bytes);
        assertEquals(.01, s.loss);
        assertEquals("irn", s.transport);
    }

    @Test
    void whatIsWrongIsNamed() throws IOException {
        for (String goal : new String[] {"measure = \"last_us\"\nat_mots = 1", "at_most = 1", "measure = \"last_us\"\nbetter = \"yes\"",
            "measure = \"last_us\"\nat_most = 1\n[judge.grid]\ncolour = [1]", "measure = \"last_us\""}) {
            Path f = file(goal + "\n");
            assertTrue(assertThrows(CliException.class, () -> new Judgement(f), goal).getMessage().contains("s.toml"), goal);
        }
        Path none = Files.writeString(dir.resolve("n.toml"), "bytes = 1\n");
        assertThrows(CliException.class, () -> new Judgement(none));
    }

    @Test
    void goalsOfTheProjectsScenariosAreReadable() throws IOException {
        try (var files = Files.list(Path.of("scenarios"))) {
            List<Path> judged = files.filter(f -> f.toString().endsWith(ScenarioFile.SUFFIX) && ScenarioFile.isJudged(f)).toList();
            assertTrue(judged.size() >= 4, judged.toString());
            judged.forEach(Judgement::new);
        }
    }
}
