// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.memory.RegionTable;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/** One endpoint with its memory, the frames that are on their way to it, and when it will next be polled. */
final class Host {
    final int number;
    final EndpointConfig config;
    final HostMemory memory;
    final TxBurst tx;
    final RxBurst rx;
    final long pollNs;
    final PriorityQueue<Frame> inbox = new PriorityQueue<>();
    /** Connections that the application has, by handle. */
    final Map<Integer, Side> sides = new HashMap<>();
    /** Messages on their way to it that end one of its regions. */
    final List<Message> ending = new ArrayList<>();
    RegionTable regions;
    /** Null where streams have receives of their own only. */
    SharedQueue shared;
    /** The application wants to be told of the next completion, or of the next solicited one. */
    boolean awaitsAny;
    boolean awaitsSolicited;
    Endpoint endpoint;
    int incarnation;
    /** Where it is on each plane now, null where it is not, and how often that changed. */
    final NetAddress[] addresses;
    final int[] generations;
    /** Its planes may change. */
    boolean moves;
    long lastPollNs;
    long pausedUntilNs;
    long fullAtNs;
    boolean wasRestarted;
    /** This host's clock: what it shows at true time 0, and by how much it is too fast. */
    private long clockAtZeroNs;
    private int fastPpm;

    Host(int number, EndpointConfig config, HostMemory memory, int burst, long pollNs) {
        this.number = number;
        this.config = config;
        this.memory = memory;
        this.pollNs = pollNs;
        addresses = config.localAddresses.clone();
        generations = new int[addresses.length];
        tx = new TxBurst(burst);
        rx = new RxBurst(burst);
        for (int i = 0; i < burst; i++) {
            tx.header[i] = Workshop.own().headers + (long) i * TxBurst.HEADER_ROOM;
        }
    }

    /** A fresh endpoint that knows nothing. */
    void start(long secret) {
        regions = new RegionTable();
        memory.register(regions);
        for (int p = 0; p < addresses.length; p++) {
            config.localAddresses[p] = addresses[p];
            config.sourcePorts[p] = addresses[p] == null ? null : config.sourcePorts[0];
        }
        config.secret = secret;
        config.seed = secret ^ 0x5eed;
        endpoint = new Endpoint(config, regions);
        incarnation++;
        sides.clear();
        awaitsAny = false;
        awaitsSolicited = false;
    }

    void setClock(long atZeroNs, int fastPpm) {
        clockAtZeroNs = atZeroNs;
        this.fastPpm = fastPpm;
    }

    /** What the host's clock shows, the only time that its endpoint knows. */
    long clock(long trueNs) {
        return clockAtZeroNs + trueNs + trueNs / 1_000_000 * fastPpm;
    }

    /** The first true time at which the clock shows at least this. */
    private long trueTime(long shownNs) {
        if (shownNs == Long.MAX_VALUE) {
            return shownNs;
        }
        long since = shownNs - clockAtZeroNs;
        long t = since - since / (1_000_000 + fastPpm) * fastPpm;
        while (clock(t) < shownNs) {
            t += shownNs - clock(t);
        }
        return t;
    }

    /** Its messages do not wait for receives for ever. */
    boolean givesUp() {
        return config.receiverNotReadyRetries != EndpointConfig.RETRY_FOR_EVER;
    }

    /** What the pauses before a message is given up come to at most, however slow a round trip seemed (MR-CRED-004, MR-CRED-008); zero if none is. */
    long givingUpNs() {
        return givesUp() ? (2 + config.receiverNotReadyRetries) * LONGEST_CREDIT_PAUSE_NS : 0;
    }

    static NetAddress address(int host, int plane) {
        return address(host, plane, 0);
    }

    /** The address that a host has on a plane after so many changes. */
    static NetAddress address(int host, int plane, int generation) {
        return new NetAddress(0, 0xffff_0a00_0000L | (long) generation << 16 | (long) plane << 8 | host + 1, PORT);
    }

    static int generationOf(long addressLow) {
        return (int) (addressLow >>> 16 & 0xff);
    }

    boolean isOn(int plane, int generation) {
        return plane < addresses.length && addresses[plane] != null && generations[plane] == generation;
    }

    /** Whether the text names one of the host's addresses. */
    boolean isNamedIn(String text) {
        return text.matches(".*\\b10\\.\\d+\\.\\d+\\." + (number + 1) + ":" + PORT + "\\b.*");
    }

    static final int PORT = 14_791;
    /** CREDIT_ASK_MAX of spec/07-limits.md. */
    private static final long LONGEST_CREDIT_PAUSE_NS = 100_000_000;

    /** When it must be polled next, as things are. */
    long nextNs() {
        long due = trueTime(endpoint.nextDeadlineNs());
        if (!inbox.isEmpty()) {
            due = Math.min(due, inbox.peek().atNs);
        }
        return Math.max(due, Math.max(lastPollNs + pollNs, pausedUntilNs));
    }

    @Override
    public String toString() {
        return "host " + number;
    }
}
