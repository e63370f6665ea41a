// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import java.util.Arrays;

/**
 * Where the time of a loop's turns goes, by the stages that a packet passes. Compiled in by {@code -Dmetaroce.stages=true} only: reading the
 * clock between stages costs as much as some of them, and without the flag nothing of it is left in the compiled loop. One thread.
 */
public final class Stages {
    /** Whether loops take these times; as long as the process. */
    public static final boolean ON = Boolean.getBoolean("metaroce.stages");

    /** The port fetches datagrams, and the transport takes them: nanoseconds for a datagram received. */
    public static final int PORT_RECEIVE = 0;
    public static final int TRANSPORT_RECEIVE = 1;
    /** The application polls completions and posts: nanoseconds for a datagram, received or sent. */
    public static final int APPLICATION = 2;
    /** The transport writes datagrams, and the port sends them: nanoseconds for a datagram sent. */
    public static final int TRANSPORT_TRANSMIT = 3;
    public static final int PORT_SEND = 4;
    public static final int COUNT = 5;

    private static final String[] NAMES = {"port_receive", "transport_receive", "application", "transport_transmit", "port_send"};

    private final long[] turn = new long[COUNT];
    private final long[] all = new long[COUNT];
    private long lastNs;
    private long received;
    private long sent;
    private long idleNs;

    /** Name of a stage in one word. */
    public static String name(int stage) {
        return NAMES[stage];
    }

    /** A turn begins. */
    void begin(long nowNs) {
        lastNs = nowNs;
    }

    /** A stage of the turn ends; it began where the one before ended. */
    void end(int stage, long nowNs) {
        turn[stage] += nowNs - lastNs;
        lastNs = nowNs;
    }

    /** The turn is over. One without datagrams counts as idle as a whole. */
    void turnOver(int datagramsReceived, int datagramsSent) {
        for (int i = 0; i < COUNT; i++) {
            if (datagramsReceived + datagramsSent > 0) {
                all[i] += turn[i];
            } else {
                idleNs += turn[i];
            }
            turn[i] = 0;
        }
        received += datagramsReceived;
        sent += datagramsSent;
    }

    /** Starts anew, not within a turn. */
    public void reset() {
        Arrays.fill(all, 0);
        received = 0;
        sent = 0;
        idleNs = 0;
    }

    /** Nanoseconds for each datagram that the stage is about, since the last reset; 0 where there was none. Allocates. */
    public double[] nsADatagram() {
        double[] ns = new double[COUNT];
        for (int i = 0; i < COUNT; i++) {
            long datagrams = i < APPLICATION ? received : i > APPLICATION ? sent : received + sent;
            ns[i] = datagrams == 0 ? 0 : (double) all[i] / datagrams;
        }
        return ns;
    }

    /** Part of the time in turns in which nothing came or went, 0 to 1. */
    public double idle() {
        long busy = Arrays.stream(all).sum();
        return busy + idleNs == 0 ? 0 : (double) idleNs / (busy + idleNs);
    }
}
