// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.RegionTable;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Rate16;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The receiver's division of its line, against one that fills the smallest demand first, and against what max-min fairness means. */
class ReceiverSharePropertyTest {
    private static final int SENDERS = 12;
    private static final long RTT = 10_000;
    private static final Long[] LINES = {1_000L, 999_983L, 10_000_000L, 99_999_999L, 123_456_789L, 3_999_999_999L, 0xffff_ffffL};

    private enum Kind { ASK, LEAVE, PASS }

    /** A sender asks for this part of the line, in thousandths, perhaps more than all; or leaves; or so much of an RTT passes. */
    private record Step(Kind kind, int sender, int thousandths, boolean marked) { }

    private static final class Line {
        final EndpointState state;
        final ReceiverShare share;
        final long[] planes = new long[SENDERS];
        final long kbps;
        /** What a straightforward receiver knows: demands in kbit/s, and when each was last heard. */
        final long[] demand = new long[SENDERS];
        final long[] heardNs = new long[SENDERS];
        double ceMean;
        long nowNs = 1_000_000_000L;
        /** Time of some packets of each active sender. */
        long turnsNs;

        Line(long kbps) {
            this.kbps = kbps;
            EndpointConfig config = new EndpointConfig();
            config.localAddresses = new NetAddress[] {new NetAddress(0, 0xffff_0a00_0001L, 14_791)};
            config.sourcePorts = new int[][] {{50_000}};
            config.maxConnections = SENDERS;
            config.streamPool = 8;
            config.maxWorkRequests = 8;
            config.maxPacketsOut = 64;
            config.receiveQueueDepth = 1;
            config.streamWindowPackets = 64;
            config.lineRateKbps = kbps;
            state = new EndpointState(config, new RegionTable());
            share = new ReceiverShare(state);
            for (int i = 0; i < SENDERS; i++) {
                planes[i] = state.plane(state.takeConnection(), 0);
                measure(i);
            }
        }

        /** Senders are near and far. */
        long rttNs(int sender) {
            return RTT * (1 + sender % 3);
        }

        private void measure(int sender) {
            state.slab.putInt(planes[sender] + PlaneRecord.SRTT_NS, (int) rttNs(sender));
        }

        void make(Step s) {
            switch (s.kind) {
                case ASK -> {
                    int code = Rate16.encode(kbps / 1_000 * s.thousandths);
                    share.onPacket(0, planes[s.sender], code, s.marked, nowNs);
                    ceMean += ((s.marked ? 1 : 0) - ceMean) / 64;
                    demand[s.sender] = Rate16.decode(code);
                    heardNs[s.sender] = nowNs;
                }
                case LEAVE -> {
                    share.forget(0, planes[s.sender]);
                    demand[s.sender] = 0;
                    // As when its connection ends and another one takes the record.
                    state.slab.zero(planes[s.sender], PlaneRecord.BYTES);
                    measure(s.sender);
                }
                case PASS -> nowNs += RTT * s.thousandths / 400;
            }
        }

        /** As of the last division. */
        boolean isActive(int sender) {
            return demand[sender] > 0 && nowNs - heardNs[sender] <= Math.max(Limits.SHARE_AGE_RTT * rttNs(sender), turnsNs);
        }

        boolean isListed(int sender) {
            return state.slab.getInt(planes[sender] + PlaneRecord.SENDER) != 0;
        }

        double capacity() {
            return kbps * (1 - 0.25 * ceMean);
        }

        /** Divides for certain: more than an RTT has passed since. */
        void divide() {
            nowNs += RTT + 1;
            turnsNs = Limits.SHARE_AGE_PACKETS * share.active(0) * 8_000_000L * state.config.payloadMtu / kbps;
            share.share(0, planes[0], nowNs);
        }

        long granted(int sender) {
            return share.share(0, planes[sender], nowNs);
        }

        List<Integer> active() {
            List<Integer> active = new ArrayList<>();
            for (int i = 0; i < SENDERS; i++) {
                if (isActive(i)) {
                    active.add(i);
                }
            }
            return active;
        }
    }

