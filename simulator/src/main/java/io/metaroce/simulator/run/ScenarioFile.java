// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.simulator.peer.Peers;
import io.metaroce.simulator.workload.Arrivals;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.tomlj.Toml;
import org.tomlj.TomlArray;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlTable;

/** Reads scenarios from TOML. A key that is not known, or has the wrong type, is an error that names file and key. */
public final class ScenarioFile {
    public static final String SUFFIX = ".toml";
    /** The table that {@link Judgement} reads. */
    static final String JUDGE = "judge";
    /** Names the directory of the scenarios that come with the project. */
    private static final String HOME = "metaroce.scenarios";

    private final Path file;
    private final Set<String> known = new HashSet<>();
    /** Values of the top table that count instead of the file's. */
    private final TomlTable instead;

    private ScenarioFile(Path file, TomlTable instead) {
        this.file = file;
        this.instead = instead;
    }

    /** Scenarios that come with the project, by name. */
    public static List<Path> all() {
        String home = System.getProperty(HOME);
        if (home == null) {
            throw new CliException(ExitCode.ENVIRONMENT, "start this by scripts/metaroce: it knows where the scenarios are");
        }
        try (Stream<Path> files = Files.list(Path.of(home))) {
            return files.filter(f -> f.toString().endsWith(SUFFIX)).sorted().toList();
        } catch (IOException e) {
            throw new CliException(ExitCode.ENVIRONMENT, "cannot list the scenarios in " + home + ": " + e.getMessage());
        }
    }

    /** The file of this name, or the project's scenario of this name. */
    public static Path find(String name) {
        Path own = Path.of(name);
        if (Files.exists(own)) {
            return own;
        }
        return all().stream().filter(f -> f.getFileName().toString().equals(name + SUFFIX)).findFirst().orElseThrow(
                () -> new CliException(ExitCode.USAGE, "no file '" + name + "', and no scenario of this name: see 'sim list'"));
    }

    /** Whether the file has goals ({@link Judgement}). */
    public static boolean isJudged(Path file) {
        try {
            return Toml.parse(file).contains(JUDGE);
        } catch (IOException e) {
            return false;
        }
    }

    /** @throws CliException that says what is wrong, and where */
    public static Scenario read(Path file) {
        return new ScenarioFile(file, Toml.parse("")).read();
    }

    /**
     * Reads a file, with some of its keys set otherwise.
     *
     * @param values by key, as TOML; what is no TOML is taken for a text
     * @throws CliException that says what is wrong, and where
     */
    public static Scenario read(Path file, Map<String, String> values) {
        StringBuilder text = new StringBuilder();
        values.forEach((key, value) -> {
            String plain = key + " = " + value + "\n";
            text.append(Toml.parse(plain).hasErrors() ? key + " = \"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\"\n" : plain);
        });
        TomlParseResult parsed = Toml.parse(text.toString());
        if (parsed.hasErrors()) {
            throw new CliException(ExitCode.USAGE, parsed.errors().getFirst() + " in " + values);
        }
        return new ScenarioFile(file, parsed).read();
    }

    private Scenario read() {
        try {
            TomlParseResult toml = Toml.parse(file);
            if (toml.hasErrors()) {
                throw wrong(toml.errors().getFirst().toString());
            }
            Scenario s = new Scenario();
            s.name = text(toml, "name", "");
            fabric(toml, s);
            traffic(toml, s);
            s.paths = number(toml, "paths", s.paths);
            s.transport = text(toml, "transport", s.transport);
            Peers.named(s.transport);
            s.payload = number(toml, "payload", s.payload);
            s.limitUs = real(toml, "limit_us", s.limitUs);
            s.traceUs = real(toml, "trace_us", s.traceUs);
            s.streamWindow = number(toml, "stream_window", s.streamWindow);
            s.fairUs = real(toml, "fair_us", s.fairUs);
            s.fairAfter = real(toml, "fair_after", s.fairAfter);
            s.jainUs = real(toml, "jain_us", s.jainUs);
            TomlArray seeds = array(toml, "seeds");
            if (seeds != null) {
                s.seeds = new ArrayList<>();
                for (int i = 0; i < seeds.size(); i++) {
                    s.seeds.add(seeds.getLong(i));
                }
            }
            faults(toml, s);
            groups(toml, s);
            hostRates(toml, s);
            key(JUDGE);
            checkKeys(toml, "");
            checkKeys(instead, "");
            return s;
        } catch (IOException e) {
            throw new CliException(ExitCode.USAGE, "cannot read " + file + ": " + e.getMessage());
        } catch (IllegalArgumentException | ClassCastException | org.tomlj.TomlInvalidTypeException e) {
            throw wrong(e.getMessage());
        }
    }

