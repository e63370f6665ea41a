// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.ProbeHeader;
import io.metaroce.wire.Type;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Routes that carry acknowledgements alone, and fail: nobody but the other end could tell. */
class IdleRoutesTest {
    private static final long MS = 1_000_000;

    private record Sent(boolean byB, int plane, int sourcePort) {
    }

    private final Set<Sent> used = new HashSet<>();

    private static EndpointConfig config(long seed, int planes, int paths) {
        EndpointConfig c = Peers.config(seed);
        c.localAddresses = new NetAddress[planes];
        c.pathsPerPlane = paths;
        return c;
    }

    /** From now on what is sent by a route of B's for which this holds is lost. */
    private void lose(Peers p, Predicate<Sent> dead) {
        Sent[] now = new Sent[1];
        p.net.observer = (from, d, plane, port, to) -> {
            now[0] = new Sent(from == p.b, plane, port);
            used.add(now[0]);
        };
        p.net.filter = (d, plane, port) -> !now[0].byB || !dead.test(now[0]);
    }

    private static void write(Peers p, int bytes) {
        int before = p.completionsA.size();
        p.post(p.request(Opcode.WRITE, 0, 0, bytes, 0, 1));
        assertTrue(p.until(1_200 * MS, () -> p.completionsA.size() == before + 1), () -> "seed " + p.seed + ": " + p.eventsA.getLast().text());
        assertEquals(Completion.OK, p.completionsA.getLast().status, () -> p.eventsA.getLast().text());
        p.assertCopied(0, 0, bytes);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    @Requirement("MR-LOSS-028")
    void allRoutesOfAcknowledgementsFail(int paths) {
        for (int seed = 0; seed < 10; seed++) {
            Peers p = new Peers(60 + seed * 2L, config(60 + seed * 2L, 1, paths), config(61 + seed * 2L, 1, paths), 1, 1).connect();
            used.clear();
            lose(p, s -> false);
            write(p, 200_000);
            p.run(MS);
            Set<Sent> dead = Set.copyOf(used);
            lose(p, dead::contains);
            long start = p.net.nowNs;
            // A single packet, and more than a window.
            write(p, seed % 2 == 0 ? 100 : 3_000_000);
            assertTrue(p.net.nowNs - start < 20 * MS, "it took " + (p.net.nowNs - start) / 1_000 + " us, seed " + p.seed);
            assertTrue(p.statsB().deadPaths >= paths);
            write(p, 1_000_000);
        }
    }

    /** With another plane the sender leaves by itself, as before. */
    @Test
    void oneOfTwoPlanesIsDeafOneWay() {
        Peers p = new Peers(90, config(90, 2, 4), config(91, 2, 4), 2, 2).connect();
        write(p, 200_000);
        p.run(MS);
        lose(p, s -> s.plane == 0);
        long start = p.net.nowNs;
        write(p, 3_000_000);
        assertTrue(p.net.nowNs - start < 20 * MS);
    }

    @Test
    @Requirement("MR-LOSS-028")
    void routesThatAreHeardAreNotLeft() {
        Peers p = new Peers(92, config(92, 1, 4), config(93, 1, 4), 1, 1).connect();
        for (int i = 0; i < 20; i++) {
            write(p, 100 + 30_000 * (i % 3));
            p.run(i * 50 * MS);
        }
        assertEquals(0, p.statsB().deadPaths);
        // Nor for a few acknowledgements that are lost by chance.
        Peers q = new Peers(94, config(94, 1, 4), config(95, 1, 4), 1, 1).connect();
        q.net.loss = 0.02;
        q.net.duplicate = 0.3;
        for (int i = 0; i < 100; i++) {
            write(q, 100 + 30_000 * (i % 3));
        }
        assertEquals(0, q.statsB().deadPaths);
    }

    /**
     * Marked probes stood in a queue since before what they wait for had come: in an incast they go on for as long as the queue is deep.
     * Marks on everything for ever hide nothing, though.
     */
    @Test
    @Requirement({"MR-ACK-020", "MR-LOSS-028"})
    void probesFromAQueueSayNothingOfWhatIsHeard() {
        Peers p = new Peers(96, config(96, 1, 4), config(97, 1, 4), 1, 1);
        Tap tap = new Tap(p);
        Tap.Seen first = tap.connectAndWrite(100);
        p.run(MS);
        EndpointState b = Inside.state(p.b.endpoint);
        long rttNs = b.slab.getInt(b.plane(b.connectionOf(p.ba), 0) + PlaneRecord.SRTT_NS);
        long deathNs = (long) (Limits.PROBES_TO_DEATH * Limits.PROBE_AGAIN_RTT * Math.max(rttNs, b.config.timerFloorNs));
        ask(p, first, 3, deathNs + rttNs + 10_000);
        assertEquals(0, p.statsB().deadPaths, "a queue");
        for (int i = 0; i < 4; i++) {
            long by = b.path(b.connectionOf(p.ba), 0, i);
            assertEquals(0, b.slab.getInt(by + PathRecord.ROUTE) & PathRecord.DOUBTED);
        }
        ask(p, first, 3, (Limits.MARKED_PATIENCE - 1) * deathNs + 10_000);
        assertEquals(4, p.statsB().deadPaths, "no queue is as deep");
        p.run(10 * MS);
        ask(p, first, 2, deathNs + rttNs + 10_000);
        assertTrue(p.statsB().deadPaths > 4, "and without marks it is known sooner");
    }

    /** For so long probes come that still wait for the packet, which was acknowledged. */
    private static void ask(Peers p, Tap.Seen data, int ecn, long forNs) {
        byte[] probe = Tap.resized(data.bytes(), ProbeHeader.LENGTH, d -> d.put(4, (byte) (d.get(4) & 0xf0 | Type.PROBE)).put(Prefix.FLAGS, (byte) 0)
                .put(ProbeHeader.FLOOR_DISTANCE, (byte) 1).putShort(ProbeHeader.PATH, (short) data.path()).putInt(ProbeHeader.EPOCH, data.epoch() << 24)
                .putInt(ProbeHeader.NEXT_PSN, data.psn() + 1).putInt(ProbeHeader.TIMESTAMP, 7).putInt(ProbeHeader.DEMAND, 0).putInt(ProbeHeader.FLOOR, data.psn()));
        for (long end = p.net.nowNs + forNs; p.net.nowNs < end; p.run(5_000)) {
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], ecn, probe);
        }
    }
}
