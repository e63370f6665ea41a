// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.simulator.peer.Peers;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.tomlj.Toml;
import org.tomlj.TomlArray;
import org.tomlj.TomlInvalidTypeException;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlTable;

/**
 * What a scenario's file says under {@code judge}: cases, transports to compare with, what to show, and goals for MetaRoCE.
 *
 * <p>{@code [[judge.case]]} names a case and sets keys of the scenario otherwise; {@code [judge.grid]} multiplies the cases by values of keys.
 * {@code [[judge.goal]]} has a measure, which is a field of {@link Result#fields}, and {@code at_most}, {@code at_least}, or {@code better =
 * "less"} or {@code "more"}: than each of the other transports; with {@code case} it is for the case of that name only.
 */
public final class Judgement {
    /** @param set keys of the scenario with their values, as TOML */
    public record Case(String name, Map<String, String> set) { }

    /** @param better "less" or "more" than the others; or null, and bounds that may be infinite */
    public record Goal(String measure, double atMost, double atLeast, String better, String onlyCase) { }

    private static final String NAME = "name";

    public final Path file;
    public final List<String> transports = new ArrayList<>();
    public final List<String> show = new ArrayList<>();
    public final List<Goal> goals = new ArrayList<>();
    public final List<Case> cases = new ArrayList<>();
    /** Whether runs must not share the machine, because their time or memory is part of what is shown. */
    public final boolean alone;
    /** Others are cut off when they have taken so many times as long as MetaRoCE. */
    public final double patience;

    /** @throws CliException that says what is wrong */
    public Judgement(Path file) {
        this.file = file;
        ScenarioFile.read(file);
        try {
            TomlParseResult toml = Toml.parse(file);
            TomlTable judge = toml.getTable(ScenarioFile.JUDGE);
            if (judge == null) {
                throw wrong("no table 'judge': it says what to show and what the goals are");
            }
            for (String key : judge.keySet()) {
                if (!List.of("transports", "show", "alone", "patience", "case", "grid", "goal").contains(key)) {
                    throw wrong("unknown key 'judge." + key + "'");
                }
            }
            texts(judge.getArray("transports"), transports);
            if (!transports.contains(Peers.OWN)) {
                transports.addFirst(Peers.OWN);
            }
            texts(judge.getArray("show"), show);
            alone = Boolean.TRUE.equals(judge.getBoolean("alone"));
            patience = bound(judge, "patience", Double.POSITIVE_INFINITY);
            readCases(judge);
            readGoals(judge);
        } catch (IOException e) {
            throw new CliException(ExitCode.USAGE, "cannot read " + file + ": " + e.getMessage());
        } catch (ClassCastException | TomlInvalidTypeException e) {
            throw wrong(e.getMessage());
        }
    }

    private void readCases(TomlTable judge) {
        List<Case> named = new ArrayList<>();
        TomlArray list = judge.getArray("case");
        for (int i = 0; list != null && i < list.size(); i++) {
            TomlTable t = list.getTable(i);
            Map<String, String> set = new LinkedHashMap<>();
            for (String key : t.keySet()) {
                if (!key.equals(NAME)) {
                    set.put(key, asToml(t.get(key)));
                }
            }
            String name = t.getString(NAME);
            named.add(new Case(name == null ? set.toString() : name, set));
        }
        if (named.isEmpty()) {
            named.add(new Case("", Map.of()));
        }
        TomlTable grid = judge.getTable("grid");
        if (grid != null) {
            for (String key : grid.keySet()) {
                List<Case> more = new ArrayList<>();
                TomlArray values = grid.getArray(key);
                for (Case c : named) {
                    for (int v = 0; v < values.size(); v++) {
                        Map<String, String> set = new LinkedHashMap<>(c.set);
                        set.put(key, asToml(values.get(v)));
                        more.add(new Case((c.name + " " + key + "=" + plain(values.get(v))).strip(), set));
                    }
                }
                named = more;
            }
        }
        cases.addAll(named);
        // Read at once, so that what is wrong is said before anything runs.
        cases.forEach(c -> ScenarioFile.read(file, c.set));
    }

