// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.cli.CliException;
import io.metaroce.cli.ExitCode;
import io.metaroce.wire.NetAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** A perf server in a child process of this one, for {@code --local}. Ends with this object, or with this process. */
final class LocalServer implements AutoCloseable {
    private static final long START_SECONDS = 20;
    private static final long END_MS = 3000;
    private static final String ERROR = "error: ";

    private final Process process;
    private final CompletableFuture<String> ready = new CompletableFuture<>();
    private volatile String lastError = "";

    /**
     * Starts the child with this process's Java and class path.
     *
     * @param options of {@code metaroce perf server}
     * @param notices takes what the child writes to its standard error
     */
    LocalServer(List<String> options, Consumer<String> notices) {
        List<String> arguments = new ArrayList<>(List.of("perf", "server", "--child"));
        arguments.addAll(options);
        try {
            process = new ProcessBuilder(OwnJava.command(arguments)).start();
        } catch (IOException e) {
            throw new CliException(ExitCode.ENVIRONMENT, "cannot start the server process: " + e.getMessage());
        }
        follow("metaroce-server-out", process.inputReader(), line -> {
            if (line.startsWith(ServerCommand.READY)) {
                ready.complete(line.substring(ServerCommand.READY.length()));
            }
        }, () -> ready.complete(""));
        follow("metaroce-server-err", process.errorReader(), line -> {
            if (line.startsWith(ERROR)) {
                lastError = line.substring(ERROR.length());
            } else {
                notices.accept("server process: " + line);
            }
        }, () -> { });
    }

    private static void follow(String name, BufferedReader reader, Consumer<String> line, Runnable end) {
        Thread.ofPlatform().daemon().name(name).start(() -> {
            try (reader) {
                reader.lines().forEach(line);
            } catch (IOException | UncheckedIOException e) {
                // The child is gone.
            }
            end.run();
        });
    }

    long pid() {
        return process.pid();
    }

    /** Waits until the server can be connected to. */
    NetAddress awaitReady() throws InterruptedException {
        String line;
        try {
            line = ready.get(START_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new CliException(ExitCode.ENVIRONMENT, "the server process is not ready after " + START_SECONDS + " s");
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
        if (line.isEmpty()) {
            int code = process.waitFor();
            throw new CliException(code >= ExitCode.USAGE && code <= ExitCode.ENVIRONMENT ? code : ExitCode.FAILED, "server process: "
                    + (lastError.isEmpty() ? "ended with exit code " + code : lastError));
        }
        return Addresses.peer(line.substring(0, line.indexOf(' ')), 0);
    }

    /** Ends the child: first by closing its standard input, then by its process number. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // Already gone.
        }
        try {
            if (!process.waitFor(END_MS, TimeUnit.MILLISECONDS)) {
                process.destroy();
                if (!process.waitFor(END_MS, TimeUnit.MILLISECONDS)) {
                    process.destroyForcibly();
                }
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
