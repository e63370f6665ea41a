// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Fields of a path in the slab: what we know as its sender and, for the peer's path of the same number, as receiver. */
final class PathRecord {
    static final int BYTES = 256;

    /* Sender states. */
    static final int GOOD = 0;
    /** New route, not used for data before a probe is answered. */
    static final int PROBING = 1;
    /** No new packets; becomes PROBING with a new source port when the last one out is settled. */
    static final int DRAINING = 2;
    /** Its plane is not in use. */
    static final int DORMANT = 3;

    /** Bit of ROUTE: an acknowledgement that went by this path's own route was not heard. */
    static final int DOUBTED = 1 << 16;

    /** Bit of EPOCH: Data was sent in it. */
    static final int USED = 1 << 31;

    private static final Layout L = new Layout("path", BYTES);
    /* Sender, first cache line: what choosing the path and sending on it touches. Packets out, oldest first. */
    static final int OUT_HEAD = L.i64();
    static final int OUT_TAIL = L.i64();
    static final int LAST_TX_NS = L.i64();
    static final int PACKETS = L.i64();
    static final int NUMBER = L.i32();
    static final int STATE = L.i32();
    static final int IN_FLIGHT = L.i32();
    static final int INVERSE_FACTOR = L.f32();
    static final int NEXT_PSN = L.i32();
    static final int SOURCE_PORT = L.i32();
    /** Its lowest eight bits go over the wire; and {@link #USED}. */
    static final int EPOCH = L.i32();
    static final int PROBES_OUT = L.i32();
    /* Second line: what acknowledgements touch. */
    static final int LAST_PROBE_NS = L.i64();
    /** Window as a factor of the plane's unit. */
    static final int FACTOR = L.f32();
    static final int MARKED = L.f32();
    /** Part of the packets lost, lately. */
    static final int LOST = L.f32();
    /** 0: no sample yet. */
    static final int SRTT_NS = L.i32();
    static final int ACKED_CE = L.i32();
    static final int ACKS = L.i32();
    /** Proofs since the first unanswered probe that the peer lives. */
    static final int PROOFS = L.i32();
    static final int RTX_COUNT = L.i32();
    /** Payload that the next probe and the last one stand for by their length; 0: none. */
    static final int PAD = L.i32();
    static final int LAST_PAD = L.i32();
    /** Packets longer than is safe that were lost since one arrived; while probing, answers to short probes only. */
    static final int LONG_LOST = L.i32();
    static final int PROBE_WANTED = L.i32();
    /** Routes tried since the path was last good. */
    static final int ATTEMPTS = L.i32();
    /** The next PSN when the first of LONG_LOST was found lost. */
    static final int LONG_LOST_PSN = L.i32();
    /* Third line, receiver: what a packet that arrives and its acknowledgement touch. */
    static final int RX_ECHO_NS = L.i64();
    static final int RX_DIRTY_NEXT = L.i64();
    static final int RX_BASE = L.i32();
    /** One past the highest PSN known to have been sent. */
    static final int RX_TOP = L.i32();
    static final int RX_EPOCH = L.i32();
    static final int RX_STARTED = L.i32();
    static final int RX_CE = L.i32();
    /** PSN of the packet that came last; that of a probe is one that is not before RX_BASE. */
    static final int RX_ECHO_PSN = L.i32();
    static final int RX_ECHO = L.i32();
    static final int RX_DIRTY = L.i32();
    /** Index + 1 of the path whose route carried the last acknowledgement of this one, 0: unknown; and {@link #DOUBTED}. */
    static final int ROUTE = L.i32();
    static final int RX_UNHEARD_US = L.i32();
    /** What has arrived from RX_BASE on; the first word ends the line, and the others are read only where RX_TOP says that they may not be 0. */
    static final int RX_BITS = L.i64Array(4);
    /* Rarely touched. Packets to send again, oldest first. */
    static final int RTX_HEAD = L.i64();
    static final int RTX_TAIL = L.i64();
    static final int STATE_SINCE_NS = L.i64();
    static final int RETRANSMISSIONS = L.i64();
    /** What the sender waits for although it was acknowledged, and since RX_UNHEARD_US, us of the clock modulo 2^32; 0: nothing. */
    static final int RX_UNHEARD_PSN = L.i32();

    static {
        L.end();
    }

    private PathRecord() {
    }
}
