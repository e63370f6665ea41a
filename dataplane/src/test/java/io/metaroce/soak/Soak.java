// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Runs scenario after scenario, on every core, and tells what they did; at the first failure says how to have it again, and smaller. */
public final class Soak {
    private static final long TELL_NS = 10_000_000_000L;

    private long seeds;
    private long connections;
    private long messages;
    private long datagrams;
    private long faults;
    private final Map<Check, Long> checks = new EnumMap<>(Check.class);

    /** What one scenario came to: null if all was right. */
    static Throwable failure(Profile p) {
        return new Soak().run(p);
    }

    Throwable run(Profile p) {
        Simulation s = new Simulation(p);
        try {
            s.run();
            return null;
        } catch (Throwable t) {
            return t;
        } finally {
            add(s);
        }
    }

    private synchronized void add(Simulation s) {
        seeds++;
        connections += s.model.connections;
        messages += s.model.messages;
        datagrams += s.network.datagrams;
        faults += s.network.faults;
        s.model.checks.forEach((c, n) -> checks.merge(c, n, Long::sum));
    }

    /** Takes away faults, hosts and operations as long as it still fails. */
    static Profile simplest(Profile failing) {
        Profile best = failing;
        for (boolean smaller = true; smaller; ) {
            smaller = false;
            for (Fault f : Fault.values()) {
                Profile p = best.without(f);
                if (best.allows(f) && failure(p) != null) {
                    best = p;
                    smaller = true;
                }
            }
            for (int hosts = 2; hosts < Math.min(best.hosts(), Simulation.MOST_HOSTS); hosts++) {
                Profile p = best.amongst(hosts);
                if (failure(p) != null) {
                    best = p;
                    smaller = true;
                }
            }
            int most = Math.min(best.operations(), 128);
            for (int step = most / 2; step > 0; step /= 2) {
                Profile p = best.atMost(Math.max(1, most - step));
                if (p.operations() < best.operations() && failure(p) != null) {
                    best = p;
                    most = p.operations();
                    smaller = true;
                }
            }
        }
        return best;
    }

    static String report(Profile p, Throwable t) {
        StringBuilder s = new StringBuilder("seed " + p.seed() + " fails: " + t + "\n");
        for (StackTraceElement e : t.getStackTrace()) {
            if (e.getClassName().startsWith("io.metaroce")) {
                s.append("    at ").append(e).append('\n');
            }
        }
        return s.append("  again:   ").append(p.command()).append("\n  smaller: ").append(p.command()).append(" --shrink\n").toString();
    }

    String summary(double seconds) {
        TreeSet<String> reached = new TreeSet<>();
        for (Check c : checks.keySet()) {
            reached.addAll(c.requirements);
        }
        TreeSet<String> all = specified();
        StringBuilder s = new StringBuilder(String.format(Locale.ROOT,
                "%d seeds in %.1f s (%.0f a second): %d connections, %d messages, %d datagrams, %d faults injected%n",
                seeds, seconds, seeds / seconds, connections, messages, datagrams, faults));
        s.append("checks and situations:");
        checks.forEach((c, n) -> s.append(' ').append(c.name().toLowerCase(Locale.ROOT)).append(' ').append(n));
        s.append(String.format("%nrequirements reached: %d%s. Reached means: in some scenario the model or the reader of the wire made a check%n"
                + "that a breach would have failed, or the situation that it speaks of came up. Field ranges, sizes and constants are for other tests.%n",
                reached.size(), all.isEmpty() ? "" : " of the " + all.size() + " of spec/requirements.md"));
        Map<String, List<String>> areas = new TreeMap<>();
        for (String id : reached) {
            areas.computeIfAbsent(id.substring(0, id.lastIndexOf('-')), a -> new ArrayList<>()).add(id.substring(id.lastIndexOf('-') + 1));
        }
        areas.forEach((a, ids) -> s.append("  ").append(a).append(' ').append(String.join(" ", ids)).append('\n'));
        return s.toString();
    }

