// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.simulator.core.EventQueue;
import io.metaroce.simulator.fabric.Topologies;
import io.metaroce.simulator.fabric.Topology;
import io.metaroce.simulator.host.HostTransport;
import io.metaroce.simulator.workload.Workload;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Fair rates, and what is said of rates that are or are not. */
class FairnessTest {
    private static final double INF = Double.POSITIVE_INFINITY;

    @Test
    void whatSlowOnesLeaveIsForTheOthers() {
        // Flows from links 1, 2, 3 of 100, 100 and 400 into link 0 of 400.
        double[] links = {400, 100, 100, 400};
        int[][] uses = {{0, 1}, {0, 2}, {0, 3}};
        assertArrayEquals(new double[] {100, 100, 200}, MaxMin.rates(links, uses, new double[] {INF, INF, INF}), 1e-6);
        assertArrayEquals(new double[] {10, 100, 290}, MaxMin.rates(links, uses, new double[] {10, INF, INF}), 1e-6);
        assertArrayEquals(new double[] {10, 20, 30}, MaxMin.rates(links, uses, new double[] {10, 20, 30}), 1e-6);
        // Two links shared by different sets.
        assertArrayEquals(new double[] {50, 50, 150}, MaxMin.rates(new double[] {100, 200}, new int[][] {{0, 1}, {0}, {1}}, new double[] {INF, INF, INF}),
                1e-6);
    }

    /** Hosts that bring bytes at rates of the test's choice. */
    private static final class Paced implements HostTransport {
        private final EventQueue events;
        private final double[] gigabits;
        private final long most;

        Paced(EventQueue events, long most, double... gigabits) {
            this.events = events;
            this.most = most;
            this.gigabits = gigabits;
        }

        @Override
        public void write(int peer, int bytes, int flow, boolean tellPeer) {
        }

        @Override
        public void receive(int packet) {
        }

        @Override
        public void wake(int timer) {
        }

        @Override
        public void count(Counters into) {
        }

        @Override
        public long bytesFrom(int peer) {
            return Math.min(most, (long) (gigabits[peer] * events.nowPs() / 8e3));
        }

        @Override
        public long acksFrom(int peer) {
            return events.nowPs() / 4_000_000;
        }

        @Override
        public double windowBytes(int peer) {
            return 0;
        }

        @Override
        public String describe(int peer) {
            return "";
        }
    }

    /** Two senders of 10 MB each to host 0, at 400 Gb/s all of which is payload. */
    private static Fairness.Outcome outcome(double first, double second) {
        EventQueue events = new EventQueue();
        Topology t = Topologies.leafSpine(new Topologies.Size(4, 2, 1, 400_000_000_000L, 1_000), 2);
        Workload w = new Workload("two", 4);
        w.add(1, 0, 10_000_000);
        w.add(2, 0, 10_000_000);
        HostTransport[] hosts = IntStream.range(0, 4).mapToObj(h -> new Paced(events, 10_000_000, 0, first, second, 0)).toArray(HostTransport[]::new);
        Fairness f = new Fairness(events, t, hosts, w, 0, 4_096, 4_096, 2);
        w.flows().forEach(flow -> flow.startedPs = 0);
        for (long ps = 0; ps <= 600_000_000; ps += 2_000_000) {
            events.at(ps, 0);
        }
        while (!events.isEmpty()) {
            events.take();
            f.sample();
        }
        return f.outcome();
    }

    @Test
    void equalRatesAreFair() {
        Fairness.Outcome o = outcome(200, 200);
        assertTrue(o.windows().size() > 10, o.toString());
        assertTrue(o.worstError() < .001 && o.wrong() == 0, o.toString());
        assertEquals(1, o.meanUtilisation(), .001);
        assertEquals(1, o.worstJain(), 1e-6);
        // Nothing counts before two round trips after the first acknowledgement.
        assertTrue(o.windows().getFirst().us() > 4 + 2 * 8.3, o.toString());
        assertTrue(o.unjudged() < .15, o.toString());
    }

    @Test
    void unequalRatesAreNot() {
        Fairness.Outcome o = outcome(250, 100);
        assertEquals(.75, o.worstError(), .001, o.toString());
        assertEquals(.5, o.windows().getFirst().worstError(), .001);
        assertEquals(.75, o.firstError(), .001, "the first window of the worse division");
        assertTrue(o.worst().startsWith("2 -> 0"), o.worst());
        assertEquals(o.windows().size(), o.wrong());
        assertEquals(350.0 * 350 / 2 / (250 * 250 + 100 * 100), o.windows().getFirst().jain(), .001);
        assertEquals(.875, o.windows().getFirst().utilisation(), .001);
        // When the quick one has brought all, the other has the link for itself: 100 of 400.
        Fairness.Window last = o.windows().getLast();
        assertEquals(1, last.pairs());
        assertEquals(.75, last.worstError(), .001);
    }
}
