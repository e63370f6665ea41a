// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import java.io.PrintWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Turns Ctrl-C (or a polite kill) into an orderly end: the work is asked to stop, gets some time to print what it has, and its
 * own exit code becomes that of the process.
 */
final class Interrupt {
    /** Work that ends with an exit code. */
    interface Work {
        int run() throws Exception;
    }

    private Interrupt() {
    }

    /**
     * @param stop asks the work to end; called on another thread
     * @param graceMs the process ends after this long even if the work does not
     */
    static int guard(Runnable stop, long graceMs, PrintWriter err, Work work) throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        int[] code = {ExitCode.INTERRUPTED};
        Thread hook = new Thread(() -> {
            stop.run();
            try {
                ended.await(graceMs, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                // Ends at once, as asked.
            }
            System.out.flush();
            // The virtual machine would exit with a code of its own (130, 143); the work knows better.
            Runtime.getRuntime().halt(code[0]);
        }, "metaroce-interrupt");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            code[0] = work.run();
        } catch (CliException e) {
            code[0] = e.exitCode();
            if (!remove(hook)) {
                err.println("error: " + e.getMessage());
                err.flush();
                finish(ended);
            }
            throw e;
        } catch (Exception | Error e) {
            if (!remove(hook)) {
                e.printStackTrace(err);
                finish(ended);
            }
            throw e;
        }
        if (!remove(hook)) {
            finish(ended);
        }
        return code[0];
    }

    /** Returns false if the hook is already running. */
    private static boolean remove(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
            return true;
        } catch (IllegalStateException shuttingDown) {
            return false;
        }
    }

    private static void finish(CountDownLatch ended) throws InterruptedException {
        ended.countDown();
        // The hook ends the process; this thread must not go on to an exit of its own.
        Thread.sleep(10_000);
    }
}
