// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.bindings.dpdk.Pmd;
import io.metaroce.bindings.dpdk.PmdException;
import io.metaroce.bindings.dpdk.generated.PmdShim;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The buffer pools of a port: sized so that none runs dry while every ring and burst is full. What a plane alone needs is made when it
 * opens for the first time, and kept for the next.
 */
final class Pools implements AutoCloseable {
    /** Buffers a thread may keep in its cache; DPDK lets it grow by half. */
    private static final int CACHE = 256;
    private static final int CACHED = CACHE * 3 / 2;
    private static final int ANY_SOCKET = -1;
    private static final int CACHE_LINE = 64;
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final DpdkConfig config;
    private final int number = NUMBER.getAndIncrement();
    /** One a plane, 0 where it was never open. */
    private final long[] receive;
    /** For all planes: a header buffer's plane is not known when it is given out. */
    final long transmit;
    /** mbufs without data, for payload by reference; 0 until a device takes it. */
    private long gather;
    /** Bytes from an mbuf's address to its data. */
    final int dataOffset;
    final int dataRoom;

    Pools(DpdkConfig config) {
        this.config = config;
        // More than memif's buffers hold: where they hold no less than a pool's buffer, the memif of DPDK 23.11 and later hands over
        // each piece of a gathered frame as a buffer of its own.
        dataRoom = DpdkConfig.dataRoom(config.mtu()) + CACHE_LINE;
        dataOffset = PmdShim.mrpmd_data_offset();
        receive = new long[config.planes().size()];
        transmit = create("mr_tx" + number, transmitCount(config), dataRoom);
    }

    /** Pool for frames that a plane receives. */
    long receive(int plane) {
        if (receive[plane] == 0) {
            receive[plane] = create("mr_rx" + number + "_" + plane, receiveCount(config), dataRoom);
        }
        return receive[plane];
    }

    /** Pool for payload by reference. */
    long gather() {
        if (gather == 0) {
            gather = create("mr_ga" + number, gatherCount(), 0);
        }
        return gather;
    }

    private long create(String name, int count, int room) {
        try {
            return Pmd.createPool(name, count, room, CACHE, ANY_SOCKET);
        } catch (PmdException e) {
            throw new PmdException(e.getMessage() + "; the port needs about " + (memoryBytes(config) >> 20) + " MiB (EAL argument -m)", e.errno());
        }
    }

    /** Held by the ring, by the burst handed to the transport, by caches. */
    private static int receiveCount(DpdkConfig config) {
        return config.rxDescriptors() + PmdShim.MRPMD_MAX_BURST() + 2 * CACHED;
    }

    /** Held by the rings, by bursts being filled, by frames waiting for an address, by caches. */
    private static int transmitCount(DpdkConfig config) {
        return config.planes().size() * (config.txDescriptors() + Parked.LIMIT) + config.txSlots() + 2 * CACHED;
    }

    private static int gatherCount() {
        return 2 * PmdShim.MRPMD_MAX_BURST() + 2 * CACHED;
    }

    /** Memory all pools of such a port take, about. Does not need the environment. */
    static long memoryBytes(DpdkConfig config) {
        // mbuf, headroom, pool header, channel spreading.
        long buffer = DpdkConfig.dataRoom(config.mtu()) + CACHE_LINE + 512;
        return buffer * ((long) config.planes().size() * receiveCount(config) + transmitCount(config)) + 256L * gatherCount();
    }

    /** A pool with buffers still out (in another port's ring) stays: its memory must not vanish under them. */
    @Override
    public void close() {
        for (long pool : receive) {
            free(pool);
        }
        free(transmit);
        free(gather);
    }

    private static void free(long pool) {
        if (pool != 0) {
            Pmd.freePool(pool);
        }
    }
}
