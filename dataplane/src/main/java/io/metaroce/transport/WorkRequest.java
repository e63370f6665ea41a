// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/**
 * What to do, given to {@link Endpoint#post}. The endpoint copies the fields; the object may be used again at once. The local
 * memory belongs to the transport until the completion is polled.
 */
public final class WorkRequest {
    /**
     * Operation of our own, which the peer hears nothing of: the memory region of {@link #localKey} ends when all earlier requests of the
     * stream are complete; later ones wait for it (spec: "Memory regions").
     */
    public static final int LOCAL_INVALIDATE = 0x100;

    /**
     * One of {@code io.metaroce.wire.Opcode}: WRITE, WRITE_IMM, SEND, SEND_IMM, SEND_INVALIDATE, READ_REQUEST, COMPARE_SWAP,
     * FETCH_ADD; or {@link #LOCAL_INVALIDATE}.
     */
    public int opcode;
    /** Stream, 0 to the negotiated maximum - 1. */
    public int stream;
    /**
     * Source of a Write or Send, destination of a Read or of the original value of an atomic, which is written in the host's byte
     * order: inside the region of {@link #localKey}.
     */
    public long localAddress;
    public int localKey;
    /** Bytes, 0 to {@link Limits#MAX_MESSAGE_BYTES}; 8 for an atomic. */
    public int length;
    /**
     * Local memory in several pieces, up to {@link EndpointConfig#maxSegments}, instead of {@link #localAddress}, {@link #localKey} and
     * {@link #length}, which then mean nothing; null: one piece. The one piece of an atomic may be given here, too.
     */
    public Segments segments;
    /**
     * Write, Send and their kinds: the payload, up to {@link EndpointConfig#maxInlineBytes}, is copied when posted; its memory, which
     * may be any native memory, is free again at once.
     */
    public boolean inline;
    /** Write, Read, atomic (here a multiple of 8): address in the peer's memory, inside the region of {@link #remoteKey}. */
    public long remoteAddress;
    /** SEND_INVALIDATE: key of the peer's region that ends when its receive completes. */
    public int remoteKey;
    /** Delivered with the receive completion of a WRITE_IMM or SEND_IMM. */
    public int immediate;
    /** Starts only when all earlier Reads and atomics of the stream are complete, and holds back what is posted behind it. */
    public boolean fence;
    /** No completion if it succeeds; one that fails completes like any other, and so do later ones. */
    public boolean unsignaled;
    /** SEND, SEND_IMM, SEND_INVALIDATE, WRITE_IMM: its receive counts for {@link Endpoint#requestCompletionEvent} with solicited only. */
    public boolean solicited;
    /** COMPARE_SWAP: the new value; FETCH_ADD: what is added, wrapping around. */
    public long operand;
    /** COMPARE_SWAP: the new value is written if the word is this. */
    public long compare;
    /** Returned in the completion; not interpreted. */
    public long wrId;
}
