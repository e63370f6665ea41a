// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.simulator.run.Result;
import io.metaroce.simulator.run.Scenario;
import io.metaroce.simulator.workload.Arrivals;
import io.metaroce.simulator.workload.Collectives;
import io.metaroce.simulator.workload.Flow;
import io.metaroce.simulator.workload.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Patterns of traffic: everything is sent, in the order that they demand, and takes at least what arithmetic says. */
class WorkloadTest {
    private static final long MIB = 1 << 20;
    /** Of 4,096 bytes with their 64, at 400 Gb/s. */
    private static final double US_PER_MIB = MIB * 4_160.0 / 4_096 / 50e3;

    @TempDir
    private Path dir;

    private static Scenario small(String pattern, long bytes) {
        Scenario s = new Scenario();
        s.hosts = 16;
        s.hostsPerLeaf = 4;
        s.spines = 4;
        s.pattern = pattern;
        s.bytes = bytes;
        s.senders = 15;
        s.frameOverhead = 0;
        return s;
    }

    /**
     * Steps times a message's time and part of a round trip at the least, and not much more.
     *
     * @param mebibytes that a host takes or gives in all, at line rate
     * @param steps that wait for each other
     */
    @ParameterizedTest
    @CsvSource({"hierarchical, true, 13.125, 12", "hierarchical, false, 13.125, 12", "all-gather, true, 7.5, 15", "reduce-scatter, false, 7.5, 15",
        "tree, true, 24, 20", "tree, false, 24, 20", "read-fan-out, true, 60, 16", "outcast, false, 120, 1", "kv-fetch, true, 64, 4"})
    void takesWhatItMust(String pattern, boolean byReceipt, double mebibytes, int steps) {
        Scenario s = small(pattern, pattern.equals("read-fan-out") ? MIB / 2 : 8 * MIB);
        s.byReceipt = byReceipt;
        s.inFlight = 2;
        Result r = s.run(1);
        assertEquals(0, r.unfinished, r.json());
        double last = Math.max(r.lastUs, r.lastReceivedUs);
        double least = mebibytes * US_PER_MIB;
        assertTrue(last > least && last < 1.35 * (least + 8.4 * steps), last + " us, at least " + least + ": " + r.json());
        for (Flow f : r.flows) {
            assertTrue(f.startedBy == Flow.NONE || f.startedPs > 0, "what waits begins later");
        }
    }

    @Test
    void collectivesSendWhatTheyShould() {
        assertEquals(2 * 15 * 8 * MIB, Collectives.tree(16, 4, 8 * MIB, 8, true).bytes(), "every edge of the tree twice");
        assertEquals(16 * 15 * (MIB / 2), Collectives.once("all-gather", 16, 4, 8 * MIB, true).bytes());
        // Within leaves 3/4 of the vector twice, across them 6/4 of a quarter.
        assertEquals(16 * (2 * 6 * MIB + 3 * MIB), Collectives.hierarchical(16, 4, 8 * MIB, true).bytes());
    }

    @Test
    void sizesOfADistribution() throws IOException {
        Path file = Files.writeString(dir.resolve("sizes"), "# bytes part\n1000 0.5\n1000000 1\n");
        Workload w = Arrivals.mixed(file, 16, .5, 20_000, 400e9, 1);
        long small = w.flows().stream().filter(f -> f.bytes == 1000).count();
        assertEquals(.5, (double) small / w.flows().size(), .03);
        assertEquals(.5 * 16 * 400e9 / 8 * 20e-3, w.bytes(), .05 * .5 * 16 * 400e9 / 8 * 20e-3, "the load");
        assertEquals(w.bytes(), Arrivals.mixed(file, 16, .5, 20_000, 400e9, 1).bytes(), "same seed, same flows");
        assertTrue(w.bytes() != Arrivals.mixed(file, 16, .5, 20_000, 400e9, 2).bytes());
        Path wrong = Files.writeString(dir.resolve("wrong"), "1000 0.5\n");
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Arrivals.mixed(wrong, 16, .5, 1, 400e9, 1)).getMessage().contains("wrong"));
    }

    @Test
    void traces() throws IOException {
        Path file = Files.writeString(dir.resolve("trace"), "# us,source,destination,bytes\n0,1,2,5000\n12.5,3,0,100\n");
        Scenario s = small("trace", 0);
        s.traceFile = file;
        Result r = s.run(1);
        assertEquals(2, r.flows.size());
        assertEquals(12_500_000, r.flows.get(1).startedPs);
        assertEquals(0, r.unfinished);
        Path wrong = Files.writeString(dir.resolve("wrong"), "0,1,99,5000\n");
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Arrivals.trace(wrong, 16)).getMessage().contains("99"));
    }

    @Test
    void linksAndDemandsOfTheirOwn() {
        Scenario s = small("groups", 0);
        s.hostRates.add(new Scenario.HostRate(4, 1, 100));
        s.groups.add(new Arrivals.Group(4, 1, 0, false, 5, 0, MIB, 1, 0));
        s.groups.add(new Arrivals.Group(8, 1, 1, false, 0, 0, MIB, 1, 50));
        Result r = s.run(1);
        double slowUs = r.flows.getFirst().completionPs() / 1e6;
        assertEquals(4 * US_PER_MIB + 8.4, slowUs, 1.5, "a quarter of the rate");
        assertEquals(5_000_000, r.flows.getFirst().startedPs);
        assertEquals(MIB * 8e-3 / 50 + 8, r.lastUs, 3, "as fast as it is given");
    }

    @Test
    void sameSeedSameJudgement() {
        Scenario s = small("groups", 0);
        s.hostRates.add(new Scenario.HostRate(4, 2, 100));
        s.groups.add(new Arrivals.Group(4, 6, 0, false, 0, 10, MIB, 2, 0));
        s.groups.add(new Arrivals.Group(12, 1, 0, false, 20, 0, MIB, 1, 30));
        s.loss = .001;
        s.fairUs = 2;
        Result a = s.run(3);
        Result b = s.run(3);
        assertTrue(a.fairness.windows().size() > 2, a.fairness.toString());
        assertEquals(a.fairness, b.fairness);
        assertEquals(a.events, b.events);
        assertNotEquals(a.fairness, s.run(4).fairness);
        // Looking changes nothing.
        s.fairUs = 0;
        assertEquals(a.lastUs, s.run(3).lastUs);
    }

    @Test
    void twoSites() throws IOException {
        Scenario s = small("one", MIB);
        s.lines = 2;
        s.lineDelayUs = 40;
        s.spines = 2;
        s.queueBytes = 4_000_000;
        s.markFromBytes = 400_000;
        s.markAllBytes = 1_600_000;
        // There and back: the line, six links of 1 us, and eight times a packet.
        assertEquals(2 * (40 + 6) * 1e6 + 8 * 4_160 * 20, s.topology().baseRttPs(4_160), 1);
        assertEquals(800_000_000_000L, s.topology().longHaulRate());
        Result r = s.run(1);
        assertEquals(US_PER_MIB + 92.5, r.lastUs, 2, r.json());
        // What stays at a site knows nothing of the line.
        s.pattern = "groups";
        s.groups.add(new Arrivals.Group(0, 1, 7, false, 0, 0, MIB, 1, 0));
        assertEquals(US_PER_MIB + 8.4, s.run(1).lastUs, 1);
    }
}
