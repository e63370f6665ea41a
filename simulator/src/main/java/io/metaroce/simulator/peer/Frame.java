// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

import io.metaroce.simulator.fabric.Packets;
import io.metaroce.wire.Bytes;

/**
 * Fields of the peers' packets, in the header memory of the simulated packet. What a real header would say in fewer bits stands here in
 * full; the bytes on the wire are counted apart, as {@link #HEADER_BYTES}.
 */
final class Frame {
    /** Wire bytes of the headers of data, and of a whole control packet: what htsim counts. */
    static final int HEADER_BYTES = 64;

    /* Types. */
    static final int DATA = 0;
    static final int ACK = 1;
    /** A packet came out of order (go-back-N, IRN), or without its payload (trimming). */
    static final int NAK = 2;
    /** Congestion notification (DCQCN). */
    static final int CNP = 3;
    /** Asks for an acknowledgement. */
    static final int PROBE = 4;
    /** Grants credit (RCCC). */
    static final int PULL = 5;

    private static final int TYPE = 0;
    private static final int CHANNEL = 4;
    private static final int PSN = 8;
    /** Data: flow. */
    private static final int FLOW = 16;
    /** Data: packets of the flow's part. */
    private static final int FLOW_PACKETS = 20;
    private static final int FLAGS = 24;
    private static final int PATH = 28;
    private static final int SENT = 32;
    /** Acknowledgements: all below have come. */
    private static final int CUMULATIVE = 40;
    /** Bytes that the sender would like to have sent in all (RCCC), or that the receiver has had, or has granted. */
    private static final int AMOUNT = 48;
    /** Acknowledgements: start and bits of a selective acknowledgement, and packets that came since the one before. */
    private static final int BASE = 56;
    private static final int BITS = 64;
    private static final int OUT_OF_ORDER = 72;
    private static final int LISTED = 76;
    private static final int LIST = 80;
    static final int LIST_ROOM = (Packets.HEADER_ROOM - LIST) / Long.BYTES;

    /* Flags. */
    /** Wants an acknowledgement at once. */
    static final int ACK_NOW = 1;
    static final int REPEAT = 2;
    /** Of an acknowledgement: the packet it answers was marked. */
    static final int MARKED = 4;
    /** Of an acknowledgement: it answers a probe. */
    static final int PROBED = 8;

    private Frame() {
    }

    static void begin(long at, int type, int channel, long psn) {
        Bytes.putInt(at + TYPE, type);
        Bytes.putInt(at + CHANNEL, channel);
        Bytes.putLong(at + PSN, psn);
        Bytes.putInt(at + FLAGS, 0);
        Bytes.putInt(at + LISTED, 0);
        Bytes.putInt(at + PATH, 0);
        Bytes.putLong(at + BITS, 0);
        Bytes.putLong(at + AMOUNT, 0);
    }

    static int type(long at) {
        return Bytes.getInt(at + TYPE);
    }

    static int channel(long at) {
        return Bytes.getInt(at + CHANNEL);
    }

    static long psn(long at) {
        return Bytes.getLong(at + PSN);
    }

    static void flow(long at, int flow, int packets) {
        Bytes.putInt(at + FLOW, flow);
        Bytes.putInt(at + FLOW_PACKETS, packets);
    }

    static int flow(long at) {
        return Bytes.getInt(at + FLOW);
    }

    static int flowPackets(long at) {
        return Bytes.getInt(at + FLOW_PACKETS);
    }

    static void flag(long at, int flag) {
        Bytes.putInt(at + FLAGS, Bytes.getInt(at + FLAGS) | flag);
    }

    static boolean has(long at, int flag) {
        return (Bytes.getInt(at + FLAGS) & flag) != 0;
    }

    static void path(long at, int path, long sentPs) {
        Bytes.putInt(at + PATH, path);
        Bytes.putLong(at + SENT, sentPs);
    }

    static int path(long at) {
        return Bytes.getInt(at + PATH);
    }

    static long sentPs(long at) {
        return Bytes.getLong(at + SENT);
    }

    static void cumulative(long at, long psn) {
        Bytes.putLong(at + CUMULATIVE, psn);
    }

    static long cumulative(long at) {
        return Bytes.getLong(at + CUMULATIVE);
    }

    static void amount(long at, long bytes) {
        Bytes.putLong(at + AMOUNT, bytes);
    }

    static long amount(long at) {
        return Bytes.getLong(at + AMOUNT);
    }

    static void selective(long at, long base, long bits, int outOfOrder) {
        Bytes.putLong(at + BASE, base);
        Bytes.putLong(at + BITS, bits);
        Bytes.putInt(at + OUT_OF_ORDER, outOfOrder);
    }

    static long base(long at) {
        return Bytes.getLong(at + BASE);
    }

    static long bits(long at) {
        return Bytes.getLong(at + BITS);
    }

    static int outOfOrder(long at) {
        return Bytes.getInt(at + OUT_OF_ORDER);
    }

    static void list(long at, long psn) {
        int n = Bytes.getInt(at + LISTED);
        Bytes.putLong(at + LIST + (long) n * Long.BYTES, psn);
        Bytes.putInt(at + LISTED, n + 1);
    }

    static int listed(long at) {
        return Bytes.getInt(at + LISTED);
    }

    static long listed(long at, int i) {
        return Bytes.getLong(at + LIST + (long) i * Long.BYTES);
    }
}
