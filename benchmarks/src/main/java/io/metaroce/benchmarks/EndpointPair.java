// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.crypto.PskSecurity;
import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Event;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Two endpoints in one thread that hand each other their bursts in memory, without any port: what the transport alone costs.
 * Every {@code lossOneIn}-th datagram is dropped (0: none).
 */
public final class EndpointPair {
    /** Packets of 4 KiB that a connection over UDP sends by one path in a row: whole runs of the kernel's in a burst. */
    public static final int UDP_RUN = 60;
    private static final int SLOT = 20_480;
    private static final int REGION = 4 << 20;
    private static final int MESSAGE = 1 << 18;
    private static final int ROUNDS = 8;
    private static final long PACKETS_A_ROUND = 200_000;

    private final Endpoint a;
    private final Endpoint b;
    private final Hop hop;
    private final WorkRequest request = new WorkRequest();
    private final Completion completion = new Completion();
    private final int depth;
    private int connection;
    private int outstanding;
    private long clockNs = 1_000_000_000L;
    /** Datagrams moved, all of them and A's alone (data, but for the handshake and probes), messages completed. */
    public long datagrams;
    public long dataDatagrams;
    public long messages;
    /** Time spent in A, which sends data and takes acknowledgements, and in B, which takes data and acknowledges; wall time. */
    public long sendNs;
    public long receiveNs;
    /** Datagrams of B, almost all acknowledgements; the parts of the times above that B spends to write them and A to digest them. */
    public long acknowledgements;
    public long acknowledgeNs;
    public long digestNs;

    /** With integrity FULL, as ports move it. */
    public EndpointPair(int messageBytes, int payloadMtu, int runLength, int depth, int lossOneIn) {
        this(messageBytes, payloadMtu, runLength, depth, lossOneIn, EndpointConfig.INTEGRITY_FULL, false);
    }

    /**
     * @param runLength packets in a row on one path: 1 over DPDK, {@link #UDP_RUN} over UDP
     * @param integrity with {@link EndpointConfig#INTEGRITY_HEADER} nobody looks at payload on its way, so it does not travel, and the
     *     target does not copy it to its place: what is left is the transport
     */
    public EndpointPair(int messageBytes, int payloadMtu, int runLength, int depth, int lossOneIn, int integrity, boolean encrypted) {
        hop = new Hop(SLOT, integrity == EndpointConfig.INTEGRITY_FULL, lossOneIn);
        this.depth = depth;
        RegionTable regionsA = new RegionTable();
        RegionTable regionsB = new RegionTable();
        MemoryRegion from = regionsA.register(0, Arena.ofAuto().allocate(REGION, 4096), Access.LOCAL_WRITE);
        MemoryRegion to = regionsB.register(0, Arena.ofAuto().allocate(REGION, 4096), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
        a = new Endpoint(config(1, payloadMtu, runLength, integrity, encrypted), regionsA);
        EndpointConfig target = config(2, payloadMtu, runLength, integrity, encrypted);
        target.placesPayload = integrity == EndpointConfig.INTEGRITY_FULL;
        b = new Endpoint(target, regionsB);
        request.opcode = Opcode.WRITE;
        request.localAddress = from.address();
        request.localKey = from.key();
        request.length = messageBytes;
        request.remoteAddress = to.address();
        request.remoteKey = to.key();
        connection = a.connect(clockNs, Hop.address(2), 0);
        Event event = new Event();
        while (!a.pollEvent(event)) {
            turn();
        }
        if (event.kind != Event.CONNECTED) {
            throw new IllegalStateException(event.text());
        }
    }

    private static EndpointConfig config(int host, int payloadMtu, int runLength, int integrity, boolean encrypted) {
        EndpointConfig c = new EndpointConfig();
        c.localAddresses = new NetAddress[] {Hop.address(host)};
        c.sourcePorts = new int[][] {new int[] {50_000, 50_001, 50_002, 50_003, 50_004, 50_005, 50_006, 50_007}};
        c.payloadMtu = payloadMtu;
        c.pathsPerPlane = 16;
        c.runLength = runLength;
        c.integrity = integrity;
        c.ackEvery = 16;
        c.minWindowPackets = 256;
        c.seed = host;
        c.security = encrypted ? new PskSecurity(new byte[PskSecurity.PSK_BYTES]) : null;
        return c;
    }

    /** One turn of both: what A has to say goes to B, and what B has goes back. Virtual time moves on by a microsecond. */
    public void turn() {
        clockNs += 1_000;
        long before = System.nanoTime();
        hop.tx.count = 0;
        a.transmit(clockNs, hop.tx);
        dataDatagrams += hop.tx.count;
        sendNs += System.nanoTime() - before;
        travel();
        before = System.nanoTime();
        b.receive(clockNs, hop.rx);
        hop.tx.count = 0;
        long taken = System.nanoTime();
        b.transmit(clockNs, hop.tx);
        long after = System.nanoTime();
        receiveNs += after - before;
        acknowledgeNs += after - taken;
        acknowledgements += hop.tx.count;
        travel();
        before = System.nanoTime();
        a.receive(clockNs, hop.rx);
        after = System.nanoTime();
        sendNs += after - before;
        digestNs += after - before;
    }

    private void travel() {
        hop.travel();
        datagrams += hop.tx.count;
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

    /** CPU time a datagram in all (both ends, copies included), then of each end's transport alone; the best of some rounds. */
    public static void main(String[] args) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (int loss : new int[] {0, 101, 11}) {
            for (int mtu : new int[] {256, 4096}) {
                for (int run : new int[] {1, UDP_RUN}) {
                    EndpointPair pair = new EndpointPair(MESSAGE, mtu, run, 4, loss);
                    double best = Double.MAX_VALUE;
                    for (int round = 0; round < ROUNDS; round++) {
                        long before = pair.datagrams;
                        long start = threads.getCurrentThreadCpuTime();
                        pair.run(PACKETS_A_ROUND * mtu / MESSAGE);
                        best = Math.min(best, (double) (threads.getCurrentThreadCpuTime() - start) / (pair.datagrams - before));
                    }
                    System.out.printf("payload %5d B, runs of %2d, loss 1 in %3d: %7.1f ns a datagram%n", mtu, run, loss, best);
                }
            }
            for (int run : new int[] {1, UDP_RUN}) {
                EndpointPair pair = new EndpointPair(MESSAGE, 256, run, 4, loss, EndpointConfig.INTEGRITY_HEADER, false);
                double send = Double.MAX_VALUE;
                double receive = Double.MAX_VALUE;
                for (int round = 0; round < 4 * ROUNDS; round++) {
                    pair.sendNs = 0;
                    pair.receiveNs = 0;
                    long before = pair.dataDatagrams;
                    pair.run(PACKETS_A_ROUND * 256 / MESSAGE);
                    send = Math.min(send, (double) pair.sendNs / (pair.dataDatagrams - before));
                    receive = Math.min(receive, (double) pair.receiveNs / (pair.dataDatagrams - before));
                }
                System.out.printf("transport alone, runs of %2d, loss 1 in %3d: %7.1f ns a packet to send, %7.1f to receive%n", run, loss, send, receive);
            }
        }
    }
}
