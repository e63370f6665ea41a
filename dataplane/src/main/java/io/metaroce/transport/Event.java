// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.wire.Cause;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Reason;
import io.metaroce.wire.RefuseHeader;
import java.nio.charset.StandardCharsets;

/** Something that happened to a connection or stream, filled by {@link Endpoint#pollEvent}. */
public final class Event {
    /** Our {@link Endpoint#connect} succeeded. */
    public static final int CONNECTED = 1;
    /** A peer connected to us. */
    public static final int ACCEPTED = 2;
    /** The peer refused our connect; {@link #reason} and {@link #retryAfterMs} say why and when to try again. The handle is void. */
    public static final int REFUSED = 3;
    /** The connection is lost or was aborted; its requests have completed with an error. The handle is void. */
    public static final int FAILED = 4;
    /** Closed gracefully by either side. The handle is void. */
    public static final int CLOSED = 5;
    /** A stream failed; {@link #reason} is a {@link Cause}. Other streams go on. */
    public static final int STREAM_FAILED = 6;
    /** A completion was added that {@link Endpoint#requestCompletionEvent} had asked for. Belongs to no connection. */
    public static final int COMPLETIONS = 7;

    /** Fewer receives of a shared queue are free than asked for; {@link #stream} is the queue. Belongs to no connection. */
    public static final int SHARED_RECEIVES_LOW = 8;

    public int kind;
    public int connection;
    public int stream;
    public int reason;
    public long retryAfterMs;
    /** For {@link #CONNECTED} and {@link #ACCEPTED}: what is sent and received is encrypted. */
    public boolean encrypted;
    /** For {@link #REFUSED}: the peer accepted, but we could not take its terms. */
    boolean declined;
    /** For {@link #REFUSED}: what the peer says in its own words, UTF-8, not to be trusted; the first {@link #peerTextLength} bytes. */
    public final byte[] peerText;
    public int peerTextLength;
    long peerHigh;
    long peerLow;
    int peerPort;
    /** For {@link #FAILED} by silence: how long nothing was heard. */
    long silenceNs;
    /** Of an event in the queue that has a text: where it is. */
    int textSlot;

    public Event() {
        this(RefuseHeader.MAX_TEXT);
    }

    /** An event of the queue, which keeps texts apart. */
    Event(int textRoom) {
        peerText = new byte[textRoom];
    }

    /** The peer's words on one line, whatever control characters they hold. */
    private String printable() {
        StringBuilder text = new StringBuilder();
        new String(peerText, 0, peerTextLength, StandardCharsets.UTF_8).codePoints().forEach(c -> text.appendCodePoint(isPrintable(c) ? c : '\ufffd'));
        return text.toString();
    }

    private static boolean isPrintable(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE, Character.UNASSIGNED, Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    /** One line that names the peer and the cause. Allocates. */
    public String text() {
        String peer = new NetAddress(peerHigh, peerLow, peerPort).toString();
        return switch (kind) {
            case CONNECTED -> "connected to " + peer + (encrypted ? ", encrypted" : "");
            case ACCEPTED -> "accepted connection from " + peer + (encrypted ? ", encrypted" : "");
            case REFUSED -> (declined ? "the terms of peer " + peer + " cannot be met: " : "peer " + peer + " refused the connection: ")
                    + Reason.name(reason)
                    + (reason != Reason.SECURITY ? "" : declined ? ", it does not encrypt" : ", it encrypts with a key that is not ours")
                    + (retryAfterMs > 0 ? ", try again after " + retryAfterMs + " ms" : "") + (peerTextLength > 0 ? ": " + printable() : "");
            case FAILED -> reason == Reason.TIMEOUT
                    ? "peer " + peer + " did not answer for " + silenceNs / 1_000_000 + " ms"
                    : "connection to peer " + peer + " ended: " + Reason.name(reason);
            case CLOSED -> "connection to " + peer + " closed";
            case COMPLETIONS -> "completions wait";
            case SHARED_RECEIVES_LOW -> "shared receive queue " + stream + " runs low";
            case STREAM_FAILED -> "stream " + stream + " to peer " + peer + " failed: " + Cause.name(reason);
            default -> "event " + kind + " of peer " + peer;
        };
    }
}
