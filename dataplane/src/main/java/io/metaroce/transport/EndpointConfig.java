// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.wire.NetAddress;
import java.lang.foreign.SegmentAllocator;

/** What an {@link Endpoint} is built with. Read once by its constructor, which checks every range. */
public final class EndpointConfig {
    /** Checksums cover headers; payload is left to UDP's checksum. */
    public static final int INTEGRITY_HEADER = 0;
    /** Checksums cover headers and payload. */
    public static final int INTEGRITY_FULL = 1;

    /** For {@link #receiverNotReadyRetries}: a message waits as long as it takes. */
    public static final int RETRY_FOR_EVER = 7;

    /** Per plane, where peers reach us; null for a plane that may be added later ({@link Endpoint#setPlane}). */
    public NetAddress[] localAddresses;
    /** Per plane, the source ports that paths may use; null where there is no plane yet. */
    public int[][] sourcePorts;

    /** Largest payload of a packet, bytes: what the local interfaces carry with the header of 64 bytes, or less. */
    public int payloadMtu = 4096;
    /**
     * Payload that every route carries, bytes: packets have so much until more is proven (spec: "Payload size"). At least
     * {@link #payloadMtu}: nothing is to be proven, the operator knows.
     */
    public int safePayload = 1_152;
    public int pathsPerPlane = 4;
    /** Connections that hold a context (CID, paths, windows) at a time; those that are parked hold none. */
    public int maxConnections = 64;
    /** Connections that may be parked at a time (spec: "Park"); 0: none, and peers cannot park theirs either. */
    public int maxParked;
    /** Idle time after which a connection is parked by itself, ns; 0: only when asked for, or when contexts run out. */
    public long parkIdleNs;
    /** Streams of one connection. */
    public int maxStreams = 1024;
    /** Streams that may exist at a time over all connections; 0: 4 a connection, at least 1024. */
    public int streamPool;
    /** Packets of one stream that may be out of order, a power of two. */
    public int streamWindowPackets = 4096;
    /** Work requests posted and not completed, over all connections. */
    public int maxWorkRequests = 4096;
    /** Reads and atomics that a peer may have in flight on one stream, 0 (none are taken) to {@link Limits#MAX_READS}. */
    public int maxReads = Limits.MAX_READS;
    /** Receives posted on one stream, a power of two. */
    public int receiveQueueDepth = 256;
    /** Pieces of local memory that a message may have, 1 (no lists) to {@link Limits#MAX_SEGMENTS}. */
    public int maxSegments = 1;
    /** Requests and receives of several pieces posted and not completed, over all connections; 0: as many as work requests. */
    public int segmentListPool;
    /** Bytes that a message may have and be copied when it is posted, 0 to {@link Limits#MAX_INLINE_BYTES}. */
    public int maxInlineBytes = 64;
    /** One shared receive queue for each element, numbered from 0, and its protection domain. */
    public int[] sharedReceiveDomains = {};
    /** Receives posted to one shared queue, those bound to streams included, a power of two. */
    public int sharedReceiveDepth = 1024;
    /** Receives of a shared queue that one stream may have bound at a time, a power of two. */
    public int sharedReceivesPerStream = 16;
    /**
     * How often a message that found no receive asks again before it and its stream fail with RECEIVER_NOT_READY: 0 to 6, or
     * {@link #RETRY_FOR_EVER}.
     */
    public int receiverNotReadyRetries = RETRY_FOR_EVER;
    /** Packets out, over all connections. */
    public int maxPacketsOut = 32_768;
    /** Packets after which the peer should acknowledge at the latest. */
    public int ackEvery = 16;
    /** Packets in a row on one path (spec: "Spray"). */
    public int runLength = 1;
    /** Line rate of a plane, kbit/s. */
    public long lineRateKbps = 100_000_000L;
    /** The same where planes differ: one for each, or null. */
    public long[] planeRatesKbps;
    /** Packets a plane of ours can hold unread. */
    public int receiveBufferPackets = 1024;
    /** Gives the zeroed memory that all records lie in, for the life of the endpoint; null: each endpoint gets its own from the system. */
    public SegmentAllocator memory;
    public int integrity = INTEGRITY_FULL;
    /**
     * Whether payload that arrives is copied to its place. False: for a port whose datagrams carry none, only its length, as in a
     * simulation; everything else is done. Not with {@link #INTEGRITY_FULL} or encryption, which read payload.
     */
    public boolean placesPayload = true;
    /** Silence after which a peer counts as lost, ns. */
    public long peerTimeoutNs = 1_500_000_000L;
    public long connectTimeoutNs = 3_000_000_000L;
    /** Genuine packets of a connection that may break the rules; one more aborts it. */
    public int maxViolations = 1_000;
    /** RESETs sent in a second, at most. */
    public int resetsPerSecond = 1_000;
    /** Delays below this are noise of the host, not of the network, ns. 0 for hardware-like ports and simulation. */
    public long timerFloorNs;
    /** Windows never fall below this many packets a plane while the receiver's share is whole. */
    public int minWindowPackets = 2;
    /** Longest time an acknowledgement waits for company, ns. */
    public long ackDelayNs = 1_000;
    /** Seeds spray and jitter: with the same seed and secret, the same behaviour. */
    public long seed = 1;
    /** Secret of this endpoint, 128 bits, that identifiers and cookies come from; fill both from a secure source outside tests. */
    public long secret;
    public long secretLow;
    /** Cryptography and key for encrypted connections; null: none are made. */
    public Security security;
    /** With {@link #security}: connections are encrypted or are not made. False: encrypted where the peer can. */
    public boolean requireEncryption = true;
    /** Packets after which a direction of an encrypted connection takes its next key. */
    public int keyPackets = Limits.KEY_PACKETS;
    /**
     * Whether peers are believed where their planes are. False: before anything else is sent to an address that only the peer's word
     * stands for, somebody there must answer a challenge, which takes another round trip (spec: MR-SEC-003).
     */
    public boolean trustPlanes = true;
    /** Whether peers may connect to us. */
    public boolean acceptConnections = true;
    /** Protection domain of accepted connections. */
    public int acceptedDomain;
    /** Application selector: both ends must name the same. */
    public int service;

