// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.simulator.core.EventQueue;
import io.metaroce.simulator.fabric.Fabric;
import io.metaroce.simulator.fabric.FabricConfig;
import io.metaroce.simulator.fabric.Topologies;
import io.metaroce.simulator.fabric.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The fabric against closed forms. */
class FabricTest {
    private static final long GBPS_400 = 400_000_000_000L;
    private static final int SIZE = 4_160;
    /** 4,160 B at 400 Gb/s. */
    private static final long PACKET_PS = 83_200;
    private static final long LINK_PS = 1_000_000;

    private record Arrival(long atPs, int host, int source, boolean marked) { }

    private final EventQueue events = new EventQueue();
    private final List<Arrival> arrivals = new ArrayList<>();
    private Fabric fabric;

    private Fabric fabric(Topology topology, FabricConfig config) {
        config.frameOverhead = 0;
        fabric = new Fabric(topology, config, events, 0, (host, packet) -> {
            arrivals.add(new Arrival(events.nowPs(), host, fabric.packets.source(packet), fabric.packets.marked(packet)));
            fabric.packets.give(packet);
        });
        return fabric;
    }

    private static Topology leafSpine(int planes) {
        return Topologies.leafSpine(new Topologies.Size(64, 8, planes, GBPS_400, 1_000), 8);
    }

    private void send(int source, int destination, int plane, int port) {
        int packet = fabric.packets.take();
        fabric.packets.source(packet, source);
        fabric.packets.destination(packet, destination);
        fabric.packets.plane(packet, plane);
        fabric.packets.sourcePort(packet, port);
        fabric.packets.headerLength(packet, 64);
        fabric.packets.payloadLength(packet, SIZE - 64);
        fabric.send(packet);
    }

    private void run() {
        while (!events.isEmpty()) {
            fabric.arrive((int) events.take());
        }
        assertEquals(0, fabric.packets.used());
    }

    @Test
    void aPacketTakesSerialisationAndDelayOnEveryLink() {
        fabric(leafSpine(1), new FabricConfig());
        send(0, 63, 0, 50_000);
        send(1, 2, 0, 50_000);
        run();
        assertEquals(new Arrival(2 * (PACKET_PS + LINK_PS), 2, 1, false), arrivals.get(0));
        assertEquals(new Arrival(4 * (PACKET_PS + LINK_PS), 63, 0, false), arrivals.get(1));
    }

    @Test
    void threeTiersTakeSixLinks() {
        fabric(Topologies.fatTree(new Topologies.Size(32, 4, 1, GBPS_400, 1_000), 2, 2, 2), new FabricConfig());
        send(0, 31, 0, 50_000);
        send(0, 5, 0, 50_001);
        run();
        assertEquals(5, arrivals.get(0).host, "within the pod, over four links, though sent later");
        assertEquals(4 * (PACKET_PS + LINK_PS) + PACKET_PS, arrivals.get(0).atPs);
        assertEquals(6 * (PACKET_PS + LINK_PS), arrivals.get(1).atPs);
    }

    @Test
    void planesAreApart() {
        fabric(leafSpine(2), new FabricConfig());
        for (int plane = 0; plane < 2; plane++) {
            send(0, 63, plane, 50_000);
        }
        run();
        assertEquals(2, arrivals.size());
        assertEquals(arrivals.get(0).atPs, arrivals.get(1).atPs, "neither waits for the other");
    }

    /** n packets at once from different hosts of one leaf to another host of it: the i-th waits for i others. */
    /** Same rail of the same pod: one switch; anything else, also another NIC of the same server: three. */
    @Test
    void railsJoinTheSameNicOfAllServersOfAPod() {
        int rails = 4;
        int servers = 3;
        int pods = 2;
        Topology topology = Topologies.rails(new Topologies.Size(pods * servers * rails, servers, 2, GBPS_400, 1_000), rails, 5);
        assertEquals(2 * pods * rails + 2 * 5, topology.switches());
        for (int plane = 0; plane < 2; plane++) {
            for (int to = 1; to < topology.hosts(); to++) {
                arrivals.clear();
                fabric(topology, new FabricConfig());
                long beginPs = events.nowPs();
                send(0, to, plane, 50_000);
                run();
                int links = to % rails == 0 && to / rails < servers ? 2 : 4;
                assertEquals(beginPs + links * (PACKET_PS + LINK_PS), arrivals.getFirst().atPs, "to " + to);
            }
        }
        assertThrows(IllegalArgumentException.class, () -> Topologies.rails(new Topologies.Size(24, 3, 1, GBPS_400, 1_000), 5, 5));
    }

    /** All-to-all: of n - 1 packets of each NIC, all but those to its own rail in its pod cross a spine. */
    @Test
    void spinesCarryWhatChangesRailsOrPods() {
        int rails = 8;
        int servers = 4;
        int hosts = 2 * servers * rails;
        fabric(Topologies.rails(new Topologies.Size(hosts, servers, 1, GBPS_400, 1_000), rails, 8), new FabricConfig());
        for (int a = 0; a < hosts; a++) {
            for (int b = 0; b < hosts; b++) {
                if (a != b) {
                    send(a, b, 0, 50_000 + b);
                }
            }
        }
        run();
        long up = 0;
        for (int l = 0; l < fabric.topology().links().size(); l++) {
            Topology.Link link = fabric.topology().links().get(l);
            up += link.from() >= hosts && link.to() >= hosts && fabric.topology().tierOf(link.to()) == 1 ? fabric.bytesOf(l) : 0;
        }
        assertEquals((long) hosts * (hosts - servers) * SIZE, up);
    }

