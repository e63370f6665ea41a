// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/**
 * Events waiting to be polled, in a ring of reusable objects. Half of it is kept for connection events, of which each
 * connection has at most two, so none is lost; stream events beyond the other half are counted and dropped.
 */
final class EventQueue {
    private final Event[] ring;
    private final int streamLimit;
    private int head;
    private int count;

    EventQueue(int connections) {
        ring = new Event[4 * connections + 64];
        for (int i = 0; i < ring.length; i++) {
            ring[i] = new Event();
        }
        streamLimit = ring.length / 2;
    }

    /** The next free slot to fill, or null when full. */
    Event push(boolean streamEvent) {
        if (count == ring.length || streamEvent && count >= streamLimit) {
            return null;
        }
        Event event = ring[(head + count++) % ring.length];
        event.stream = 0;
        event.reason = 0;
        event.retryAfterMs = 0;
        event.silenceNs = 0;
        return event;
    }

    boolean poll(Event into) {
        if (count == 0) {
            return false;
        }
        Event from = ring[head];
        head = (head + 1) % ring.length;
        count--;
        into.kind = from.kind;
        into.connection = from.connection;
        into.stream = from.stream;
        into.reason = from.reason;
        into.retryAfterMs = from.retryAfterMs;
        into.peerHigh = from.peerHigh;
        into.peerLow = from.peerLow;
        into.peerPort = from.peerPort;
        into.silenceNs = from.silenceNs;
        return true;
    }
}
