// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.wire.Bytes;
import io.metaroce.wire.RefuseHeader;

/**
 * Events waiting to be polled, in a ring of reusable objects. Half of it is kept for connection events, of which each
 * connection has at most two, so none is lost; stream events beyond the other half are counted and dropped. That completions
 * wait is noted beside the ring.
 */
final class EventQueue {
    /** Texts of refusals that wait to be polled; the oldest gives way to one more. */
    private static final int TEXTS = 16;

    private final Event[] ring;
    private final byte[][] texts = new byte[TEXTS][RefuseHeader.MAX_TEXT];
    private final Event[] textOwner = new Event[TEXTS];
    private int nextText;
    private final int streamLimit;
    private int head;
    private int count;
    private boolean wake;

    EventQueue(int connections) {
        ring = new Event[4 * connections + 64];
        for (int i = 0; i < ring.length; i++) {
            ring[i] = new Event(0);
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
        event.encrypted = false;
        event.declined = false;
        event.peerTextLength = 0;
        return event;
    }

    /** Adds what the peer said, {@code bytes} bytes at {@code address}, to an event just pushed. */
    void tell(Event event, long address, int bytes) {
        if (bytes == 0) {
            return;
        }
        if (textOwner[nextText] != null) {
            textOwner[nextText].peerTextLength = 0;
        }
        textOwner[nextText] = event;
        event.textSlot = nextText;
        event.peerTextLength = bytes;
        for (int i = 0; i < bytes; i++) {
            texts[nextText][i] = (byte) Bytes.getU8(address + i);
        }
        nextText = (nextText + 1) % TEXTS;
    }

    /** A completion came that was asked for: one event COMPLETIONS, never lost. */
    void pushWake() {
        wake = true;
    }

    boolean poll(Event into) {
        if (wake) {
            wake = false;
            into.kind = Event.COMPLETIONS;
            into.connection = 0;
            into.stream = 0;
            into.reason = 0;
            into.retryAfterMs = 0;
            return true;
        }
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
        into.encrypted = from.encrypted;
        into.declined = from.declined;
        into.peerTextLength = from.peerTextLength;
        if (from.peerTextLength > 0) {
            System.arraycopy(texts[from.textSlot], 0, into.peerText, 0, from.peerTextLength);
            textOwner[from.textSlot] = null;
        }
        return true;
    }
}
