// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/**
 * Fields of a parked connection in the slab (spec: "Park"): what it takes to know the peer again and to go on where the streams
 * stopped. {@link #BYTES}, then {@link #PLANE_BYTES} for each plane; streams keep their own records.
 */
final class ParkedRecord {
    static final int BYTES = 128;
    static final int PLANE_BYTES = 24;

    private static final Layout L = new Layout("parked connection", BYTES);
    static final int POOL_LINK = L.i64();
    /** A stream names its owner, live or parked; the handle is what it may ask of both. */
    static final int HANDLE = L.i32();
    /* The context that it had: packets that come late for it are told apart by these. */
    static final int LOCAL_CID = L.i32();
    static final int LOCAL_TAG = L.i32();
    static final int REMOTE_CID = L.i32();
    static final int REMOTE_TAG = L.i32();
    static final int REMOTE_NAME = L.i32();
    static final int NONCE = L.i64();
    static final int ALL_STREAMS = L.i64();
    /** When the peer was last told that we have parked. */
    static final int TOLD_NS = L.i64();
    static final int PROTECTION_DOMAIN = L.i32();
    static final int SERVICE = L.i32();
    static final int PLANES = L.i32();
    static final int MAX_STREAMS = L.i32();
    static final int STREAM_WINDOW = L.i32();
    static final int PAYLOAD_MTU = L.i32();
    static final int INTEGRITY = L.i32();
    static final int SHARED_QUEUE = L.i32();
    static final int PEER_MAX_READS = L.i32();
    /** 1 if it was encrypted; its keys are kept then ({@link Sealing}). */
    static final int SEALED = L.i32();

    /* Of each plane, at its offset: where the peer is. */
    static final int REMOTE_HIGH = 0;
    static final int REMOTE_LOW = 8;
    static final int REMOTE_PORT = 16;

    static {
        L.end();
        if (HANDLE != ConnectionRecord.HANDLE) {
            throw new IllegalStateException("the handle stands elsewhere than in a connection");
        }
    }

    private ParkedRecord() {
    }

    static long bytes(int planes) {
        return BYTES + (long) PLANE_BYTES * planes;
    }

    static long plane(long parked, int plane) {
        return parked + BYTES + (long) plane * PLANE_BYTES;
    }
}
