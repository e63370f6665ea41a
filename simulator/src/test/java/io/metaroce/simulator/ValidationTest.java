// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.simulator.core.EventQueue;
import io.metaroce.simulator.fabric.Fabric;
import io.metaroce.simulator.fabric.FabricConfig;
import io.metaroce.simulator.fabric.Topologies;
import io.metaroce.simulator.run.Result;
import io.metaroce.simulator.run.Scenario;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The figures of VALIDATION.md that can be had quickly: a change that moves a model away from them is noticed. */
class ValidationTest {
    private static final Path SCENARIOS = Path.of("scenarios");
    private static final double US_PER_MIB = (1 << 20) * 8 / 400e3;

    private static Scenario anchors(String transport, String matrix) {
        Scenario s = new Scenario();
        s.transport = transport;
        s.topologyFile = SCENARIOS.resolve("topo/ls64_8x8_400g.topo");
        s.matrixFile = matrix == null ? null : SCENARIOS.resolve("tm/" + matrix);
        s.frameOverhead = 0;
        return s;
    }

    /** htsim's figures, and how far from them the model may be: the differences that VALIDATION.md names. */
    @ParameterizedTest
    @CsvSource({"uec+trim,1.036,.57,.05", "uec,1.019,.51,.05", "uec+rccc+trim,1.026,.38,.03", "rocev2+pfc,1.018,0,0"})
    void incastAgainstHtsim(String transport, double htsim, double resent, double tolerance) {
        Result r = anchors(transport, "incast64_63_1MiB.cm").run(1);
        assertTrue(r.isComplete(), r.unfinishedText);
        assertEquals(htsim, r.lastUs / (63 * US_PER_MIB + 8.25), .01, r.json());
        assertEquals(resent, r.resentShare(), tolerance, r.json());
    }

    @ParameterizedTest
    @CsvSource({"uec+trim,1.18,.15", "uec,1.18,.06", "uec+rccc+trim,1.12,.2", "rocev2+pfc,3.95,.3"})
    void permutationAgainstHtsim(String transport, double htsim, double tolerance) {
        Result r = anchors(transport, "perm64_8MiB.cm").run(1);
        assertTrue(r.isComplete(), r.unfinishedText);
        assertEquals(htsim, r.lastUs / (8 * US_PER_MIB + 8.25), tolerance, r.json());
    }

    @ParameterizedTest
    @CsvSource({"uec+trim,180,3", "rocev2+pfc,207,6"})
    void allToAllAgainstHtsim(String transport, double htsimUs, double toleranceUs) {
        Scenario s = anchors(transport, null);
        s.pattern = "all-to-all";
        s.bytes = 128 << 10;
        Result r = s.run(1);
        assertTrue(r.isComplete(), r.unfinishedText);
        assertEquals(htsimUs, r.lastUs, toleranceUs, r.json());
    }

    /** Poisson arrivals of equal packets at one output: the mean wait is rho / (2 (1 - rho)) of a packet's time. */
    @Test
    void randomArrivalsWaitAsLongAsTheFormulaSays() {
        double servicePs = 83_200;
        int n = 60_000;
        for (double load : new double[] {.5, .7, .8}) {
            EventQueue events = new EventQueue();
            FabricConfig config = new FabricConfig();
            config.frameOverhead = 0;
            config.queueBytes = Long.MAX_VALUE / 4;
            long[] sentPs = new long[n];
            double[] waited = new double[1];
            Fabric[] fabric = new Fabric[1];
            fabric[0] = new Fabric(Topologies.leafSpine(new Topologies.Size(128, 64, 1, 400_000_000_000L, 1_000), 2), config, events, 0,
                    (host, packet) -> {
                        waited[0] += events.nowPs() - sentPs[fabric[0].packets.sourcePort(packet)] - 2 * (servicePs + 1e6);
                        fabric[0].packets.give(packet);
                    });
            SplittableRandom random = new SplittableRandom(11);
            double at = 0;
            for (int i = 0; i < n; i++) {
                at += -Math.log(1 - random.nextDouble()) * servicePs / load;
                sentPs[i] = (long) at;
                events.at(sentPs[i], 1L << 40 | i);
            }
            while (!events.isEmpty()) {
                long event = events.take();
                if (event < 1L << 40) {
                    fabric[0].arrive((int) event);
                    continue;
                }
                int i = (int) event;
                int packet = fabric[0].packets.take();
                // From 63 hosts in turn, so that hardly any waits at its own port.
                fabric[0].packets.source(packet, 1 + i % 63);
                fabric[0].packets.destination(packet, 0);
                fabric[0].packets.plane(packet, 0);
                fabric[0].packets.sourcePort(packet, i);
                fabric[0].packets.headerLength(packet, 64);
                fabric[0].packets.payloadLength(packet, 4_096);
                fabric[0].send(packet);
            }
            double expected = load / (2 * (1 - load));
            assertEquals(expected, waited[0] / n / servicePs, .08 * expected, "at load " + load);
        }
    }
}
