// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.workload;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Flows that begin at times of their own: from a trace, at random with sizes of a distribution, or in groups. */
public final class Arrivals {
    /** Bytes of what a paced sender gives at a time: a packet, so that its rate is smooth. */
    private static final int PACED_BYTES = 4_096;
    private static final double PS_PER_US = 1e6;

    /**
     * Senders that are alike.
     *
     * @param first number of the first; the others follow
     * @param to the receiver of the first
     * @param spread whether the others send to those that follow it, or all to the same
     * @param gapUs between the starts of two of them
     * @param bytes of each of its messages
     * @param messages that each has to send; one after the other where they are paced, else all are there at once
     * @param gigabits what each has to send in a second; 0: no limit
     */
    public record Group(int first, int count, int to, boolean spread, double startUs, double gapUs, long bytes, int messages,
            double gigabits) { }

    private Arrivals() {
    }

    public static Workload groups(int hosts, List<Group> groups) {
        Workload w = new Workload("groups of senders", hosts);
        for (Group g : groups) {
            for (int i = 0; i < g.count; i++) {
                int from = g.first + i;
                int to = g.spread ? g.to + i : g.to;
                long startPs = Math.round((g.startUs + i * g.gapUs) * PS_PER_US);
                if (g.gigabits == 0) {
                    for (int m = 0; m < g.messages; m++) {
                        w.add(from, to, g.bytes, startPs);
                    }
                    continue;
                }
                w.setDemand(from, to, g.gigabits * 1e9);
                long all = g.bytes * g.messages;
                for (long sent = 0; sent < all; sent += PACED_BYTES) {
                    w.add(from, to, Math.min(PACED_BYTES, all - sent), startPs + Math.round(sent * 8e3 / g.gigabits));
                }
            }
        }
        return w;
    }

    /** A file of lines "microseconds,source,destination,bytes"; '#' begins a comment. @throws IllegalArgumentException naming file and line */
    public static Workload trace(Path file, int hosts) throws IOException {
        Workload w = new Workload("trace " + file.getFileName(), hosts);
        for (String[] words : lines(file, ",", 4)) {
            try {
                w.add(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Long.parseLong(words[3]), Math.round(Double.parseDouble(words[0]) * PS_PER_US));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(file + ": " + e.getMessage() + " in '" + String.join(",", words) + "'", e);
            }
        }
        return w;
    }

    /**
     * Flows between hosts taken at random, at random times (Poisson), with sizes of a distribution.
     *
     * @param sizes a file of lines "bytes part", the part of flows that are no longer than that, rising to 1; sizes between lie on straight lines
     * @param load part of all hosts' rates that is asked for
     * @param hostRate bit/s
     */
    public static Workload mixed(Path sizes, int hosts, double load, double durationUs, double hostRate, long seed) throws IOException {
        List<double[]> cdf = new ArrayList<>();
        for (String[] words : lines(sizes, "\\s+", 2)) {
            cdf.add(new double[] {Double.parseDouble(words[0]), Double.parseDouble(words[1])});
        }
        for (int i = 1; i < cdf.size(); i++) {
            if (cdf.get(i)[0] < cdf.get(i - 1)[0] || cdf.get(i)[1] < cdf.get(i - 1)[1]) {
                throw new IllegalArgumentException(sizes + ": sizes and parts must rise");
            }
        }
        if (cdf.isEmpty() || cdf.getLast()[1] != 1) {
            throw new IllegalArgumentException(sizes + ": the last part is not 1");
        }
        double mean = 0;
        for (int i = 0; i < cdf.size(); i++) {
            double[] before = i == 0 ? new double[] {cdf.getFirst()[0], 0} : cdf.get(i - 1);
            mean += (cdf.get(i)[1] - before[1]) * (cdf.get(i)[0] + before[0]) / 2;
        }
        Workload w = new Workload("sizes of " + sizes.getFileName() + " at load " + load, hosts);
        SplittableRandom random = new SplittableRandom(seed);
        double perUs = load * hosts * hostRate / 8e6 / mean;
        for (double us = -Math.log1p(-random.nextDouble()) / perUs; us < durationUs; us -= Math.log1p(-random.nextDouble()) / perUs) {
            int from = random.nextInt(hosts);
            w.add(from, (from + 1 + random.nextInt(hosts - 1)) % hosts, size(cdf, random.nextDouble()), Math.round(us * PS_PER_US));
        }
        return w;
    }

    private static long size(List<double[]> cdf, double part) {
        int i = 0;
        while (cdf.get(i)[1] < part) {
            i++;
        }
        double[] high = cdf.get(i);
        double[] low = i == 0 ? high : cdf.get(i - 1);
        double within = high[1] == low[1] ? 1 : (part - low[1]) / (high[1] - low[1]);
        return Math.max(1, Math.round(low[0] + within * (high[0] - low[0])));
    }

    private static List<String[]> lines(Path file, String separator, int words) throws IOException {
        List<String[]> all = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            String text = line.replaceFirst("#.*", "").strip();
            if (!text.isEmpty()) {
                String[] parts = text.split(separator);
                if (parts.length != words) {
                    throw new IllegalArgumentException(file + ": " + words + " words are wanted in '" + line + "'");
                }
                all.add(parts);
            }
        }
        return all;
    }
}
