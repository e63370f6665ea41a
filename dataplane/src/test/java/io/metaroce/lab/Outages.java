// SPDX-License-Identifier: Apache-2.0
package io.metaroce.lab;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.cli.perf.Json;
import java.util.Arrays;
import java.util.Locale;

/**
 * Takes one of four planes out of a transfer several times and brings it back: nothing is lost and no error raised, {@link #BACK_MS}
 * of wall time later the rate is that of the planes that are left, and the plane that returns is used again.
 *
 * <p>The planes are the bottleneck. Times are medians over the outages, as any one of them may fall together with a pause of the host.
 */
final class Outages {
    /** From the moment that the plane is told to go. */
    static final int BACK_MS = 100;

    /** Long enough for a pause of the host to be part of it and not all. */
    private static final int SOON_MS = 200;

    private static final int PLANE = 2;
    private static final int TIMES = Lab.LONG ? 9 : 3;
    private static final int OUT_MS = 500;
    private static final int IN_MS = 700;
    /** The kernel takes note of a carrier that is back once a second only. */
    private static final int CARRIER_MS = 1000;
    /** Of the share that remains, or of the rate before: what counts as being there. */
    private static final double ENOUGH = 0.8;

    private final Lab lab;
    private final String go;
    private final String comeBack;
    private final int inMs;

    Outages(Lab lab, String go, String comeBack) {
        this.lab = lab;
        this.go = go;
        this.comeBack = comeBack;
        inMs = IN_MS + (comeBack.equals("plug") ? CARRIER_MS : 0);
    }

    /** @param common options of both sides; @param run further options of the client */
    void check(String common, String run) throws Exception {
        double seconds = (IN_MS + TIMES * (OUT_MS + inMs) + 800) / 1000.0;
        try (Transfer transfer = new Transfer(lab, common,
                "--size 64K --warmup 1.5 --intervals 10ms --seconds " + seconds + " " + run)) {
            transfer.awaitStart();
            Thread.sleep(1500 + IN_MS);
            long[] told = new long[TIMES];
            long[] gone = new long[TIMES];
            long[] back = new long[TIMES];
            for (int i = 0; i < TIMES; i++) {
                told[i] = System.currentTimeMillis();
                lab.plane(PLANE, go);
                gone[i] = System.currentTimeMillis();
                Thread.sleep(Math.max(0, told[i] + OUT_MS - System.currentTimeMillis()));
                lab.plane(PLANE, comeBack);
                back[i] = System.currentTimeMillis();
                Thread.sleep(Math.max(0, told[i] + OUT_MS + inMs - System.currentTimeMillis()));
            }
            Json json = transfer.finish();
            judge(new Timeline(json), json, told, gone, back);
        }
    }

    private void judge(Timeline timeline, Json json, long[] told, long[] gone, long[] back) {
        double before = timeline.rate(timeline.startMs(), told[0]);
        double left = before * (lab.planes - 1) / lab.planes;
        long[] pause = new long[TIMES];
        long[] reuse = new long[TIMES];
        double[] soon = new double[TIMES];
        double[] on = new double[TIMES];
        for (int i = 0; i < TIMES; i++) {
            // It is gone at some time between the order and its end; by then at the latest, should that be later.
            long from = Math.max(told[i] + BACK_MS, gone[i]);
            pause[i] = timeline.pauseMs(told[i], told[i] + OUT_MS);
            soon[i] = timeline.rate(from, from + SOON_MS) / left;
            on[i] = timeline.rate(from, told[i] + OUT_MS) / left;
            reuse[i] = timeUntilUsed(timeline, back[i], told[i] + OUT_MS + inMs - 100);
        }
        PlanesLab.report("plane " + go, "%.3f Gb/s before; pauses %s ms; of the share of %d planes %s from %d to %d ms, %s from %d to %d ms; "
                + "used again %s ms after its return; %d plane failures, %d repeated", before / 1e9, Arrays.toString(pause), lab.planes - 1,
                text(soon), BACK_MS, BACK_MS + SOON_MS, text(on), BACK_MS, OUT_MS, Arrays.toString(reuse),
                Transfer.number(json, "plane_failures"), Transfer.number(json, "retransmissions"));
        assertTrue(median(pause) <= BACK_MS, "pauses of " + Arrays.toString(pause) + " ms");
        assertTrue(median(soon) >= ENOUGH, "of the share, soon: " + Arrays.toString(soon));
        assertTrue(median(on) >= ENOUGH, "of the share: " + Arrays.toString(on));
        assertTrue(median(reuse) <= inMs - IN_MS + 400, "used again after " + Arrays.toString(reuse) + " ms");
        // Where the plane was back before the last of its paths had died, it did not count as one.
        assertTrue(Transfer.number(json, "plane_failures") >= 1 && Transfer.number(json, "dead_paths") >= TIMES,
                "plane failures " + json.at("plane_failures") + ", dead paths " + json.at("dead_paths"));
    }

    /** From when the plane is back until it carries at least half of what the others do, over 100 ms. */
    private long timeUntilUsed(Timeline timeline, long backMs, long untilMs) {
        for (long at = backMs; at <= untilMs; at += 10) {
            double others = 0;
            for (int plane = 0; plane < lab.planes; plane++) {
                others += plane == PLANE ? 0 : timeline.packets(plane, at, at + 100) / (lab.planes - 1);
            }
            if (timeline.packets(PLANE, at, at + 100) >= others / 2) {
                return at - backMs;
            }
        }
        return Long.MAX_VALUE;
    }

    static String text(double[] values) {
        return Arrays.stream(values).mapToObj(v -> String.format(Locale.ROOT, "%.2f", v)).toList().toString();
    }

    private static long median(long[] values) {
        return Arrays.stream(values).sorted().toArray()[values.length / 2];
    }

    private static double median(double[] values) {
        return Arrays.stream(values).sorted().toArray()[values.length / 2];
    }
}
