// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import com.sun.management.ThreadMXBean;
import io.metaroce.benchmarks.EndpointPair;
import io.metaroce.transport.EndpointConfig;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;

/**
 * Two endpoints that hand each other bursts in memory: what the transport costs for a packet at each end, acknowledgements included. A
 * round is the median of many pieces of some hundred microseconds, so that a turn of the processor that went to others does not count.
 */
final class EndpointLoop implements Measured {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int PAYLOAD = 256;
    private static final int MESSAGE = 1 << 18;
    private static final int DEPTH = 4;
    private static final int PIECES = 1_000;
    private static final long WARM_UP_NS = 4_000_000_000L;

    private final int lossOneIn;
    private final int run;
    private final double[] sendNs = new double[PIECES];
    private final double[] receiveNs = new double[PIECES];
    private final double[] acknowledgeNs = new double[PIECES];
    private final double[] digestNs = new double[PIECES];
    private EndpointPair pair;

    /** @param lossOneIn one datagram in so many is lost; 0: none */
    EndpointLoop(int lossOneIn, int run) {
        this.lossOneIn = lossOneIn;
        this.run = run;
    }

    @Override
    public String group() {
        return "endpoint";
    }

    @Override
    public String name() {
        return "runs of " + run + ", " + (lossOneIn == 0 ? "no loss" : "1 in " + lossOneIn + " lost");
    }

    @Override
    public List<Value> round(boolean quick) {
        if (pair == null) {
            pair = new EndpointPair(MESSAGE, PAYLOAD, run, DEPTH, lossOneIn, EndpointConfig.INTEGRITY_HEADER, false);
            for (long start = System.nanoTime(); System.nanoTime() - start < (quick ? WARM_UP_NS / 4 : WARM_UP_NS); ) {
                pair.run(100);
            }
        }
        long packets = pair.dataDatagrams;
        long allocated = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < PIECES; i++) {
            piece(i);
        }
        allocated = THREADS.getCurrentThreadAllocatedBytes() - allocated;
        return List.of(new Value("send", "ns/packet", median(sendNs)), new Value("receive", "ns/packet", median(receiveNs)),
                new Value("acknowledgement built", "ns/ack", median(acknowledgeNs)), new Value("acknowledgement handled", "ns/ack", median(digestNs)),
                new Value("allocated", "B/packet", (double) allocated / (pair.dataDatagrams - packets)));
    }

    private void piece(int i) {
        pair.sendNs = 0;
        pair.receiveNs = 0;
        pair.acknowledgeNs = 0;
        pair.digestNs = 0;
        long packets = pair.dataDatagrams;
        long acknowledgements = pair.acknowledgements;
        pair.run(1);
        // Messages complete in bunches: a piece without packets repeats the one before.
        packets = Math.max(1, pair.dataDatagrams - packets);
        acknowledgements = pair.acknowledgements - acknowledgements;
        boolean empty = acknowledgements == 0 && i > 0;
        sendNs[i] = empty ? sendNs[i - 1] : (double) pair.sendNs / packets;
        receiveNs[i] = empty ? receiveNs[i - 1] : (double) pair.receiveNs / packets;
        acknowledgeNs[i] = empty ? acknowledgeNs[i - 1] : (double) pair.acknowledgeNs / Math.max(1, acknowledgements);
        digestNs[i] = empty ? digestNs[i - 1] : (double) pair.digestNs / Math.max(1, acknowledgements);
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
