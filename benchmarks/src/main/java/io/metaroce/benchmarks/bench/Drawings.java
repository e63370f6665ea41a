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
