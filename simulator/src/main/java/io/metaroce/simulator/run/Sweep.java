// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntConsumer;
import java.util.zip.CRC32;

/**
 * A scenario over a grid of values and seeds. Each cell's result is a line of JSON, written as soon as it is there; cells that the file has
 * already are not run again, unless the scenario's file, or what it names, was changed since.
 */
public final class Sweep {
    /** Field of a line that says which cell it is. */
    private static final String CELL = "cell";

    /** @param set the grid's values in this cell, by key of the scenario */
    private record Cell(Map<String, String> set, long seed, String name) { }

    private final Path file;
    private final Path out;
    private final List<Cell> cells = new ArrayList<>();
    private final Map<String, Map<String, Object>> done = new LinkedHashMap<>();

    /**
     * @param grid values by key of the scenario, as TOML
     * @param seeds those of the scenario if null
     * @param out the file with results, which may be there already
     */
    public Sweep(Path file, Map<String, List<String>> grid, List<Long> seeds, Path out) {
        this.file = file;
        this.out = out;
        String version = version(file);
        List<Map<String, String>> rows = new ArrayList<>();
        rows.add(Map.of());
        for (Map.Entry<String, List<String>> axis : grid.entrySet()) {
            List<Map<String, String>> more = new ArrayList<>();
            for (Map<String, String> row : rows) {
                for (String value : axis.getValue()) {
                    Map<String, String> longer = new LinkedHashMap<>(row);
                    longer.put(axis.getKey(), value);
                    more.add(longer);
                }
            }
            rows = more;
        }
        for (Map<String, String> row : rows) {
            // Read at once, so that what is wrong is said before anything runs.
            Scenario s = ScenarioFile.read(file, row);
            for (long seed : seeds == null ? s.seeds : seeds) {
                cells.add(new Cell(row, seed, row + " seed " + seed + " of " + version));
            }
        }
        readDone();
    }

    private static String version(Path file) {
        try {
            CRC32 crc = new CRC32();
            crc.update(Files.readAllBytes(file));
            Scenario s = ScenarioFile.read(file);
            for (Path named : new Path[] {s.topologyFile, s.matrixFile, s.sizesFile, s.traceFile}) {
                if (named != null) {
                    crc.update(Files.readAllBytes(named));
                }
            }
            return file.getFileName() + " " + Long.toHexString(crc.getValue());
        } catch (IOException e) {
            throw new CliException(ExitCode.USAGE, "cannot read " + file + ": " + e.getMessage());
        }
    }

    /** Takes over the lines that are there; half a line at the end, of a run that was broken off, is cut away. */
    private void readDone() {
        if (!Files.exists(out)) {
            return;
        }
        try {
            String text = Files.readString(out);
            int whole = text.lastIndexOf('\n') + 1;
            if (whole < text.length()) {
                Files.writeString(out, text.substring(0, whole));
            }
            for (String line : text.substring(0, whole).lines().toList()) {
                Map<String, Object> fields = Records.parse(line);
                if (fields == null || !(fields.get(CELL) instanceof String cell)) {
                    throw new CliException(ExitCode.USAGE, out + " has a line that no sweep wrote: " + line);
                }
                done.put(cell, fields);
            }
        } catch (IOException e) {
            throw new CliException(ExitCode.USAGE, "cannot read " + out + ": " + e.getMessage());
        }
    }

    public int cells() {
        return cells.size();
    }

    /** Cells that have their results. */
    public int finished() {
        return (int) cells.stream().filter(c -> done.containsKey(c.name)).count();
    }

    /** Runs what is missing. @param progress hears of the number of finished cells after each */
    public void run(int threads, IntConsumer progress) throws InterruptedException {
        List<Cell> missing = cells.stream().filter(c -> !done.containsKey(c.name)).toList();
        ExecutorService pool = Executors.newFixedThreadPool(Math.max(1, threads), task -> {
            Thread thread = new Thread(task, "simulation");
            thread.setDaemon(true);
            return thread;
        });
        try (BufferedWriter writer = Files.newBufferedWriter(out, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            ExecutorCompletionService<Map<String, Object>> runs = new ExecutorCompletionService<>(pool);
            missing.forEach(c -> runs.submit(() -> run(c)));
            for (int i = 0; i < missing.size(); i++) {
                Map<String, Object> fields = Batch.get(runs.take());
                writer.write(Records.json(fields));
                writer.newLine();
                writer.flush();
                done.put((String) fields.get(CELL), fields);
                progress.accept(finished());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + out, e);
        } finally {
            pool.shutdownNow();
        }
    }

    private Map<String, Object> run(Cell cell) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put(CELL, cell.name);
        cell.set.forEach((key, value) -> fields.put("set_" + key, value));
        fields.putAll(ScenarioFile.read(file, cell.set).run(cell.seed).fields());
        return fields;
    }

    /** All results as CSV, in the order of the grid. */
    public void writeCsv(Path csv) throws IOException {
        StringBuilder b = new StringBuilder();
        for (Cell c : cells) {
            Map<String, Object> fields = done.get(c.name);
            if (b.isEmpty()) {
                b.append(Records.csvHead(fields)).append('\n');
            }
            b.append(Records.csv(fields)).append('\n');
        }
        Files.writeString(csv, b, StandardCharsets.UTF_8);
    }
}
