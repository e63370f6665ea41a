// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.benchmarks.CostPair;
import io.metaroce.benchmarks.EndpointPair;
import io.metaroce.core.Stages;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.annotations.Benchmark;

/** Rounds, medians, table and JSON lines of {@code scripts/bench}, with made-up measurements; and what its standard set names. No speeds. */
class BenchTest {
    private static final Machine MACHINE = new Machine("CPU \"X\"", 2, "6.1", "25", "0.50", "2026-01-01T00:00:00Z", "abc");

    /** Gives these figures, one a round; no figure where one is null, and writes down when it was asked. */
    private static final class Made implements Measured {
        final String name;
        final Iterator<Double> figures;
        final int rounds;
        String missing;
        List<String> order = new ArrayList<>();

        Made(String name, Double... figures) {
            this.name = name;
            this.figures = Arrays.asList(figures).iterator();
            rounds = figures.length;
        }

        @Override
        public String group() {
            return "made";
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public String missing() {
            return missing;
        }

        @Override
        public int rounds(boolean quick) {
            return rounds;
        }

        @Override
        public List<Value> round(boolean quick) {
            order.add(name);
            Double next = figures.next();
            return next == null ? List.of() : List.of(new Value("time", "ns", next));
        }
    }

    private static List<Outcome> run(Measured... all) throws InterruptedException {
        return new Rounds(true, new PrintStream(OutputStream.nullOutputStream())).run(List.of(all));
    }

    @Test
    void roundsAlternateAndTheMedianCounts() throws InterruptedException {
        Made a = new Made("a", 5.0, 1.0, 900.0);
        Made b = new Made("b", 2.0, 4.0);
        b.order = a.order;
        List<Outcome> outcomes = run(a, b);
        assertEquals(List.of("a", "b", "a", "b", "a"), a.order);
        assertEquals(5.0, outcomes.get(0).median());
        assertEquals(1.0, outcomes.get(0).least());
        assertEquals(900.0, outcomes.get(0).most());
        assertEquals(3.0, outcomes.get(1).median());
    }

    @Test
    void aMissingFigureIsAFailureAndAnAbsentProgramIsNot() throws InterruptedException {
        Made absent = new Made("absent", 1.0);
        absent.missing = "not installed";
        List<Outcome> outcomes = run(new Made("none", 3.0, null), new Made("infinite", Double.POSITIVE_INFINITY), absent);
        assertFalse(outcomes.get(0).failure().isEmpty());
        assertFalse(outcomes.get(1).failure().isEmpty());
        assertEquals("", outcomes.get(2).failure());
        assertEquals("not installed", outcomes.get(2).absent());
    }

    @Test
    void oneLineOfJsonAndOneRowForEachOutcome(@TempDir Path directory) throws IOException, InterruptedException {
        Made absent = new Made("absent", 1.0);
        absent.missing = "not installed";
        List<Outcome> outcomes = run(new Made("a", 5.0, 1.0, 9.0), new Made("none", (Double) null), absent);
        Path file = directory.resolve("deep/results.jsonl");
        Results.append(file, MACHINE, "standard", true, outcomes);
        Results.append(file, MACHINE, "standard", true, outcomes);
        List<String> lines = Files.readAllLines(file);
        assertEquals(6, lines.size());
        assertEquals("{\"run\":\"standard\",\"group\":\"made\",\"name\":\"a\",\"metric\":\"time\",\"unit\":\"ns\",\"median\":5.000,\"least\":1.000,\"most\":9.000,"
                + "\"rounds\":[5.000,1.000,9.000],\"quick\":true,\"machine\":{\"cpu\":\"CPU \\\"X\\\"\",\"cores\":2,\"kernel\":\"6.1\",\"jdk\":\"25\","
                + "\"load\":\"0.50\",\"date\":\"2026-01-01T00:00:00Z\",\"commit\":\"abc\"}}", lines.get(0));
        assertTrue(lines.get(1).contains("\"failure\":\"no figure"), lines.get(1));
        assertTrue(lines.get(2).contains("\"absent\":\"not installed\""), lines.get(2));
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        Results.table(outcomes, new PrintStream(text, true, StandardCharsets.UTF_8));
        String table = text.toString(StandardCharsets.UTF_8);
        assertTrue(table.matches("(?s).*made +a +time +5.00 +1.00 +9.00 +ns +3\\n.*made +none +FAILED: no figure.*made +absent +absent: not installed\\n"), table);
    }

    @Test
    void oneRowForEachMeasurementWhereMetricsAreColumns() throws InterruptedException {
        Made absent = new Made("absent", 1.0);
        absent.missing = "not installed";
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        Results.wideTable(run(new Made("a", 5.0, 1.0, 9.0), new Made("none", (Double) null), absent), new PrintStream(text, true, StandardCharsets.UTF_8));
        String table = text.toString(StandardCharsets.UTF_8);
        assertTrue(table.matches("(?s)measured +time, ns +rounds\\na +5.00 +3\\nnone +FAILED: no figure.*\\nabsent +absent: not installed\\n"), table);
    }