    @Test
    void aQueueDelaysByWhatIsInIt() {
        fabric(leafSpine(1), new FabricConfig());
        for (int source = 1; source < 8; source++) {
            send(source, 0, 0, 50_000);
        }
        run();
        for (int i = 0; i < 7; i++) {
            assertEquals(2 * (PACKET_PS + LINK_PS) + i * PACKET_PS, arrivals.get(i).atPs);
        }
        assertEquals(6 * SIZE, fabric.deepestBytes());
    }

    @Test
    void whatDoesNotFitIsDropped() {
        FabricConfig config = new FabricConfig();
        config.queueBytes = 3 * SIZE;
        fabric(leafSpine(1), config);
        for (int source = 1; source < 8; source++) {
            send(source, 0, 0, 50_000);
        }
        run();
        assertEquals(3, arrivals.size());
        assertEquals(4, fabric.drops());
    }

    /** Between the thresholds the share that is marked grows linearly: with a queue that grows evenly half of it in all. */
    @Test
    void marksByRed() {
        FabricConfig config = new FabricConfig();
        config.queueBytes = Long.MAX_VALUE / 4;
        config.markFromBytes = 1_000 * SIZE;
        config.markAllBytes = 5_000 * SIZE;
        fabric(leafSpine(1), config);
        // Seven hosts send at full rate: of 7,000 packets that arrive in 1,000 packet times, 6,000 wait in the end.
        for (int source = 1; source < 8; source++) {
            for (int i = 0; i < 1_000; i++) {
                send(source, 0, 0, 50_000);
            }
        }
        run();
        double slope = 7.0 / 6;
        double expected = slope * (2_000 + 1_000);
        long marked = arrivals.stream().filter(Arrival::marked).count();
        assertEquals(marked, fabric.marks());
        assertEquals(expected, marked, 4 * Math.sqrt(slope * 4_000 / 6));
        assertTrue(arrivals.subList(0, 1_100).stream().noneMatch(Arrival::marked), "none below the low threshold");
    }

    /** k flows over s spines: the mean number of spines that none of them takes is s (1 - 1/s)^k. */
    @Test
    void flowsCollideAsRandomlyAsHashesDo() {
        int spines = 8;
        int flows = 8;
        int rounds = 4_000;
        long empty = 0;
        fabric(leafSpine(1), new FabricConfig());
        int[] spine = fabric.topology().switches(0, 1);
        for (int round = 0; round < rounds; round++) {
            long[] before = IntStream.range(0, spines).mapToLong(s -> into(spine[s])).toArray();
            for (int i = 0; i < flows; i++) {
                send(i, 56 + (i + round) % 8, 0, 49_152 + round);
            }
            run();
            for (int s = 0; s < spines; s++) {
                empty += into(spine[s]) == before[s] ? 1 : 0;
            }
        }
        double expected = spines * Math.pow(1 - 1.0 / spines, flows);
        assertEquals(expected, (double) empty / rounds, 0.06);
    }

    private long into(int node) {
        long bytes = 0;
        for (int link : fabric.linksOf(node)) {
            bytes += fabric.topology().links().get(link).to() == node ? fabric.bytesOf(link) : 0;
        }
        return bytes;
    }

    @Test
    void losesTheConfiguredShareAloneAndInRuns() {
        for (double burst : new double[] {1, 10}) {
            FabricConfig config = new FabricConfig();
            config.loss = 0.02;
            config.lossBurst = burst;
            fabric(leafSpine(1), config);
            int n = 200_000;
            arrivals.clear();
            for (int i = 0; i < n; i++) {
                send(0, 63, 0, 50_000 + i % 1_000);
                if (i % 1_000 == 0) {
                    run();
                }
            }
            run();
            assertEquals(n - arrivals.size(), fabric.losses());
            double share = 0.01 + 0.99 * 0.01;
            assertEquals(share, (double) fabric.losses() / n, 5 * Math.sqrt(share / n * (2 * burst - 1)), "runs of " + burst);
        }
    }

    @Test
    void aDeadSpineLosesSilentlyAndIsAvoidedWhenAnnounced() {
        fabric(leafSpine(1), new FabricConfig());
        int[] links = fabric.linksOf(fabric.topology().switches(0, 1)[3]);
        assertEquals(16, links.length);
        for (int link : links) {
            fabric.setDead(link, true);
        }
        int n = 8_000;
        for (int i = 0; i < n; i++) {
            send(i % 8, 63, 0, 50_000 + i);
        }
        run();
        assertEquals(n / 8.0, fabric.losses(), 5 * Math.sqrt(n / 8.0));
        long before = fabric.losses();
        fabric.announce(links, false);
        for (int i = 0; i < n; i++) {
            send(i % 8, 63, 0, 50_000 + i);
        }
        run();
        assertEquals(before, fabric.losses());
    }

    @Test
    void aSlowLinkTakesLonger() {
        fabric(leafSpine(1), new FabricConfig());
        fabric.setSpeed(fabric.topology().down(0, 2), 0.25);
        send(1, 2, 0, 50_000);
        run();
        assertEquals(2 * LINK_PS + PACKET_PS + 4 * PACKET_PS, arrivals.getFirst().atPs);
    }
}