    private void readGoals(TomlTable judge) {
        TomlArray list = judge.getArray("goal");
        if (list == null || list.isEmpty()) {
            throw wrong("no [[judge.goal]]");
        }
        for (int i = 0; i < list.size(); i++) {
            TomlTable g = list.getTable(i);
            for (String key : g.keySet()) {
                if (!List.of("measure", "at_most", "at_least", "better", "case").contains(key)) {
                    throw wrong("unknown key 'judge.goal." + key + "'");
                }
            }
            Goal goal = new Goal(g.getString("measure"), bound(g, "at_most", Double.POSITIVE_INFINITY), bound(g, "at_least", Double.NEGATIVE_INFINITY),
                    g.getString("better"), g.getString("case"));
            boolean says = goal.better != null || goal.atMost != Double.POSITIVE_INFINITY || goal.atLeast != Double.NEGATIVE_INFINITY;
            if (!says || goal.measure == null || goal.better != null && !List.of("less", "more").contains(goal.better)) {
                throw wrong("a goal needs a measure, and better = \"less\" or \"more\", or at_most, or at_least");
            }
            goals.add(goal);
            if (!show.contains(goal.measure)) {
                show.add(goal.measure);
            }
        }
    }

    private static double bound(TomlTable t, String key, double otherwise) {
        return t.get(key) instanceof Number n ? n.doubleValue() : otherwise;
    }

    /** For people: without exponents. */
    private static String plain(Object value) {
        return value instanceof Double d ? BigDecimal.valueOf(d).stripTrailingZeros().toPlainString() : String.valueOf(value);
    }

    private static void texts(TomlArray from, List<String> into) {
        for (int i = 0; from != null && i < from.size(); i++) {
            into.add(from.getString(i));
        }
    }

    private static String asToml(Object value) {
        return switch (value) {
            case String s -> '"' + s.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
            case TomlArray a -> IntStream.range(0, a.size()).mapToObj(i -> asToml(a.get(i))).collect(Collectors.joining(", ", "[", "]"));
            case TomlTable t -> t.keySet().stream().map(key -> key + " = " + asToml(t.get(key))).collect(Collectors.joining(", ", "{", "}"));
            default -> String.valueOf(value);
        };
    }

    /** The case's scenario with a transport. */
    public Scenario scenario(Case c, String transport) {
        Scenario s = ScenarioFile.read(file, c.set);
        s.transport = transport;
        return s;
    }

    /**
     * The case's scenario with another transport, which is given up when it has taken {@link #patience} times as long as MetaRoCE.
     *
     * @param own MetaRoCE's with the same seed
     */
    public Scenario scenario(Case c, String transport, Result own) {
        Scenario s = scenario(c, transport);
        if (own.isComplete()) {
            s.limitUs = Math.min(s.limitUs, patience * own.lastUs);
        }
        return s;
    }

    /**
     * What MetaRoCE missed in a case: nothing if all is well.
     *
     * @param own results of all seeds
     * @param others results of the other transports, by name
     */
    public List<String> misses(Case c, List<Result> own, Map<String, List<Result>> others) {
        List<String> misses = new ArrayList<>();
        if (own.stream().anyMatch(r -> !r.isComplete())) {
            misses.add("flows unfinished");
        }
        for (Goal g : goals) {
            if (g.onlyCase != null && !g.onlyCase.equals(c.name)) {
                continue;
            }
            for (Result r : own) {
                double value = value(r, g.measure);
                if (!(value <= g.atMost) && g.atMost != Double.POSITIVE_INFINITY) {
                    misses.add(String.format(Locale.ROOT, "%s %.4g > %.4g (seed %d)", g.measure, value, g.atMost, r.seed));
                }
                if (!(value >= g.atLeast) && g.atLeast != Double.NEGATIVE_INFINITY) {
                    misses.add(String.format(Locale.ROOT, "%s %.4g < %.4g (seed %d)", g.measure, value, g.atLeast, r.seed));
                }
            }
            if (g.better != null) {
                others.forEach((name, results) -> {
                    double theirs = mean(results, g.measure);
                    double ours = mean(own, g.measure);
                    boolean finished = results.stream().allMatch(Result::isComplete);
                    if (finished && !(g.better.equals("less") ? ours < theirs : ours > theirs)) {
                        misses.add(String.format(Locale.ROOT, "%s %.4g, %s has %.4g", g.measure, ours, name, theirs));
                    }
                });
            }
        }
        return misses;
    }

    /** Mean over seeds. */
    public static double mean(List<Result> results, String measure) {
        return results.stream().mapToDouble(r -> value(r, measure)).average().orElseThrow();
    }

    /** @throws CliException if there is no such measure */
    private static double value(Result r, String measure) {
        Object value = r.fields().get(measure);
        if (!(value instanceof Number n)) {
            throw new CliException(ExitCode.USAGE, "there is no measure '" + measure + "'; there are: " + r.fields().keySet());
        }
        return n.doubleValue();
    }

    private CliException wrong(String what) {
        return new CliException(ExitCode.USAGE, file + ": " + what);
    }
}
