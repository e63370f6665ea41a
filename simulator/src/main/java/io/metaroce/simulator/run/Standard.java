// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToDoubleFunction;

/**
 * The project's goals as rows: a scenario, what is measured of it, and the numbers to compare with. One set of constants for all rows;
 * ECN and ECMP only. Packets are counted as the peers' simulator counts them: payload and 64 bytes.
 */
public final class Standard implements AutoCloseable {
    /**
     * @param name number of the row, with a letter where it has several
     * @param bound what no transport can beat that repeats exactly what was lost
     * @param bestPeer what the best of the peers reaches; NaN: not known
     * @param atMost whether less is better
     * @param scenario what is run
     * @param reference the same without what is done to it, for ratios; or null
     */
    public record Row(String name, String what, double bound, double bestPeer, double goal, boolean atMost, Scenario scenario,
            Scenario reference, Measure measure) { }

    /** A row's number out of a run and, for ratios, the mean of the reference runs' last flows. */
    public interface Measure {
        double of(Result result, double referenceUs);
    }

    /** @param mean over the seeds; it is what counts */
    public record Outcome(double mean, double worst, boolean passes, String remark) { }

    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;
    /** What a byte of payload takes at least, and the round trip of an empty fabric: as the anchors count. */
    private static final double US_PER_MIB_400G = MIB * 8 / 400e3;
    private static final double EMPTY_US = 8.25;
    private static final double PLANE_FAILS_US = 50;

    private final boolean quick;
    private final ExecutorService pool;
    private final Map<Scenario, List<Future<Result>>> runs = new IdentityHashMap<>();
    private final List<Row> rows = new ArrayList<>();

    public Standard(boolean quick, int threads) {
        this.quick = quick;
        pool = Executors.newFixedThreadPool(Math.max(1, threads), task -> {
            Thread thread = new Thread(task, "simulation");
            thread.setDaemon(true);
            return thread;
        });
        permutations();
        incast();
        collectives();
        loss();
        failures();
        planes();
    }

    public List<Row> rows() {
        return rows;
    }

    /** Begins all runs that these rows need, in their order. */
    public void start(List<Row> wanted) {
        for (Row row : wanted) {
            submit(row.reference);
            submit(row.scenario);
        }
    }

    private void submit(Scenario s) {
        if (s != null && !runs.containsKey(s)) {
            runs.put(s, s.seeds.stream().map(seed -> pool.submit(() -> s.run(seed))).toList());
        }
    }

    /** Waits for the row's runs. */
    public Outcome measure(Row row) throws InterruptedException {
        double reference = row.reference == null ? Double.NaN
                : results(row.reference).stream().mapToDouble(r -> r.lastUs).average().orElseThrow();
        double sum = 0;
        double worst = Double.NaN;
        boolean complete = true;
        List<Result> all = results(row.scenario);
        for (Result r : all) {
            double value = row.measure.of(r, reference);
            sum += value;
            worst = Double.isNaN(worst) || (row.atMost ? value > worst : value < worst) ? value : worst;
            complete &= r.isComplete();
        }
        double mean = sum / all.size();
        boolean reached = row.atMost ? mean <= row.goal : mean >= row.goal;
        return new Outcome(mean, worst, reached && complete, complete ? "" : " (flows unfinished)");
    }

    private List<Result> results(Scenario s) throws InterruptedException {
        List<Result> all = new ArrayList<>();
        for (Future<Result> run : runs.get(s)) {
            try {
                all.add(run.get());
            } catch (ExecutionException e) {
                throw new IllegalStateException("a run of '" + s.name + "' failed: " + e.getCause(), e.getCause());
            }
        }
        return all;
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }

    // ---- rows ----

    private Scenario scenario(String pattern, long bytes, int seeds) {
        Scenario s = new Scenario();
        s.name = pattern + " " + bytes;
        s.pattern = pattern;
        s.bytes = bytes;
        s.frameOverhead = 0;
        s.seeds = java.util.stream.LongStream.rangeClosed(1, quick ? 1 : seeds).boxed().toList();
        return s;
    }

    private void atMost(String name, String what, double bound, double best, double goal, Scenario s, ToDoubleFunction<Result> measure) {
        rows.add(new Row(name, what, bound, best, goal, true, s, null, (r, reference) -> measure.applyAsDouble(r)));
    }

    /** Time without what was done, as part of the time with it. */
    private void kept(String name, String what, double bound, double best, double goal, Scenario s, Scenario reference) {
        rows.add(new Row(name, what, bound, best, goal, false, s, reference, (r, referenceUs) -> referenceUs / r.lastUs));
    }

    private static double overIdeal(Result r, double mebibytes) {
        return r.lastUs / (mebibytes * US_PER_MIB_400G + EMPTY_US);
    }

    private void permutations() {
        atMost("1a", "permutation of 64 x 8 MiB, last over ideal", 1.015, 1.12, 1.055, scenario("permutation", 8 * MIB, 4), r -> overIdeal(r, 8));
        if (!quick) {
            Scenario large = scenario("permutation", 16 * MIB, 4);
            large.hosts = 128;
            large.hostsPerLeaf = 16;
            large.spines = 16;
            atMost("1b", "permutation of 128 x 16 MiB, last over ideal", 1.015, 1.13, 1.04, large, r -> overIdeal(r, 16));
        }
    }