    @Provide
    static Arbitrary<List<Step>> steps() {
        Arbitrary<Kind> kind = Arbitraries.of(Kind.ASK, Kind.ASK, Kind.ASK, Kind.ASK, Kind.LEAVE, Kind.PASS);
        Arbitrary<Integer> part = Arbitraries.oneOf(Arbitraries.integers().between(0, 60), Arbitraries.integers().between(0, 1_200));
        return Combinators.combine(kind, Arbitraries.integers().between(0, SENDERS - 1), part, Arbitraries.of(false, false, true))
                .as(Step::new).list().ofMaxSize(120);
    }

    @Provide
    static Arbitrary<Long> lines() {
        return Arbitraries.of(LINES);
    }

    @Property(seed = "1", tries = 400, edgeCases = EdgeCasesMode.NONE)
    @Requirement({"MR-SHARE-010", "MR-SHARE-013"})
    void isWhatFillingTheSmallestDemandFirstGives(@ForAll("lines") long line, @ForAll("steps") List<Step> steps) {
        Line l = new Line(line);
        for (Step s : steps) {
            l.make(s);
        }
        l.divide();
        List<Integer> active = l.active();
        active.sort(Comparator.comparingLong(i -> l.demand[i]));
        double left = l.capacity();
        double[] fair = new double[SENDERS];
        for (int i = 0; i < active.size(); i++) {
            int sender = active.get(i);
            fair[sender] = Math.min(l.demand[sender], left / (active.size() - i));
            left -= fair[sender];
        }
        for (int sender : active) {
            // Arithmetic is in whole kbit/s here, and in floats where marks are counted.
            assertEquals(fair[sender] + left / active.size(), l.granted(sender), SENDERS + line * 1e-5, "sender " + sender + " of " + active);
        }
    }

    @Property(seed = "2", tries = 400, edgeCases = EdgeCasesMode.NONE)
    @Requirement({"MR-SHARE-010", "MR-SHARE-011"})
    void theWholeLineIsGrantedAndNeverMore(@ForAll("lines") long line, @ForAll("steps") List<Step> steps) {
        Line l = new Line(line);
        for (Step s : steps) {
            l.make(s);
            // Whenever somebody is told its share: what is then in force for all together.
            l.granted(s.sender);
            long sum = IntStream.range(0, SENDERS).filter(l::isListed).mapToLong(l::granted).sum();
            assertTrue(sum <= line, sum + " kbit/s of " + line);
        }
        l.divide();
        List<Integer> active = IntStream.range(0, SENDERS).filter(l::isListed).boxed().toList();
        long sum = active.stream().mapToLong(l::granted).sum();
        assertTrue(sum <= l.capacity() + line * 1e-6, sum + " kbit/s, but only " + l.capacity() + " may be used");
        // What one does not ask for, or does not use any more, is the others'.
        assertTrue(active.isEmpty() || sum >= l.capacity() - SENDERS - line * 1e-5, sum + " kbit/s of " + l.capacity() + " are granted");
    }

    @Property(seed = "3", tries = 400, edgeCases = EdgeCasesMode.NONE)
    @Requirement("MR-SHARE-010")
    void nobodyWhoIsShortHasLessThanAnother(@ForAll("lines") long line, @ForAll("steps") List<Step> steps) {
        Line l = new Line(line);
        steps.forEach(l::make);
        l.divide();
        for (int a : l.active()) {
            for (int b : l.active()) {
                if (l.granted(a) < l.demand[a]) {
                    assertTrue(l.granted(b) <= l.granted(a), a + " is short with " + l.granted(a) + ", " + b + " has " + l.granted(b));
                }
            }
        }
    }

    @Property(seed = "4", tries = 300, edgeCases = EdgeCasesMode.NONE)
    @Requirement("MR-SHARE-014")
    void whoDoesNotAskIsToldAnEqualPartOfAllThatMayJoin(@ForAll("lines") long line, @ForAll("steps") List<Step> steps) {
        Line l = new Line(line);
        steps.forEach(l::make);
        l.divide();
        int active = l.active().size();
        for (int i = 0; i < SENDERS; i++) {
            if (!l.isActive(i)) {
                assertEquals(line / (active + 1), l.granted(i), "sender " + i + " beside " + active);
            }
        }
    }
}