    /** The identifiers of the specification's index, or none where it is not at hand. */
    static TreeSet<String> specified() {
        TreeSet<String> ids = new TreeSet<>();
        Path index = Path.of(System.getProperty("metaroce.root", ".."), "spec", "requirements.md");
        if (Files.exists(index)) {
            try {
                for (String line : Files.readAllLines(index)) {
                    if (line.startsWith("| MR-")) {
                        ids.add(line.split("\\|")[1].strip());
                    }
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
        return ids;
    }

    public static void main(String[] arguments) throws InterruptedException {
        long seed = 0;
        long runs = 0;
        double minutes = 0;
        int faults = Fault.ALL;
        int operations = Profile.ANY;
        int hosts = Profile.ANY;
        int threads = Runtime.getRuntime().availableProcessors();
        boolean shrink = false;
        try {
            for (int i = 0; i < arguments.length; i++) {
                if (arguments[i].equals("--shrink")) {
                    shrink = true;
                    continue;
                }
                String option = arguments[i];
                String value = ++i < arguments.length ? arguments[i] : "";
                switch (option) {
                    case "--seed" -> seed = Long.parseLong(value);
                    case "--runs" -> runs = Long.parseLong(value);
                    case "--minutes" -> minutes = Double.parseDouble(value);
                    case "--threads" -> threads = Math.clamp(Integer.parseInt(value), 1, 64);
                    case "--operations" -> operations = Integer.parseInt(value);
                    case "--hosts" -> hosts = Math.max(2, Integer.parseInt(value));
                    case "--without" -> {
                        for (String f : value.split(",")) {
                            faults &= ~Fault.valueOf(f.toUpperCase(Locale.ROOT)).bit();
                        }
                    }
                    default -> throw new IllegalArgumentException("unknown option " + option);
                }
            }
        } catch (IllegalArgumentException e) {
            System.err.println("error: " + e.getMessage() + "; see scripts/soak --help");
            System.exit(2);
        }
        if (runs == 0 && minutes == 0) {
            // One seed by itself is that scenario again; nothing at all is a minute of them.
            runs = seed != 0 ? 1 : Long.MAX_VALUE;
            minutes = seed != 0 ? 0 : 1;
        }
        Profile first = new Profile(seed != 0 ? seed : 1, faults, operations, hosts);
        if (shrink) {
            System.exit(shrink(first));
        }
        System.exit(soak(first, runs > 0 ? runs : Long.MAX_VALUE, minutes > 0 ? minutes : Double.POSITIVE_INFINITY, threads));
    }

    private static int shrink(Profile p) {
        Throwable t = failure(p);
        if (t == null) {
            System.out.println("seed " + p.seed() + " does not fail");
            return 0;
        }
        Profile simple = simplest(p);
        System.out.print(report(simple, failure(simple)));
        return 1;
    }

    private static int soak(Profile first, long runs, double minutes, int threads) throws InterruptedException {
        Soak soak = new Soak();
        long start = System.nanoTime();
        AtomicLong next = new AtomicLong();
        AtomicBoolean stop = new AtomicBoolean();
        Map<Long, Throwable> failed = new TreeMap<>();
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            workers.add(Thread.ofPlatform().name("soak " + i).start(() -> {
                long n;
                while (!stop.get() && (n = next.getAndIncrement()) < runs && (System.nanoTime() - start) / 60e9 < minutes) {
                    Throwable t = soak.run(first.seeded(first.seed() + n));
                    if (t != null) {
                        stop.set(true);
                        synchronized (failed) {
                            failed.put(first.seed() + n, t);
                        }
                    }
                }
            }));
        }
        long tell = start + TELL_NS;
        for (Thread worker : workers) {
            while (!worker.join(java.time.Duration.ofMillis(200))) {
                if (System.nanoTime() - tell >= 0) {
                    System.out.printf(Locale.ROOT, "%d seeds, %d messages ...%n", soak.seeds, soak.messages);
                    tell += TELL_NS;
                }
            }
        }
        if (!failed.isEmpty()) {
            failed.forEach((s, t) -> System.out.print(report(first.seeded(s), t)));
            return 1;
        }
        System.out.print(soak.summary((System.nanoTime() - start) / 1e9));
        return 0;
    }
}
