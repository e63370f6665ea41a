// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.wire.NetAddress;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Parts of the transport that its package keeps to itself: bitmap of a path, choice of a path, timers. One endpoint's state, no packets. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-XX:+UseSerialGC"})
public class TransportBenchmark {
    private static final int BATCH = 64;
    private static final int PLANES = 4;
    private static final int PATHS = 16;
    private static final int CONNECTIONS = 1024;
    private static final float UNIT = 16;

    private EndpointState state;
    private Slab slab;
    private PathReceiver receiver;
    private Spray spray;
    private TimerHeap timers;
    private long connection;
    private long rxPath;
    private int psn;
    private long nowNs;
    private int chosen;

    @Setup
    public void build() {
        EndpointConfig config = new EndpointConfig();
        config.localAddresses = new NetAddress[PLANES];
        config.sourcePorts = new int[PLANES][];
        for (int p = 0; p < PLANES; p++) {
            config.localAddresses[p] = new NetAddress(0, 0xffff_0a00_0001L + p, 14_791);
            config.sourcePorts[p] = new int[] {50_000, 50_001, 50_002, 50_003};
        }
        config.pathsPerPlane = PATHS;
        config.runLength = 1;
        config.maxConnections = CONNECTIONS;
        state = new EndpointState(config, new RegionTable());
        slab = state.slab;
        receiver = new PathReceiver(state);
        Outgoing out = new Outgoing(state);
        out.begin(new TxBurst(1));
        spray = new Spray(state, new Windows(state), out);
        timers = new TimerHeap(CONNECTIONS);
        connection = state.takeConnection();
        layOut(connection);
        rxPath = state.path(connection, 0, 0);
        for (int i = 1; i < CONNECTIONS; i++) {
            timers.atMost(i, 1 + i * 7_919L % 1_000_000);
        }
        nowNs = 1;
    }

    /** A connection with all planes up, all paths good, and room on each. */
    private void layOut(long c) {
        slab.putInt(c + ConnectionRecord.PLANES, PLANES);
        slab.putInt(c + ConnectionRecord.PATHS_PER_PLANE, PATHS);
        slab.putInt(c + ConnectionRecord.PEER_BUFFER, 1 << 20);
        for (int p = 0; p < PLANES; p++) {
            long plane = state.plane(c, p);
            slab.putFloat(plane + PlaneRecord.UNIT, UNIT);
            slab.putFloat(plane + PlaneRecord.SHARE, 1f);
            slab.putFloat(plane + PlaneRecord.FACTOR_SUM, PATHS);
            slab.putLong(plane + PlaneRecord.SHARE_EXPIRES_NS, Long.MAX_VALUE - 1);
            for (int i = 0; i < PATHS; i++) {
                long path = state.path(c, p, i);
                slab.putFloat(path + PathRecord.FACTOR, 1f);
                slab.putFloat(path + PathRecord.INVERSE_FACTOR, 1f);
            }
        }
    }

    /** Packets in order: one look at the bitmap and one mark each. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int bitmapInOrder() {
        int gaps = 0;
        for (int i = 0; i < BATCH; i++, psn++) {
            gaps += take(psn, 0);
        }
        return gaps;
    }

    /** Pairs of packets that have overtaken each other, so that every second one opens a gap and every other one closes it. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int bitmapReordered() {
        int gaps = 0;
        for (int i = 0; i < BATCH; i += 2, psn += 2) {
            gaps += take(psn + 1, 1) + take(psn, 0);
        }
        return gaps;
    }

    private int take(int number, int floorDistance) {
        if (receiver.place(rxPath, 0, number, floorDistance) != PathReceiver.NEW) {
            throw new IllegalStateException("PSN " + number + " is not new");
        }
        return receiver.mark(rxPath, number, false, number, nowNs) ? 1 : 0;
    }

    /** Chooses one of 4 x 16 paths for a packet, which is out from then on; when 256 are out they are taken back. */
    @Benchmark
    public long spray() {
        if (!spray.choose(connection, 1, nowNs)) {
            throw new IllegalStateException("no path has room");
        }
        slab.addInt(spray.path + PathRecord.IN_FLIGHT, 1);
        slab.addInt(spray.plane + PlaneRecord.IN_FLIGHT, 1);
        if (++chosen == 256) {
            chosen = 0;
            takeBack();
        }
        return spray.path;
    }

    private void takeBack() {
        for (int p = 0; p < PLANES; p++) {
            slab.putInt(state.plane(connection, p) + PlaneRecord.IN_FLIGHT, 0);
            for (int i = 0; i < PATHS; i++) {
                slab.putInt(state.path(connection, p, i) + PathRecord.IN_FLIGHT, 0);
            }
        }
    }

    /** The earliest of 1,023 timers fires and is set anew, somewhere among the others. */
    @Benchmark
    public long timer() {
        long deadlineNs = timers.earliest();
        int due = timers.popDue(Long.MAX_VALUE - 1);
        timers.atMost(due, deadlineNs + 1 + (deadlineNs * 0x9e3779b97f4a7c15L >>> 44));
        return due;
    }
}
