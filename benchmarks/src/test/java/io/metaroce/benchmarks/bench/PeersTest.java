// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How programs of others are run and understood, by what they print. None of them is needed here. */
@Timeout(60)
class PeersTest {
    private static Ends printed(String client) {
        return new Ends(client, "", 1, 1);
    }

    @Test
    void ucxTellsPercentileAndBandwidthInItsLastRow() {
        String table = """
                |     Test     | # iterations | 99.0%ile | average | overall |  average |  overall |  average  |  overall  |
                +--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
                                        4000      1.000     2.000     3.000       10.00      11.00          20          21
                                        5000     14.393    40.605    40.605        1.50       1.60       24627       24628
                """;
        assertArrayEquals(new double[] {5000, 14.393, 40.605, 40.605, 1.5, 1.6, 24627, 24628}, UcxPeer.row(printed(table)));
        assertEquals(14.393, UcxPeer.row(printed("Final:   5000     14.393    40.605    40.605        1.50       1.60       24627       24628\n"))[1]);
        assertThrows(IllegalStateException.class, () -> UcxPeer.row(printed("[1] UCX  ERROR no device\n")));
    }

    @Test
    void libfabricTellsMicrosecondsAMessage() {
        assertArrayEquals(new double[] {65_536 / 20.0, 20}, LibfabricPeer.row(printed(
                "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n64k     300     =300     37m         7.07s      5.56   20.00       0.00\n")));
        assertThrows(IllegalStateException.class, () -> LibfabricPeer.row(printed("fi_getinfo(): No data available\n")));
    }

    @Test
    void everyPeerHasANameOfItsOwnAndEverySizeItsTurn() {
        HashSet<String> names = new HashSet<>();
        Peers.all(Net.LOOPBACK).forEach(p -> assertTrue(names.add(p.name()), p.name()));
        assertEquals(4 * names.size(), PeerCase.loopback(false).size());
        assertEquals(2 * names.size(), PeerCase.loopback(true).size());
        List<String> lossy = PeerCase.lab(false, "x").stream().map(Measured::name).distinct().toList();
        assertEquals(5 * 4 * names.size(), lossy.size());
        assertTrue(lossy.contains("4 planes, one marked, one dying, 64 B, MetaRoCE"), lossy.toString());
        assertEquals(4, Net.labPlanes("x").planeCount());
        assertEquals("10.66.0.2,10.66.1.2,10.66.2.2,10.66.3.2", Net.labPlanes("x").planes());
        assertEquals(1, Net.LOOPBACK.planeCount());
        assertTrue(lossy.contains("0.1 % lost, 64 KiB, MetaRoCE") && lossy.contains("no loss, 1 MiB, Aeron, MTU 8960"), lossy.toString());
    }

    @Test
    void twoProgramsRunBesideEachOther() throws IOException, InterruptedException {
        Ends ends = Ends.run(Net.LOOPBACK, List.of("sh", "-c", "echo ready; sleep 0.5; echo result 7"), "ready", true,
                List.of("sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; sleep 0.2; echo $GIVEN"), Map.of("GIVEN", "word"), 30);
        assertEquals("word", ends.client().strip());
        assertEquals(7.0, Child.number(ends.server(), "result ([0-9]+)"));
        assertTrue(ends.cores() >= 0, ends.cores() + " cores");
    }

    @Test
    void aClientThatFailsOrAServerThatDoesNotStartIsAFailure() {
        IOException failed = assertThrows(IOException.class,
                () -> Ends.run(Net.LOOPBACK, List.of("sleep", "5"), null, false, List.of("sh", "-c", "echo no route; exit 3"), Map.of(), 30));
        assertTrue(failed.getMessage().contains("3") && failed.getMessage().contains("no route"), failed.getMessage());
        assertThrows(IOException.class, () -> Ends.run(Net.LOOPBACK, List.of("sh", "-c", "echo in use; exit 1"), "ready", false, List.of("true"), Map.of(), 30));
        assertThrows(IOException.class, () -> Ends.run(Net.LOOPBACK, List.of("sleep", "30"), null, false, List.of("sleep", "30"), Map.of(), 1));
    }

    @Test
    void aProgramThatWasTooQuickGetsMoreMessages() throws IOException, InterruptedException {
        List<Long> asked = new ArrayList<>();
        Ends ends = Ends.forAtLeast(1, 100, messages -> {
            asked.add(messages);
            return new Ends("", "", 1, messages / 10_000.0);
        });
        assertEquals(List.of(100L, 1_000L, 10_000L), asked);
        assertEquals(1.0, ends.seconds());
    }

    @Test
    void processorTimeOfAProcessIsSeen() throws IOException, InterruptedException {
        Process busy = new ProcessBuilder("sh", "-c", "while :; do :; done").start();
        try {
            CpuMeter meter = new CpuMeter(busy);
            for (int i = 0; i < 40; i++) {
                Thread.sleep(50);
                meter.sample();
            }
            assertTrue(meter.cores() > 0 && meter.cores() < 1.5, meter.cores() + " cores");
        } finally {
            Child.end(busy);
        }
    }
}
