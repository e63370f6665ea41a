// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Fields of a stream in the slab, both directions. Queues and windows in use lie apart. */
final class StreamRecord {
    static final int BYTES = 256;

    static final int OPEN = 0;
    static final int ERROR = 1;

    /* What the peer has not confirmed. */
    static final int NAK = 1;
    static final int RESET = 2;

    /** A request has completed with a cause: the later ones are flushed, whatever else went wrong. */
    static final int TOLD = -1;

    private static final Layout L = new Layout("stream", BYTES);
    /* First cache line: who it is, and what a packet that arrives touches. */
    static final int POOL_LINK = L.i64();
    static final int CONNECTION = L.i64();
    static final int ID = L.i32();
    static final int STATE = L.i32();
    static final int EXPECTED_SSN = L.i32();
    /** Packets that wait in the out-of-order window. */
    static final int WINDOW_COUNT = L.i32();
    /** Out-of-order window of the receiver and of the acknowledgements, and pending Reads and atomics; 0 while not in use. */
    static final int RX_WINDOW = L.i64();
    static final int FAULT_CAUSE = L.i32();
    /** The earliest fault that waits for its turn, or why we ended the stream, if there is a cause. */
    static final int FAULT_SSN = L.i32();
    /** Reads and atomics whose turn has come and whose response must wait, and those answered. */
    static final int READS_DUE = L.i32();
    static final int NAK_CAUSE = L.i32();
    static final int RECEIVES_DONE = L.i32();
    static final int RECEIVES_POSTED = L.i32();
    /* Second: what sending and acknowledgements touch. Posted work in order; the cursor is the first with unsent packets; responses queue apart. */
    static final int WORK_HEAD = L.i64();
    static final int WORK_CURSOR = L.i64();
    static final int RESPONSE_HEAD = L.i64();
    static final int RESPONSE_CURSOR = L.i64();
    static final int TX_WINDOW = L.i64();
    static final int READY_NEXT = L.i64();
    static final int READY = L.i32();
    static final int NEXT_SSN = L.i32();
    /** Lowest SSN not acknowledged. */
    static final int ACKED_SSN = L.i32();
    /** The peer has posted this many receives so far. */
    static final int CREDIT = L.i32();
    /* The rest. */
    static final int NEXT_OF_CONNECTION = L.i64();
    static final int WORK_TAIL = L.i64();
    static final int RESPONSE_TAIL = L.i64();
    static final int NEXT_MSN = L.i32();
    static final int NEXT_RECEIVE_INDEX = L.i32();
    static final int NEXT_READ_INDEX = L.i32();
    static final int READS_DONE = L.i32();
    static final int CREDIT_ASK_NS = L.i64();
    /** How often it was asked for the credit that is waited for. */
    static final int CREDIT_ASKS = L.i32();
    /** The peer binds receives when asked: its receives are shared. */
    static final int CREDIT_ON_REQUEST = L.i32();
    /** The peer refused message NAK_MSN of ours, if there is a cause. */
    static final int NAK_MSN = L.i32();
    static final int CREDIT_TOLD = L.i32();
    /** Number of the shared receive queue that the receives come from, + 1; 0: they are the stream's own. */
    static final int SHARED_QUEUE = L.i32();
    /** Of a stream with shared receives: index up to which the peer wants them, and the next stream in line for one. */
    static final int WANTED = L.i32();
    static final int IN_LINE = L.i32();
    static final int READS_EXECUTED = L.i32();
    static final int FAULT_MSN = L.i32();
    /** NAK: we refused message FAULT_MSN of the peer's. RESET: we ended the stream when SSN FAULT_MSN of the peer's was due. 0: confirmed. */
    static final int NAK_PENDING = L.i32();
    /** The cause, while a request cannot go on for a reason of our own and earlier ones are still to complete; then {@link #TOLD}. */
    static final int LOCAL_FAULT = L.i32();
    /** Bits of {@link StreamNews}: what to tell the peer about this stream. */
    static final int NEWS = L.i32();
    static final int NEWS_NEXT = L.i64();
    static final int NAK_NEXT = L.i64();
    static final int RECEIVE_QUEUE = L.i64();
    static final int READ_QUEUE = L.i64();

    static {
        L.end();
    }

    private StreamRecord() {
    }
}
