// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.wire.NetAddress;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/**
 * The window of 256 bits that a receiver keeps of a path, against a set without end of the PSNs that it has taken; and with a sender
 * beside it, that old holes leave it.
 */
class PathReceiverPropertyTest {

    /** A path record, and the receiver that keeps it. */
    private static final class Path {
        final Slab slab;
        final PathReceiver receiver;
        final long path;

        Path() {
            EndpointConfig config = new EndpointConfig();
            config.localAddresses = new NetAddress[] {new NetAddress(0, 0xffff_0a00_0001L, 14_791)};
            config.sourcePorts = new int[][] {{50_000}};
            config.maxConnections = 1;
            config.streamPool = 1;
            config.maxWorkRequests = 1;
            config.maxPacketsOut = 64;
            config.receiveQueueDepth = 1;
            config.streamWindowPackets = 64;
            EndpointState state = new EndpointState(config, new RegionTable());
            slab = state.slab;
            receiver = new PathReceiver(state);
            path = slab.getLong(state.takeConnection() + ConnectionRecord.FIRST_PATH);
        }

        int base() {
            return slab.getInt(path + PathRecord.RX_BASE);
        }

        int top() {
            return slab.getInt(path + PathRecord.RX_TOP);
        }

        BitSet bits() {
            long[] words = new long[4];
            for (int i = 0; i < words.length; i++) {
                words[i] = slab.getLong(path + PathRecord.RX_BITS + 8L * i);
            }
            return BitSet.valueOf(words);
        }
    }

    // ---- any datagrams at all ----

    private enum Kind { DATA, PROBE, NEW_ROUTE, OLD_ROUTE }

    /**
     * @param place PSN, or next PSN of a probe, ahead of the highest so far
     * @param distance from it down to the floor
     */
    private record Step(Kind kind, int place, int distance, boolean ce) { }

    /** What must be known of a path: PSNs in 64 bits, taken ones in a set, no window. */
    private static final class Model {
        int epoch;
        long floor;
        long top;
        int ce;
        BitSet taken = new BitSet();
        final long origin;

        Model(long origin) {
            this.origin = origin;
        }

        /** First PSN at or behind the highest floor that is not taken. */
        long base() {
            return origin + taken.nextClearBit((int) (floor - origin));
        }

        void begin(int epoch, long floor) {
            this.epoch = epoch;
            this.floor = floor;
            top = floor;
            ce = 0;
            taken = new BitSet();
        }

        void floor(long f) {
            floor = Math.max(floor, f);
            top = Math.max(top, base());
        }
    }

    @Provide
    static Arbitrary<List<Step>> steps() {
        Arbitrary<Kind> kind = Arbitraries.frequency(Tuple.of(40, Kind.DATA), Tuple.of(4, Kind.PROBE),
                Tuple.of(1, Kind.NEW_ROUTE), Tuple.of(1, Kind.OLD_ROUTE));
        Arbitrary<Integer> place = Arbitraries.oneOf(Arbitraries.integers().between(-8, 8), Arbitraries.integers().between(-300, 300));
        Arbitrary<Integer> distance = Arbitraries.oneOf(Arbitraries.integers().between(0, 255), Arbitraries.integers().between(200, 255));
        return Combinators.combine(kind, place, distance, Arbitraries.of(true, false)).as(Step::new).list().ofMaxSize(300);
    }

    @Property(seed = "1", tries = 400, edgeCases = EdgeCasesMode.NONE)
    @Requirement({"MR-PATH-020", "MR-PATH-021", "MR-PATH-022", "MR-PATH-024", "MR-PATH-025", "MR-PATH-027", "MR-ACK-006"})
    void knowsWhatASetOfAllPsnsWouldKnow(@ForAll("steps") List<Step> steps, @ForAll int first) {
        // Somewhere before the wrap, or behind it; always with room below.
        long origin = (first & 0xffff_ffffL) + (1L << 32);
        Path p = new Path();
        Model m = new Model(origin);
        long next = origin + 1_000;
        boolean started = false;
        for (Step s : steps) {
            long psn = Math.max(origin + 300, next + s.place);
            long floor = psn - s.distance;
            int epoch = switch (s.kind) {
                case NEW_ROUTE -> m.epoch + 1;
                case OLD_ROUTE -> m.epoch - 1;
                default -> m.epoch;
            };
            boolean old = started && s.kind == Kind.OLD_ROUTE;
            if (!old && (!started || s.kind == Kind.NEW_ROUTE)) {
                m.begin(epoch, floor);
                started = true;
            } else if (!old) {
                m.floor(floor);
            }
            if (s.kind == Kind.PROBE) {
                assertTrue(p.receiver.probe(p.path, epoch & 0xff, (int) psn, (int) floor, 1, 2));
                if (psn - m.base() <= 256) {
                    m.top = Math.max(m.top, psn);
                }
            } else {
                int expected = old || psn < m.base() ? PathReceiver.PAST
                        : m.taken.get((int) (psn - origin)) ? PathReceiver.DUPLICATE : PathReceiver.NEW;
                assertEquals(expected, p.receiver.place(p.path, epoch & 0xff, (int) psn, s.distance), s + " at " + (psn - origin));
                if (expected == PathReceiver.NEW) {
                    assertEquals(psn > m.top, p.receiver.mark(p.path, (int) psn, s.ce, 1, 2), "a gap");
                    m.taken.set((int) (psn - origin));
                    m.top = Math.max(m.top, psn + 1);
                    m.ce += s.ce ? 1 : 0;
                    next = Math.max(next, psn + 1);
                }
            }
            check(m, p);
        }
    }

