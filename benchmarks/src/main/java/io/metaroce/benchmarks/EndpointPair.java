// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Event;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Two endpoints in one thread that hand each other their bursts in memory, without any port: what the transport alone costs.
 * Every {@code lossOneIn}-th datagram is dropped (0: none).
 */
public final class EndpointPair {
    private static final int BURST = 64;
    private static final int SLOT = 20_480;
    private static final int REGION = 4 << 20;
    private static final int ROUNDS = 8;
    private static final long PACKETS_A_ROUND = 200_000;

    private final Endpoint a;
    private final Endpoint b;
    private final TxBurst tx = new TxBurst(BURST);
    private final RxBurst rx = new RxBurst(BURST);
    private final MemorySegment headers = Arena.ofAuto().allocate((long) BURST * TxBurst.HEADER_ROOM, 64);
    private final MemorySegment frames = Arena.ofAuto().allocate((long) BURST * SLOT, 64);
    private final WorkRequest request = new WorkRequest();
    private final Completion completion = new Completion();
    private final int lossOneIn;
    private final int depth;
    private int connection;
    private int outstanding;
    private long clockNs = 1_000_000_000L;
    private long sentNs;
    private int untilLoss;
    /** Data and control datagrams moved, messages completed. */
    public long datagrams;
    public long messages;

    public EndpointPair(int messageBytes, int payloadMtu, int runLength, int depth, int lossOneIn) {
        this.depth = depth;
        this.lossOneIn = lossOneIn;
        untilLoss = lossOneIn;
        RegionTable regionsA = new RegionTable();
        RegionTable regionsB = new RegionTable();
        MemoryRegion from = regionsA.register(0, Arena.ofAuto().allocate(REGION, 4096), Access.LOCAL_WRITE);
        MemoryRegion to = regionsB.register(0, Arena.ofAuto().allocate(REGION, 4096), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
        a = new Endpoint(config(1, payloadMtu, runLength), regionsA);
        b = new Endpoint(config(2, payloadMtu, runLength), regionsB);
        for (int i = 0; i < BURST; i++) {
            tx.header[i] = headers.address() + (long) i * TxBurst.HEADER_ROOM;
        }
        request.opcode = Opcode.WRITE;
        request.localAddress = from.address();
        request.localKey = from.key();
        request.length = messageBytes;
        request.remoteAddress = to.address();
        request.remoteKey = to.key();
        connection = a.connect(clockNs, address(2), 0);
        Event event = new Event();
        while (!a.pollEvent(event)) {
            turn();
        }
        if (event.kind != Event.CONNECTED) {
            throw new IllegalStateException(event.text());
        }
    }

    private static NetAddress address(int host) {
        return new NetAddress(0, 0xffff_0a00_0000L | host, 14791);
    }

    private static EndpointConfig config(int host, int payloadMtu, int runLength) {
        EndpointConfig c = new EndpointConfig();
        c.localAddresses = new NetAddress[] {address(host)};
        c.sourcePorts = new int[][] {new int[] {50_000, 50_001, 50_002, 50_003, 50_004, 50_005, 50_006, 50_007}};
        c.payloadMtu = payloadMtu;
        c.pathsPerPlane = 16;
        c.runLength = runLength;
        c.ackEvery = 16;
        c.minWindowPackets = 256;
        c.seed = host;
        return c;
    }

    /** One turn of both: what A has to say goes to B, and what B has goes back. Virtual time moves on by a microsecond. */
    public void turn() {
        clockNs += 1_000;
        exchange(a, b);
        exchange(b, a);
    }

    private void exchange(Endpoint from, Endpoint to) {
        tx.count = 0;
        from.transmit(clockNs, tx);
        rx.count = 0;
        for (int i = 0; i < tx.count; i++) {
            if (lossOneIn > 0 && --untilLoss == 0) {
                untilLoss = lossOneIn;
                continue;
            }
            long frame = frames.address() + (long) rx.count * SLOT;
            Bytes.copy(tx.header[i], frame, tx.headerLength[i]);
            if (tx.payloadLength[i] > 0) {
                Bytes.copy(tx.payload[i], frame + tx.headerLength[i], tx.payloadLength[i]);
            }
            rx.address[rx.count] = frame;
            rx.length[rx.count] = tx.headerLength[i] + tx.payloadLength[i];
            rx.sourceLow[rx.count] = 0xffff_0a00_0001L;
            rx.sourcePort[rx.count] = tx.sourcePort[i];
            rx.count++;
        }
        datagrams += tx.count;
        to.receive(clockNs, rx);
    }

    /** Keeps {@code depth} messages in flight and runs until {@code more} further ones are complete. */
    public void run(long more) {
        long goal = messages + more;
        while (messages < goal) {
            while (outstanding < depth && a.post(connection, request) == Endpoint.OK) {
                outstanding++;
            }
            turn();
            while (a.pollCompletion(completion)) {
                if (completion.status != Completion.OK) {
                    throw new IllegalStateException("completion status " + completion.status);
                }
                outstanding--;
                messages++;
            }
        }
    }

    /** CPU time a datagram in all (both ends, copies included), for a few settings; the best of some rounds. */
    public static void main(String[] args) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (int loss : new int[] {0, 101, 11}) {
            for (int mtu : new int[] {256, 4096}) {
                for (int run : new int[] {1, 15}) {
                    EndpointPair pair = new EndpointPair(1 << 18, mtu, run, 4, loss);
                    double best = Double.MAX_VALUE;
                    for (int round = 0; round < ROUNDS; round++) {
                        long before = pair.datagrams;
                        long start = threads.getCurrentThreadCpuTime();
                        pair.run(PACKETS_A_ROUND * mtu / (1 << 18));
                        best = Math.min(best, (double) (threads.getCurrentThreadCpuTime() - start) / (pair.datagrams - before));
                    }
                    System.out.printf("payload %5d B, runs of %2d, loss 1 in %3d: %7.1f ns a datagram%n", mtu, run, loss, best);
                }
            }
        }
    }
}
