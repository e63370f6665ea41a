// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.core.Stages;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** Times that one side took beside the usual ones, where they were asked for: of messages one way, and of the stages of its loop. */
final class Times {
    private static final double[] PERCENTILES = {50, 99, 99.9, 100};

    /** p50, p99, p99.9 and the longest, nanoseconds; none if not asked for. */
    final long[] oneWayNs;
    /** Nanoseconds a datagram by {@link Stages}, and the idle part of the time last; none if not compiled in. */
    final double[] stages;

    private Times(long[] oneWayNs, double[] stages) {
        this.oneWayNs = oneWayNs;
        this.stages = stages;
    }

    /** @param oneWay or null, as {@code stages} */
    Times(Histogram oneWay, Stages stages) {
        this(oneWay == null ? new long[0] : Arrays.stream(PERCENTILES).mapToLong(oneWay::getValueAtPercentile).toArray(), of(stages));
    }

    private static double[] of(Stages stages) {
        if (stages == null) {
            return new double[0];
        }
        double[] all = Arrays.copyOf(stages.nsADatagram(), Stages.COUNT + 1);
        all[Stages.COUNT] = stages.idle();
        return all;
    }

    void putInto(Message message) {
        message.put("one_way", Arrays.stream(oneWayNs).mapToObj(Long::toString).collect(Collectors.joining(",")))
                .put("stages", Arrays.stream(stages).mapToObj(Double::toString).collect(Collectors.joining(",")));
    }

    /** @throws IllegalArgumentException if the message has other numbers */
    static Times from(Message message) {
        double[] oneWay = numbers(message.text("one_way"), PERCENTILES.length);
        return new Times(Arrays.stream(oneWay).mapToLong(d -> (long) d).toArray(), numbers(message.text("stages"), Stages.COUNT + 1));
    }

    private static double[] numbers(String text, int count) {
        double[] numbers = text.isEmpty() ? new double[0] : Arrays.stream(text.split(",")).mapToDouble(Double::parseDouble).toArray();
        if (numbers.length != 0 && numbers.length != count) {
            throw new IllegalArgumentException("'" + text + "' is not " + count + " numbers");
        }
        return numbers;
    }

    /** As objects of a line of JSON, where there is something. */
    void oneWayInto(JsonLine json) {
        if (oneWayNs.length > 0) {
            json.openObject("one_way_us").put("one_way_p50", oneWayNs[0] / 1e3).put("one_way_p99", oneWayNs[1] / 1e3).put("one_way_p999", oneWayNs[2] / 1e3)
                    .put("one_way_max", oneWayNs[3] / 1e3).close();
        }
    }

    void stagesInto(JsonLine json, String side) {
        if (stages.length > 0) {
            json.openObject(side + "_stages_ns");
            for (int i = 0; i < Stages.COUNT; i++) {
                json.put(side + "_" + Stages.name(i), stages[i]);
            }
            json.put(side + "_idle", stages[Stages.COUNT]).close();
        }
    }
}
