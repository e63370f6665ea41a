// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Programs that measure in processes of their own, and what they print. */
final class Child {
    private Child() {
    }

    /** This Java and class path, for a class with a main method. */
    static List<String> java(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC", "-Xmx256m", "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    /** {@code scripts/metaroce} of this tree. */
    static List<String> metaroce(String... arguments) {
        List<String> command = new ArrayList<>(List.of(root().resolve("scripts/metaroce").toString()));
        command.addAll(List.of(arguments));
        return command;
    }

    static Path root() {
        return Path.of(System.getProperty("metaroce.root", "."));
    }

    /**
     * Runs to the end and returns what was printed, errors included.
     *
     * @throws IOException if it cannot be started, fails, or takes longer
     */
    static String output(int seconds, List<String> command) throws IOException, InterruptedException {
        return output(seconds, Map.of(), command);
    }

    /** @param environment what the program has beside ours */
    static String output(int seconds, Map<String, String> environment, List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        CompletableFuture<String> text = CompletableFuture.supplyAsync(() -> String.join("\n", process.inputReader().lines().toList()));
        try {
            process.getOutputStream().close();
            if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                throw new IOException(command.getLast() + " did not end within " + seconds + " s");
            }
            if (process.exitValue() != 0) {
                throw new IOException("exit code " + process.exitValue() + ": " + complaint(text.join()));
            }
            return text.join();
        } finally {
            end(process);
        }
    }

    /** Ends a process of ours with all that it started. */
    static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    /** The first line that names an error, else the last: some programs show a stack behind it. */
    static String complaint(String text) {
        return text.lines().filter(l -> l.matches("(?i).*(error|panic|exception|cannot).*")).findFirst().orElse(last(text)).strip();
    }

    static String last(String text) {
        return text.substring(text.strip().lastIndexOf('\n') + 1).strip();
    }

    /** The last number that the pattern's first group finds. */
    static double number(String text, String pattern) {
        Matcher m = Pattern.compile(pattern).matcher(text);
        String found = null;
        while (m.find()) {
            found = m.group(1);
        }
        if (found == null) {
            throw new IllegalStateException("no figure in the output: " + last(text));
        }
        return Double.parseDouble(found);
    }

    /** A number by its name in a line of JSON. */
    static double field(String json, String name) {
        return number(json, "\"" + name + "\":(-?[0-9.]+)");
    }

    /** Why nothing can be measured over DPDK here, or null. */
    static String missingDpdk() {
        return Files.exists(root().resolve("pmd-shim/build/libmetaroce_pmd.so")) ? null : "DPDK is not installed";
    }

    /** Whether a program is on the PATH. */
    static boolean has(String program) {
        for (String directory : System.getenv("PATH").split(":")) {
            if (Path.of(directory, program).toFile().canExecute()) {
                return true;
            }
        }
        return false;
    }
}
