// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Planes and paths of different rates: each carries what it can, and none holds up the others. */
class UnequalPlanesTest {
    private static final long MS = 1_000_000;
    private static final int BYTES = 400_000;

    private static EndpointConfig config(long seed, int planes, long kbps) {
        EndpointConfig c = Peers.config(seed);
        c.localAddresses = new NetAddress[planes];
        c.lineRateKbps = kbps;
        c.receiveBufferPackets = 4096;
        return c;
    }

    /** Keeps A busy for a while; returns the goodput of its second half, kbit/s. */
    private static double goodputKbps(Peers p, long ns) {
        long half = p.net.nowNs + ns / 2;
        long end = p.net.nowNs + ns;
        long[] atHalf = {-1};
        int[] posted = {0};
        p.until(ns + 10 * MS, () -> {
            if (atHalf[0] < 0 && p.net.nowNs >= half) {
                atHalf[0] = p.statsB().bytesReceived;
            }
            while (p.a.endpoint.liveWorkRequests() < 16) {
                p.post(p.request(Opcode.WRITE, posted[0] % 4, 0, BYTES, 0, posted[0]++));
            }
            return p.net.nowNs >= end;
        });
        return (p.statsB().bytesReceived - atHalf[0]) * 8e6 / (ns / 2);
    }

    private static double shareOf(Peers p, java.util.function.Predicate<PathStats> which) {
        PathStats s = new PathStats();
        double some = 0;
        double all = 0;
        for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
            p.a.endpoint.readPath(p.ab, i, s);
            all += s.packets;
            some += which.test(s) ? s.packets : 0;
        }
        return some / all;
    }

    private static double payloadPart() {
        return 1024.0 / (1024 + 64 + 66);
    }

    /** Whether the ends know the rates or find out by marks and delay. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Requirement({"MR-PAR-008", "MR-SPRAY-004"})
    void aSlowPlaneCarriesItsPart(boolean told) {
        for (int seed = 0; seed < 4; seed++) {
            EndpointConfig a = config(10 + seed, 2, 10_000_000);
            EndpointConfig b = config(20 + seed, 2, 10_000_000);
            if (told) {
                a.planeRatesKbps = new long[] {10_000_000, 2_500_000};
                b.planeRatesKbps = new long[] {10_000_000, 2_500_000};
            }
            Peers p = new Peers(10 + seed, a, b);
            p.net.rate = (plane, port) -> plane == 0 ? 10_000_000 : 2_500_000;
            p.connect();
            double kbps = goodputKbps(p, 20 * MS);
            assertTrue(kbps > 0.8 * 12_500_000 * payloadPart(), "seed " + seed + ": " + kbps);
            double slow = shareOf(p, s -> s.plane == 1);
            assertTrue(slow > 0.12 && slow < 0.28, "seed " + seed + ": the slow plane carries " + slow);
        }
    }

    /** One end alone has the slow plane, and tells. */
    @Test
    @Requirement("MR-PAR-008")
    void theSlowerEndOfAPlaneDecides() {
        EndpointConfig b = config(31, 3, 10_000_000);
        b.planeRatesKbps = new long[] {10_000_000, 1_000_000, 5_000_000};
        Peers p = new Peers(30, config(30, 3, 10_000_000), b).connect();
        p.run(MS);
        long[] line = new long[3];
        Endpoint e = p.a.endpoint;
        for (int i = 0; i < 3; i++) {
            line[i] = e.lineKbps(p.ab, i);
        }
        assertEquals(10_000_000, line[0], 10_000);
        assertEquals(1_000_000, line[1], 1_000);
        assertEquals(5_000_000, line[2], 5_000);
    }

    /** Within a plane: routes of which one in four has a quarter of the rate. */
    @Test
    @Requirement({"MR-SPRAY-001", "MR-CC-013"})
    void aSlowPathCarriesLess() {
        for (int seed = 0; seed < 4; seed++) {
            Peers p = new Peers(40 + seed, config(40 + seed, 1, 10_000_000), config(50 + seed, 1, 10_000_000));
            // Of the first four source ports, one.
            p.net.rate = (plane, port) -> (port & 3) == 1 ? 700_000 : 2_500_000 + (port & 3);
            p.connect();
            double kbps = goodputKbps(p, 20 * MS);
            assertTrue(kbps > 0.75 * 8_200_000 * payloadPart(), "seed " + seed + ": " + kbps);
        }
    }
}
