// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

/** A posted work request and what must come of it. */
final class Message {
    long id;
    int stream;
    int opcode;
    int length;
    int immediate;
    /** What the target (a Read's requester) must find. */
    byte[] data;
    HostMemory.Range local;
    /** Target of a Write, source of a Read, or null. */
    HostMemory.Range remote;
    /** The cause with which it must be refused, or 0. */
    int badCause;
    /** A cause that may come, or not. */
    int possibleCause;
    /** Its bytes were found right and given up. */
    boolean delivered;
    boolean done;
    /** A Write of which a Read behind it has to see the bytes. */
    Message source;
    int readers;

    @Override
    public String toString() {
        return "message " + id + " (" + io.metaroce.wire.Opcode.name(opcode) + ", " + length + " B, stream " + stream + ")";
    }
}
