// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.transport.EndpointConfig;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * What encryption costs, by the CPU time of both ends of a transfer in one thread: with the JDK's ciphers, with libcrypto's, and without.
 * All take turns in one run, so that a busy machine is as busy for each; medians.
 */
public final class EncryptionCost {
    private static final String[] KINDS = {"jdk", "libcrypto", "none"};
    private static final int ROUNDS = 5;
    private static final int WARMUP = 4;
    private static final int PAYLOAD = 4096;
    private static final int MESSAGE = 1 << 18;
    private static final int MESSAGES = 800;

    private EncryptionCost() {
    }

    public static void main(String[] args) {
        EndpointPair[] pairs = new EndpointPair[KINDS.length];
        for (int k = 0; k < KINDS.length; k++) {
            pairs[k] = pair(KINDS[k]);
        }
        double[][] gbps = new double[KINDS.length][ROUNDS];
        for (int round = -WARMUP; round < ROUNDS; round++) {
            for (int k = 0; k < KINDS.length; k++) {
                double g = gigabitsACpuSecond(pairs[k]);
                if (round >= 0) {
                    gbps[k][round] = g;
                }
            }
        }
        for (int k = 0; k < KINDS.length; k++) {
            Arrays.sort(gbps[k]);
            System.out.printf("%-9s %6.2f Gb in a second of CPU (%.2f to %.2f), %.2f times the JDK's%n", KINDS[k], gbps[k][ROUNDS / 2], gbps[k][0],
                    gbps[k][ROUNDS - 1], gbps[k][ROUNDS / 2] / gbps[0][ROUNDS / 2]);
        }
    }

    /** Two endpoints whose keys come from these ciphers, or none. */
    static EndpointPair pair(String kind) {
        String before = System.getProperty("metaroce.crypto", "");
        System.setProperty("metaroce.crypto", kind);
        try {
            return new EndpointPair(MESSAGE, PAYLOAD, EndpointPair.UDP_RUN, 4, 0, EndpointConfig.INTEGRITY_FULL, !kind.equals("none"));
        } finally {
            System.setProperty("metaroce.crypto", before);
        }
    }

    private static double gigabitsACpuSecond(EndpointPair pair) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        pair.run(MESSAGES);
        return 8.0 * MESSAGES * MESSAGE / (threads.getCurrentThreadCpuTime() - start);
    }
}
