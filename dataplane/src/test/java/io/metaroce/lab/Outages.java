// SPDX-License-Identifier: Apache-2.0
package io.metaroce.lab;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.cli.perf.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;

/**
 * Takes one of four planes out of a transfer several times and brings it back: nothing is lost and no error raised, {@link #BACK_MS}
 * of wall time after it has gone the rate is that of the planes that are left, and the plane that returns is used again.
 *
 * <p>The planes are the bottleneck. What the share is comes from stretches of the same run without an outage. Hosts that share a machine
 * are held up now and then; whether so much that a late outage says nothing is told by the kernel, which counts how long a thread that was
 * ready to run had no processor: an outage that is late by more than that is late of its own.
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
    /** From the end of the warm-up to the first stretch that counts, and from the last to the end: orders may be late by so much. */
    private static final int START_MS = 100;
    private static final int END_MS = 500;
    /** Of the share that remains, or of the rate before: what counts as being there. */
    private static final double ENOUGH = 0.8;
    /** One in so many outages may be late: a host may be held up at any time. */
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

    /** When a plane went or came: not before the one and not after the other, in ms of the wall clock. */
    private record Moment(long fromMs, long toMs) {
        /** Of the answer to an order: {@code from=SECONDS to=SECONDS}. */
        static Moment of(Map<String, String> answer) {
            return new Moment((long) (Double.parseDouble(answer.get("from")) * 1e3), (long) Math.ceil(Double.parseDouble(answer.get("to")) * 1e3));
        }

        /** From when on the rate must be there again: all is counted from the order on, but the plane goes at some time before its end. */
        long byMs() {
            return Math.max(fromMs + BACK_MS, toMs);
        }
    }

    /** @param waitedMs how long the loops of both hosts, ready to run, had no processor while the plane was out */
    private record Outage(Moment gone, Moment back, long waitedMs) {
        /** Of the answers to {@link #orders}, from that with this number on. */
        static Outage of(Transfer transfer, int order) {
            return new Outage(Moment.of(transfer.answer(order + 1).getLast()), Moment.of(transfer.answer(order + 3).getLast()),
                    waitedMs(transfer, order + 2) - waitedMs(transfer, order));
        }

        private static long waitedMs(Transfer transfer, int order) {
            return Long.parseLong(transfer.answer(order).getLast().get("waited_ms"));
        }
    }

    private List<String> orders() {
        List<String> orders = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            int at = START_MS + CALM * CALM_MS + i * (OUT_MS + inMs);
            orders.addAll(List.of(at + " waited", at + " plane " + PLANE + " " + go, at + OUT_MS + " waited",
                    at + OUT_MS + " plane " + PLANE + " " + comeBack));
        }
        return orders;
    }

    /** @param common options of both sides; @param run further options of the client */
    void check(String common, String run) throws Exception {
        double seconds = (START_MS + CALM * CALM_MS + times * (OUT_MS + inMs) + END_MS) / 1000.0;
        List<String> orders = orders();
        try (Transfer transfer = new Transfer(lab, common, "--size 64K --warmup 1.5 --intervals 10ms --seconds " + seconds + " " + run,
                orders.toArray(String[]::new))) {
            Json json = transfer.finish();
            List<Outage> outages = IntStream.range(0, times).mapToObj(i -> Outage.of(transfer, 4 * i)).toList();
            Timeline timeline = new Timeline(json);
            long lateMs = IntStream.range(0, orders.size()).mapToLong(i -> Long.parseLong(transfer.answer(i).getFirst().get("late_ms"))).max().orElse(0);
            if (outages.getLast().back.toMs() + inMs > timeline.endMs()) {
                notJudged("orders were given up to " + lateMs + " ms after their time, and the run was over before the last could be judged");
            }
            judge(timeline, json, outages);
        }
    }

    private void judge(Timeline timeline, Json json, List<Outage> outages) {
        long[] calm = new long[CALM + times - 1];
        for (int i = 0; i < calm.length; i++) {
            calm[i] = outages.get(Math.max(0, i - CALM + 1)).gone.fromMs() - CALM_MS * Math.max(1, CALM - i);
        }
        double rate = median(Arrays.stream(calm).mapToDouble(from -> timeline.rate(from, from + CALM_MS)).toArray());
        double left = rate * (lab.planes - 1) / lab.planes;
        long[] pause = outages.stream().mapToLong(o -> timeline.pauseMs(o.gone.fromMs(), o.back.fromMs())).toArray();
        long[] share = outages.stream().mapToLong(o -> timeUntilShare(timeline, o, left)).toArray();
        double[] soon = outages.stream().mapToDouble(o -> timeline.rate(o.gone.byMs(), o.gone.byMs() + SOON_MS) / left).toArray();
        long[] reuse = outages.stream().mapToLong(o -> timeUntilUsed(timeline, o.back.toMs(), o.back.toMs() + inMs - MEAN_MS)).toArray();
        long[] waited = outages.stream().mapToLong(Outage::waitedMs).toArray();
        long[] lateMs = new long[times];
        double[] soonAtBest = new double[times];
        for (int i = 0; i < times; i++) {
            Moment gone = outages.get(i).gone;
            lateMs[i] = Math.max(pause[i] - BACK_MS, share[i] - (gone.byMs() - gone.fromMs()));
            soonAtBest[i] = soon[i] + (double) waited[i] / OUT_MS;
        }
        String facts = String.format(Locale.ROOT, "pauses %s ms; at the share of %d planes after %s ms; of it from %d to %d ms %s; orders took %s ms, no processor "
                + "for %s ms; used again %s ms after its return; %.3f Gb/s without an outage; %d plane failures, %d repeated", Arrays.toString(pause),
                lab.planes - 1, Arrays.toString(share), BACK_MS, BACK_MS + SOON_MS, text(soon),
                Arrays.toString(outages.stream().mapToLong(o -> o.gone.toMs() - o.gone.fromMs()).toArray()), Arrays.toString(waited), Arrays.toString(reuse),
                rate / 1e9, Transfer.number(json, "plane_failures"), Transfer.number(json, "retransmissions"));
        PlanesLab.report("plane " + go, "%s", facts);
        assertTrue(Arrays.stream(reuse).sorted().toArray()[times / 2] <= inMs - IN_MS + 400, "used again too late: " + facts);
        // Where the plane was back before the last of its paths had died, it did not count as one.
        assertTrue(Transfer.number(json, "plane_failures") >= 1 && Transfer.number(json, "dead_paths") >= times,
                "plane failures " + json.at("plane_failures") + ", dead paths " + json.at("dead_paths"));
        long late = Arrays.stream(lateMs).filter(ms -> ms > 0).count();
        long beyondWaiting = IntStream.range(0, times).filter(i -> lateMs[i] > waited[i]).count();
        assertFalse(beyondWaiting > times / LATE_ONE_IN || median(soonAtBest) < ENOUGH, late + " of " + times + " outages late: " + facts);
        if (late > times / LATE_ONE_IN || median(soon) < ENOUGH) {
            notJudged(late + " of " + times + " outages late, " + (late - beyondWaiting) + " of them by no longer than the hosts had no processor");
        }
    }

    private void notJudged(String why) {
        PlanesLab.report("NOT JUDGED: plane " + go, "machine too loaded: %s", why);
        Assumptions.abort(why);
    }

    /** From the order that the plane goes, but not before it is gone, until the mean rate from there on is that of those left. */
    private static long timeUntilShare(Timeline timeline, Outage outage, double left) {
        long at = outage.gone.toMs();
        while (at + MEAN_MS < outage.back.fromMs() && timeline.rate(at, at + MEAN_MS) < ENOUGH * left) {
            at += 10;
        }
        return at - outage.gone.fromMs();
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
