// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** The end of a work request or receive, filled by {@link Endpoint#pollCompletion} (spec: "Completion and ordering"). */
public final class Completion {
    /** Done; for a Write, its bytes are in the peer's memory; for a Read, atomic or receive, in ours. */
    public static final int OK = 0;
    /** Not known to be done: an earlier request of the stream failed, or the stream was closed. */
    public static final int FLUSHED = 100;
    /** Not known to be done: the connection was lost. */
    public static final int CONNECTION_LOST = 101;

    public int connection;
    public int stream;
    /** Opcode of the work request; for a receive, of the message that came. */
    public int opcode;
    /** {@link #OK}, a {@code io.metaroce.wire.Cause}, {@link #FLUSHED} or {@link #CONNECTION_LOST}. */
    public int status;
    public long wrId;
    /** Bytes sent, read or received. */
    public int byteLength;
    public int immediate;
    public boolean hasImmediate;
    /** Receive of a Send with invalidate: key of a region of ours that no longer is. */
    public int invalidatedKey;
    public boolean hasInvalidatedKey;
    public boolean isReceive;
    /** Receive whose sender set {@link WorkRequest#solicited}. */
    public boolean isSolicited;
}
