// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Access;
import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.wire.Opcode;

/**
 * The memory that posted requests and receives name at this end (spec: "Memory regions"). It is looked up when posted, and again before
 * a use if a registration has ended or changed meanwhile: one comparison where none has.
 */
final class LocalMemory {
    private final EndpointState state;
    private final Slab slab;

    LocalMemory(EndpointState state) {
        this.state = state;
        slab = state.slab;
    }

    boolean isRegistered(long connection, int key, long address, int length, int access) {
        return state.regions.check(key, slab.getInt(connection + ConnectionRecord.PROTECTION_DOMAIN), address, length, access) == RegionTable.OK;
    }

    /** Whether the memory of a request of ours may still be used. Not for responses. */
    boolean isStillRegistered(long connection, long work) {
        int changes = state.regions.changes();
        return slab.getInt(work + WorkRecord.SEEN) == changes || look(connection, work, changes);
    }

    private boolean look(long connection, long work, int changes) {
        int length = slab.getInt(work + WorkRecord.LENGTH);
        int access = Opcode.isRequest(slab.getInt(work + WorkRecord.OPCODE)) ? Access.LOCAL_WRITE : 0;
        if (length > 0 && !isRegistered(connection, slab.getInt(work + WorkRecord.LOCAL_KEY), slab.getLong(work + WorkRecord.LOCAL_ADDRESS),
                length, access)) {
            return false;
        }
        slab.putInt(work + WorkRecord.SEEN, changes);
        return true;
    }

    /** Whether the memory of a posted receive may still be used. */
    boolean isReceiveRegistered(long connection, long entry) {
        int changes = state.regions.changes();
        return slab.getInt(entry + ReceiveQueue.SEEN) == changes || lookAtReceive(connection, entry, changes);
    }

    private boolean lookAtReceive(long connection, long entry, int changes) {
        int length = slab.getInt(entry + ReceiveQueue.LENGTH);
        if (length > 0 && !isRegistered(connection, slab.getInt(entry + ReceiveQueue.LOCAL_KEY), slab.getLong(entry + ReceiveQueue.ADDRESS),
                length, Access.LOCAL_WRITE)) {
            return false;
        }
        slab.putInt(entry + ReceiveQueue.SEEN, changes);
        return true;
    }
}
