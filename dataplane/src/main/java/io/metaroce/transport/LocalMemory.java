// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Access;
import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;
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

    /** Whether a range may be named in this protection domain. One of no bytes always may. */
    boolean isRegistered(int domain, int key, long address, int length, int access) {
        return length == 0 || state.regions.check(key, domain, address, length, access) == RegionTable.OK;
    }

    boolean areRegistered(int domain, Segments segments, int access) {
        for (int i = 0; i < segments.count; i++) {
            if (!isRegistered(domain, segments.key[i], segments.address[i], segments.length[i], access)) {
                return false;
            }
        }
        return true;
    }

    int domain(long connection) {
        return slab.getInt(connection + ConnectionRecord.PROTECTION_DOMAIN);
    }

    /** Whether the memory of a request of ours may still be used. Not for responses. */
    boolean isStillRegistered(long connection, long work) {
        int changes = state.regions.changes();
        return slab.getInt(work + WorkRecord.SEEN) == changes || look(connection, work, changes);
    }

    private boolean look(long connection, long work, int changes) {
        int length = slab.getInt(work + WorkRecord.LENGTH);
        int access = Opcode.isRequest(slab.getInt(work + WorkRecord.OPCODE)) ? Access.LOCAL_WRITE : 0;
        int flags = slab.getInt(work + WorkRecord.FLAGS);
        if ((flags & WorkRecord.SEGMENTED) != 0) {
            if (!state.segments.areRegistered(state.regions, domain(connection), slab.getLong(work + WorkRecord.SEGMENTS), length, access)) {
                return false;
            }
        } else if ((flags & WorkRecord.INLINE) == 0 && !isRegistered(domain(connection), slab.getInt(work + WorkRecord.LOCAL_KEY),
                slab.getLong(work + WorkRecord.LOCAL_ADDRESS), length, access)) {
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
        long list = slab.getLong(entry + ReceiveQueue.SEGMENTS);
        if (list != 0) {
            if (!state.segments.areRegistered(state.regions, domain(connection), list, length, Access.LOCAL_WRITE)) {
                return false;
            }
        } else if (!isRegistered(domain(connection), slab.getInt(entry + ReceiveQueue.LOCAL_KEY), slab.getLong(entry + ReceiveQueue.ADDRESS),
                length, Access.LOCAL_WRITE)) {
            return false;
        }
        slab.putInt(entry + ReceiveQueue.SEEN, changes);
        return true;
    }

    // ---- copies and lists ----

    /** Takes a copy of the payload; false when there is no room for one. */
    boolean copyInline(long work, long address, int length) {
        long copy = takeInline(work);
        if (copy != 0) {
            Bytes.copy(address, copy, length);
        }
        return copy != 0;
    }

    boolean copyInline(long work, Segments segments) {
        long copy = takeInline(work);
        for (int i = 0; copy != 0 && i < segments.count; i++) {
            Bytes.copy(segments.address[i], copy, segments.length[i]);
            copy += segments.length[i];
        }
        return copy != 0;
    }

    private long takeInline(long work) {
        long copy = state.inlineData.take();
        if (copy != 0) {
            slab.putLong(work + WorkRecord.LOCAL_ADDRESS, copy);
            slab.putInt(work + WorkRecord.FLAGS, slab.getInt(work + WorkRecord.FLAGS) | WorkRecord.INLINE);
        }
        return copy;
    }

    /** Keeps a list of segments; false when there is no room for one. */
    boolean keep(long work, Segments segments) {
        long list = state.segments.keep(segments);
        if (list != 0) {
            slab.putLong(work + WorkRecord.SEGMENTS, list);
            slab.putInt(work + WorkRecord.FLAGS, slab.getInt(work + WorkRecord.FLAGS) | WorkRecord.SEGMENTED);
        }
        return list != 0;
    }

    /** Gives back what a request has of copies and lists. */
    void release(long work) {
        int flags = slab.getInt(work + WorkRecord.FLAGS);
        if ((flags & WorkRecord.SEGMENTED) != 0) {
            state.segments.give(slab.getLong(work + WorkRecord.SEGMENTS));
        } else if ((flags & WorkRecord.INLINE) != 0) {
            state.inlineData.give(slab.getLong(work + WorkRecord.LOCAL_ADDRESS));
        }
    }
}
