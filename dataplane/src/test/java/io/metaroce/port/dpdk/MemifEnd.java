// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * One end of a memif link in a process of its own.
 *
 * <p>{@code flood} sends numbered datagrams as fast as it can on every plane and checks what comes back; it prints UP once each plane
 * has echoed 1,000 since its link came up, DOWN when all links are down, and ends when its input does. {@code echo} sends everything
 * back and ends never.
 */
final class MemifEnd {
    private static final int HEADER = 64;
    private static final int PAYLOAD = 4096;
    private static final int BURST = 64;

    private final DpdkPort port;
    private final int planes;
    private final boolean server;
    private final TxBurst tx = new TxBurst(BURST);
    private final RxBurst rx = new RxBurst(BURST);
    private final MemorySegment payloads = Arena.global().allocate((long) PAYLOAD * BURST, 4096);
    private final long[] echoed;
    private long sequence;
    private long corrupt;

    private MemifEnd(boolean server, String link, int planes) {
        this.server = server;
        this.planes = planes;
        port = new DpdkPort(DpdkConfig.of(MemifPlanes.of(link, server, planes, DpdkConfig.DEFAULT_MTU)), System::nanoTime);
        echoed = new long[planes];
    }

    /** Arguments: flood|echo server|client LINK PLANES. */
    public static void main(String[] args) throws IOException {
        MemifEnd end = new MemifEnd(args[1].equals("server"), args[2], Integer.parseInt(args[3]));
        end.port.describe().forEach(System.out::println);
        if (args[0].equals("echo")) {
            while (true) {
                end.echoOnce();
            }
        }
        end.flood();
        System.out.println("CORRUPT " + end.corrupt + " SENT " + end.port.counters().txDatagrams + " RECEIVED " + end.port.counters().rxDatagrams);
        end.port.release(end.tx);
        end.port.close();
    }

    private void flood() throws IOException {
        boolean announcedUp = false;
        for (int calls = 0; calls % 4096 != 0 || System.in.available() == 0; calls++) {
            port.receive(rx);
            for (int i = 0; i < rx.count; i++) {
                check(i);
            }
            port.prepare(tx);
            while (!tx.isFull()) {
                add((int) (sequence % planes));
            }
            port.send(tx);
            boolean allUp = true;
            boolean allDown = true;
            for (int p = 0; p < planes; p++) {
                allUp &= port.isUp(p) && echoed[p] >= 1000;
                allDown &= !port.isUp(p);
            }
            if (allUp && !announcedUp) {
                System.out.println("UP");
                announcedUp = true;
            }
            if (allDown && announcedUp) {
                System.out.println("DOWN");
                announcedUp = false;
                java.util.Arrays.fill(echoed, 0);
            }
        }
    }

    private void add(int plane) {
        int i = tx.count++;
        long n = sequence++;
        MemorySegment header = MemorySegment.ofAddress(tx.header[i]).reinterpret(HEADER);
        header.set(ValueLayout.JAVA_LONG, 0, n);
        long slot = n % BURST * PAYLOAD;
        payloads.set(ValueLayout.JAVA_LONG, slot, n);
        payloads.set(ValueLayout.JAVA_LONG, slot + PAYLOAD - 8, ~n);
        tx.headerLength[i] = HEADER;
        tx.payload[i] = payloads.address() + slot;
        tx.payloadLength[i] = PAYLOAD;
        to(i, plane, NetAddress.of(MemifPlanes.address(plane, !server), DpdkConfig.DEFAULT_UDP_PORT));
    }

    private void to(int i, int plane, NetAddress peer) {
        tx.plane[i] = (byte) plane;
        tx.sourcePort[i] = 50000;
        tx.destinationHigh[i] = peer.high();
        tx.destinationLow[i] = peer.low();
        tx.destinationPort[i] = peer.port();
    }

    private void check(int i) {
        MemorySegment d = MemorySegment.ofAddress(rx.address[i]).reinterpret(rx.length[i]);
        long n = d.byteSize() == HEADER + PAYLOAD ? d.get(ValueLayout.JAVA_LONG_UNALIGNED, 0) : -1;
        // A slot may have been used again before a parked datagram was copied; its two ends still belong together.
        boolean right = n >= 0 && d.get(ValueLayout.JAVA_LONG_UNALIGNED, HEADER) % BURST == n % BURST
                && d.get(ValueLayout.JAVA_LONG_UNALIGNED, HEADER) == ~d.get(ValueLayout.JAVA_LONG_UNALIGNED, HEADER + PAYLOAD - 8)
                && rx.ecn[i] == 2;
        corrupt += right ? 0 : 1;
        echoed[rx.plane[i]]++;
    }

    private void echoOnce() {
        port.receive(rx);
        for (int i = 0; i < rx.count; i++) {
            if (tx.isFull()) {
                port.send(tx);
                i--;
                continue;
            }
            port.prepare(tx);
            int k = tx.count++;
            MemorySegment from = MemorySegment.ofAddress(rx.address[i]).reinterpret(rx.length[i]);
            MemorySegment.copy(from, 0, MemorySegment.ofAddress(tx.header[k]).reinterpret(HEADER), 0, HEADER);
            // Sent before the next receive, so the payload may go from where it came.
            tx.headerLength[k] = HEADER;
            tx.payload[k] = rx.address[i] + HEADER;
            tx.payloadLength[k] = rx.length[i] - HEADER;
            to(k, rx.plane[i], new NetAddress(rx.sourceHigh[i], rx.sourceLow[i], DpdkConfig.DEFAULT_UDP_PORT));
        }
        // What cannot be sent is dropped, so this ends: nothing may wait for the next receive, which frees what it names.
        while (tx.count > 0) {
            port.send(tx);
        }
    }
}