    private void fabric(TomlTable t, Scenario s) {
        String topology = text(t, "topology", null);
        s.topologyFile = topology == null ? null : file.resolveSibling(topology);
        s.hosts = number(t, "hosts", s.hosts);
        s.hostsPerLeaf = number(t, "hosts_per_leaf", s.hostsPerLeaf);
        s.spines = number(t, "spines", s.spines);
        s.rails = number(t, "rails", s.rails);
        s.leavesPerPod = number(t, "leaves_per_pod", s.leavesPerPod);
        s.aggregations = number(t, "aggregations", s.aggregations);
        s.coresPerGroup = number(t, "cores_per_group", s.coresPerGroup);
        s.planes = number(t, "planes", s.planes);
        s.gigabits = real(t, "gigabits", s.gigabits);
        s.linkDelayNs = number(t, "link_delay_ns", (int) s.linkDelayNs);
        s.lines = number(t, "lines", s.lines);
        s.lineGigabits = real(t, "line_gigabits", s.lineGigabits);
        s.lineDelayUs = real(t, "line_delay_us", s.lineDelayUs);
        s.lineQueueBytes = whole(t, "line_queue_bytes", s.lineQueueBytes);
        s.queueBytes = whole(t, "queue_bytes", s.queueBytes);
        s.markFromBytes = whole(t, "mark_from_bytes", s.markFromBytes);
        s.markAllBytes = whole(t, "mark_all_bytes", s.markAllBytes);
        s.queueBdp = real(t, "queue_bdp", s.queueBdp);
        s.markFromBdp = real(t, "mark_from_bdp", s.markFromBdp);
        s.markAllBdp = real(t, "mark_all_bdp", s.markAllBdp);
        s.trim = flag(t, "trim");
        s.trimBdp = real(t, "trim_bdp", s.trimBdp);
        s.pfc = flag(t, "pfc");
        s.pauseBdp = real(t, "pause_bdp", s.pauseBdp);
        s.sharedBuffer = whole(t, "shared_buffer", s.sharedBuffer);
        s.loss = real(t, "loss", s.loss);
        s.lossBurst = real(t, "loss_burst", s.lossBurst);
        s.frameOverhead = number(t, "frame_overhead", s.frameOverhead);
    }

    private void traffic(TomlTable t, Scenario s) {
        String matrix = text(t, "matrix", null);
        s.matrixFile = matrix == null ? null : file.resolveSibling(matrix);
        String sizes = text(t, "sizes", null);
        s.sizesFile = sizes == null ? null : file.resolveSibling(sizes);
        String trace = text(t, "trace", null);
        s.traceFile = trace == null ? null : file.resolveSibling(trace);
        s.load = real(t, "load", s.load);
        s.durationUs = real(t, "duration_us", s.durationUs);
        s.parts = number(t, "parts", s.parts);
        s.pattern = text(t, "pattern", s.pattern);
        s.bytes = whole(t, "bytes", s.bytes);
        s.senders = number(t, "senders", s.senders);
        s.inFlight = number(t, "in_flight", s.inFlight);
        s.byReceipt = flag(t, "by_receipt");
        s.vector = flag(t, "vector");
    }

    private void faults(TomlParseResult toml, Scenario s) {
        TomlArray list = array(toml, "fault");
        for (int i = 0; list != null && i < list.size(); i++) {
            TomlTable f = list.getTable(i);
            s.faults.add(new Fault((long) (real(f, "at_us", -1) * 1e6), Fault.Kind.valueOf(text(f, "kind", "SILENT").toUpperCase(Locale.ROOT)),
                    Fault.Where.valueOf(text(f, "where", "SPINE").toUpperCase(Locale.ROOT)), number(f, "plane", 0), number(f, "number", 0),
                    real(f, "value", 0)));
            checkKeys(f, "fault.");
        }
    }

    private void groups(TomlParseResult toml, Scenario s) {
        TomlArray list = array(toml, "group");
        for (int i = 0; list != null && i < list.size(); i++) {
            TomlTable g = list.getTable(i);
            s.groups.add(new Arrivals.Group(number(g, "first", 0), number(g, "count", 1), number(g, "to", 0), flag(g, "spread"), real(g, "start_us", 0),
                    real(g, "gap_us", 0),
                    whole(g, "bytes", 1 << 20), number(g, "messages", 1), real(g, "demand_gigabits", 0)));
            checkKeys(g, "group.");
        }
    }

    private void hostRates(TomlParseResult toml, Scenario s) {
        TomlArray list = array(toml, "host");
        for (int i = 0; list != null && i < list.size(); i++) {
            TomlTable h = list.getTable(i);
            s.hostRates.add(new Scenario.HostRate(number(h, "first", 0), number(h, "count", 1), real(h, "gigabits", s.gigabits)));
            checkKeys(h, "host.");
        }
    }

    private String key(String name) {
        known.add(name);
        return name;
    }

    /** The table that has the value of this key. */
    private TomlTable of(TomlTable t, String name) {
        return t instanceof TomlParseResult && instead.contains(name) ? instead : t;
    }

    private String text(TomlTable t, String name, String otherwise) {
        String value = of(t, name).getString(key(name));
        return value == null ? otherwise : value;
    }

    private boolean flag(TomlTable t, String name) {
        return Boolean.TRUE.equals(of(t, name).getBoolean(key(name)));
    }

    private long whole(TomlTable t, String name, long otherwise) {
        Long value = of(t, name).getLong(key(name));
        return value == null ? otherwise : value;
    }

    private int number(TomlTable t, String name, int otherwise) {
        return Math.toIntExact(whole(t, name, otherwise));
    }

    private double real(TomlTable t, String name, double otherwise) {
        Object value = of(t, name).get(key(name));
        if (value != null && !(value instanceof Number)) {
            throw wrong("'" + name + "' is not a number");
        }
        return value == null ? otherwise : ((Number) value).doubleValue();
    }

    private TomlArray array(TomlTable t, String name) {
        return of(t, name).getArray(key(name));
    }

    private void checkKeys(TomlTable t, String prefix) {
        for (String name : t.keySet()) {
            if (!known.contains(name)) {
                throw wrong("unknown key '" + prefix + name + "'");
            }
        }
    }

    private CliException wrong(String what) {
        return new CliException(ExitCode.USAGE, file + ": " + what);
    }
}
