// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.RegionTable;

/** Fields of a posted work request, or of a response that we owe. */
final class WorkRecord {
    static final int BYTES = 128;

    private static final Layout L = new Layout("work request", BYTES);
    static final int NEXT = L.i64();
    static final int STREAM = L.i64();
    static final int LOCAL_ADDRESS = L.i64();
    static final int REMOTE_ADDRESS = L.i64();
    static final int ID = L.i64();
    /** For a Read or atomic: identifies this request in its response; for a response: the identifier to echo. */
    static final int REQUEST_ID = L.i64();
    /** For an atomic: new value or addend; for its response: the original value, here until it is acknowledged. */
    static final int OPERAND = L.i64();
    /** In the same place, in what is no request and no atomic's response: payload of each of its packets but the last. */
    static final int PACKET_BYTES = OPERAND;
    static final int COMPARE = L.i64();
    /** The list of a request that is {@link #SEGMENTED}; no atomic is. */
    static final int SEGMENTS = COMPARE;
    static final int OPCODE = L.i32();
    static final int REMOTE_KEY = L.i32();
    static final int LENGTH = L.i32();
    static final int IMMEDIATE = L.i32();
    /** Bytes of a Read placed so far; no Read has an immediate. */
    static final int READ_BYTES = IMMEDIATE;
    static final int MSN = L.i32();
    /** Receive index (Sends, Write with immediate) or read index. */
    static final int INDEX = L.i32();
    static final int PACKETS = L.i32();
    /** Packets sent for the first time so far. */
    static final int SENT = L.i32();
    /** Packets acknowledged so far. */
    static final int ACKED = L.i32();
    static final int FIRST_SSN = L.i32();
    /** The cause, once it cannot go on for a reason of our own. */
    static final int LOCAL_FAULT = L.i32();
    /** Of those acknowledged, how many were not, but belong to a failed stream. */
    static final int PACKETS_GIVEN_UP = L.i32();
    static final int LOCAL_KEY = L.i32();
    /** The response to a Read or atomic is here; for a response: the requester has said so. */
    static final int READ_DONE = L.i32();
    /** {@link RegionTable#changes} when the local memory was last found registered. */
    static final int SEEN = L.i32();
    /** {@link #FENCE} and its neighbours. */
    static final int FLAGS = L.i32();

    /* Bits of FLAGS. */
    /** Not to be started before all earlier Reads and atomics of the stream are complete. */
    static final int FENCE = 1;
    /** All earlier Reads and atomics of the stream were complete when this was begun. */
    static final int ANSWERED = 2;
    /** No completion unless it fails. */
    static final int UNSIGNALED = 4;
    /** The peer's application asked to be woken by such messages. */
    static final int SOLICITED = 8;
    /** The local memory is a list of segments. */
    static final int SEGMENTED = 16;
    /** The payload is a copy of ours. */
    static final int INLINE = 32;

    static {
        L.end();
    }

    private WorkRecord() {
    }
}
