// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.fabric;

import io.metaroce.simulator.core.EventQueue;
import java.util.Arrays;

/**
 * Outputs that can be paused, for priority flow control (IEEE 802.1Qbb, one class): a switch counts the bytes in it that came over each
 * input. Above a threshold it pauses that input's sender, below another it lets it go on; what is on its way meanwhile finds headroom
 * of one round trip of the link. Packets wait in lists here, and take two events a hop instead of one.
 */
final class Pausing {
    /** Kinds of events of this class, above the number of a link. */
    static final int FREE = 1;
    static final int PAUSE = 2;
    static final int RESUME = 3;
    private static final int NONE = -1;
    /** A pause frame of 64 bytes, with preamble and gap, waits on average for half a packet of this size if one is being sent. */
    private static final int FRAME_BYTES = 84;
    private static final int PACKET_BYTES = 4_226;

    private final Fabric fabric;
    private final EventQueue events;
    private final long resumeBytes;
    private final long pauseBytes;
    private final long[] roomBytes;
    private final int[] head;
    private final int[] tail;
    private final long[] waiting;
    private final boolean[] sending;
    private final boolean[] paused;
    /** By input: bytes in the switch that came over it, and whether its sender has been told to pause. */
    private final long[] held;
    private final boolean[] told;
    /** By input: when its sender hears, or heard, of the latest frame. */
    private final long[] heardPs;
    /** By packet: the one behind it, the input it came over. */
    private int[] next = new int[0];
    private int[] cameOver = new int[0];
    private long pauses;

    Pausing(Fabric fabric, EventQueue events, int links, FabricConfig config) {
        this.fabric = fabric;
        this.events = events;
        pauseBytes = config.pauseBytes;
        resumeBytes = Math.max(0, config.pauseBytes - 2 * PACKET_BYTES);
        head = new int[links];
        tail = new int[links];
        Arrays.fill(head, NONE);
        waiting = new long[links];
        sending = new boolean[links];
        paused = new boolean[links];
        held = new long[links];
        told = new boolean[links];
        heardPs = new long[links];
        roomBytes = new long[links];
        for (int l = 0; l < links; l++) {
            Topology.Link link = fabric.topology().links().get(l);
            roomBytes[l] = pauseBytes + Math.round(2 * link.delayPs() / 8e12 * link.bitsPerSecond()) + 4 * PACKET_BYTES;
        }
    }

    long waiting(int link) {
        return waiting[link];
    }

    boolean isPaused(int link) {
        return paused[link];
    }

    /** Pauses told so far. */
    long pauses() {
        return pauses;
    }

    /** Whether a packet that came over this input fits; false: it is not counted, and the caller drops it. */
    boolean admit(int input, int size) {
        if (held[input] + size > roomBytes[input]) {
            return false;
        }
        held[input] += size;
        if (held[input] > pauseBytes && !told[input]) {
            told[input] = true;
            pauses++;
            tell(input, PAUSE);
        }
        return true;
    }

    /** The packet waits for its turn at the output. {@code input} is {@value #NONE} at a host. */
    void enter(int link, int packet, int input) {
        if (packet >= next.length) {
            int size = Math.max(1024, Integer.highestOneBit(packet) * 2);
            next = Arrays.copyOf(next, size);
            cameOver = Arrays.copyOf(cameOver, size);
        }
        next[packet] = NONE;
        cameOver[packet] = input;
        if (head[link] == NONE) {
            head[link] = packet;
        } else {
            next[tail[link]] = packet;
        }
        tail[link] = packet;
        waiting[link] += fabric.packets.size(packet);
        if (!sending[link] && !paused[link]) {
            begin(link);
        }
    }

    void event(int kind, int link) {
        switch (kind) {
            case FREE -> end(link);
            case PAUSE -> paused[link] = true;
            default -> {
                paused[link] = false;
                if (!sending[link] && head[link] != NONE) {
                    begin(link);
                }
            }
        }
    }

    private void begin(int link) {
        sending[link] = true;
        events.at(events.nowPs() + fabric.serialisationPs(link, fabric.packets.size(head[link])), fabric.event(FREE, link));
    }

    private void end(int link) {
        int packet = head[link];
        int size = fabric.packets.size(packet);
        head[link] = next[packet];
        waiting[link] -= size;
        sending[link] = false;
        int input = cameOver[packet];
        if (input != NONE) {
            held[input] -= size;
            if (told[input] && held[input] <= resumeBytes) {
                told[input] = false;
                tell(input, RESUME);
            }
        }
        if (head[link] != NONE && !paused[link]) {
            begin(link);
        }
        fabric.launch(link, packet, events.nowPs());
    }

    /** The frame goes against the link, over its twin. */
    private void tell(int link, int kind) {
        int twin = link ^ 1;
        long framePs = fabric.serialisationPs(twin, FRAME_BYTES) + (sending[twin] ? fabric.serialisationPs(twin, PACKET_BYTES) / 2 : 0);
        // Frames keep their order: a sender that hears of the end of a pause before its beginning would wait for ever.
        heardPs[link] = Math.max(heardPs[link], events.nowPs() + framePs + fabric.topology().links().get(twin).delayPs());
        events.at(heardPs[link], fabric.event(kind, link));
    }
}