    private void incast() {
        Scenario s = scenario("incast", MIB, 2);
        atMost("2a", "incast 63:1 x 1 MiB, last over ideal", 1.015, 1.018, 1.017, s, r -> overIdeal(r, 63));
        atMost("2b", "incast 63:1 x 1 MiB, sent again", 0, .36, .01, s, Result::resentShare);
        atMost("2c", "incast 63:1 x 1 MiB, deepest queue after 6 RTT, BDP", 0, Double.NaN, 1.1, s, r -> r.deepestLateQueueBdp);
    }

    private Scenario ring;
    private Scenario allToAll;

    private void collectives() {
        if (!quick) {
            atMost("3a", "all-to-all of 64 x 1 MiB, last, us", 1350, 1358, 1358, scenario("all-to-all", MIB, 1), r -> r.lastUs);
        }
        Scenario windowed = scenario("all-to-all", 128 * KIB, 4);
        windowed.inFlight = 8;
        atMost("3b", "all-to-all of 64 x 128 KiB, 8 in flight, last, us", 176, 217, 215, windowed, r -> r.lastUs);
        allToAll = scenario("all-to-all", 128 * KIB, 4);
        atMost("3c", "all-to-all of 64 x 128 KiB at once, last, us", 176, 180, 180, allToAll, r -> r.lastUs);
        ring = scenario("ring", 64 * MIB, 1);
        atMost("4", "ring all-reduce of 64, 64 MiB, last, us", 3723, 4117, 3880, ring, r -> r.lastUs);
    }

    private void loss() {
        double[] rates = {.001, .01, .1};
        double[][] one = {{.999, .993, .998}, {.99, .963, .985}, {.9, .824, .885}};
        double[][] all = {{.981, .915, .98}, {.968, .788, .965}, {.846, .569, .82}};
        Scenario oneClean = scenario("one", 64 * MIB, 1);
        Scenario allClean = scenario("permutation", 16 * MIB, 2);
        for (int i = 0; i < rates.length; i++) {
            // A loss among the last packets costs half a percent: that is luck, which only many seeds even out.
            Scenario s = lossy(oneClean, rates[i], 8);
            kept("5" + (char) ('a' + i), "one flow of 64 MiB at " + percent(rates[i]) + " loss, rate kept", one[i][0], one[i][1], one[i][2], s, oneClean);
        }
        for (int i = 0; i < rates.length; i++) {
            Scenario s = lossy(allClean, rates[i], 4);
            kept("5" + (char) ('d' + i), "permutation of 64 x 16 MiB at " + percent(rates[i]) + " loss, rate kept", all[i][0], all[i][1], all[i][2], s,
                    allClean);
        }
        kept("6a", "ring all-reduce of 64, 64 MiB, at 1 % loss, rate kept", .88, .53, .86, lossy(ring, .01, 2), ring);
        kept("6b", "all-to-all of 64 x 128 KiB at 1 % loss, rate kept", .95, .71, .9, lossy(allToAll, .01, 4), allToAll);
    }

    private static String percent(double share) {
        return String.format(java.util.Locale.ROOT, "%s %%", 100 * share);
    }

    private Scenario lossy(Scenario clean, double rate, int seeds) {
        Scenario s = scenario(clean.pattern, clean.bytes, seeds);
        s.loss = rate;
        return s;
    }

    private void failures() {
        Scenario slow = scenario("permutation", 8 * MIB, 4);
        slow.faults.add(new Fault(-1, Fault.Kind.SPEED, Fault.Where.SPINE, 0, 0, .25));
        atMost("7a", "permutation of 64 x 8 MiB, a spine at 25 %, last, us", 196, 221, 206, slow, r -> r.lastUs);
        Scenario dead = scenario("permutation", 16 * MIB, 4);
        dead.faults.add(new Fault(100_000_000, Fault.Kind.SILENT, Fault.Where.SPINE, 0, 0, 0));
        atMost("7b", "permutation of 64 x 16 MiB, a spine dead at 100 us, last, us", 384, 520, 415, dead, r -> r.lastUs);
    }

    private void planes() {
        int[] planes = {1, 2, 4, 8};
        double[][] numbers = {{349, 390, 357}, {179, 206, 184.5}, {93.5, 112, 98}, {51, 66, 55}};
        for (int i = 0; i < planes.length; i++) {
            Scenario s = scenario("permutation", 16 * MIB, 4);
            s.planes = planes[i];
            atMost("8" + (char) ('a' + i), "permutation of 64 x 16 MiB, planes: " + planes[i] + ", last, us", numbers[i][0], numbers[i][1], numbers[i][2], s,
                    r -> r.lastUs);
        }
        if (!quick) {
            Scenario one = scenario("all-to-all", MIB, 1);
            Scenario four = scenario("all-to-all", MIB, 1);
            four.planes = 4;
            rows.add(new Row("8e", "4,032 flows on 4 planes, speed-up over 1, part of 4", 1, Double.NaN, .95, false, four, one,
                    (r, referenceUs) -> referenceUs / r.lastUs / 4));
        }
        Scenario fails = scenario("permutation", 16 * MIB, 2);
        fails.planes = 4;
        fails.faults.add(new Fault((long) (PLANE_FAILS_US * 1e6), Fault.Kind.SILENT, Fault.Where.PLANE, 1, 0, 0));
        atMost("9", "1 of 4 planes dies: all moved after first ack missing, RTT", 2, Double.NaN, 3, fails, Standard::decisionRtt);
    }

    /** Round trips from the time when the first acknowledgement was missing, one after the failure, to the last host's decision. */
    private static double decisionRtt(Result r) {
        boolean all = r.planeFailures == r.flows.size();
        return all ? (r.lastPlaneDownUs - PLANE_FAILS_US) / r.baseRttUs - 1 : Double.POSITIVE_INFINITY;
    }
}
