// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.bindings.dpdk.Pmd;
import io.metaroce.bindings.dpdk.PmdCalls;
import io.metaroce.bindings.dpdk.generated.mrpmd_rx;
import io.metaroce.bindings.dpdk.generated.mrpmd_tx;
import io.metaroce.core.Clock;
import io.metaroce.port.dpdk.Eal;
import io.metaroce.port.dpdk.EalArguments;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * What a frame costs a poll loop that hands on what it takes, in nanoseconds of processor time, on devices that cost next to nothing: from
 * Java through the shim's bursts, each frame looked at, or by DPDK's C program.
 *
 * <pre>
 * PollCost raw|testpmd [key=value ...]   device=net_null0,size=64 (or net_ring0) seconds=1 burst=64 frame=64 mode=io
 * </pre>
 */
public final class PollCost {
    private static final long WARM_UP_NS = 1_500_000_000L;
    private static final int BUFFER = 2048;

    private final Arguments arguments;
    private final int burst;
    private final int frame;
    private final long measureNs;
    private long seen;

    private PollCost(Arguments arguments) {
        this.arguments = arguments;
        burst = arguments.integer("burst", 64);
        frame = arguments.integer("frame", 64);
        measureNs = arguments.integer("seconds", 1) * 1_000_000_000L;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        PollCost cost = new PollCost(new Arguments(args));
        if (args.length > 0 && args[0].equals("testpmd")) {
            System.out.println(Testpmd.nsAFrame(cost.arguments.text("mode", "io"), List.of(cost.device()), BUFFER, cost.frame, cost.burst, cost.measureNs));
        } else {
            cost.raw();
        }
    }

    private String device() {
        return arguments.text("device", "net_null0,size=64");
    }

    private void raw() {
        // The environment wants a device of its own to begin with.
        Eal.start(List.of(), EalArguments.complete(List.of("--vdev", "net_null9"), 64));
        long pool = Pmd.createPool("poll", 4096, BUFFER, 256, -1);
        int port = Pmd.addDevice(device());
        Pmd.configure(port, new Pmd.Setup(pool, 0, 1500, 1, 1024, 1024, 0));
        Pmd.start(port);
        Pmd.attachThread();
        MemorySegment rx = mrpmd_rx.allocate(Arena.global()).fill((byte) 0);
        MemorySegment tx = mrpmd_tx.allocate(Arena.global());
        // One burst that goes round and round; net_null makes its own and forgets this one.
        int first = RawFrames.fresh(tx, pool, burst, frame);
        if (PmdCalls.send(port, 0, tx.address(), first) != first) {
            throw new IllegalStateException("the device does not take a burst");
        }
        turns(port, rx, WARM_UP_NS);
        long before = myCpuNs();
        long moved = turns(port, rx, measureNs);
        System.out.println((double) (myCpuNs() - before) / moved);
        if (seen == 1) {
            System.err.println("unlikely");
        }
        Runtime.getRuntime().halt(0);
    }

    private static long myCpuNs() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private long turns(int port, MemorySegment rx, long forNs) {
        long endNs = Clock.nowNs() + forNs;
        long moved = 0;
        for (int turn = 0; (turn & 63) != 0 || Clock.nowNs() - endNs < 0; turn++) {
            int n = PmdCalls.receive(port, 0, rx.address(), burst);
            seen += RawFrames.look(rx, n);
            moved += PmdCalls.forward(port, 0, rx.address(), n);
        }
        return moved;
    }
}
