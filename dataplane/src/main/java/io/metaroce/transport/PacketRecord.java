// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Fields of a packet that is out or waits to be sent again: its delivery identity and what it carries. */
final class PacketRecord {
    static final int BYTES = 40;

    private static final Layout L = new Layout("packet", BYTES);
    static final int NEXT = L.i64();
    static final int SENT_NS = L.i64();
    /** 0: the peer has it, though not from us. */
    static final int WORK = L.i64();
    static final int PSN = L.i32();
    /** Number of the packet in its message, 0 first. */
    static final int INDEX = L.i32();
    static final int TRIES = L.i32();

    static {
        L.end();
    }

    private PacketRecord() {
    }
}
