// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Fields of a sender that asks for a share of a plane: what dividing needs of it, apart from its connection's records (spec: "State"). */
final class SenderRecord {
    static final int BYTES = 24;

    private static final Layout L = new Layout("sender", BYTES);
    /** Its connection's {@link PlaneRecord}. */
    static final int PLANE = L.i64();
    static final int LAST_DATA_NS = L.i64();
    /* Both unsigned. */
    static final int DEMAND_KBPS = L.i32();
    static final int GRANTED_KBPS = L.i32();

    static {
        L.end();
    }

    private SenderRecord() {
    }
}
