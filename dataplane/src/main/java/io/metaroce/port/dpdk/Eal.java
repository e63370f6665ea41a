// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.bindings.dpdk.Pmd;
import io.metaroce.bindings.dpdk.PmdException;
import java.util.List;

/**
 * DPDK's environment: one a process, started once and there until the process ends. Thread-safe.
 *
 * <p>DPDK's log is dropped, apart from what error texts quote, unless system property {@code metaroce.dpdk.log} gives its level (1 to 8):
 * then it goes to standard error.
 */
public final class Eal {
    private static final int STANDARD_ERROR = 2;
    private static final int NOTICE = 6;

    private static List<String> startedWith;
    private static PmdException failure;

    private Eal() {
    }

    /**
     * Starts the environment unless it runs.
     *
     * @param given     arguments that somebody asked for, perhaps none
     * @param arguments these and what they leave open
     * @throws PmdException if DPDK refuses, now or at the first try (it cannot try twice in one process), or runs with others than
     *                      {@code given}, if any
     */
    public static synchronized void start(List<String> given, List<String> arguments) {
        if (failure != null) {
            throw new PmdException(failure.getMessage() + " (at the first attempt; a process has only one)", failure.errno());
        }
        if (startedWith == null) {
            int level = Integer.getInteger("metaroce.dpdk.log", 0);
            try {
                Pmd.startEnvironment(arguments, level > 0 ? STANDARD_ERROR : -1, level > 0 ? level : NOTICE);
            } catch (PmdException e) {
                failure = new PmdException(e.getMessage() + "; arguments " + arguments + advice(e, arguments), e.errno());
                throw failure;
            }
            startedWith = List.copyOf(given);
        } else if (!given.isEmpty() && !startedWith.equals(given)) {
            throw new PmdException("DPDK already runs in this process with arguments " + startedWith + ", not " + given, 0);
        }
    }

    private static String advice(PmdException e, List<String> arguments) {
        String text = e.getMessage();
        if (text.contains("hugepage") || text.contains("Not enough memory")) {
            return ". Reserve hugepages (scripts/hugepages) or give --no-huge";
        }
        return text.contains("Permission denied") && !arguments.contains("--no-huge") ? ". Run as root or give --no-huge" : "";
    }
}
