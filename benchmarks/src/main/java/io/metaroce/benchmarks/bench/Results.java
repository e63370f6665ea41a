// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import io.metaroce.cli.perf.JsonLine;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The forms in which outcomes are kept and shown. */
final class Results {
    private Results() {
    }

    /** Appends one line of JSON for each outcome. */
    static void append(Path file, Machine machine, String run, boolean quick, List<Outcome> outcomes) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (Outcome o : outcomes) {
            lines.append(json(machine, run, quick, o)).append('\n');
        }
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    static String json(Machine machine, String run, boolean quick, Outcome o) {
        JsonLine j = new JsonLine().open().put("run", run).put("group", o.group()).put("name", o.name());
        if (o.isMeasured()) {
            j.put("metric", o.metric()).put("unit", o.unit()).put("median", o.median()).put("least", o.least()).put("most", o.most())
                    .put("rounds", o.rounds().stream().mapToDouble(Double::doubleValue).toArray());
        } else {
            j.put(o.absent().isEmpty() ? "failure" : "absent", o.absent() + o.failure());
        }
        return j.put("quick", quick).openObject("machine").put("cpu", machine.cpu()).put("cores", machine.cores()).put("kernel", machine.kernel())
                .put("jdk", machine.jdk()).put("load", machine.load()).put("date", machine.date()).put("commit", machine.commit()).close().close().toString();
    }

    /** What stands above a table. */
    static void heading(Machine machine, PrintStream out) {
        out.printf(Locale.ROOT, "%n%s, %d cores, Linux %s, %s, commit %s%nload %s when it began, %s now; medians of alternating rounds%n%n", machine.cpu(),
                machine.cores(), machine.kernel(), machine.jdk(), machine.commit(), machine.load(), Machine.loadNow());
    }

    /** One table, a row for each outcome; the name of a measurement stands in its first row. */
    static void table(List<Outcome> outcomes, PrintStream out) {
        int width = outcomes.stream().mapToInt(o -> o.name().length()).max().orElse(4);
        int metricWidth = outcomes.stream().mapToInt(o -> o.metric().length()).max().orElse(6);
        String form = "%-10s %-" + width + "s  %-" + Math.max(6, metricWidth) + "s %12s %12s %12s  %-12s %s%n";
        out.printf(form, "group", "measured", "metric", "median", "least", "most", "unit", "rounds");
        String last = "";
        for (Outcome o : outcomes) {
            String name = o.group() + o.name();
            boolean again = name.equals(last);
            last = name;
            if (o.isMeasured()) {
                out.printf(form, again ? "" : o.group(), again ? "" : o.name(), o.metric(), number(o.median()), number(o.least()), number(o.most()), o.unit(),
                        o.rounds().size());
            } else {
                out.printf("%-10s %-" + width + "s  %s%n", o.group(), o.name(), (o.absent().isEmpty() ? "FAILED: " : "absent: ") + o.absent() + o.failure());
            }
        }
        out.flush();
    }

    /** One table, a row for each measurement and a column for each metric; medians alone, {@code -} where there is none. */
    static void wideTable(List<Outcome> outcomes, PrintStream out) {
        List<String> columns = outcomes.stream().filter(Outcome::isMeasured).map(Results::column).distinct().toList();
        Map<String, List<Outcome>> rows = new LinkedHashMap<>();
        outcomes.forEach(o -> rows.computeIfAbsent(o.name(), n -> new ArrayList<>()).add(o));
        int width = rows.keySet().stream().mapToInt(String::length).max().orElse(8);
        out.printf("%-" + width + "s", "measured");
        columns.forEach(c -> out.printf("  %" + Math.max(9, c.length()) + "s", c));
        out.printf("  rounds%n");
        rows.forEach((name, of) -> {
            out.printf("%-" + width + "s", name);
            Outcome first = of.getFirst();
            if (!first.isMeasured()) {
                out.printf("  %s%n", (first.absent().isEmpty() ? "FAILED: " : "absent: ") + first.absent() + first.failure());
                return;
            }
            for (String c : columns) {
                String text = of.stream().filter(o -> column(o).equals(c)).findFirst().map(o -> number(o.median())).orElse("-");
                out.printf("  %" + Math.max(9, c.length()) + "s", text);
            }
            out.printf("  %d%n", first.rounds().size());
        });
        out.flush();
    }

    private static String column(Outcome o) {
        return o.metric() + ", " + o.unit();
    }

    /** Three digits or more, never in exponents. */
    static String number(double value) {
        return String.format(Locale.ROOT, value == 0 ? "%.0f" : value < 0.1 ? "%.4f" : value < 10 ? "%.2f" : value < 1000 ? "%.1f" : "%.0f", value);
    }
}
