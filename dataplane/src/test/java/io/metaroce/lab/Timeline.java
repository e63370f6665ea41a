// SPDX-License-Identifier: Apache-2.0
package io.metaroce.lab;

import io.metaroce.cli.perf.Json;

/** What a run completed over time, by {@code --intervals}: rates and pauses between two moments of the wall clock. */
final class Timeline {
    private final long startMs;
    private final double lengthMs;
    private final double[] bytes;
    private final double[][] packets;

    Timeline(Json json) {
        startMs = Transfer.number(json, "intervals.start_wall_ms");
        lengthMs = (double) json.at("intervals.length_ms");
        bytes = numbers(json, "intervals.bytes");
        packets = new double[json.size("intervals.plane_packets")][];
        for (int plane = 0; plane < packets.length; plane++) {
            packets[plane] = numbers(json, "intervals.plane_packets." + plane);
        }
    }

    private static double[] numbers(Json json, String path) {
        double[] numbers = new double[json.size(path)];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (double) json.at(path + "." + i);
        }
        return numbers;
    }

    /** The wall-clock millisecond after the last. */
    long endMs() {
        return startMs + (long) (bytes.length * lengthMs);
    }

    /** Mean rate between two moments, bit/s. */
    double rate(long fromMs, long toMs) {
        return mean(bytes, fromMs, toMs) * 8e3;
    }

    /** Mean packets a second on a plane. */
    double packets(int plane, long fromMs, long toMs) {
        return mean(packets[plane], fromMs, toMs) * 1e3;
    }

    /** By millisecond; an interval counts as far as it lies between the moments. */
    private double mean(double[] values, long fromMs, long toMs) {
        double from = Math.max(0, (fromMs - startMs) / lengthMs);
        double to = Math.min(values.length, (toMs - startMs) / lengthMs);
        if (to - from < 1) {
            throw new IllegalArgumentException("the run does not cover " + (fromMs - startMs) + " to " + (toMs - startMs) + " ms");
        }
        double sum = 0;
        for (int i = (int) from; i < to; i++) {
            sum += values[i] * (Math.min(to, i + 1) - Math.max(from, i));
        }
        return sum / ((to - from) * lengthMs);
    }

    /** Longest time between the moments in which nothing was completed, in whole intervals. */
    long pauseMs(long fromMs, long toMs) {
        int longest = 0;
        int now = 0;
        for (int i = (int) ((fromMs - startMs) / lengthMs); i < Math.min(bytes.length, (toMs - startMs) / lengthMs); i++) {
            now = bytes[i] == 0 ? now + 1 : 0;
            longest = Math.max(longest, now);
        }
        return (long) (longest * lengthMs);
    }
}
