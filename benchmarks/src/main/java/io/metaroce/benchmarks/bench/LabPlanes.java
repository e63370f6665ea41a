// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What becomes of the planes of a lab that is up, through {@code scripts/lab}. */
record LabPlanes(String lab) {
    /** Planes of the cases with several, what each carries, and which of them is marked and which dies and returns. */
    static final int PLANES = 4;
    static final String RATE = "500M";
    static final String MARKED = "2";
    static final String DYING = "3";
    static final String QUEUE = "4M";
    private static final int SECONDS = 20;
    /** How long the plane that dies is dead, and how long it lives. */
    private static final long OUTAGE_MS = 1_500;

    /** One plane of 1 Gb/s that loses packets. */
    void single(double loss) throws IOException, InterruptedException {
        order("0", "rate", "1G", "limit", QUEUE);
        order("0", "loss", Double.toString(loss));
    }

    /** Four of 500 Mb/s, of which one marks 5 % of its packets, and another goes dead and returns until the end. */
    AutoCloseable several() throws IOException, InterruptedException {
        for (int p = 0; p < PLANES; p++) {
            order(Integer.toString(p), "rate", RATE, "limit", QUEUE);
            order(Integer.toString(p), "loss", "0");
        }
        order(MARKED, "mark", "0.05");
        Thread outages = Thread.ofPlatform().daemon().start(this::outages);
        return () -> {
            outages.interrupt();
            outages.join();
            order(DYING, "heard");
            order(MARKED, "mark", "0");
        };
    }

    private void outages() {
        try {
            for (boolean dead = true; ; dead = !dead) {
                Thread.sleep(OUTAGE_MS);
                order(DYING, dead ? "silent" : "heard");
            }
        } catch (InterruptedException e) {
            // The round is over.
        } catch (IOException e) {
            System.err.println("the plane does not change: " + e.getMessage());
        }
    }

    private void order(String plane, String... action) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Child.root().resolve("scripts/lab").toString(), "--name", lab, "plane", plane));
        command.addAll(List.of(action));
        Child.output(SECONDS, command);
    }
}
