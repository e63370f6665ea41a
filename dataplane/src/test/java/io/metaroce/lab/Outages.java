// SPDX-License-Identifier: Apache-2.0
package io.metaroce.lab;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.cli.perf.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;

/**
 * Takes one of four planes out of a transfer several times and brings it back: nothing is lost and no error raised, {@link #BACK_MS}
 * of wall time after it has gone the rate is that of the planes that are left, and the plane that returns is used again.
 *
 * <p>The planes are the bottleneck. What the share is comes from stretches of the same run without an outage. Hosts that share a machine
 * are held up now and then; whether so much that late outages say nothing is told by the same measure, taken before the first of them,
 * where nothing that the transport does about outages can have a part in it.
 */
final class Outages {
    /** From the order that the plane goes. */
    static final int BACK_MS = 100;

    /** Long enough for a pause of the host to be part of it and not all. */
    private static final int SOON_MS = 200;
    /** What a mean of the rate is taken over where the moment is sought at which it is back. */
    private static final int MEAN_MS = 100;

    private static final int PLANE = 2;
    private static final int OUT_MS = 400;
    private static final int IN_MS = 600;
    /** Stretches before the first outage, each as long as what is judged of an outage, and one before each of the others. */
    private static final int CALM = 4;
    private static final int CALM_MS = BACK_MS + SOON_MS;
    /** The kernel takes note of a carrier that is back once a second only. */
    private static final int CARRIER_MS = 1000;
    /** What ordering an outage and its end may take, on a busy machine. */
    private static final int COMMAND_MS = 1_000;
    /** Of the share that remains, or of the rate before: what counts as being there. */
    private static final double ENOUGH = 0.8;
    /** One in so many outages may be late, and one in so many stretches without: a host may be held up at any time. */
    private static final int LATE_ONE_IN = 4;

    private final Lab lab;
    private final String go;
    private final String comeBack;
    private final int times;
    private final int inMs;

    Outages(Lab lab, String go, String comeBack, int times) {
        this.lab = lab;
        this.go = go;
        this.comeBack = comeBack;
        this.times = times;
        inMs = IN_MS + (comeBack.equals("plug") ? CARRIER_MS : 0);
    }

    private record Outage(Lab.Moment gone, Lab.Moment back) {
    }

    /** @param common options of both sides; @param run further options of the client */
    void check(String common, String run) throws Exception {
        double seconds = (CALM * CALM_MS + times * (OUT_MS + inMs + COMMAND_MS) + 1000) / 1000.0;
        try (Transfer transfer = new Transfer(lab, common,
                "--size 64K --warmup 1.5 --intervals 10ms --seconds " + seconds + " " + run)) {
            transfer.awaitStart();
            Thread.sleep(1500 + CALM * CALM_MS + 100);
            List<Outage> outages = new ArrayList<>();
            for (int i = 0; i < times; i++) {
                Lab.Moment gone = lab.plane(PLANE, go);
                sleepUntil(gone.toMs() + OUT_MS);
                Lab.Moment back = lab.plane(PLANE, comeBack);
                outages.add(new Outage(gone, back));
                sleepUntil(back.toMs() + inMs);
            }
            Json json = transfer.finish();
            judge(new Timeline(json), json, outages);
        }
    }

    private static void sleepUntil(long wallMs) throws InterruptedException {
        Thread.sleep(Math.max(0, wallMs - System.currentTimeMillis()));
    }

    private void judge(Timeline timeline, Json json, List<Outage> outages) {
        long[] calm = new long[CALM + times - 1];
        for (int i = 0; i < calm.length; i++) {
            calm[i] = outages.get(Math.max(0, i - CALM + 1)).gone.fromMs() - CALM_MS * Math.max(1, CALM - i);
        }
        double rate = median(Arrays.stream(calm).mapToDouble(from -> timeline.rate(from, from + CALM_MS)).toArray());
        long[] calmPause = Arrays.stream(calm).map(from -> timeline.pauseMs(from, from + CALM_MS)).toArray();
        double[] calmSoon = Arrays.stream(calm).mapToDouble(from -> timeline.rate(from + BACK_MS, from + CALM_MS) / rate).toArray();
        double left = rate * (lab.planes - 1) / lab.planes;
        long[] pause = new long[times];
        long[] share = new long[times];
        double[] soon = new double[times];
        long[] reuse = new long[times];
        int late = 0;
        for (int i = 0; i < times; i++) {
            Outage o = outages.get(i);
            // It goes at some time between its order and the end of that; all is counted from the order on.
            long by = Math.max(o.gone.fromMs() + BACK_MS, o.gone.toMs());
            pause[i] = timeline.pauseMs(o.gone.fromMs(), o.gone.toMs() + OUT_MS);
            share[i] = timeUntilShare(timeline, o.gone, left);
            soon[i] = timeline.rate(by, by + SOON_MS) / left;
            reuse[i] = timeUntilUsed(timeline, o.back.toMs(), o.back.toMs() + inMs);
            late += pause[i] > BACK_MS || share[i] > by - o.gone.fromMs() ? 1 : 0;
        }
        boolean failed = late > times / LATE_ONE_IN || median(soon) < ENOUGH;
        long heldUp = IntStream.range(0, CALM).filter(i -> calmPause[i] > BACK_MS || calmSoon[i] < ENOUGH).count();
        String facts = String.format(Locale.ROOT, "pauses %s ms (without an outage %s); at the share of %d planes after %s ms; of it from %d to %d ms "
                + "%s (without, of %.3f Gb/s %s); used again %s ms after its return; %d plane failures, %d repeated", Arrays.toString(pause),
                Arrays.toString(calmPause), lab.planes - 1, Arrays.toString(share), BACK_MS, BACK_MS + SOON_MS, text(soon), rate / 1e9, text(calmSoon),
                Arrays.toString(reuse), Transfer.number(json, "plane_failures"), Transfer.number(json, "retransmissions"));
        PlanesLab.report("plane " + go, "%s", facts);
        assertTrue(Arrays.stream(reuse).sorted().toArray()[times / 2] <= inMs - IN_MS + 400, "used again too late: " + facts);
        // Where the plane was back before the last of its paths had died, it did not count as one.
        assertTrue(Transfer.number(json, "plane_failures") >= 1 && Transfer.number(json, "dead_paths") >= times,
                "plane failures " + json.at("plane_failures") + ", dead paths " + json.at("dead_paths"));
        if (failed && heldUp > CALM / LATE_ONE_IN) {
            String verdict = "machine too loaded: 0 of " + times + " outages judged, as " + heldUp + " of " + CALM
                    + " stretches before the first were no better";
            PlanesLab.report("NOT JUDGED: plane " + go, "%s", verdict);
            Assumptions.abort(verdict);
        }
        assertFalse(failed, late + " of " + times + " outages late: " + facts);
    }

    /** From the order that the plane goes, but not before it is gone, until the mean rate from there on is that of those left. */
    private static long timeUntilShare(Timeline timeline, Lab.Moment gone, double left) {
        long at = gone.toMs();
        while (at + MEAN_MS < gone.toMs() + OUT_MS && timeline.rate(at, at + MEAN_MS) < ENOUGH * left) {
            at += 10;
        }
        return at - gone.fromMs();
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

    private static double median(double[] values) {
        return Arrays.stream(values).sorted().toArray()[values.length / 2];
    }
}
