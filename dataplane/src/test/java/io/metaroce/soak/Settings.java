// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.crypto.PskSecurity;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.wire.NetAddress;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.SplittableRandom;

/** Draws the settings of an endpoint: different on every host, and now and then as small as they may be. */
final class Settings {
    /** All streams of all connections that an endpoint can have here. */
    static final int AMPLE_STREAMS = 128;
    static final int SEGMENTS = 4;
    static final int INLINE_BYTES = 200;

    private Settings() {
    }

    static EndpointConfig draw(SplittableRandom r, int host, boolean small) {
        EndpointConfig c = new EndpointConfig();
        int planes = 1 + r.nextInt(Network.PLANES);
        c.localAddresses = new NetAddress[planes];
        c.sourcePorts = new int[planes][1 + r.nextInt(Network.PORTS)];
        for (int p = 0; p < planes; p++) {
            c.localAddresses[p] = Host.address(host, p);
            for (int i = 0; i < c.sourcePorts[p].length; i++) {
                c.sourcePorts[p][i] = Network.FIRST_PORT + i;
            }
        }
        c.payloadMtu = pick(r, 256, 500, 1024, 2048);
        // Every other host has to find out what passes.
        c.safePayload = host % 2 == 0 ? 256 : 16_384;
        c.pathsPerPlane = 1 + r.nextInt(r.nextInt(4) == 0 ? 16 : 5);
        c.maxConnections = 16;
        c.maxStreams = 1 + r.nextInt(8);
        c.streamPool = AMPLE_STREAMS;
        c.streamWindowPackets = pick(r, 64, 128, 512);
        c.maxWorkRequests = 128;
        c.receiveQueueDepth = pick(r, 4, 16);
        c.maxPacketsOut = 1024;
        c.maxReads = pick(r, 16, 16, 16, 4, 1, 0);
        c.ackEvery = pick(r, 1, 2, 4, 16);
        c.runLength = pick(r, 1, 1, 4, 16);
        c.lineRateKbps = pick(r, 1_000_000, 10_000_000, 100_000_000);
        c.receiveBufferPackets = pick(r, 64, 256, 1024);
        c.integrity = r.nextInt(4) == 0 ? EndpointConfig.INTEGRITY_HEADER : EndpointConfig.INTEGRITY_FULL;
        c.timerFloorNs = r.nextInt(4) == 0 ? 20_000 + r.nextInt(180_000) : 0;
        c.minWindowPackets = pick(r, 2, 2, 16);
        c.ackDelayNs = pick(r, 1_000, 1_000, 20_000);
        if (small) {
            c.streamPool = r.nextInt(2) == 0 ? 3 + r.nextInt(6) : AMPLE_STREAMS;
            c.streamWindowPackets = r.nextInt(2) == 0 ? 64 : c.streamWindowPackets;
            c.maxWorkRequests = 1 + r.nextInt(12);
            c.receiveQueueDepth = pick(r, 1, 2, 4);
            c.maxPacketsOut = r.nextInt(2) == 0 ? 64 : 128;
            c.receiveBufferPackets = 4 + r.nextInt(28);
            c.maxConnections = 1 + r.nextInt(4);
        }
        c.maxSegments = SEGMENTS;
        c.segmentListPool = c.maxWorkRequests + c.streamPool * c.receiveQueueDepth;
        c.maxInlineBytes = INLINE_BYTES;
        return c;
    }

    /** Messages may be given up for want of a receive. */
    static void giveUpSometimes(EndpointConfig c, SplittableRandom r) {
        c.receiverNotReadyRetries = r.nextInt(4) == 0 ? EndpointConfig.RETRY_FOR_EVER : r.nextInt(EndpointConfig.RETRY_FOR_EVER);
    }

    /** Idle connections may be parked, some by themselves; contexts may be few. */
    static void park(EndpointConfig c, SplittableRandom r) {
        c.maxParked = pick(r, 1, 4, 16, 16);
        c.parkIdleNs = pick(r, 0, 0, 1_000_000, 3_000_000);
        c.maxConnections = r.nextInt(3) == 0 ? 1 + r.nextInt(3) : c.maxConnections;
    }

    /** Encrypts all that the endpoint does, and has it change keys often. */
    static void encrypt(EndpointConfig c, long seed) {
        try {
            SecureRandom random = SecureRandom.getInstance("SHA1PRNG");
            random.setSeed(seed);
            c.security = new PskSecurity(new byte[PskSecurity.PSK_BYTES], random);
            c.keyPackets = 300 + Math.floorMod(seed, 7) * 500;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    static int pick(SplittableRandom r, int... from) {
        return from[r.nextInt(from.length)];
    }
}
