// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import io.metaroce.benchmarks.CostPair;
import io.metaroce.benchmarks.CostPair.Work;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What a packet costs both endpoints, acknowledgements, completions and posts included and copies not, against one amount of work.
 *
 * @param axis what varies: connections, streams, paths, size or loss
 * @param x how much of it: a number, bytes, or percent
 */
record Cost(String axis, double x, Work work) implements Measured {
    private static final int[] CONNECTIONS = {1, 4, 16, 64, 256, 1_000, 4_000};
    private static final int[] STREAMS = {1, 16, 100, 1_000, 10_000, 100_000};
    private static final int[] PATHS = {1, 4, 16, 64, 256};
    private static final int[] SIZES = {8, 64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20};
    /** In numbers that do not fall into step with bursts. */
    private static final int[] LOST_ONE_IN = {0, 1009, 211, 101, 37, 19, 10};
    private static final int PIECE_PACKETS = 4_000;
    private static final int PIECES = 60;
    private static final long WARM_UP_NS = 300_000_000L;
    /** Before anything is measured: the compiler sees all kinds of work, as it would in a process that does all. */
    private static final long COMPILE_NS = 6_000_000_000L;

    private static boolean compiled;

    static List<Measured> all(boolean quick) {
        List<Measured> all = new ArrayList<>();
        Work w = Work.USUAL;
        for (int n : some(CONNECTIONS, quick)) {
            all.add(new Cost("connections", n, new Work(n, n, w.paths(), w.message(), 0)));
        }
        for (int n : some(STREAMS, quick)) {
            all.add(new Cost("streams", n, new Work(1, n, w.paths(), w.message(), 0)));
        }
        for (int n : some(PATHS, quick)) {
            all.add(new Cost("paths", n, new Work(1, w.streams(), n, w.message(), 0)));
        }
        for (int n : some(SIZES, quick)) {
            all.add(new Cost("size", n, new Work(1, w.streams(), w.paths(), n, 0)));
        }
        for (int n : some(LOST_ONE_IN, quick)) {
            all.add(new Cost("loss", n == 0 ? 0 : 100.0 / n, new Work(1, w.streams(), w.paths(), w.message(), n)));
        }
        return all;
    }

    /** All, or the least, one in the middle and the most. */
    private static int[] some(int[] all, boolean quick) {
        return quick ? new int[] {all[0], all[all.length / 2], all[all.length - 1]} : all;
    }

    @Override
    public String group() {
        return "cost";
    }

    @Override
    public String name() {
        return axis + " " + (axis.equals("size") ? Sizes.text((int) x) : axis.equals("loss") ? x == 0 ? "0 %" : String.format(Locale.ROOT, "%.2g %%", x) : String.format(Locale.ROOT, "%,d", (int) x));
    }

    private static void compile(long ns) {
        if (!compiled) {
            compiled = true;
            for (int lossOneIn : new int[] {0, 50, 0}) {
                warmUp(new CostPair(new Work(8, 64, 16, Work.USUAL.message(), lossOneIn)), ns / 3);
            }
        }
    }

    private static void warmUp(CostPair pair, long ns) {
        for (long start = System.nanoTime(); System.nanoTime() - start < ns; ) {
            pair.run(PIECE_PACKETS);
        }
    }

    @Override
    public List<Value> round(boolean quick) {
        compile(quick ? COMPILE_NS / 2 : COMPILE_NS);
        CostPair pair = new CostPair(work);
        warmUp(pair, WARM_UP_NS);
        double[] send = new double[PIECES];
        double[] receive = new double[PIECES];
        double packets = pair.packets;
        double messages = pair.messages;
        for (int i = 0; i < PIECES; i++) {
            long before = pair.packets;
            pair.sendNs = 0;
            pair.receiveNs = 0;
            pair.run(PIECE_PACKETS);
            send[i] = (double) pair.sendNs / (pair.packets - before);
            receive[i] = (double) pair.receiveNs / (pair.packets - before);
        }
        packets = pair.packets - packets;
        messages = pair.messages - messages;
        Arrays.sort(send);
        Arrays.sort(receive);
        double both = send[PIECES / 2] + receive[PIECES / 2];
        return List.of(new Value("both", "ns/packet", both), new Value("send", "ns/packet", send[PIECES / 2]), new Value("receive", "ns/packet", receive[PIECES / 2]),
                new Value("message", "ns/message", messages == 0 ? 0 : both * packets / messages));
    }
}
