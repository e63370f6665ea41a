// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A server and a client program, run to the end of the client.
 *
 * @param client what it printed, errors included
 * @param server the same of the server, as far as it has ended by itself or was ended
 * @param cores processor seconds a second of both together while data moved; not a number where that was too short to tell
 * @param seconds how long the client ran
 */
record Ends(String client, String server, double cores, double seconds) {
    /** One run of a program that takes a number of messages instead of a time. */
    interface Counted {
        Ends run(long messages) throws IOException, InterruptedException;
    }

    private static final int SERVER_STARTS_MS = 10_000;
    private static final int SERVER_ENDS_MS = 4_000;
    private static final int SAMPLE_MS = 20;
    private static final int MOST_TRIES = 5;

    /**
     * @param ready what a line of the server begins with when clients may come; null: 300 ms after its start
     * @param endsItself whether the server ends, and prints, soon after the client
     * @throws IOException if the client fails or takes longer than {@code seconds}
     */
    static Ends run(Net net, List<String> server, String ready, boolean endsItself, List<String> client, Map<String, String> environment, int seconds)
            throws IOException, InterruptedException {
        Process s = start(net.serverCommand(server), environment);
        Process c = null;
        try {
            Printed serverText = new Printed(s);
            serverText.await(ready);
            c = start(net.clientCommand(client), environment);
            Printed clientText = new Printed(c);
            CpuMeter meter = new CpuMeter(s, c);
            long endNs = System.nanoTime() + seconds * 1_000_000_000L;
            do {
                meter.sample();
                if (System.nanoTime() - endNs > 0) {
                    throw new IOException("no end within " + seconds + " s");
                }
            } while (!c.waitFor(SAMPLE_MS, TimeUnit.MILLISECONDS));
            if (c.exitValue() != 0) {
                throw new IOException("exit code " + c.exitValue() + ": " + Child.complaint(clientText.all()));
            }
            // To end a process, even one that has ended, throws away what was not read of its output.
            if (!endsItself || !s.waitFor(SERVER_ENDS_MS, TimeUnit.MILLISECONDS)) {
                Child.end(s);
            }
            return new Ends(clientText.all(), serverText.all(), meter.cores(), meter.seconds());
        } finally {
            Child.end(s);
            if (c != null) {
                Child.end(c);
            }
        }
    }

    /** With more and more messages until the client runs for at least half of the time that is wanted. */
    static Ends forAtLeast(double wanted, long messages, Counted program) throws IOException, InterruptedException {
        Ends ends = program.run(messages);
        for (int tries = 0; ends.seconds() < wanted / 2 && tries < MOST_TRIES; tries++) {
            messages = (long) (messages * Math.clamp(wanted / Math.max(0.01, ends.seconds()), 2, 10));
            ends = program.run(messages);
        }
        return ends;
    }

    private static Process start(List<String> command, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** What a process prints, collected by a thread of its own. */
    private static final class Printed {
        private final StringBuilder text = new StringBuilder();
        private final Thread reader;
        private final Process process;

        Printed(Process process) {
            this.process = process;
            reader = Thread.ofPlatform().daemon().start(() -> read(process.inputReader()));
        }

        private void read(BufferedReader lines) {
            try {
                for (String line; (line = lines.readLine()) != null; ) {
                    synchronized (text) {
                        text.append(line).append('\n');
                        text.notifyAll();
                    }
                }
            } catch (IOException | UncheckedIOException e) {
                // The process is gone.
            }
        }

        void await(String ready) throws IOException, InterruptedException {
            if (ready == null) {
                Thread.sleep(300);
                return;
            }
            long endNs = System.nanoTime() + SERVER_STARTS_MS * 1_000_000L;
            synchronized (text) {
                while (!("\n" + text).contains("\n" + ready)) {
                    if (System.nanoTime() - endNs > 0 || !process.isAlive()) {
                        throw new IOException("the server does not start: " + Child.last(text.toString()));
                    }
                    text.wait(100);
                }
            }
        }

        /** Everything, once the process has ended. */
        String all() throws InterruptedException {
            reader.join(2_000);
            synchronized (text) {
                return text.toString();
            }
        }
    }
}
