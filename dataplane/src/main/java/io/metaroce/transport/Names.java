// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.LongMap;
import io.metaroce.memory.Slab;

/**
 * Finds what the number of a connection's slot does not tell: parked connections by handle and by the CID that they had, and resumed
 * ones, whose handle is an earlier CID. Nothing of this is asked for packets of live connections.
 */
final class Names {
    private static final long MOVED = 1L << 32;
    private static final long PARKED = 2L << 32;
    private static final long FORMER_CID = 3L << 32;

    private final LongMap map;

    Names(Slab slab, int connections, int parked) {
        map = new LongMap(slab, entries(connections, parked));
    }

    /** Places in the table. */
    static long places(int connections, int parked) {
        return bytes(connections, parked) / LongMap.ENTRY_BYTES;
    }

    static long bytes(int connections, int parked) {
        return LongMap.bytes(entries(connections, parked));
    }

    private static int entries(int connections, int parked) {
        return parked == 0 ? 1 : 2 * connections + 2 * parked;
    }

    /** The live connection whose handle this is although its slot is another's, or 0. */
    long moved(int handle) {
        return map.size() == 0 ? 0 : map.get(MOVED | handle);
    }

    long parked(int handle) {
        return map.size() == 0 ? 0 : map.get(PARKED | handle);
    }

    /** The connection that had this CID before it was parked, and is still parked or being resumed; or 0. */
    long formerCid(int cid) {
        return map.size() == 0 ? 0 : map.get(FORMER_CID | cid);
    }

    boolean isTaken(int cid) {
        return moved(cid) != 0 || parked(cid) != 0 || formerCid(cid) != 0;
    }

    void move(int handle, long connection) {
        map.put(MOVED | handle, connection);
    }

    void unmove(int handle) {
        map.remove(MOVED | handle);
    }

    void park(int handle, int cid, long parked) {
        map.put(PARKED | handle, parked);
        map.put(FORMER_CID | cid, parked);
    }

    void unpark(int handle) {
        map.remove(PARKED | handle);
    }

    /** Until the peer has heard of another one, packets for the CID it knows are no reason for a RESET. */
    void keepCid(int cid, long connection) {
        map.remove(FORMER_CID | cid);
        map.put(FORMER_CID | cid, connection);
    }

    void forgetCid(int cid) {
        map.remove(FORMER_CID | cid);
    }
}
