// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.Rate16;
import io.metaroce.wire.Tlv;

/** The peer's parameters out of INIT or ACCEPT, and what they and ours together make (spec: "Parameters"). */
final class Parameters {
    /** Instead of a start share: {@link PathSender#open} finds it. */
    static final long NOT_TOLD = -1;

    private final Tlv.Reader reader = new Tlv.Reader();
    private final long[] planeHigh = new long[Limits.MAX_PLANES];
    private final long[] planeLow = new long[Limits.MAX_PLANES];
    private final int[] planePort = new int[Limits.MAX_PLANES];
    private final long[] planeRate = new long[Limits.MAX_PLANES];
    private int planes;
    private int payloadMtu;
    private int pathsPerPlane;
    private long maxStreams;
    private int streamWindow;
    private int integrity;
    private int ackEvery;
    private long receiveRate;
    private long receiveBuffer;
    private long maxReads;
    private long startShare;
    int service;
    /** Address of the value of SECURITY with a suite that we have, or 0. */
    long security;
    /** Name of the parked connection to be resumed, 0: none, and the proof of knowing it. */
    int resumeName;
    int resumeTag;
    long resumeNonce;

    /** Reads validated TLVs; what is absent has the specification's default. */
    void read(long at, int bytes) {
        planes = 0;
        payloadMtu = 1_024;
        pathsPerPlane = 1;
        maxStreams = 1;
        streamWindow = Limits.MIN_STREAM_WINDOW;
        integrity = Tlv.INTEGRITY_FULL;
        ackEvery = 4;
        receiveRate = 1_000_000;
        receiveBuffer = 64;
        maxReads = 1;
        startShare = NOT_TOLD;
        service = 0;
        security = 0;
        resumeName = 0;
        reader.open(at, bytes);
        while (reader.next()) {
            switch (reader.type()) {
                case Tlv.PLANES -> readPlanes();
                case Tlv.PAYLOAD_MTU -> payloadMtu = (int) reader.u32();
                case Tlv.PATHS_PER_PLANE -> pathsPerPlane = (int) reader.u32();
                case Tlv.MAX_STREAMS -> maxStreams = reader.u32();
                case Tlv.STREAM_WINDOW -> streamWindow = (int) reader.u32();
                case Tlv.INTEGRITY -> integrity = (int) reader.u32();
                case Tlv.ACK_EVERY -> ackEvery = (int) reader.u32();
                case Tlv.RECEIVE_RATE -> receiveRate = reader.u64();
                case Tlv.RECEIVE_BUFFER -> receiveBuffer = reader.u32();
                case Tlv.MAX_READS -> maxReads = reader.u32();
                case Tlv.START_SHARE -> startShare = reader.u32();
                case Tlv.SERVICE -> service = (int) reader.u32();
                case Tlv.SECURITY -> security = Bytes.getU16(reader.value()) == Tlv.SUITE_PSK_X25519_AES256GCM ? reader.value() : 0;
                case Tlv.RESUME -> {
                    resumeName = reader.resumeName();
                    resumeTag = reader.resumeTag();
                    resumeNonce = reader.resumeNonce();
                }
                default -> { }
            }
        }
    }

    private void readPlanes() {
        planes = Math.min(reader.planes(), Limits.MAX_PLANES);
        for (int i = 0; i < planes; i++) {
            planeHigh[i] = reader.planeHigh(i);
            planeLow[i] = reader.planeLow(i);
            planePort[i] = reader.planePort(i);
            planeRate[i] = Rate16.decode(reader.planeRate(i));
        }
    }

    /** Receive port of the peer's plane, or of its first where it has no such plane. */
    int planePort(int plane) {
        for (int i = 0; i < planes; i++) {
            int p = (plane + i) % planes;
            if (planePort[p] != 0) {
                return planePort[p];
            }
        }
        return 0;
    }

