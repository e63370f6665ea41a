// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/** Runs scenario after scenario and tells what they did; at the first failure looks for the simplest that still fails. */
public final class Soak {
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
            seeds++;
            connections += s.model.connections;
            messages += s.model.messages;
            datagrams += s.network.datagrams;
            faults += s.network.faults;
            if (s.network.shares > 0) {
                checks.merge(Check.SHARE, s.network.shares, Long::sum);
            }
            s.model.checks.forEach((c, n) -> checks.merge(c, n, Long::sum));
        }
    }

    /** Forbids what is not needed to fail, as long as anything can be forbidden. */
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
        return s.append("  again: ").append(p.command()).append('\n').toString();
    }

    String summary(double seconds) {
        TreeSet<String> covered = new TreeSet<>();
        TreeSet<String> all = new TreeSet<>();
        for (Check c : Check.values()) {
            all.addAll(c.requirements);
            if (checks.containsKey(c)) {
                covered.addAll(c.requirements);
            }
        }
        StringBuilder s = new StringBuilder(String.format(Locale.ROOT,
                "%d seeds in %.1f s (%.0f a second): %d connections, %d messages, %d datagrams, %d faults injected%n",
                seeds, seconds, seeds / seconds, connections, messages, datagrams, faults));
        s.append("checks:");
        checks.forEach((c, n) -> s.append(' ').append(c.name().toLowerCase(Locale.ROOT)).append(' ').append(n));
        s.append(String.format("%n%d of %d requirements that the model knows were checked: %s%n", covered.size(), all.size(),
                String.join(" ", covered)));
        return s.toString();
    }

    public static void main(String[] arguments) {
        long seed = 1;
        long runs = Long.MAX_VALUE;
        double minutes = Double.POSITIVE_INFINITY;
        int faults = Fault.ALL;
        int operations = Profile.ANY;
        for (int i = 0; i < arguments.length; i++) {
            String value = i + 1 < arguments.length ? arguments[i + 1] : "";
            switch (arguments[i]) {
                case "--seed" -> seed = Long.parseLong(value);
                case "--runs" -> runs = Long.parseLong(value);
                case "--minutes" -> minutes = Double.parseDouble(value);
                case "--operations" -> operations = Integer.parseInt(value);
                case "--without" -> {
                    for (String f : value.split(",")) {
                        faults &= ~Fault.valueOf(f.toUpperCase(Locale.ROOT)).bit();
                    }
                }
                default -> {
                    System.err.println("error: unknown option " + arguments[i]);
                    System.exit(2);
                }
            }
            i++;
        }
        if (runs == Long.MAX_VALUE && Double.isInfinite(minutes)) {
            minutes = 1;
        }
        System.exit(soak(new Profile(seed, faults, operations), runs, minutes));
    }

    private static int soak(Profile first, long runs, double minutes) {
        Soak soak = new Soak();
        long start = System.nanoTime();
        long tell = start + 10_000_000_000L;
        for (long i = 0; i < runs; i++) {
            Profile p = new Profile(first.seed() + i, first.faults(), first.operations());
            Throwable t = soak.run(p);
            if (t != null) {
                System.out.print(report(p, t));
                Profile simple = simplest(p);
                if (!simple.equals(p)) {
                    System.out.print("simplest that still fails: " + report(simple, failure(simple)));
                }
                return 1;
            }
            long now = System.nanoTime();
            if ((now - start) / 60e9 >= minutes) {
                break;
            }
            if (now >= tell) {
                System.out.printf(Locale.ROOT, "%d seeds, %d messages ...%n", soak.seeds, soak.messages);
                tell = now + 10_000_000_000L;
            }
        }
        System.out.print(soak.summary((System.nanoTime() - start) / 1e9));
        return 0;
    }
}
