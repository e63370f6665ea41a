// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.wire.Cause;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Reason;

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

    public int kind;
    public int connection;
    public int stream;
    public int reason;
    public long retryAfterMs;
    long peerHigh;
    long peerLow;
    int peerPort;
    /** For {@link #FAILED} by silence: how long nothing was heard. */
    long silenceNs;

    /** One line that names the peer and the cause. Allocates. */
    public String text() {
        String peer = new NetAddress(peerHigh, peerLow, peerPort).toString();
        return switch (kind) {
            case CONNECTED -> "connected to " + peer;
            case ACCEPTED -> "accepted connection from " + peer;
            case REFUSED -> "peer " + peer + " refused the connection: " + Reason.name(reason)
                    + (retryAfterMs > 0 ? ", try again after " + retryAfterMs + " ms" : "");
            case FAILED -> reason == Reason.TIMEOUT
                    ? "peer " + peer + " did not answer for " + silenceNs / 1_000_000 + " ms"
                    : "connection to peer " + peer + " ended: " + Reason.name(reason);
            case CLOSED -> "connection to " + peer + " closed";
            case STREAM_FAILED -> "stream " + stream + " to peer " + peer + " failed: " + Cause.name(reason);
            default -> "event " + kind + " of peer " + peer;
        };
    }
}