    private static void check(Model m, Path p) {
        assertEquals((int) m.base(), p.base(), "base");
        assertEquals((int) Math.max(m.top, m.base()), p.top(), "top");
        int from = (int) (m.base() - m.origin);
        assertEquals(m.taken.get(from, from + 1_000), p.bits(), "bits");
        assertEquals(m.epoch & 0xff, p.slab.getInt(p.path + PathRecord.RX_EPOCH));
        assertEquals(m.ce, p.slab.getInt(p.path + PathRecord.RX_CE));
    }

    // ---- beside a sender that keeps the rules ----

    /** What the network does with the next packet sent, and whether the sender hears an acknowledgement, or gives up what is oldest. */
    private record Fate(int copies, int lateness, boolean acknowledged, boolean givesUp) { }

    @Provide
    static Arbitrary<List<Fate>> fates() {
        return Combinators.combine(Arbitraries.of(0, 0, 1, 1, 1, 1, 2), Arbitraries.oneOf(Arbitraries.integers().between(0, 3),
                Arbitraries.integers().between(0, 120)), Arbitraries.of(true, false, false), Arbitraries.frequency(
                Tuple.of(1, true), Tuple.of(30, false))).as(Fate::new).list().ofMinSize(50).ofMaxSize(900);
    }

    /** A sender's PSNs that it still waits for; a loss is a gap below what is known to have been sent. */
    @Property(seed = "2", tries = 150, edgeCases = EdgeCasesMode.NONE)
    @Requirement({"MR-PATH-012", "MR-PATH-013", "MR-PATH-022", "MR-PATH-025", "MR-LOSS-001"})
    void oldHolesLeaveTheWindowAndNoPsnIsTakenTwice(@ForAll("fates") List<Fate> fates, @ForAll int first) {
        Path p = new Path();
        long next = (first & 0xffff_ffffL) + (1L << 32);
        TreeSet<Long> waitedFor = new TreeSet<>();
        TreeMap<Long, List<long[]>> wire = new TreeMap<>();
        BitSet taken = new BitSet();
        long origin = next;
        for (int turn = 0; turn < fates.size() + 200; turn++) {
            Fate f = turn < fates.size() ? fates.get(turn) : new Fate(1, 0, true, false);
            long floor = waitedFor.isEmpty() ? next : waitedFor.first();
            if (f.givesUp) {
                waitedFor.clear();
            } else if (next - floor <= 255) {
                waitedFor.add(next);
                long distance = next - Math.min(floor, next);
                for (int i = 0; i < f.copies; i++) {
                    wire.computeIfAbsent((long) turn + f.lateness * (i + 1L), t -> new ArrayList<>()).add(new long[] {next, distance});
                }
                next++;
            } else {
                // Nothing may be sent: a probe shows what is missing.
                p.receiver.probe(p.path, 0, (int) next, (int) floor, 1, 2);
            }
            while (!wire.isEmpty() && wire.firstKey() <= turn) {
                for (long[] packet : wire.pollFirstEntry().getValue()) {
                    arrive(p, taken, origin, packet[0], (int) packet[1]);
                }
            }
            if (f.acknowledged && p.slab.getInt(p.path + PathRecord.RX_STARTED) != 0) {
                // What is below the top is acknowledged or lost, hence not waited for any more.
                long base = next + (p.base() - (int) next);
                long top = next + (p.top() - (int) next);
                BitSet bits = p.bits();
                waitedFor.removeIf(w -> w < base || w - base < 256 && bits.get((int) (w - base)) || w < top);
            }
        }
        wire.values().forEach(l -> l.forEach(packet -> arrive(p, taken, origin, packet[0], (int) packet[1])));
        // The last ones all arrived, and nothing older is kept as a hole.
        assertEquals((int) next, p.base(), "a hole that nobody waits for stays");
        assertEquals(0, p.bits().cardinality());
    }

    private static void arrive(Path p, BitSet taken, long origin, long psn, int distance) {
        int place = p.receiver.place(p.path, 0, (int) psn, distance);
        int at = (int) (psn - origin);
        assertTrue((int) psn - distance - p.base() <= 0, "below the floor there is no hole");
        if (place == PathReceiver.NEW) {
            assertTrue(!taken.get(at), "PSN " + at + " is taken twice");
            taken.set(at);
            p.receiver.mark(p.path, (int) psn, false, 1, 2);
            assertTrue((int) psn - p.base() < 256, "beyond the window");
        } else if (place == PathReceiver.DUPLICATE) {
            assertTrue(taken.get(at), "PSN " + at + " never came, but counts as marked");
        }
        assertTrue(p.top() - p.base() >= 0 && p.top() - p.base() <= 256, "span " + (p.top() - p.base()));
    }
}
