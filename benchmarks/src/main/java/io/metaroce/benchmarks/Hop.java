// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Takes what one endpoint sends to another one in memory, burst by burst, in the place of ports and a network. One thread. */
public final class Hop {
    private static final int BURST = 64;
    private static final long MAPPED = 0xffff_0a00_0000L;

    /** What an endpoint fills, and what the other one is given after {@link #travel}; valid until the next. */
    public final TxBurst tx = new TxBurst(BURST);
    public final RxBurst rx = new RxBurst(BURST);
    private final MemorySegment headers = Arena.ofAuto().allocate((long) BURST * TxBurst.HEADER_ROOM, 64);
    private final MemorySegment frames;
    private final int frameBytes;
    private final boolean payloadTravels;
    private final int lossOneIn;
    private int untilLoss;

    /**
     * @param frameBytes room for a datagram, as far as it is copied
     * @param payloadTravels whether payload is copied, and not its length alone told
     * @param lossOneIn one datagram in so many is lost, 0 for none
     */
    public Hop(int frameBytes, boolean payloadTravels, int lossOneIn) {
        this.frameBytes = frameBytes;
        this.payloadTravels = payloadTravels;
        this.lossOneIn = lossOneIn;
        untilLoss = lossOneIn;
        frames = Arena.ofAuto().allocate((long) BURST * frameBytes, 64);
        for (int i = 0; i < BURST; i++) {
            tx.header[i] = headers.address() + (long) i * TxBurst.HEADER_ROOM;
        }
    }

    /** Where an endpoint is said to be. */
    public static NetAddress address(int host) {
        return new NetAddress(0, MAPPED | host, NetAddress.DEFAULT_PORT);
    }

    /** Moves all of {@link #tx} to {@link #rx}, but for what is lost. */
    public void travel() {
        rx.count = 0;
        for (int i = 0; i < tx.count; i++) {
            if (lossOneIn > 0 && --untilLoss == 0) {
                untilLoss = lossOneIn;
                continue;
            }
            long frame = frames.address() + (long) rx.count * frameBytes;
            Bytes.copy(tx.header[i], frame, tx.headerLength[i]);
            if (tx.payloadLength[i] > 0 && payloadTravels) {
                Bytes.copy(tx.payload[i], frame + tx.headerLength[i], tx.payloadLength[i]);
            }
            rx.address[rx.count] = frame;
            rx.length[rx.count] = tx.headerLength[i] + tx.payloadLength[i];
            rx.sourceLow[rx.count] = MAPPED | 1;
            rx.sourcePort[rx.count] = tx.sourcePort[i];
            rx.count++;
        }
    }
}