    public int planes() {
        return localAddresses.length;
    }

    /** Room for lists of segments. */
    int segmentLists() {
        return maxSegments == 1 ? 0 : segmentListPool > 0 ? segmentListPool : maxWorkRequests;
    }

    /** Line rate of this plane, kbit/s. */
    long rateKbps(int plane) {
        return planeRatesKbps == null ? lineRateKbps : planeRatesKbps[plane];
    }

    void check() {
        range("planes", planes(), 1, Limits.MAX_PLANES);
        range("paths per plane", pathsPerPlane, 1, Limits.MAX_PATHS_PER_PLANE);
        range("payload MTU", payloadMtu, Limits.MIN_PAYLOAD_MTU, Limits.MAX_PAYLOAD_MTU);
        range("safe payload", safePayload, Limits.MIN_PAYLOAD_MTU, Limits.MAX_PAYLOAD_MTU);
        range("connections", maxConnections, 1, 65_536);
        range("parked connections", maxParked, 0, 1 << 20);
        range("streams", maxStreams, 1, 1 << 24);
        powerOfTwo("stream window", streamWindowPackets, Limits.MIN_STREAM_WINDOW, Limits.MAX_STREAM_WINDOW);
        powerOfTwo("receive queue depth", receiveQueueDepth, 1, 65_536);
        range("Reads in flight", maxReads, 0, Limits.MAX_READS);
        range("segments", maxSegments, 1, Limits.MAX_SEGMENTS);
        range("segment lists", segmentListPool, 0, 1 << 24);
        range("inline bytes", maxInlineBytes, 0, Limits.MAX_INLINE_BYTES);
        range("shared receive queues", sharedReceiveDomains.length, 0, 1024);
        powerOfTwo("shared receive depth", sharedReceiveDepth, 1, 65_536);
        powerOfTwo("shared receives of a stream", sharedReceivesPerStream, 1, 1024);
        range("retries when the receiver is not ready", receiverNotReadyRetries, 0, RETRY_FOR_EVER);
        range("work requests", maxWorkRequests, 1, 1 << 24);
        range("packets out", maxPacketsOut, 64, 1 << 24);
        range("acknowledgement interval", ackEvery, 1, 255);
        range("run length", runLength, 1, 64);
        range("receive buffer", receiveBufferPackets, 4, 1 << 24);
        range("integrity", integrity, INTEGRITY_HEADER, INTEGRITY_FULL);
        if (!placesPayload && (integrity != INTEGRITY_HEADER || security != null)) {
            throw new IllegalArgumentException("payload that is not there can neither be checked nor decrypted");
        }
        range("violations", maxViolations, 0, Integer.MAX_VALUE);
        range("RESETs a second", resetsPerSecond, 0, 1_000_000);
        if (peerTimeoutNs < 3 * Limits.KEEPALIVE_NS) {
            throw new IllegalArgumentException("peer timeout of " + peerTimeoutNs / 1_000_000 + " ms is below "
                    + 3 * Limits.KEEPALIVE_NS / 1_000_000 + ", three times the keepalive");
        }
        range("minimum window", minWindowPackets, 1, 65_536);
        range("packets of a key", keyPackets, 1, Limits.KEY_PACKETS);
        if (planeRatesKbps != null && planeRatesKbps.length != planes()) {
            throw new IllegalArgumentException(planeRatesKbps.length + " rates for " + planes() + " planes");
        }
        for (int p = 0; p < planes(); p++) {
            if (rateKbps(p) < 1_000 || rateKbps(p) > 0xffff_ffffL) {
                throw new IllegalArgumentException("line rate of " + rateKbps(p) + " kbit/s is outside 1000..4294967295");
            }
        }
        boolean any = false;
        for (int p = 0; p < planes(); p++) {
            any |= localAddresses[p] != null;
            if (localAddresses[p] != null && (sourcePorts[p] == null || sourcePorts[p].length == 0)) {
                throw new IllegalArgumentException("plane " + p + " has no source port");
            }
        }
        if (!any) {
            throw new IllegalArgumentException("no plane has an address");
        }
    }

    private static void range(String what, int value, int low, int high) {
        if (value < low || value > high) {
            throw new IllegalArgumentException(what + " " + value + " is outside " + low + ".." + high);
        }
    }

    private static void powerOfTwo(String what, int value, int low, int high) {
        range(what, value, low, high);
        if (Integer.bitCount(value) != 1) {
            throw new IllegalArgumentException(what + " " + value + " is not a power of two");
        }
    }
}
