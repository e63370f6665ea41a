// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** Sends and receives datagrams as the transport would. */
final class PortDriver {
    record Datagram(byte[] data, int plane, int ecn, NetAddress from) {
    }

    final DpdkPort port;
    final TxBurst tx;
    final RxBurst rx;

    PortDriver(DpdkPort port, int slots) {
        this.port = port;
        tx = new TxBurst(slots);
        rx = new RxBurst(slots);
    }

    /** Adds a datagram to the burst: {@code header} in place, {@code payload} by address. */
    void add(int plane, int sourcePort, NetAddress to, byte[] header, byte[] payload) {
        port.prepare(tx);
        int i = tx.count++;
        MemorySegment.copy(header, 0, MemorySegment.ofAddress(tx.header[i]).reinterpret(header.length), ValueLayout.JAVA_BYTE, 0, header.length);
        MemorySegment p = Arena.ofAuto().allocate(Math.max(payload.length, 1));
        keep.add(p);
        MemorySegment.copy(payload, 0, p, ValueLayout.JAVA_BYTE, 0, payload.length);
        tx.headerLength[i] = header.length;
        tx.payload[i] = payload.length == 0 ? 0 : p.address();
        tx.payloadLength[i] = payload.length;
        tx.plane[i] = (byte) plane;
        tx.sourcePort[i] = sourcePort;
        tx.destinationHigh[i] = to.high();
        tx.destinationLow[i] = to.low();
        tx.destinationPort[i] = to.port();
    }

    private final List<MemorySegment> keep = new ArrayList<>();

    void send() {
        port.send(tx);
    }

    /** One poll. */
    List<Datagram> receive() {
        port.receive(rx);
        List<Datagram> list = new ArrayList<>();
        for (int i = 0; i < rx.count; i++) {
            byte[] data = MemorySegment.ofAddress(rx.address[i]).reinterpret(rx.length[i]).toArray(ValueLayout.JAVA_BYTE);
            list.add(new Datagram(data, rx.plane[i], rx.ecn[i], new NetAddress(rx.sourceHigh[i], rx.sourceLow[i], rx.sourcePort[i])));
        }
        return list;
    }

    /** Polls until {@code count} datagrams are there or {@code millis} have passed. */
    List<Datagram> receive(int count, int millis) {
        List<Datagram> list = new ArrayList<>();
        long endNs = System.nanoTime() + millis * 1_000_000L;
        while (list.size() < count && System.nanoTime() - endNs < 0) {
            list.addAll(receive());
        }
        return list;
    }

    /** Polls for a while, so that timers run. */
    void idle(int millis) {
        long endNs = System.nanoTime() + millis * 1_000_000L;
        while (System.nanoTime() - endNs < 0) {
            port.receive(rx);
        }
    }

    void close() {
        port.release(tx);
        port.close();
    }
}
