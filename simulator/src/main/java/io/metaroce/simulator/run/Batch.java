// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs on all cores; results in the order of the tasks. */
public final class Batch implements AutoCloseable {
    private final ExecutorService pool;

    public Batch(int threads) {
        pool = Executors.newFixedThreadPool(Math.max(1, threads), task -> {
            Thread thread = new Thread(task, "simulation");
            thread.setDaemon(true);
            return thread;
        });
    }

    public <T> Future<T> start(Callable<T> task) {
        return pool.submit(task);
    }

    /** Waits for a task. */
    public static <T> T get(Future<T> task) throws InterruptedException {
        try {
            return task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException("a run failed: " + e.getCause(), e.getCause());
        }
    }

    /** Runs all and returns all results. */
    public <T> List<T> all(List<? extends Callable<T>> tasks) throws InterruptedException {
        List<Future<T>> started = tasks.stream().map(this::<T>start).toList();
        List<T> results = new ArrayList<>();
        for (Future<T> task : started) {
            results.add(get(task));
        }
        return results;
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }
}
