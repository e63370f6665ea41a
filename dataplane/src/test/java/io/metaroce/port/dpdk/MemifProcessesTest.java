// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two processes over shared memory, one of which is killed in full traffic and comes back, again and again. */
class MemifProcessesTest {
    private static final int ROUNDS = 4;
    private static final int PLANES = 2;

    private final List<Process> started = new ArrayList<>();
    private final List<String> log = new ArrayList<>();

    @BeforeAll
    static void dpdk() {
        DpdkTesting.require();
    }

    @AfterEach
    void end() {
        started.forEach(Process::destroyForcibly);
    }

    @Test
    void aServerSurvivesItsClients() throws Exception {
        survives("server", "client");
    }

    @Test
    void aClientSurvivesItsServers() throws Exception {
        survives("client", "server");
    }

    private void survives(String survivor, String victim) throws Exception {
        String link = "test-" + ProcessHandle.current().pid() + "-" + survivor;
        BlockingQueue<String> said = new LinkedBlockingQueue<>();
        Process flood = start(said, "flood", survivor, link);
        for (int round = 0; round < ROUNDS; round++) {
            Process echo = start(null, "echo", victim, link);
            await(said, "UP", flood);
            Thread.sleep(50);
            echo.destroyForcibly().waitFor();
            await(said, "DOWN", flood);
        }
        flood.getOutputStream().write('\n');
        flood.getOutputStream().close();
        assertTrue(flood.waitFor(10, TimeUnit.SECONDS), "does not end");
        assertEquals(0, flood.exitValue(), () -> "ended badly: " + log);
        String result = said.stream().filter(s -> s.startsWith("CORRUPT")).findFirst().orElse("nothing");
        assertTrue(result.startsWith("CORRUPT 0 "), result);
    }

    private void await(BlockingQueue<String> said, String word, Process process) throws InterruptedException {
        long endNs = System.nanoTime() + 30_000_000_000L;
        while (System.nanoTime() - endNs < 0) {
            String line = said.poll(100, TimeUnit.MILLISECONDS);
            if (word.equals(line)) {
                return;
            }
            if (line == null && !process.isAlive()) {
                fail("the survivor ended with " + process.exitValue() + ": " + log);
            }
        }
        fail("no " + word + ": " + log);
    }

    private Process start(BlockingQueue<String> said, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-Xmx128m", "-XX:+UseSerialGC", "-XX:ErrorFile=target/memif-crash-%p.log", "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")), MemifEnd.class.getName()));
        command.addAll(List.of(arguments));
        command.add(Integer.toString(PLANES));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        started.add(process);
        Thread.ofVirtual().start(() -> {
            try (var lines = process.inputReader()) {
                lines.lines().forEach(line -> {
                    synchronized (log) {
                        log.add(arguments[0] + ": " + line);
                    }
                    if (said != null) {
                        said.add(line);
                    }
                });
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        return process;
    }
}