    @Test
    void theStandardSetNamesWhatThereIs() throws NoSuchMethodException {
        List<Measured> all = Standard.all();
        HashSet<String> names = new HashSet<>();
        for (Measured m : all) {
            assertTrue(names.add(m.group() + m.name()), m.name() + " twice");
            if (m instanceof Jmh jmh) {
                assertTrue(jmh.benchmark().getMethod(jmh.method()).isAnnotationPresent(Benchmark.class), jmh.method());
            }
        }
        assertEquals(all.size(), Bench.selected(all, List.of()).size());
        assertEquals(6, Bench.selected(all, List.of("endpoint")).size());
        assertEquals(2, Bench.selected(all, List.of("bitmap")).size());
        assertEquals(0, Bench.selected(all, List.of("nothing of the kind")).size());
    }

    @Test
    void endpointsInMemoryGiveAllTheirFigures() throws InterruptedException {
        List<Outcome> outcomes = run(new EndpointLoop(101, EndpointPair.UDP_RUN));
        assertEquals(List.of("send", "receive", "acknowledgement built", "acknowledgement handled", "allocated"), outcomes.stream().map(Outcome::metric).toList());
    }

    @Test
    void figuresAreFoundInWhatProgramsPrint() {
        assertEquals(12.5, Child.number("x 3\ny 12.5\n", "y ([0-9.]+)"));
        assertEquals(2.0, Child.number("got 1 got 2", "got ([0-9.]+)"));
        assertEquals(0.125, Child.field("{\"a\":1,\"goodput\":0.125}", "goodput"));
        assertEquals("PANIC in x", Child.complaint("begun\nPANIC in x\n4: libc [7f]\n"));
        assertEquals("no route", Child.complaint("begun\nno route\n"));
        assertThrows(IllegalStateException.class, () -> Child.number("error: nothing", "y ([0-9.]+)"));
    }

    @Test
    void whatAFloodLeavesIsRead() {
        assertEquals(List.of(new Value("share kept", "%", 93.5), new Value("packet, no flood", "ns", 360.1), new Value("packet, flood", "ns", 385),
                new Value("strangers taken", "a packet", 0.067), new Value("stranger", "ns", 0)),
                Flood.values("kept=93.50 without_ns=360.1 with_ns=385.0 taken_mpps=0.1 a_packet=0.067 drop_ns=0.0 pieces=1 of 2, 3 calm again=0\ndropped ..."));
    }

    @Test
    void costIsMeasuredFromTheLeastToTheMost() throws InterruptedException {
        HashSet<String> names = new HashSet<>();
        Cost.all(false).forEach(m -> assertTrue(names.add(m.name()), m.name() + " twice"));
        assertTrue(names.containsAll(List.of("connections 1", "connections 4,000", "streams 1", "streams 100,000", "paths 1", "paths 256", "size 8 B", "size 16 MiB", "loss 0 %",
                "loss 10 %")), names.toString());
        List<Outcome> outcomes = run(new Cost("connections", 100, new CostPair.Work(100, 200, 16, 65_536, 50)));
        assertEquals(List.of("both", "send", "receive", "message"), outcomes.stream().map(Outcome::metric).toList());
        assertTrue(outcomes.getFirst().failure().isEmpty() && outcomes.getLast().median() > 10 * outcomes.getFirst().median(), outcomes.toString());
    }

    @Test
    void whatEpsilonUsedIsInItsLastLine() {
        String log = "[0.007s][info][gc] Using Epsilon\n[0.105s][info][gc] Heap: 256M reserved, 256M (100.00%) committed, 1022K (0.39%) used\n"
                + "[9.105s][info][gc] Heap: 256M reserved, 256M (100.00%) committed, 27M (10.90%) used\n";
        assertEquals(27, Epsilon.usedMib(log));
        assertEquals(2, Epsilon.usedMib("Heap: 256M reserved, 256M (100.00%) committed, 2048K (0.39%) used\n"));
        assertThrows(IllegalStateException.class, () -> Epsilon.usedMib("Using Epsilon\n"));
        List<String> words = new ArrayList<>(List.of("--minutes", "2.5", "udp"));
        assertEquals(2.5, Bench.minutes(words, false));
        assertEquals(List.of("udp"), words);
        assertEquals(10, Bench.minutes(words, false));
    }

    @Test
    void stagesComeInTheOrderInWhichAPacketPassesThem() {
        StringBuilder json = new StringBuilder("{");
        for (String side : List.of("client", "server")) {
            for (int i = 0; i < Stages.COUNT; i++) {
                json.append('"').append(side).append('_').append(Stages.name(i)).append("\":").append(side.equals("client") ? i : 10 + i).append(',');
            }
        }
        assertEquals(List.of(2.0, 3.0, 4.0, 10.0, 11.0, 12.0, 13.0, 14.0, 0.0, 1.0), StageCost.values(json.toString()).stream().map(Value::number).toList());
        assertThrows(IllegalStateException.class, () -> StageCost.values("{\"goodput_gbps\":1}"));
    }
}
