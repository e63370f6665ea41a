// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.simulator.run.Fault;
import io.metaroce.simulator.run.Result;
import io.metaroce.simulator.run.Scenario;
import io.metaroce.simulator.workload.Flow;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Production endpoints on a small fabric: everything arrives, and at about the time that arithmetic says. */
class SimulationTest {
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

    /** Bounds: no faster than line rate, and not far from it. */
    private static Result complete(Scenario s, double fastestUs, double slowestUs) {
        Result r = s.run(1);
        assertEquals(0, r.unfinished, r.json());
        assertTrue(r.lastUs >= fastestUs && r.lastUs <= slowestUs, r.json());
        assertEquals(0, r.violations, r.json());
        return r;
    }

    private static double wireUs(double bytes) {
        return bytes * 4_160 / 4_096 / 50e3;
    }

    @Test
    void oneFlowRunsAtLineRate() {
        double us = wireUs(8 << 20) + 8.2;
        complete(small("one", 8 << 20), us, 1.01 * us);
    }

    @Test
    void aPermutationComesNearLineRate() {
        double us = wireUs(4 << 20) + 8.3;
        Result r = complete(small("permutation", 4 << 20), us, 1.06 * us);
        assertEquals(0, r.resent, r.json());
    }

    @Test
    void anIncastSharesTheLastLink() {
        double us = wireUs(15.0 * (1 << 20)) + 4;
        Scenario s = small("incast", 1 << 20);
        s.jainUs = 160;
        Result r = complete(s, us, 1.02 * us);
        assertTrue(r.jain > 0.95, r.json());
        assertEquals(0, r.timeouts, r.json());
    }

    /** Queues as deep as five round trips delay acknowledgements, and probes behind them: no path is dead for that. */
    @Test
    void aReadFromManyServersKillsNoPath() {
        Scenario s = new Scenario();
        s.pattern = "read-fan-out";
        s.bytes = 131_072;
        s.parts = 2;
        Result r = s.run(1);
        assertEquals(0, r.unfinished, r.json());
        assertTrue(r.drops > 0 && r.deepestQueueBdp > 4, "the queue was full");
        assertEquals(0, r.deadPaths, r.json());
    }

    @Test
    void aRingWaitsForItsTriggers() {
        Scenario s = small("ring", 16 << 20);
        // 30 steps of a chunk and a round trip each.
        double us = 30 * (wireUs(1 << 20) + 8.3);
        Result bySender = complete(s, us, 1.06 * us);
        s.byReceipt = true;
        Result byReceiver = s.run(1);
        assertEquals(0, byReceiver.unfinished);
        assertTrue(byReceiver.lastReceivedUs < bySender.lastUs - 30 * 3, "half a round trip less a step");
        for (Flow f : byReceiver.flows) {
            assertTrue(f.startedBy == Flow.NONE || f.startedPs > 0);
        }
    }

    @Test
    void windowedAllToAllIsComplete() {
        Scenario s = small("all-to-all", 64 << 10);
        s.inFlight = 4;
        complete(s, wireUs(15.0 * (64 << 10)), 2.7 * wireUs(15.0 * (64 << 10)));
    }

    @Test
    void lossCostsLittleMoreThanWhatIsRepeated() {
        Scenario s = small("permutation", 4 << 20);
        Result lossless = s.run(1);
        assertEquals(0, lossless.parities, lossless.json());
        double clean = lossless.lastUs;
        s.loss = 0.01;
        Result r = complete(s, clean, 1.15 * clean);
        assertEquals(0.01, r.resentShare(), 0.004);
        assertTrue(r.rebuilt > 0 && r.parities >= r.rebuilt, r.json());
        // In runs, and with all probes of a path among them now and then: what the last of the flows has to wait for is luck, its median is not.
        s.lossBurst = 6;
        double[] last = java.util.stream.LongStream.rangeClosed(1, 15).mapToDouble(seed -> {
            Result run = s.run(seed);
            assertEquals(0, run.unfinished, run.json());
            assertTrue(run.lastUs <= 2.2 * clean, run.json());
            return run.lastUs;
        }).sorted().toArray();
        assertTrue(last[7] <= 1.3 * clean, last[7] + " us, without loss " + clean);
    }

    @Test
    void planesAddUp() {
        Scenario s = small("permutation", 16 << 20);
        double one = s.run(1).lastUs;
        s.planes = 4;
        double four = s.run(1).lastUs;
        assertTrue(four < one / 3.5, four + " us on four planes, " + one + " on one");
    }

    @Test
    void aPlaneThatDiesCostsItsShareOnly() {
        Scenario s = small("permutation", 16 << 20);
        s.planes = 4;
        s.faults.add(new Fault(30_000_000, Fault.Kind.SILENT, Fault.Where.PLANE, 2, 0, 0));
        Result r = complete(s, 100, 130);
        assertEquals(16, r.planeFailures, "every sender's decision, once");
        assertTrue(r.lastPlaneDownUs < 30 + 4 * r.baseRttUs, r.json());
    }

    @Test
    void aSilentSpineIsLeft() {
        Scenario s = small("permutation", 8 << 20);
        s.faults.add(new Fault(50_000_000, Fault.Kind.SILENT, Fault.Where.SPINE, 0, 1, 0));
        complete(s, wireUs(8 << 20), 2.05 * wireUs(8 << 20));
    }

    /** Trimming and pausing are not needed, and do no harm where they exist. */
    @Test
    void worksWhereFabricsTrimOrPause() {
        Scenario s = small("incast", 1 << 20);
        double us = wireUs(15.0 * (1 << 20)) + 4;
        s.trim = true;
        Result trimmed = complete(s, us, 1.2 * us);
        assertTrue(trimmed.resentShare() < .3, trimmed.json());
        s.trim = false;
        s.pfc = true;
        Result paused = complete(s, us, 1.1 * us);
        assertEquals(0, paused.drops, paused.json());
    }

    @Test
    void threeTiers() {
        Scenario s = small("permutation", 1 << 20);
        s.hosts = 32;
        s.leavesPerPod = 2;
        s.aggregations = 4;
        s.coresPerGroup = 4;
        complete(s, wireUs(1 << 20), 1.9 * wireUs(1 << 20));
    }

    @Test
    void sameSeedSameResult() {
        Scenario s = small("permutation", 1 << 20);
        s.loss = 0.01;
        Result a = s.run(5);
        Result b = s.run(5);
        assertEquals(times(a), times(b));
        assertEquals(a.events, b.events);
        assertNotEquals(times(a), times(s.run(6)));
    }

    private static java.util.List<Long> times(Result r) {
        return r.flows.stream().flatMapToLong(f -> LongStream.of(f.sentPs)).boxed().toList();
    }
}
