// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.wire.Opcode;

/** A posted work request and what must come of it. */
final class Message {
    long id;
    int stream;
    int opcode;
    int length;
    int immediate;
    boolean fence;
    /** Completes only with an error; that it is done shows by a later completion of its stream. */
    boolean unsignaled;
    boolean solicited;
    long remoteAddress;
    int remoteKey;
    long operand;
    long compare;
    /** The stream it was posted to. */
    Side.Stream from;
    /** What the target (a Read's requester) must find. */
    byte[] data;
    HostMemory.Range local;
    /** How it lies there, or null: as one piece. */
    Pieces pieces;
    /** Target of a Write, source of a Read, or null. */
    HostMemory.Range remote;
    /** The cause with which it must be refused, or 0. */
    int badCause;
    /** A cause that may come, or not. */
    int possibleCause;
    /** The word that a good atomic is to change. */
    Word word;
    /** The region of the peer's, in this table, that a good Send with invalidate ends. */
    MemoryRegion ends;
    RegionTable endsOf;
    /** Its bytes were found right and given up. */
    boolean delivered;
    boolean done;
    /** A Write of which a Read behind it has to see the bytes. */
    Message source;
    int readers;

    /** What its own side's memory holds of it. */
    byte[] image() {
        return pieces == null ? data : pieces.image(data, length);
    }

    void aimAt(HostMemory.Range range) {
        remoteAddress = range.address();
        remoteKey = range.region().key();
    }

    void aimAt(MemoryRegion region, long address) {
        remoteAddress = address;
        remoteKey = region.key();
    }

    @Override
    public String toString() {
        return "message " + id + " (" + Opcode.name(opcode) + ", " + length + " B, stream " + stream + ")";
    }
}
