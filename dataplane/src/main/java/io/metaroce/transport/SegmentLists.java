// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.RecordPool;
import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;

/**
 * Local memory of posted requests and receives that is in more than one piece, a record for each list. Messages in one piece have none
 * (spec: "Local memory of a message"). No list is longer than its message: walks end where the bytes do.
 */
final class SegmentLists {
    static final int ENTRY_BYTES = 16;
    private static final int ADDRESS = 0;
    private static final int LENGTH = 8;
    private static final int KEY = 12;

    private final Slab slab;
    private final RecordPool pool;

    SegmentLists(Slab slab, EndpointConfig config) {
        this.slab = slab;
        pool = new RecordPool(slab, (long) ENTRY_BYTES * config.maxSegments, config.segmentLists());
    }

    static long bytes(EndpointConfig config) {
        return RecordPool.bytes((long) ENTRY_BYTES * config.maxSegments, config.segmentLists());
    }

    int used() {
        return pool.used();
    }

    /** A copy of the list, or 0 when there is no room for one. */
    long keep(Segments segments) {
        long list = pool.take();
        if (list != 0) {
            for (int i = 0; i < segments.count; i++) {
                long e = list + (long) i * ENTRY_BYTES;
                slab.putLong(e + ADDRESS, segments.address[i]);
                slab.putInt(e + LENGTH, segments.length[i]);
                slab.putInt(e + KEY, segments.key[i]);
            }
        }
        return list;
    }

    void give(long list) {
        pool.give(list);
    }

    /** Whether all pieces of a message of {@code bytes} bytes may be used so. */
    boolean areRegistered(RegionTable regions, int domain, long list, int bytes, int access) {
        for (long e = list; bytes > 0; e += ENTRY_BYTES) {
            int length = slab.getInt(e + LENGTH);
            if (length > 0 && regions.check(slab.getInt(e + KEY), domain, slab.getLong(e + ADDRESS), length, access) != RegionTable.OK) {
                return false;
            }
            bytes -= length;
        }
        return true;
    }

    /** Where {@code length} bytes from {@code offset} of the message lie, if in one piece; else they are copied to {@code room}. */
    long gather(long list, int offset, int length, long room) {
        long e = list;
        while (offset >= slab.getInt(e + LENGTH)) {
            offset -= slab.getInt(e + LENGTH);
            e += ENTRY_BYTES;
        }
        if (length <= slab.getInt(e + LENGTH) - offset) {
            return slab.getLong(e + ADDRESS) + offset;
        }
        for (long to = room; length > 0; e += ENTRY_BYTES) {
            int piece = Math.min(length, slab.getInt(e + LENGTH) - offset);
            Bytes.copy(slab.getLong(e + ADDRESS) + offset, to, piece);
            to += piece;
            length -= piece;
            offset = 0;
        }
        return room;
    }

    /** Copies {@code length} bytes to where they belong from {@code offset} of the message on. */
    void scatter(long from, long list, int offset, int length) {
        long e = list;
        while (offset >= slab.getInt(e + LENGTH)) {
            offset -= slab.getInt(e + LENGTH);
            e += ENTRY_BYTES;
        }
        for (; length > 0; e += ENTRY_BYTES) {
            int piece = Math.min(length, slab.getInt(e + LENGTH) - offset);
            Bytes.copy(from, slab.getLong(e + ADDRESS) + offset, piece);
            from += piece;
            length -= piece;
            offset = 0;
        }
    }
}
