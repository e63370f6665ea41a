// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.capture;

import io.metaroce.benchmarks.Hop;
import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Event;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Type;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * The Data packets of a transfer between two endpoints whose every choice comes from a seed, and further receivers in the state in which the
 * transfer found the first: to each of them all packets are new. Only the address and the key of the receivers' memory differ from one capture to the
 * next. Writes over one connection on 16 paths. One thread.
 */
public final class TransferCapture {
    private static final int SLOT = 20_480;
    private static final int PACKETS_A_MESSAGE = 16;
    private static final int IN_FLIGHT = 16;
    private static final int REGION = 1 << 20;
    private static final int SOURCE_PORT = 50_000;
    private static final long SEED = 7;

    /** All receivers have the same memory, so that the packets' addresses and keys fit. */
    private final RegionTable regionsB = new RegionTable();
    private final MemoryRegion to = regionsB.register(0, Arena.ofAuto().allocate(REGION, 4096), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
    private final int payload;
    private final List<byte[]> datagrams = new ArrayList<>();
    private final List<Integer> sourcePorts = new ArrayList<>();

    /**
     * Runs the transfer.
     *
     * @param payload bytes of a packet, 256 to 16,384
     * @param packets that are kept, the first of the transfer
     */
    public TransferCapture(int payload, int packets) {
        this.payload = payload;
        Ends ends = new Ends();
        ends.kept = packets;
        ends.transfer();
    }

    /** Ethernet frames with the packets, in the order in which they were sent. */
    public List<byte[]> frames(Frames receiver) {
        List<byte[]> frames = new ArrayList<>();
        for (int i = 0; i < datagrams.size(); i++) {
            frames.add(receiver.udp(sourcePorts.get(i), datagrams.get(i)));
        }
        return frames;
    }

    /** An endpoint that has the connection, and has seen nothing of the transfer. */
    public Endpoint receiver() {
        return new Ends().b;
    }

    /** The two of them, connected. */
    private final class Ends {
        private final RegionTable regionsA = new RegionTable();
        private final MemoryRegion from = regionsA.register(0, Arena.ofAuto().allocate(REGION, 4096), Access.LOCAL_WRITE);
        private final Endpoint a = new Endpoint(config(1), regionsA);
        private final Endpoint b = new Endpoint(config(2), regionsB);
        private final Hop hop = new Hop(SLOT, true, 0);
        private final int connection;
        private long clockNs = 1_000_000_000L;
        private int kept;

        Ends() {
            connection = a.connect(clockNs, Hop.address(2), 0);
            Event event = new Event();
            while (!a.pollEvent(event)) {
                turn();
            }
            if (event.kind != Event.CONNECTED) {
                throw new IllegalStateException(event.text());
            }
        }

        private EndpointConfig config(int host) {
            EndpointConfig c = new EndpointConfig();
            c.localAddresses = new NetAddress[] {Hop.address(host)};
            c.sourcePorts = new int[][] {new int[] {SOURCE_PORT, SOURCE_PORT + 1, SOURCE_PORT + 2, SOURCE_PORT + 3}};
            c.payloadMtu = payload;
            c.safePayload = payload;
            c.pathsPerPlane = 16;
            c.minWindowPackets = 256;
            c.maxConnections = 1;
            c.timerFloorNs = 50_000;
            c.seed = SEED + host;
            return c;
        }

        void transfer() {
            WorkRequest request = new WorkRequest();
            request.opcode = Opcode.WRITE;
            request.localAddress = from.address();
            request.localKey = from.key();
            request.length = PACKETS_A_MESSAGE * payload;
            request.remoteAddress = to.address();
            request.remoteKey = to.key();
            Completion completion = new Completion();
            for (int outstanding = 0; datagrams.size() < kept; ) {
                while (outstanding < IN_FLIGHT && a.post(connection, request) == Endpoint.OK) {
                    outstanding++;
                }
                turn();
                while (a.pollCompletion(completion)) {
                    outstanding--;
                }
            }
        }

        private void turn() {
            clockNs += 1_000;
            hop.tx.count = 0;
            a.transmit(clockNs, hop.tx);
            hop.travel();
            keep(hop.rx);
            b.receive(clockNs, hop.rx);
            hop.tx.count = 0;
            b.transmit(clockNs, hop.tx);
            hop.travel();
            a.receive(clockNs, hop.rx);
        }

        private void keep(RxBurst rx) {
            for (int i = 0; i < rx.count && datagrams.size() < kept; i++) {
                if (Prefix.type(rx.address[i]) == Type.DATA) {
                    byte[] datagram = new byte[rx.length[i]];
                    Bytes.get(rx.address[i], datagram, 0, datagram.length);
                    datagrams.add(datagram);
                    sourcePorts.add(rx.sourcePort[i]);
                }
            }
        }
    }
}
