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
import org.junit.jupiter.api.Test;

/** What a fabric may do instead of dropping from its own queue: pause, trim, share a buffer. */
class FabricOptionsTest {
    private static final long GBPS_400 = 400_000_000_000L;
    private static final int SIZE = 4_160;
    private static final long PACKET_PS = 83_200;
    private static final long LINK_PS = 1_000_000;

    private record Arrival(long atPs, int host, int source, boolean trimmed) { }

    private final EventQueue events = new EventQueue();
    private final List<Arrival> arrivals = new ArrayList<>();
    private final FabricConfig config = new FabricConfig();
    private Fabric fabric;

    private void build() {
        config.frameOverhead = 0;
        Topology t = Topologies.leafSpine(new Topologies.Size(64, 8, 1, GBPS_400, 1_000), 8);
        fabric = new Fabric(t, config, events, 0, (host, packet) -> {
            arrivals.add(new Arrival(events.nowPs(), host, fabric.packets.source(packet), fabric.packets.trimmed(packet)));
            fabric.packets.give(packet);
        });
    }

    private void send(int source, int destination, int payload) {
        int packet = fabric.packets.take();
        fabric.packets.source(packet, source);
        fabric.packets.destination(packet, destination);
        fabric.packets.plane(packet, 0);
        fabric.packets.sourcePort(packet, 50_000);
        fabric.packets.headerLength(packet, SIZE - 4_096);
        fabric.packets.payloadLength(packet, payload);
        fabric.send(packet);
    }

    private void run() {
        while (!events.isEmpty()) {
            fabric.arrive((int) events.take());
        }
        assertEquals(0, fabric.packets.used(), "every packet was given back");
    }

    /** Unpaused, the two kinds of queue are the same to the picosecond. */
    @Test
    void aQueueThatCouldPauseTakesTheSameTime() {
        config.pauseBytes = 1_000 * SIZE;
        build();
        for (int source = 1; source < 8; source++) {
            send(source, 0, 4_096);
        }
        run();
        for (int i = 0; i < 7; i++) {
            assertEquals(2 * (PACKET_PS + LINK_PS) + i * PACKET_PS, arrivals.get(i).atPs);
        }
        assertEquals(0, fabric.pauses());
    }

    /** Seven hosts send 200 packets each to one: nothing is lost, the last link never idles, senders wait. */
    @Test
    void pausingLosesNothingAndKeepsTheLinkBusy() {
        config.pauseBytes = 10 * SIZE;
        config.queueBytes = SIZE;
        build();
        for (int source = 1; source < 8; source++) {
            for (int i = 0; i < 200; i++) {
                send(source, 0, 4_096);
            }
        }
        run();
        assertEquals(1_400, arrivals.size());
        assertEquals(0, fabric.drops());
        assertTrue(fabric.pauses() > 7);
        assertEquals(2 * (PACKET_PS + LINK_PS) + 1_399 * PACKET_PS, arrivals.getLast().atPs);
        // From each input the threshold, what a round trip of its link brings, and a few packets.
        assertTrue(fabric.deepestBytes() <= 7 * (10 * SIZE + 100_000 + 4 * 4_226), fabric.deepestBytes() + " B");
    }

    /** Congestion spreads: eight packets to an idle host take much longer when what goes elsewhere is paused before them. */
    @Test
    void pausesHurtBystanders() {
        config.pauseBytes = 4 * SIZE;
        long paused = lastOfBystander();
        assertTrue(fabric.pauses() > 56);
        assertEquals(0, fabric.drops());
        config.pauseBytes = 0;
        config.queueBytes = 20 * SIZE;
        long dropped = lastOfBystander();
        assertTrue(paused > 2 * dropped, paused + " ps with pauses, " + dropped + " ps with drops");
    }

    private long lastOfBystander() {
        build();
        arrivals.clear();
        long beginPs = events.nowPs();
        for (int source = 8; source < 64; source++) {
            for (int i = 0; i < 100 && source != 10; i++) {
                send(source, 0, 4_096);
            }
        }
        for (int i = 0; i < 100; i++) {
            send(10, 1, 4_096);
        }
        run();
        return arrivals.stream().filter(a -> a.host == 1).mapToLong(a -> a.atPs - beginPs).max().orElseThrow();
    }

    @Test
    void trimmingKeepsTheHeadersWhichOvertake() {
        config.trim = true;
        config.queueBytes = 4 * SIZE;
        build();
        for (int source = 1; source < 8; source++) {
            send(source, 0, 4_096);
        }
        run();
        assertEquals(7, arrivals.size());
        assertEquals(3, fabric.trims());
        assertEquals(3, arrivals.stream().filter(Arrival::trimmed).count());
        long lastTrimmed = arrivals.stream().filter(Arrival::trimmed).mapToLong(Arrival::atPs).max().orElseThrow();
        long lastWhole = arrivals.stream().filter(a -> !a.trimmed).mapToLong(Arrival::atPs).max().orElseThrow();
        assertTrue(lastTrimmed < 2 * (PACKET_PS + LINK_PS) + PACKET_PS, "behind at most one packet");
        assertTrue(lastWhole >= 2 * (PACKET_PS + LINK_PS) + 3 * PACKET_PS, "headers take their part of the link");
    }

    /** With alpha 1 one busy output fills half of the buffer: q = alpha (B - q). */
    @Test
    void aSharedBufferGivesABusyOutputItsPart() {
        config.sharedBytes = 100 * SIZE;
        build();
        for (int source = 1; source < 8; source++) {
            for (int i = 0; i < 100; i++) {
                send(source, 0, 4_096);
            }
        }
        run();
        assertTrue(fabric.drops() > 0);
        assertEquals(50.0 * SIZE, fabric.deepestBytes(), 2 * SIZE);
    }

    @Test
    void notBothPausingAndTrimming() {
        config.trim = true;
        config.pauseBytes = 1;
        assertThrows(IllegalArgumentException.class, this::build);
    }
}
