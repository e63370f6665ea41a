// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;

/**
 * What {@link ImpairedPort} does to datagrams.
 *
 * @param loss probability that a datagram sent is lost
 * @param duplicate probability that it arrives twice
 * @param corrupt probability that one of its bits is flipped
 * @param ce probability that an ECN-capable datagram received counts as marked
 * @param delayNs added to every datagram sent
 * @param jitterNs up to so much more for each datagram, never overtaking within a source port
 * @param skewNs up to so much more for each source port, always the same: reorders paths against each other
 * @param held most datagrams under way because of delay, duplication or corruption; more are lost
 * @param outages planes or paths that carry nothing for a while
 */
public record ImpairmentConfig(double loss, double duplicate, double corrupt, double ce, long delayNs, long jitterNs, long skewNs,
                               int held, List<Outage> outages) {
    /** {@link Outage#index} of a whole plane. */
    public static final int WHOLE_PLANE = -1;
    /** No limit, in an {@link Outage}. */
    public static final long NEVER = Long.MAX_VALUE;
    public static final ImpairmentConfig NONE = new ImpairmentConfig(0, 0, 0, 0, 0, 0, 0, 4096, List.of());

    private static final int MAX_HELD = 1 << 20;
    private static final String KNOWN = "loss, dup, corrupt, ce, delay, jitter, skew, held, blockplane, blockpath";

    /**
     * Begins when either {@code from} is reached, ends when either {@code until} is; {@link #NEVER} where one does not count. Times
     * are since the port was made; datagrams those offered on the plane.
     *
     * @param index of the source port in {@code sourcePorts(plane)}, or {@link #WHOLE_PLANE}
     */
    public record Outage(int plane, int index, long fromNs, long fromDatagrams, long untilNs, long untilDatagrams) {
        boolean isActive(long elapsedNs, long datagrams) {
            return (elapsedNs >= fromNs || datagrams >= fromDatagrams) && elapsedNs < untilNs && datagrams < untilDatagrams;
        }

        /** As {@link #parse} reads it. */
        @Override
        public String toString() {
            String where = index == WHOLE_PLANE ? "blockplane=" + plane : "blockpath=" + plane + "/" + index;
            return where + "@" + bound(fromNs == 0 ? NEVER : fromNs, fromDatagrams) + ".." + bound(untilNs, untilDatagrams);
        }

        private static String bound(long ns, long datagrams) {
            return ns != NEVER ? ns + "ns" : datagrams != NEVER ? datagrams + "pkt" : "";
        }

        boolean isTimed() {
            return fromNs != NEVER && fromNs != 0 || untilNs != NEVER;
        }
    }

    public ImpairmentConfig {
        probability("loss", loss);
        probability("dup", duplicate);
        probability("corrupt", corrupt);
        probability("ce", ce);
        notNegative("delay", delayNs);
        notNegative("jitter", jitterNs);
        notNegative("skew", skewNs);
        if (held < 1 || held > MAX_HELD) {
            throw new IllegalArgumentException("impairment held=" + held + " is outside 1.." + MAX_HELD);
        }
        outages = List.copyOf(outages);
    }

    boolean delays() {
        return delayNs > 0 || jitterNs > 0 || skewNs > 0;
    }

    boolean copies() {
        return delays() || duplicate > 0 || corrupt > 0;
    }

    /**
     * Reads a list such as {@code loss=0.01,dup=0.1%,delay=100us,jitter=50us,skew=1ms,corrupt=1e-5,ce=0.01,blockplane=2@1s..3s,
     * blockpath=0/3@1000pkt..}. Probabilities are fractions or percentages; times end in ns, us, ms or s; an outage's bounds are
     * times or numbers of datagrams (pkt), either may be left out. {@code blockplane} and {@code blockpath} may come several times.
     *
     * @throws IllegalArgumentException naming the part that is wrong
     */
    public static ImpairmentConfig parse(String text) {
        double loss = NONE.loss;
        double duplicate = NONE.duplicate;
        double corrupt = NONE.corrupt;
        double ce = NONE.ce;
        long delayNs = NONE.delayNs;
        long jitterNs = NONE.jitterNs;
        long skewNs = NONE.skewNs;
        int held = NONE.held;
        List<Outage> outages = new ArrayList<>();
        for (String part : text.isBlank() ? new String[0] : text.split(",", -1)) {
            int equals = part.indexOf('=');
            String key = equals < 0 ? part.strip() : part.substring(0, equals).strip();
            if (equals < 0) {
                throw new IllegalArgumentException("impairment '" + key + "' has no value; write name=value, names: " + KNOWN);
            }
            String value = part.substring(equals + 1).strip();
            switch (key) {
                case "loss" -> loss = fraction(key, value);
                case "dup" -> duplicate = fraction(key, value);
                case "corrupt" -> corrupt = fraction(key, value);
                case "ce" -> ce = fraction(key, value);
                case "delay" -> delayNs = nanoseconds(key, value);
                case "jitter" -> jitterNs = nanoseconds(key, value);
                case "skew" -> skewNs = nanoseconds(key, value);
                case "held" -> held = integer(key, value);
                case "blockplane" -> outages.add(outage(key, value, false));
                case "blockpath" -> outages.add(outage(key, value, true));
                default -> throw new IllegalArgumentException("unknown impairment '" + key + "'; known: " + KNOWN);
            }
        }
        return new ImpairmentConfig(loss, duplicate, corrupt, ce, delayNs, jitterNs, skewNs, held, outages);
    }

    /** What is not at its default, as {@link #parse} reads it. */
    @Override
    public String toString() {
        StringJoiner text = new StringJoiner(",");
        addIf(loss > 0, text, "loss=", loss, "");
        addIf(duplicate > 0, text, "dup=", duplicate, "");
        addIf(corrupt > 0, text, "corrupt=", corrupt, "");
        addIf(ce > 0, text, "ce=", ce, "");
        addIf(delayNs > 0, text, "delay=", delayNs, "ns");
        addIf(jitterNs > 0, text, "jitter=", jitterNs, "ns");
        addIf(skewNs > 0, text, "skew=", skewNs, "ns");
        addIf(held != NONE.held, text, "held=", held, "");
        outages.forEach(outage -> text.add(outage.toString()));
        return text.toString();
    }

    private static void addIf(boolean present, StringJoiner text, String name, Object value, String unit) {
        if (present) {
            text.add(name + value + unit);
        }
    }

    private static Outage outage(String key, String value, boolean ofPath) {
        int at = value.indexOf('@');
        String where = at < 0 ? value : value.substring(0, at);
        int slash = where.indexOf('/');
        if (ofPath != slash >= 0) {
            throw bad(key, value, ofPath ? "write plane/index, as in 0/3@1s..2s" : "write a plane number, as in 2@1s..3s");
        }
        int plane = integer(key, ofPath ? where.substring(0, slash) : where);
        int index = ofPath ? integer(key, where.substring(slash + 1)) : WHOLE_PLANE;
        String when = at < 0 ? ".." : value.substring(at + 1);
        int dots = when.indexOf("..");
        if (dots < 0) {
            throw bad(key, value, "a period is from..until, as in 1s..3s or 1000pkt..");
        }
        String from = when.substring(0, dots);
        String until = when.substring(dots + 2);
        return new Outage(plane, index,
            from.isEmpty() ? 0 : isCount(from) ? NEVER : nanoseconds(key, from), isCount(from) ? count(key, from) : NEVER,
            until.isEmpty() || isCount(until) ? NEVER : nanoseconds(key, until), isCount(until) ? count(key, until) : NEVER);
    }

    private static boolean isCount(String bound) {
        return bound.endsWith("pkt");
    }

    private static long count(String key, String bound) {
        return integer(key, bound.substring(0, bound.length() - "pkt".length()));
    }

    private static int integer(String key, String value) {
        try {
            int number = Integer.parseInt(value.strip());
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below with the key.
        }
        throw bad(key, value, "expected a whole number");
    }

    private static double fraction(String key, String value) {
        boolean percent = value.endsWith("%");
        try {
            double number = Double.parseDouble(percent ? value.substring(0, value.length() - 1) : value);
            return percent ? number / 100 : number;
        } catch (NumberFormatException e) {
            throw bad(key, value, "expected a probability, as in 0.01 or 1%");
        }
    }

    private static long nanoseconds(String key, String value) {
        String lower = value.toLowerCase(Locale.ROOT);
        double unitNs = lower.endsWith("ns") ? 1 : lower.endsWith("us") ? 1e3 : lower.endsWith("ms") ? 1e6 : lower.endsWith("s") ? 1e9 : 0;
        int suffix = unitNs == 1e9 ? 1 : 2;
        try {
            if (unitNs > 0) {
                double number = Double.parseDouble(lower.substring(0, lower.length() - suffix));
                if (number >= 0 && number * unitNs < 0x1p62) {
                    return Math.round(number * unitNs);
                }
            }
        } catch (NumberFormatException e) {
            // Reported below with the key.
        }
        throw bad(key, value, "expected a time with its unit, as in 100us");
    }

    private static IllegalArgumentException bad(String key, String value, String hint) {
        return new IllegalArgumentException("impairment " + key + "=" + value + ": " + hint);
    }

    private static void probability(String key, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw new IllegalArgumentException("impairment " + key + "=" + value + " is outside 0..1");
        }
    }

    private static void notNegative(String key, long value) {
        if (value < 0) {
            throw new IllegalArgumentException("impairment " + key + "=" + value + " ns is negative");
        }
    }
}
