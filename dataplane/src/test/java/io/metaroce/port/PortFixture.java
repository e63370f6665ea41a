// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** Sends and receives numbered datagrams through ports and remembers what came: shared by the tests of all ports. */
public final class PortFixture implements AutoCloseable {
    /** One received datagram, copied out of its frame. */
    public record Datagram(int number, int length, int plane, int ecn, NetAddress source) {
    }

    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final int HEADER_BYTES = 64;
    private static final int PAYLOAD_BYTES = 70_000;
    private static final long PATIENCE_NS = 2_000_000_000L;

    public final TxBurst tx;
    public final RxBurst rx;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment payload = arena.allocate(PAYLOAD_BYTES, 4096);

    public PortFixture(int txCapacity, int rxCapacity) {
        tx = new TxBurst(txCapacity);
        rx = new RxBurst(rxCapacity);
        for (int i = 0; i < PAYLOAD_BYTES; i++) {
            payload.set(ValueLayout.JAVA_BYTE, i, pattern(i));
        }
    }

    /** Adds a datagram of {@code length} bytes that starts with {@code number}; up to 64 bytes of it are header. */
    public void add(PacketPort port, int plane, int portIndex, NetAddress to, int number, int length) {
        port.prepare(tx);
        int i = tx.count++;
        int header = Math.min(length, HEADER_BYTES);
        ALL.set(ValueLayout.JAVA_INT_UNALIGNED, tx.header[i], number);
        for (int b = Integer.BYTES; b < header; b++) {
            ALL.set(ValueLayout.JAVA_BYTE, tx.header[i] + b, (byte) number);
        }
        tx.headerLength[i] = header;
        tx.payload[i] = payload.address();
        tx.payloadLength[i] = length - header;
        tx.plane[i] = (byte) plane;
        tx.sourcePort[i] = port.sourcePorts(plane)[portIndex];
        tx.destinationHigh[i] = to.high();
        tx.destinationLow[i] = to.low();
        tx.destinationPort[i] = to.port();
    }

    /** Sends the burst until nothing stays. */
    public void sendAll(PacketPort port) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        do {
            port.send(tx);
        } while (tx.count > 0 && System.nanoTime() - deadlineNs < 0);
    }

    /** Receives until {@code expected} datagrams came or two seconds passed, checking content. */
    public List<Datagram> receive(PacketPort port, int expected) {
        List<Datagram> got = new ArrayList<>();
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (got.size() < expected && System.nanoTime() - deadlineNs < 0) {
            poll(port, got);
        }
        return got;
    }

    /** One receive call; adds what came to {@code got}. */
    public void poll(PacketPort port, List<Datagram> got) {
        port.receive(rx);
        for (int i = 0; i < rx.count; i++) {
            got.add(read(i));
        }
    }

    /** Entry {@code i} of the receive burst, checked. */
    public Datagram read(int i) {
        int number = ALL.get(ValueLayout.JAVA_INT_UNALIGNED, rx.address[i]);
        for (int b = Integer.BYTES; b < rx.length[i]; b++) {
            byte expected = b < HEADER_BYTES ? (byte) number : pattern(b - HEADER_BYTES);
            if (ALL.get(ValueLayout.JAVA_BYTE, rx.address[i] + b) != expected) {
                throw new AssertionError("datagram " + number + " differs at byte " + b);
            }
        }
        return new Datagram(number, rx.length[i], rx.plane[i], rx.ecn[i], new NetAddress(rx.sourceHigh[i], rx.sourceLow[i], rx.sourcePort[i]));
    }

    public static byte pattern(int i) {
        return (byte) (i * 31 >> 3);
    }

    @Override
    public void close() {
        arena.close();
    }
}
