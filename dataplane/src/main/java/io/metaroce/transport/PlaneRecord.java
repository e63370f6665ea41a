// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Fields of a connection's plane in the slab: the peer's address there, windows, receiver share (spec: "State"). */
final class PlaneRecord {
    static final int BYTES = 256;

    static final int UP = 0;
    static final int DOWN = 1;
    /** Not in use: one of the ends has no such plane, or the other does not know yet where it is. */
    static final int ABSENT = 2;

    /** Value of SHARE_EXPIRES_NS while the start share is in force. */
    static final long NEVER = Long.MAX_VALUE;

    /** Value of MIN_RTT_SINCE_NS before the first sample: the RTTs are another plane's, or the handshake's. */
    static final long GUESSED = 0;

    private static final Layout L = new Layout("plane", BYTES);
    /* First cache line, sender: what choosing a plane and sending on it touches; the peer's address, the share told by the receiver, in force until it expires. */
    static final int REMOTE_HIGH = L.i64();
    static final int REMOTE_LOW = L.i64();
    static final int REMOTE_PORT = L.i32();
    static final int STATE = L.i32();
    static final int SHARE_EXPIRES_NS = L.i64();
    /** As a fraction of the line, 0 to 1. */
    static final int SHARE = L.f32();
    static final int IN_FLIGHT = L.i32();
    /** Window of one path at factor 1, in packets. */
    static final int UNIT = L.f32();
    /** Sum of the window factors of all paths. */
    static final int FACTOR_SUM = L.f32();
    /** Least sample while the least RTT is measured anew; 0: it is not. */
    static final int MEASURED_NS = L.i32();
    static final int DEMAND = L.i32();
    /** Largest payload known to pass and smallest known not to; the candidate that was probed last << 8 | its probes so far. */
    static final int PROVEN_BYTES = L.i32();
    /* Second, sender: what acknowledgements touch. */
    static final int NEXT_TX_NS = L.i64();
    static final int LAST_PROGRESS_NS = L.i64();
    /** Send time of the newest packet known to have arrived. */
    static final int NEWEST_ACKED_NS = L.i64();
    /** Since when the plane is silent for too long; 0: it is not. */
    static final int SUSPECT_NS = L.i64();
    /** When the least RTT was found; or until when it is measured anew. */
    static final int MIN_RTT_SINCE_NS = L.i64();
    static final int MIN_RTT_NS = L.i32();
    static final int SRTT_NS = L.i32();
    static final int RTX_PACKETS = L.i32();
    /** Part of the packets marked, lately, 0 to 1. */
    static final int MARKED = L.f32();
    /** Line rate: the slower of both ends, kbit/s. */
    static final int LINE_KBPS = L.i32();
    /** Proofs that the peer lives since the plane became suspect. */
    static final int PROOFS = L.i32();
    /* Third, receiver: the sender's stated demand, the share we gave it, and what is owed in acknowledgements. */
    static final int DIRTY_HEAD = L.i64();
    /** Place among the active senders, 1 for the first; 0: not active. */
    static final int SENDER = L.i32();
    static final int DEMAND_CODE = L.i32();
    /** Data packets that wait for an acknowledgement, and until when, ns modulo 2^32. */
    static final int ACK_PENDING = L.i32();
    static final int ACK_DUE = L.i32();
    /** Receiver: paths that had news in the acknowledgement before, the last four of them, a byte each: index + 1. */
    static final int TOLD_PATHS = L.i32();
    /* The rest. */
    /** What to start with where no share is in force, told by the receiver; 0: not told. */
    static final int START_SHARE = L.f32();
    /* Towards a far peer: packets acknowledged while windows are doubled, and since when, ns modulo 2^32; 1 once they are not, and when the last one was marked. */
    static final int FAR_COUNTED = L.i32();
    static final int FAR_SINCE_NS = L.i32();
    static final int FAR_FOUND = L.i32();
    static final int FAR_MARKED_NS = L.i64();
    static final int REFUTED_BYTES = L.i32();
    static final int SIZE_TRIES = L.i32();
    /** When a size that was refuted is tried again, ms of the clock modulo 2^32; 0: not planned. */
    static final int RAISE_MS = L.i32();
    /* Where the peer says it is now, while it is being challenged; the newest it said that is in force. */
    static final int PENDING_HIGH = L.i64();
    static final int PENDING_LOW = L.i64();
    static final int PENDING_PORT = L.i32();
    static final int PENDING_SEQUENCE = L.i32();
    static final int PEER_SEQUENCE = L.i32();
    /** Challenges sent, 0: none is open; when the next is due. */
    static final int CHALLENGE_TRIES = L.i32();
    static final int CHALLENGE_NS = L.i64();
    /** What we said of our own end and the peer has taken, and when to say it again. */
    static final int STATED_SEQUENCE = L.i32();
    static final int STATE_TRIES = L.i32();
    static final int STATE_NS = L.i64();

    static {
        L.end();
    }

    private PlaneRecord() {
    }
}
