// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.cli.CliException;
import io.metaroce.simulator.fabric.TopoFile;
import io.metaroce.simulator.fabric.Topology;
import io.metaroce.simulator.run.Fault;
import io.metaroce.simulator.run.Scenario;
import io.metaroce.simulator.run.ScenarioFile;
import io.metaroce.simulator.workload.Flow;
import io.metaroce.simulator.workload.MatrixFile;
import io.metaroce.simulator.workload.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FilesTest {
    private static final Path SCENARIOS = Path.of("scenarios");

    @TempDir
    private Path dir;

    private Path file(String name, String text) throws IOException {
        return Files.writeString(dir.resolve(name), text);
    }

    @Test
    void topologyOfHtsim() throws IOException {
        Topology t = TopoFile.read(SCENARIOS.resolve("topo/ls64_8x8_400g_q1bdp.topo"), 2);
        assertEquals(64, t.hosts());
        assertEquals(2 * (8 + 8), t.switches());
        assertEquals(2 * 2 * (64 + 64), t.links().size());
        assertEquals(4_000_000, t.oneWayDelayPs());
        assertEquals(400_000_000_000L, t.hostRate());
        assertTrue(t.links().stream().filter(l -> l.from() >= 64).allMatch(l -> l.queueBytes() == 416_000));
        // Two ways of four links, and serialisation on four of them: the 8.33 us of the anchors.
        assertEquals(8_332_800, t.baseRttPs(4_160));
    }

    @Test
    void threeTiersOfHtsim() throws IOException {
        Topology t = TopoFile.read(file("f.topo", """
                Nodes 16
                Tiers 3
                Podsize 8
                Tier 0
                Downlink_speed_Gbps 100
                Radix_Down 4
                Radix_Up 2
                Downlink_Latency_ns 500
                Tier 1
                Downlink_speed_Gbps 100
                Radix_Down 2
                Radix_Up 2
                Downlink_Latency_ns 500
                Tier 2
                Downlink_speed_Gbps 100
                Radix_Down 2
                Downlink_Latency_ns 700
                """), 1);
        assertEquals(4 + 4 + 4, t.switches());
        assertEquals(2 * (500 + 500 + 700) * 1_000, t.oneWayDelayPs());
    }

    @Test
    void aTopologyThatLacksSomethingSaysWhat() throws IOException {
        Path f = file("f.topo", "Nodes 16\nTiers 2\nTier 0\nRadix_Down 4\n");
        assertTrue(assertThrows(IllegalArgumentException.class, () -> TopoFile.read(f, 1)).getMessage().contains("downlink_speed_gbps"));
        Path g = file("g.topo", "Nodes many\n");
        assertTrue(assertThrows(IllegalArgumentException.class, () -> TopoFile.read(g, 1)).getMessage().contains("g.topo:1"));
    }

    @Test
    void matricesOfHtsim() throws IOException {
        Workload w = MatrixFile.read(SCENARIOS.resolve("tm/incast64_63_1MiB.cm"));
        assertEquals(63, w.flows().size());
        assertEquals(63L << 20, w.bytes());
        Workload t = MatrixFile.read(file("m.cm", """
                Nodes 3
                Connections 3
                Triggers 1
                0->1 id 1 start 5000 size 100 send_done_trigger 7
                1->2 id 2 start 0 size 200 recv_done_trigger 7
                2->0 id 3 trigger 7 size 300
                trigger id 7 barrier 2
                """));
        assertEquals(List.of(5_000L, 0L, 0L), t.flows().stream().map(f -> f.startPs).toList());
        assertEquals(1, t.triggers());
        assertEquals(2, t.needed(0));
        assertEquals(Flow.NONE, t.flows().get(0).startedBy);
        assertEquals(0, t.flows().get(0).whenSent);
        assertEquals(0, t.flows().get(1).whenReceived);
        assertEquals(0, t.flows().get(2).startedBy);
    }

    @Test
    void aMatrixThatIsWrongSaysWhere() throws IOException {
        Path f = file("m.cm", "Nodes 2\n0->5 id 1 start 0 size 10\n");
        String message = assertThrows(IllegalArgumentException.class, () -> MatrixFile.read(f)).getMessage();
        assertTrue(message.contains("m.cm:2") && message.contains("host 5"), message);
    }

    @Test
    void everyScenarioOfTheProjectIsReadable() throws IOException {
        try (var files = Files.list(SCENARIOS)) {
            List<Path> all = files.filter(f -> f.toString().endsWith(ScenarioFile.SUFFIX)).toList();
            assertTrue(all.size() > 8);
            for (Path f : all) {
                Scenario s = ScenarioFile.read(f);
                assertTrue(!s.name.isEmpty(), f + " has no name");
                assertTrue(s.topology().hosts() >= 2);
            }
        }
    }

    @Test
    void scenarioFiles() throws IOException {
        Scenario s = ScenarioFile.read(file("s.toml", """
                name = "x"
                pattern = "incast"
                senders = 7
                loss = 0.5
                queue_bdp = 2
                seeds = [3, 4]
                [[fault]]
                at_us = 2.5
                where = "plane"
                kind = "announced"
                plane = 1
                """));
        assertEquals(7, s.senders);
        assertEquals(0.5, s.loss);
        assertEquals(2.0, s.queueBdp, "a whole number is a number");
        assertEquals(List.of(3L, 4L), s.seeds);
        assertEquals(new Fault(2_500_000, Fault.Kind.ANNOUNCED, Fault.Where.PLANE, 1, 0, 0), s.faults.getFirst());
        for (String wrong : new String[] {"colour = 1", "loss = \"much\"", "[[fault]]\nkind = \"odd\"", "= 3", "pattern = 5"}) {
            Path f = file("w.toml", wrong + "\n");
            assertTrue(assertThrows(CliException.class, () -> ScenarioFile.read(f), wrong).getMessage().contains("w.toml"), wrong);
        }
    }
}
