// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.simulator.peer.Peers;
import io.metaroce.simulator.run.Fault;
import io.metaroce.simulator.run.Result;
import io.metaroce.simulator.run.Scenario;
import io.metaroce.simulator.workload.Flow;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The transports that MetaRoCE is compared with, against closed forms and against what makes each of them what it is. */
class PeersTest {
    private static final double RTT_US = 8.33;

    static Scenario small(String transport, String pattern, long bytes) {
        Scenario s = new Scenario();
        s.transport = transport;
        s.hosts = 16;
        s.hostsPerLeaf = 4;
        s.spines = 4;
        s.pattern = pattern;
        s.bytes = bytes;
        s.senders = 15;
        s.frameOverhead = 0;
        s.limitUs = 20_000;
        return s;
    }

    private static double wireUs(double bytes) {
        return bytes * 4_160 / 4_096 / 50e3;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "rocev2+dcqcn", "rocev2+pfc+qps=4", "irn", "irn+dcqcn", "uec", "uec+trim", "uec+rccc+trim", "uec+reps",
        "mrc", "falcon", "srd"})
    void oneFlowRunsAtLineRate(String transport) {
        Result r = small(transport, "one", 4 << 20).run(1);
        assertTrue(r.isComplete(), r.unfinishedText);
        assertTrue(r.lastUs >= wireUs(4 << 20) + 4 && r.lastUs <= 1.05 * wireUs(4 << 20) + RTT_US, r.json());
        // Falcon's and SRD's rules of loss may repeat a packet that only took a longer way.
        assertTrue(r.resentShare() < (transport.matches("falcon|srd") ? .01 : 1e-9), r.json());
    }

    /** Under loss, drops and congestion: everything arrives, once, the same each time; receivers are told. */
    @ParameterizedTest
    @ValueSource(strings = {"rocev2+dcqcn", "rocev2+pfc+qps=3", "irn", "irn+dcqcn+qps=2", "uec", "uec+trim+reps", "uec+bitmap", "uec+rccc+trim", "uec+rccc",
        "mrc", "mrc+trim", "falcon", "srd"})
    void everythingArrivesAndTheSameSeedGivesTheSame(String transport) {
        Scenario s = small(transport, "ring", 4 << 20);
        s.loss = 0.002;
        s.byReceipt = true;
        s.limitUs = 100_000;
        Result a = s.run(3);
        assertTrue(a.isComplete(), a.unfinishedText);
        assertTrue(a.resent > 0, a.json());
        Result b = s.run(3);
        assertEquals(a.events, b.events);
        assertEquals(times(a), times(b));
        assertTrue(a.flows.stream().allMatch(f -> f.whenReceived == Flow.NONE || f.receivedPs >= f.startedPs));
    }

    private static List<Long> times(Result r) {
        return r.flows.stream().map(f -> f.sentPs).toList();
    }

    /** Each loss costs a window: (1 - p) / (1 - p + p W), W the packets of a round trip. Alone of losses that timeouts had to find. */
    @Test
    void goBackNUnderLossIsAsItsFormula() {
        for (double p : new double[] {.0001, .001}) {
            Scenario s = small("rocev2", "one", 64 << 20);
            double clean = s.run(1).lastUs;
            // The scenario loses data and acknowledgements alike; a lost acknowledgement costs nothing.
            s.loss = p;
            double kept = 0;
            int seeds = 4;
            for (int seed = 1; seed <= seeds; seed++) {
                Result r = s.run(seed);
                kept += clean / (r.lastUs - 524 * r.timeouts) / seeds;
            }
            double window = RTT_US / (4_160 * 8e-3 / 400);
            assertEquals((1 - p) / (1 - p + p * window), kept, .012, "at " + p);
        }
    }

    @Test
    void selectiveRepeatSendsWhatWasLost() {
        Scenario s = small("irn", "one", 32 << 20);
        s.loss = .001;
        Result r = s.run(1);
        assertTrue(r.isComplete());
        assertEquals(.001, r.resentShare(), .0009);
        assertTrue(r.reorderBytes > 0 && r.reorderBytes <= 102 * 4_096, "no more is held than may be out: " + r.reorderBytes);
    }

    @Test
    void withPfcNothingIsLostAndTheLastLinkIsFull() {
        Result r = small("rocev2+pfc", "incast", 1 << 20).run(1);
        assertEquals(0, r.drops + r.resent, r.json());
        assertTrue(r.pauses > 0);
        assertTrue(r.lastUs <= 1.02 * (wireUs(15 << 20) + RTT_US), r.json());
    }

    /** Pauses that begin and end close together: no sender may miss the end of one. */
    @Test
    void pausesEnd() {
        for (int seed = 2; seed <= 3; seed++) {
            Scenario s = small("rocev2+pfc", "all-to-all", 256 << 10);
            s.hosts = 32;
            s.hostsPerLeaf = s.spines = 8;
            s.pauseBdp = .05;
            s.limitUs = 5_000;
            Result r = s.run(seed);
            assertTrue(r.isComplete(), r.unfinished + " flows wait for ever");
            assertEquals(0, r.drops + r.timeouts, r.json());
        }
    }

    /** Without PFC, DCQCN starts at line rate and overruns the queue; go-back-N pays for it. */
    @Test
    void goBackNWithoutPfcRepeatsMuchInAnIncast() {
        Scenario s = small("rocev2", "incast", 1 << 20);
        s.queueBdp = 2;
        Result lossy = s.run(1);
        assertTrue(lossy.isComplete());
        assertTrue(lossy.resentShare() > .3, lossy.json());
    }

    /** Fifteen senders for milliseconds: rates near a fifteenth each, and a queue that marks hold down. */
    @Test
    void dcqcnSharesALinkInTheEnd() {
        Scenario s = small("rocev2+dcqcn+pfc", "incast", 16 << 20);
        s.jainUs = 4_000;
        Result r = s.run(1);
        assertTrue(r.isComplete());
        assertTrue(r.jain > .8, r.json());
        assertTrue(r.deepestLateQueueBdp < 10, r.json());
    }

    @Test
    void onePathCollidesManyDoNot() {
        double one = small("rocev2+pfc", "permutation", 4 << 20).run(1).lastUs;
        double eight = small("rocev2+pfc+qps=16", "permutation", 4 << 20).run(1).lastUs;
        assertTrue(one > 1.9 * wireUs(4 << 20), "some spine carries two flows of a leaf: " + one);
        assertTrue(eight < .8 * one, eight + " against " + one);
    }

    /** Trimming: each packet that lost its payload is repeated, and no timer is needed. */
    @ParameterizedTest
    @ValueSource(strings = {"uec+trim", "uec+rccc+trim", "mrc+trim"})
    void trimmedPacketsAreRepeatedAtOnce(String transport) {
        Scenario s = small(transport, "incast", 1 << 20);
        s.queueBdp = 1;
        Result r = s.run(1);
        assertTrue(r.isComplete());
        assertEquals(0, r.drops);
        assertTrue(r.trims > 0 && r.resent >= r.trims, r.json());
        assertTrue(r.lastUs < 1.1 * wireUs(15 << 20), r.json());
    }

    /** Paths that are chosen by what they bring, or are many, come nearer to the bound than one that collides. */
    @ParameterizedTest
    @ValueSource(strings = {"uec", "uec+rccc+trim", "mrc", "falcon", "srd"})
    void sprayingBeatsOnePath(String transport) {
        double one = small("rocev2+pfc", "permutation", 4 << 20).run(1).lastUs;
        assertTrue(small(transport, "permutation", 4 << 20).run(1).lastUs < .85 * one);
    }

    @ParameterizedTest
    @ValueSource(strings = {"uec", "mrc", "srd", "rocev2+pfc+qps=8"})
    void planesAddUp(String transport) {
        Scenario s = small(transport, "one", 16 << 20);
        s.planes = 4;
        Result r = s.run(1);
        assertTrue(r.isComplete());
        assertTrue(r.lastUs < 1.25 * wireUs(16 << 20) / 4 + 2 * RTT_US, r.json());
    }

    /** A dead spine: those that watch their paths leave it, and finish. */
    @ParameterizedTest
    @ValueSource(strings = {"uec", "mrc", "srd"})
    void aSilentSpineIsLeft(String transport) {
        Scenario s = small(transport, "permutation", 8 << 20);
        s.faults.add(new Fault(50_000_000, Fault.Kind.SILENT, Fault.Where.SPINE, 0, 1, 0));
        Result r = s.run(1);
        assertTrue(r.isComplete(), r.unfinishedText);
        assertTrue(r.lastUs < 4_000, r.json());
    }

    /** Data that comes early is held for those that hand it over in order, and for nobody else. */
    @Test
    void whatIsHeldForOrderIsCounted() {
        assertTrue(small("falcon", "permutation", 2 << 20).run(1).reorderBytes > 0);
        assertEquals(0, small("mrc", "permutation", 2 << 20).run(1).reorderBytes);
    }

    @Test
    void whatIsNoTransportIsRefusedByName() {
        for (String wrong : new String[] {"tcp", "rocev2+fast", "irn+qps=0", "metaroce+dcqcn"}) {
            String message = assertThrows(IllegalArgumentException.class, () -> Peers.named(wrong)).getMessage();
            assertTrue(message.contains(wrong.substring(wrong.indexOf('+') + 1)), message);
        }
    }
}
