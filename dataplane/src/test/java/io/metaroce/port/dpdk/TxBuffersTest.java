// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.bindings.dpdk.PmdCalls;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.Bytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Header buffers with a full and with an empty pool. */
class TxBuffersTest {
    private static final int SLOTS = 64;

    private final MemorySegment taken = Arena.global().allocate(ValueLayout.JAVA_LONG, 4096);
    private int takenCount;
    private Pools pools;
    private TxBuffers buffers;

    @BeforeAll
    static void environment() {
        DpdkTesting.start();
    }

    @BeforeEach
    void open() {
        PlaneConfig plane = new PlaneConfig("net_ring0", InetAddress.ofLiteral("10.0.0.1"), 24);
        pools = new Pools(DpdkConfig.of(List.of(plane)).withDescriptors(32, 32).withTxSlots(SLOTS));
        buffers = new TxBuffers(pools, SLOTS);
    }

    @AfterEach
    void close() {
        if (pools != null) {
            PmdCalls.free(taken.address(), takenCount);
            pools.close();
        }
    }

    private void emptyThePool() {
        takenCount = PmdCalls.alloc(pools.transmit, taken.address(), 4096);
    }

    private void giveBack(int count) {
        takenCount -= count;
        PmdCalls.free(taken.address() + 8L * takenCount, count);
    }

    @Test
    void everyFreeSlotGetsItsOwnBuffer() {
        TxBurst burst = new TxBurst(SLOTS);
        buffers.fill(burst);
        assertEquals(SLOTS, Arrays.stream(burst.header).distinct().count());
        long[] before = burst.header.clone();
        burst.count = 10;
        burst.header[20] = 0;
        buffers.free(buffers.mbufOf(before[20]));
        buffers.fill(burst);
        for (int i = 0; i < SLOTS; i++) {
            assertTrue(i == 20 ? burst.header[i] != 0 : burst.header[i] == before[i]);
            assertFalse(buffers.isSpare(burst.header[i]));
            assertEquals(0, burst.header[i] % 64, "whole cache lines");
        }
        buffers.reclaim(burst);
    }

    @Test
    void anEmptyPoolGivesStandInsThatMoveLater() {
        emptyThePool();
        TxBurst burst = new TxBurst(SLOTS);
        buffers.fill(burst);
        for (int i = 0; i < SLOTS; i++) {
            assertTrue(buffers.isSpare(burst.header[i]));
            Bytes.putInt(burst.header[i] + TxBurst.HEADER_ROOM - 4, i);
        }
        assertEquals(0, buffers.promote(burst.header[5], TxBurst.HEADER_ROOM), "still empty");
        giveBack(1);
        long moved = buffers.promote(burst.header[5], TxBurst.HEADER_ROOM);
        assertNotEquals(0, moved);
        assertFalse(buffers.isSpare(moved));
        assertEquals(5, Bytes.getInt(moved + TxBurst.HEADER_ROOM - 4));
        burst.header[5] = moved;
        buffers.reclaim(burst);
        buffers.fill(burst);
        assertEquals(1, Arrays.stream(burst.header).filter(h -> !buffers.isSpare(h)).count(), "the one that came back");
        buffers.reclaim(burst);
    }

    @Test
    void moreSlotsThanConfiguredIsAnErrorThatNamesTheSetting() {
        emptyThePool();
        TxBurst burst = new TxBurst(SLOTS + 1);
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> buffers.fill(burst));
        assertTrue(e.getMessage().contains("txSlots"), e.getMessage());
    }
}
