// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.SteadyState;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Two endpoints that hand each other their bursts, with messages in segments and inline, receives that are shared, Reads, atomics, silent
 * and solicited requests, and losses: once compiled, nothing of it allocates.
 */
@Timeout(180)
class OperationsAllocationTest {
    private static final int BURST = 64;
    private static final int SLOT = 4096;
    private static final int MESSAGES = 5_000;
    /** The measuring itself allocates a little. */
    private static final double TOLERANCE_BYTES_A_MESSAGE = 1;

    private final RegionTable regionsA = new RegionTable();
    private final RegionTable regionsB = new RegionTable();
    private final MemoryRegion memoryA = regionsA.register(0, Arena.ofAuto().allocate(1 << 20, 64), Peers.ALL);
    private final MemoryRegion memoryB = regionsB.register(0, Arena.ofAuto().allocate(1 << 20, 64), Peers.ALL);
    private final Endpoint a = new Endpoint(config(1), regionsA);
    private final Endpoint b = new Endpoint(config(2), regionsB);
    private final TxBurst tx = new TxBurst(BURST);
    private final RxBurst rx = new RxBurst(BURST);
    private final MemorySegment headers = Arena.ofAuto().allocate((long) BURST * TxBurst.HEADER_ROOM, 64);
    private final MemorySegment frames = Arena.ofAuto().allocate((long) BURST * SLOT, 64);
    private final WorkRequest request = new WorkRequest();
    private final Segments segments = new Segments(3);
    private final Segments receive = new Segments(2);
    private final Completion completion = new Completion();
    private final Event event = new Event();
    private long nowNs = 1_000_000_000L;
    private int connection;
    private long posted;
    private long done;
    private int datagrams;
    private int next;

    private static NetAddress address(int host) {
        return new NetAddress(0, 0xffff_0a00_0000L | host, 14791);
    }

    private static EndpointConfig config(int host) {
        EndpointConfig c = Peers.config(host);
        c.localAddresses = new NetAddress[] {address(host)};
        c.sourcePorts = new int[][] {{50_000, 50_001, 50_002, 50_003}};
        c.maxSegments = 3;
        c.maxInlineBytes = 256;
        c.sharedReceiveDomains = new int[] {0};
        return c;
    }

    private void turn() {
        nowNs += 1_000;
        tx.count = 0;
        a.transmit(nowNs, tx);
        travel();
        b.receive(nowNs, rx);
        tx.count = 0;
        b.transmit(nowNs, tx);
        travel();
        a.receive(nowNs, rx);
    }

    private void travel() {
        rx.count = 0;
        for (int i = 0; i < tx.count; i++) {
            if (++datagrams % 101 == 0) {
                continue;
            }
            long frame = frames.address() + (long) rx.count * SLOT;
            Bytes.copy(tx.header[i], frame, tx.headerLength[i]);
            Bytes.copy(tx.payload[i], frame + tx.headerLength[i], tx.payloadLength[i]);
            rx.address[rx.count] = frame;
            rx.length[rx.count] = tx.headerLength[i] + tx.payloadLength[i];
            rx.sourceLow[rx.count] = 0xffff_0a00_0001L;
            rx.sourcePort[rx.count++] = tx.sourcePort[i];
        }
    }

    private void share() {
        receive.clear().add(memoryB.address() + 500_000, 700, memoryB.key()).add(memoryB.address() + 510_000, 5_000, memoryB.key());
        assertEquals(Endpoint.OK, b.postSharedReceive(0, receive, 0));
    }

    private void post(int kind) {
        request.segments = segments.clear().add(memoryA.address(), 900, memoryA.key()).add(memoryA.address() + 9_000, 0, 0)
                .add(memoryA.address() + 10_000, 2_000, memoryA.key());
        request.inline = false;
        request.unsignaled = false;
        request.solicited = kind == 0;
        request.stream = kind % 3;
        request.remoteAddress = memoryB.address();
        request.remoteKey = memoryB.key();
        switch (kind) {
            case 0, 1 -> request.opcode = Opcode.SEND_IMM;
            case 2 -> request.opcode = Opcode.READ_REQUEST;
            case 3 -> {
                request.opcode = Opcode.FETCH_ADD;
                segments.clear().add(memoryA.address() + 20_000, 8, memoryA.key());
            }
            default -> {
                request.opcode = Opcode.WRITE;
                segments.clear().add(memoryA.address() + 30_000, 100, 0).add(memoryA.address() + 40_000, 100, 0);
                request.inline = true;
                request.unsignaled = kind == 4;
            }
        }
        assertEquals(Endpoint.OK, a.post(connection, request));
        if (!request.unsignaled) {
            posted++;
        }
    }

    private void run() {
        long goal = done + MESSAGES;
        for (int turns = 0; done < goal; turns++) {
            assertTrue(turns < 100 * MESSAGES, "nothing moves");
            while (posted - done < 40) {
                post(next = (next + 1) % 6);
            }
            turn();
            while (a.pollCompletion(completion)) {
                assertEquals(Completion.OK, completion.status);
                done++;
            }
            while (b.pollCompletion(completion)) {
                share();
                b.requestCompletionEvent(true);
            }
            b.notifySharedReceivesBelow(0, 20);
            while (b.pollEvent(event)) {
                assertTrue(event.kind >= Event.COMPLETIONS);
            }
        }
    }

    @Test
    void allOfThemAllocateNothing() {
        for (int i = 0; i < BURST; i++) {
            tx.header[i] = headers.address() + (long) i * TxBurst.HEADER_ROOM;
        }
        connection = a.connect(nowNs, address(2), 0);
        while (!b.pollEvent(event)) {
            turn();
        }
        assertEquals(Event.ACCEPTED, event.kind);
        assertEquals(Endpoint.OK, b.useSharedReceives(event.connection, Endpoint.ALL_STREAMS, 0));
        for (int i = 0; i < 40; i++) {
            share();
        }
        double least = SteadyState.bytesAPiece(TOLERANCE_BYTES_A_MESSAGE, () -> {
            run();
            return MESSAGES;
        });
        assertTrue(least <= TOLERANCE_BYTES_A_MESSAGE, least + " bytes a message");
    }
}
