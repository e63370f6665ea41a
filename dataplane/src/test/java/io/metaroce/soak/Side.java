// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/** One end of a connection, as its application and the model know it. */
final class Side {
    static final int CONNECTING = 0;
    static final int UP = 1;
    static final int CLOSING = 2;
    static final int DEAD = 3;

    /** @param pieces how a message lies in the range, or null: as one piece */
    record Receive(long id, HostMemory.Range range, int length, Pieces pieces) {
        /** What the range holds of this message. */
        byte[] image(byte[] message) {
            return pieces == null ? Arrays.copyOf(message, length) : pieces.image(message, length);
        }
    }

    static final class Stream {
        /** Posted and not complete, in order. */
        final ArrayDeque<Message> pending = new ArrayDeque<>();
        /** Of these and those complete, the ones that use a receive and were not yet received. */
        final ArrayDeque<Message> undelivered = new ArrayDeque<>();
        /** Writes that were not yet found right, in order with the others. */
        final ArrayDeque<Message> unseen = new ArrayDeque<>();
        final ArrayDeque<Receive> receives = new ArrayDeque<>();
        /** Posting receives is refused. */
        boolean failed;
        /** The peer refused a message: nothing behind it may complete. What only was flushed had its turn if a later one had. */
        boolean refused;
        /** A bad request was posted on it, by either side. */
        boolean mayFail;
        /** Its receives come from the host's shared queue, and the last one that did. */
        boolean shared;
        long lastShared;
        /** Causes for which this side may end the stream or refuse any message on it. */
        final Set<Integer> ownCauses = new TreeSet<>();
    }

    final Host host;
    final int incarnation;
    final int handle;
    final Host peerHost;
    final long bornNs;
    final Stream[] streams;
    Side peer;
    /** Incarnation of the peer that was paired, or 0. */
    int peerIncarnation;
    int state;
    /** It was decided which streams share receives. */
    boolean adopted;
    boolean closedByUs;
    boolean abortedByUs;
    int abortReason;

    Side(Host host, int handle, Host peerHost, int streams, long nowNs) {
        this.host = host;
        this.handle = handle;
        this.peerHost = peerHost;
        incarnation = host.incarnation;
        bornNs = nowNs;
        this.streams = new Stream[streams];
        for (int i = 0; i < streams; i++) {
            this.streams[i] = new Stream();
        }
    }

    /** The peer's end is no more, so the loss of the connection is no wonder. */
    boolean peerIsGone() {
        return peer != null && (peer.state == DEAD || peer.abortedByUs) || peerIncarnation != 0 && peerIncarnation != peerHost.incarnation;
    }

    /** Its context was given back; it takes one again when there is something to do. */
    boolean isParked() {
        return host.endpoint.isParked(handle);
    }

    /** Both ends have this plane now. */
    boolean isCommon(int plane) {
        return plane < host.addresses.length && host.addresses[plane] != null && plane < peerHost.addresses.length && peerHost.addresses[plane] != null;
    }

    /** An endpoint that moves after its ACCEPT makes new keys if it is called again, and forgets those that the caller may have. */
    boolean mayBeForgotten() {
        return peer == null && peerHost.moves && host.config.security != null;
    }

    boolean isIdle() {
        for (Stream s : streams) {
            if (!s.pending.isEmpty()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return host + " connection 0x" + Integer.toHexString(handle) + " to " + peerHost;
    }
}