    /** Whether a connection that is being resumed keeps what its streams and messages rely on. True for a new one. */
    boolean keep(EndpointState state, long connection) {
        Slab slab = state.slab;
        EndpointConfig own = state.config;
        return slab.getInt(connection + ConnectionRecord.KNOWN) == 0
                || slab.getInt(connection + ConnectionRecord.PAYLOAD_MTU) == Math.min(payloadMtu, own.payloadMtu)
                && slab.getInt(connection + ConnectionRecord.MAX_STREAMS) == (int) Math.min(maxStreams, own.maxStreams)
                && slab.getInt(connection + ConnectionRecord.STREAM_WINDOW) == Math.min(streamWindow, own.streamWindowPackets)
                && slab.getInt(connection + ConnectionRecord.INTEGRITY) == Math.max(integrity, own.integrity)
                && slab.getInt(connection + ConnectionRecord.PEER_MAX_READS) == (int) Math.min(maxReads, Limits.MAX_READS);
    }

    /**
     * Writes what was negotiated into the connection. An unspecified plane address stands for the datagram's source.
     *
     * @param over the plane on which the peer will have proven that it is at the source, as it answers what is sent there; -1: none
     */
    void apply(EndpointState state, long connection, long sourceHigh, long sourceLow, int over) {
        Slab slab = state.slab;
        EndpointConfig own = state.config;
        slab.putInt(connection + ConnectionRecord.PLANES, own.planes());
        slab.putInt(connection + ConnectionRecord.PATHS_PER_PLANE, Math.min(pathsPerPlane, own.pathsPerPlane));
        slab.putInt(connection + ConnectionRecord.PAYLOAD_MTU, Math.min(payloadMtu, own.payloadMtu));
        slab.putInt(connection + ConnectionRecord.MAX_STREAMS, (int) Math.min(maxStreams, own.maxStreams));
        slab.putInt(connection + ConnectionRecord.STREAM_WINDOW, Math.min(streamWindow, own.streamWindowPackets));
        slab.putInt(connection + ConnectionRecord.INTEGRITY, Math.max(integrity, own.integrity));
        slab.putInt(connection + ConnectionRecord.ACK_EVERY, ackEvery);
        slab.putInt(connection + ConnectionRecord.PEER_BUFFER, (int) Math.min(receiveBuffer, Integer.MAX_VALUE));
        slab.putInt(connection + ConnectionRecord.PEER_MAX_READS, (int) Math.min(maxReads, Limits.MAX_READS));
        for (int p = 0; p < own.planes(); p++) {
            long plane = state.plane(connection, p);
            boolean there = p < planes && planePort[p] != 0;
            long line = Math.min(own.rateKbps(p), there && planeRate[p] >= 1_000 ? planeRate[p] : receiveRate);
            slab.putInt(plane + PlaneRecord.LINE_KBPS, (int) line);
            slab.putInt(plane + PlaneRecord.STATE, there && state.ownAddresses[p] != null ? PlaneRecord.UP : PlaneRecord.ABSENT);
            slab.putFloat(plane + PlaneRecord.START_SHARE, startShare == NOT_TOLD ? 0 : Windows.fraction(startShare, line));
            if (!there) {
                slab.putInt(plane + PlaneRecord.REMOTE_PORT, 0);
                continue;
            }
            boolean unspecified = planeHigh[p] == 0 && (planeLow[p] == 0 || planeLow[p] == 0xffff_0000_0000L);
            long high = unspecified ? sourceHigh : planeHigh[p];
            long low = unspecified ? sourceLow : planeLow[p];
            if (own.trustPlanes || state.isAt(plane, high, low, planePort[p]) || p == over && high == sourceHigh && low == sourceLow) {
                state.locate(plane, high, low, planePort[p]);
                continue;
            }
            // Where it says it is, it has to answer first. Till then it is where it was, or where its datagram came from, or nowhere.
            if (p == over) {
                state.locate(plane, sourceHigh, sourceLow, planePort[p]);
            } else if (slab.getInt(plane + PlaneRecord.REMOTE_PORT) == 0) {
                slab.putInt(plane + PlaneRecord.STATE, PlaneRecord.ABSENT);
            }
            if (state.ownAddresses[p] != null) {
                Planes.doubt(state, plane, high, low, planePort[p]);
            }
        }
    }
}
