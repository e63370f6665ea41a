// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.plot;

import io.metaroce.simulator.run.Result;
import io.metaroce.simulator.run.Trace;
import io.metaroce.simulator.workload.Flow;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Pictures of results of simulations. */
public final class Plots {
    private static final int WIDTH = 1_000;
    private static final int HEIGHT = 600;

    private final Pictures pictures;

    /** @param directory is made if it is not there */
    public Plots(Path directory) {
        pictures = new Pictures(directory);
    }

    /** Completion times of all runs of each transport, as distributions, in one picture. */
    public void completions(List<Result> results) {
        Map<String, List<Double>> times = new LinkedHashMap<>();
        for (Result r : results) {
            List<Double> of = times.computeIfAbsent(r.transport, t -> new ArrayList<>());
            r.flows.stream().filter(f -> f.sentPs != Flow.NEVER).forEach(f -> of.add(f.completionPs() / 1e6));
        }
        XYChart chart = chart("Completion of flows: " + results.getFirst().workload, "us", "part of all flows");
        times.forEach((transport, all) -> {
            double[] us = all.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            if (us.length > 0) {
                double[] part = new double[us.length];
                Arrays.setAll(part, i -> (i + 1.0) / us.length);
                add(chart, transport, us, part, XYSeries.XYSeriesRenderStyle.Step);
            }
        });
        pictures.save(chart, "completion-cdf");
    }

    /** What happened over time in one run. Files begin with the transport's name and the seed. */
    public void overTime(Result r) {
        if (r.trace == null || r.trace.samples() < 3) {
            return;
        }
        String prefix = r.transport.replaceAll("[^A-Za-z0-9=-]", "-") + "-seed" + r.seed + "-";
        lines(prefix + "goodput-by-flow", "Goodput by flow, " + r.transport, "Gb/s", r.trace.goodputByFlow());
        lines(prefix + "rate-by-spine", "Rate over each spine, " + r.transport, "Gb/s", r.trace.rateBySpine());
        lines(prefix + "queues", "Deepest queues, " + r.transport, "bandwidth-delay products", r.trace.queues());
        lines(prefix + "windows", "Windows, " + r.transport, "KiB", r.trace.windows());
        lines(prefix + "shares", "Shares and rates, " + r.transport, "% of line rate", r.trace.shares());
    }

    private void lines(String file, String title, String unit, List<Trace.Series> series) {
        if (series.isEmpty()) {
            return;
        }
        XYChart chart = chart(title, "us", unit);
        series.forEach(s -> add(chart, s.name(), s.us(), s.values(), XYSeries.XYSeriesRenderStyle.Line));
        pictures.save(chart, file);
    }

    private static XYChart chart(String title, String x, String y) {
        XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT).title(title).xAxisTitle(x).yAxisTitle(y).theme(Styler.ChartTheme.XChart).build();
        chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE).setPlotContentSize(.97);
        chart.getStyler().setYAxisMin(0.0);
        return chart;
    }

    private static void add(XYChart chart, String name, double[] x, double[] y, XYSeries.XYSeriesRenderStyle style) {
        String unique = name;
        for (int n = 2; chart.getSeriesMap().containsKey(unique); n++) {
            unique = name + " (" + n + ")";
        }
        XYSeries series = chart.addSeries(unique, x, y);
        series.setMarker(SeriesMarkers.NONE);
        series.setXYSeriesRenderStyle(style);
        series.setLineWidth(1.4f);
    }
}
