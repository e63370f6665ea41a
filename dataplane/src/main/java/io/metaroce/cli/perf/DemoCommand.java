// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.bindings.dpdk.PmdLibrary;
import io.metaroce.bindings.dpdk.PmdUnavailableException;
import io.metaroce.cli.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code metaroce perf demo}: a tour of the transport on this machine, each stop a fresh pair of processes, as one table. */
@Command(name = "demo", mixinStandardHelpOptions = true, versionProvider = io.metaroce.cli.Main.Version.class, sortOptions = false,
        description = "Shows on this machine, between two processes each: Write at 0, 1 and 10 %% loss, small Sends, Read, a plane that is "
                + "cut, and DPDK where the build has it. Prints one table; ends with 0 if every row was verified.")
final class DemoCommand implements Callable<Integer> {
    private static final long ROW_SECONDS = 60;
    private static final int NAME_WIDTH = 38;
    private static final String DPDK = "the Write over DPDK, memif";

    /** What to run and what to call it. A row that compares with another names it by number. */
    private record Row(String name, int compareWith, List<String> options) {
    }

    @Spec
    private CommandSpec spec;

    @Option(names = "--seconds", paramLabel = "S", defaultValue = "3", description = "Length of each measurement. Default: ${DEFAULT-VALUE}.")
    private double seconds;

    @Override
    public Integer call() throws Exception {
        PerfCommand.check(spec, () -> PortOptions.require(seconds >= 0.1 && seconds <= 60, "--seconds " + seconds + " is outside 0.1..60"));
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        return Interrupt.guard(() -> { }, 0, err, () -> show(out));
    }

    private List<Row> rows() {
        String s = Double.toString(seconds);
        List<String> udp = List.of("--port", "udp", "--planes", "4", "--paths", "16", "--seconds", s);
        List<Row> rows = new ArrayList<>();
        rows.add(new Row("Write 1 MiB, UDP, 4 planes x 4 paths", -1, with(udp, "--op", "write", "--size", "1M")));
        rows.add(new Row("the same, 1 % loss both ways", 0, with(udp, "--op", "write", "--size", "1M", "--loss", "0.01")));
        rows.add(new Row("the same, 10 % loss both ways", 0, with(udp, "--op", "write", "--size", "1M", "--loss", "0.1")));
        rows.add(new Row("Send 64 B, UDP, ping-pong, one way", -1, with(udp, "--op", "send", "--size", "64", "--latency")));
        rows.add(new Row("Read 1 MiB, UDP", -1, with(udp, "--op", "read", "--size", "1M")));
        rows.add(new Row(DPDK, -1, List.of("--port", "dpdk", "--planes", "4", "--paths", "16", "--seconds", s, "--op", "write", "--size", "1M")));
        rows.add(new Row("the Write, plane 3 cut half-way", 0,
                with(udp, "--op", "write", "--size", "1M", "--block-plane", "3@" + seconds / 2)));
        return rows;
    }

    private static List<String> with(List<String> first, String... more) {
        List<String> all = new ArrayList<>(first);
        all.addAll(List.of(more));
        return all;
    }

    private int show(PrintWriter out) throws IOException, InterruptedException {
        out.printf("%-" + NAME_WIDTH + "s %9s %9s %10s %9s %9s %8s %8s %8s  %s%n", "two processes, this machine", "Gb/s", "of first", "messages/s",
                "p50 us", "p99 us", "resent", "spurious", "timeouts", "verified");
        out.flush();
        List<Row> rows = rows();
        double[] goodput = new double[rows.size()];
        boolean allVerified = true;
        for (int i = 0; i < rows.size(); i++) {
            Row row = rows.get(i);
            String missing = row.name().equals(DPDK) ? whyNoDpdk() : "";
            if (!missing.isEmpty()) {
                out.printf("%-" + NAME_WIDTH + "s skipped: %s%n", row.name(), missing);
                continue;
            }
            List<String> arguments = new ArrayList<>(List.of("perf", "--local", "--verify", "--json"));
            arguments.addAll(row.options());
            Process process = new ProcessBuilder(OwnJava.command(arguments)).redirectInput(ProcessBuilder.Redirect.PIPE).start();
            String json = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (!process.waitFor(ROW_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            boolean verified = json.startsWith("{") && json.contains("\"verified\":true") && process.exitValue() == ExitCode.OK;
            allVerified &= verified;
            if (!json.startsWith("{")) {
                out.printf("%-" + NAME_WIDTH + "s failed: %s%n", row.name(), errors.isEmpty() ? "exit code " + process.exitValue() : errors);
            } else {
                goodput[i] = number(json, "goodput_gbps");
                String share = row.compareWith() < 0 || goodput[row.compareWith()] == 0 ? ""
                        : String.format(Locale.ROOT, "%.1f %%", 100 * goodput[i] / goodput[row.compareWith()]);
                out.printf(Locale.ROOT, "%-" + NAME_WIDTH + "s %9.3f %9s %10.0f %9.1f %9.1f %8.0f %8.0f %8.0f  %s%n", row.name(), goodput[i], share,
                        number(json, "messages_per_second"), number(json, "p50"), number(json, "p99"), number(json, "retransmissions"),
                        number(json, "spurious_retransmissions"), number(json, "timeouts"), verified ? "yes" : "NO " + errors);
            }
            out.flush();
        }
        return allVerified ? ExitCode.OK : ExitCode.FAILED;
    }

    /** "" if this build has DPDK. */
    private static String whyNoDpdk() {
        try {
            PmdLibrary.load();
            return "";
        } catch (PmdUnavailableException e) {
            // The first sentence; the rest is advice for those who want DPDK.
            return e.getMessage().split("\\. ")[0];
        }
    }

    /** The first number with this name in a line that this program has written. */
    static double number(String json, String field) {
        Matcher m = Pattern.compile("\"" + field + "\":(-?[0-9.]+)").matcher(json);
        return m.find() ? Double.parseDouble(m.group(1)) : Double.NaN;
    }
}
