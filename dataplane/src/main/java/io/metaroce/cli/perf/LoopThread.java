// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.core.Affinity;
import io.metaroce.core.Clock;
import io.metaroce.core.CoreLoop;
import io.metaroce.core.Task;

/** Runs a loop on a thread of its own until it stops, then lets the last packets out. */
final class LoopThread {
    /** Turns go on for this long after a stop, so that a close or an abort reaches the peer. */
    private static final long LAST_WORDS_NS = 5_000_000;

    private final Thread thread;
    private Throwable fault;

    /** @param cpu core to pin to, or null */
    LoopThread(CoreLoop loop, Task task, Integer cpu) {
        thread = Thread.ofPlatform().daemon().name("metaroce-loop").unstarted(() -> {
            if (cpu != null) {
                Affinity.pin(cpu);
            }
            try {
                loop.run(task);
                long start = Clock.nowNs();
                while (Clock.nowNs() - start < LAST_WORDS_NS) {
                    loop.runOnce((now, endpoint) -> false);
                }
            } catch (Throwable t) {
                fault = t;
            }
        });
    }

    void start() {
        thread.start();
    }

    /** Waits up to {@code millis}; returns true once the loop has ended. */
    boolean join(long millis) throws InterruptedException {
        return thread.join(java.time.Duration.ofMillis(millis));
    }

    /** After the end: passes on what the loop's thread died of. */
    void rethrow() {
        if (fault instanceof RuntimeException e) {
            throw e;
        }
        if (fault instanceof Error e) {
            throw e;
        }
    }
}
