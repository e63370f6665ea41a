// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import java.lang.reflect.Field;

/** What tests must set inside an endpoint because no conversation of reasonable length gets there. */
final class Inside {
    private Inside() {
    }

    static EndpointState state(Endpoint endpoint) {
        try {
            Field field = Endpoint.class.getDeclaredField("state");
            field.setAccessible(true);
            return (EndpointState) field.get(endpoint);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** All planes of the connection may have this many packets out, for all that delay and share say. */
    static void raiseWindows(Endpoint endpoint, int connection, int packets) {
        EndpointState s = state(endpoint);
        long c = s.connectionOf(connection);
        int paths = s.slab.getInt(c + ConnectionRecord.PATHS_PER_PLANE);
        for (int p = 0; p < s.slab.getInt(c + ConnectionRecord.PLANES); p++) {
            long plane = s.plane(c, p);
            s.slab.putFloat(plane + PlaneRecord.UNIT, (float) packets / paths);
            s.slab.putFloat(plane + PlaneRecord.SHARE, 1f);
            s.slab.putLong(plane + PlaneRecord.SHARE_EXPIRES_NS, Long.MAX_VALUE);
            s.slab.putLong(plane + PlaneRecord.NEXT_TX_NS, 0);
        }
        s.slab.putInt(c + ConnectionRecord.PEER_BUFFER, packets);
        s.makeReady(c);
    }
}
