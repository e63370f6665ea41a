// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import io.metaroce.simulator.plot.Pictures;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;

/** Pictures of outcomes: a chart for each group and unit, medians as bars with what lay between the least and the most. */
final class Drawings {
    private final Pictures pictures;

    Drawings(Path directory) {
        pictures = new Pictures(directory);
    }

    void bars(String run, List<Outcome> outcomes) {
        Map<String, List<Outcome>> charts = new LinkedHashMap<>();
        outcomes.stream().filter(Outcome::isMeasured).forEach(o -> charts.computeIfAbsent(o.group() + ", " + o.unit(), k -> new ArrayList<>()).add(o));
        charts.forEach((title, of) -> {
            if (!of.getFirst().unit().equals("%") && of.stream().anyMatch(o -> o.most() > 0)) {
                pictures.save(chart(title, of), run + "-" + title.replaceAll("[^A-Za-z0-9]+", "-"));
            }
        });
    }

    /** A chart for each axis of {@link Cost}: nanoseconds against how much work there is, medians. */
    void curves(List<Cost> costs, List<Outcome> outcomes) {
        for (String axis : costs.stream().map(Cost::axis).distinct().toList()) {
            List<Cost> points = costs.stream().filter(c -> c.axis().equals(axis)).toList();
            boolean logarithmic = points.stream().allMatch(c -> c.x() > 0);
            XYChart chart = new XYChartBuilder().width(1_000).height(600).title("cost of a packet, both endpoints, against " + axis).xAxisTitle(axis).yAxisTitle("ns")
                    .theme(Styler.ChartTheme.XChart).build();
            chart.getStyler().setXAxisLogarithmic(logarithmic).setYAxisMin(0.0);
            boolean any = false;
            for (String metric : List.of("both", "send", "receive")) {
                List<Double> x = new ArrayList<>();
                List<Double> y = new ArrayList<>();
                for (Cost point : points) {
                    outcomes.stream().filter(o -> o.name().equals(point.name()) && o.metric().equals(metric)).forEach(o -> {
                        x.add(point.x());
                        y.add(o.median());
                    });
                }
                if (!x.isEmpty()) {
                    chart.addSeries(metric, x, y);
                    any = true;
                }
            }
            if (any) {
                pictures.save(chart, "cost-" + axis);
            }
        }
    }

    private static CategoryChart chart(String title, List<Outcome> of) {
        CategoryChart chart = new CategoryChartBuilder().width(1_200).height(700).title(title).yAxisTitle(of.getFirst().unit()).theme(Styler.ChartTheme.XChart).build();
        chart.getStyler().setXAxisLabelRotation(30).setLegendPosition(Styler.LegendPosition.OutsideE);
        List<String> names = of.stream().map(Outcome::name).distinct().toList();
        for (String metric : of.stream().map(Outcome::metric).distinct().toList()) {
            List<Double> medians = new ArrayList<>();
            List<Double> spread = new ArrayList<>();
            for (String name : names) {
                Outcome o = of.stream().filter(x -> x.name().equals(name) && x.metric().equals(metric)).findFirst().orElse(null);
                medians.add(o == null ? 0 : o.median());
                spread.add(o == null ? 0 : Math.max(o.most() - o.median(), o.median() - o.least()));
            }
            chart.addSeries(metric, names, medians, spread);
        }
        return chart;
    }
}
