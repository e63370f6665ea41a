// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.cli.ExitCode;
import io.metaroce.core.Clock;
import io.metaroce.crypto.PskFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The command as real processes over real sockets: runs, deaths and polite ends. */
@Timeout(120)
class PerfProcessTest {
    /**
     * From the death of a process to the end of the other. The transport gives up after 1.5 s and the promise is 2 s; a machine that
     * is busy with other tests gets some more.
     */
    private static final double NOTICE_SECONDS = 4;

    private final List<Running> started = new ArrayList<>();

    /** A started command with its output so far. */
    private static final class Running {
        final Process process;
        final List<String> out = Collections.synchronizedList(new ArrayList<>());
        final List<String> err = Collections.synchronizedList(new ArrayList<>());

        Running(String arguments) throws IOException {
            process = new ProcessBuilder(OwnJava.command(List.of(arguments.split(" ")))).start();
            follow(process.inputReader(), out);
            follow(process.errorReader(), err);
        }

        private static void follow(BufferedReader reader, List<String> lines) {
            Thread.ofPlatform().daemon().start(() -> reader.lines().forEach(lines::add));
        }

        boolean hasOut(String part) {
            synchronized (out) {
                return out.stream().anyMatch(l -> l.contains(part));
            }
        }

        boolean hasErr(String part) {
            synchronized (err) {
                return err.stream().anyMatch(l -> l.contains(part));
            }
        }

        /** By its handle: the methods of {@link Process} would close the streams that are being read. */
        void kill() throws InterruptedException {
            process.toHandle().destroyForcibly();
            process.waitFor();
        }

        int awaitExit(double seconds) throws InterruptedException {
            assertTrue(process.waitFor((long) (seconds * 1000), TimeUnit.MILLISECONDS), () -> "still running after " + seconds + " s: " + this);
            // The readers may be a moment behind.
            Thread.sleep(200);
            return process.exitValue();
        }

        @Override
        public String toString() {
            return "out " + out + ", err " + err;
        }
    }

    private Running start(String arguments) throws IOException {
        Running running = new Running(arguments);
        started.add(running);
        return running;
    }

    private Running server(int port) throws IOException, InterruptedException {
        Running server = start("perf server --planes 2 --paths 4 --udp-port " + port);
        await("server ready", server, () -> server.hasOut("ready "));
        return server;
    }

    private Running longClient(int port) throws IOException, InterruptedException {
        Running client = start("perf client 127.0.0.1:" + port + " --planes 2 --paths 4 --op write --size 64K --warmup 0.1 --seconds 100");
        await("client measuring", client, () -> client.hasErr("Gb/s"));
        return client;
    }

    private static void await(String what, Running who, BooleanSupplier condition) throws InterruptedException {
        long start = Clock.nowNs();
        while (!condition.getAsBoolean()) {
            assertTrue(Clock.nowNs() - start < 40_000_000_000L, () -> "no " + what + ": " + who);
            Thread.sleep(20);
        }
    }

    private static int freePort() throws IOException {
        try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @AfterEach
    void endAll() {
        for (Running running : started) {
            running.process.descendants().forEach(ProcessHandle::destroyForcibly);
            running.process.toHandle().destroyForcibly();
        }
    }

    @Test
    void localRunIsVerifiedUnderLoss() throws Exception {
        Running run = start("perf --local --op write --size 256K --planes 2 --paths 4 --loss 0.01 --warmup 0.2 --seconds 0.5 --json");
        assertEquals(ExitCode.OK, run.awaitExit(60), run::toString);
        assertEquals(1, run.out.size(), run::toString);
        Json json = Json.parse(run.out.getFirst());
        assertEquals(true, json.at("verified"));
        assertEquals(true, json.at("local"));
        assertEquals(4, json.size("paths"));
        assertTrue((double) json.at("goodput_gbps") > 0);
    }

    @Test
    void theStrongerIntegrityOfBothSidesCounts() throws Exception {
        Running run = start("perf --local --integrity header --op write --size 256K --loss 0.01 --warmup 0.2 --seconds 0.5 --json");
        assertEquals(ExitCode.OK, run.awaitExit(60), run::toString);
        Json json = Json.parse(run.out.getFirst());
        assertEquals("header", json.at("integrity"));
        assertEquals(true, json.at("verified"));
        int port = freePort();
        server(port);
        Running client = start("perf client 127.0.0.1:" + port + " --integrity header --size 1000 --warmup 0 --iterations 100 --json");
        assertEquals(ExitCode.OK, client.awaitExit(40), client::toString);
        assertEquals("full", Json.parse(client.out.getFirst()).at("integrity"));
    }

    @Test
    void anEncryptedLocalRunIsVerifiedUnderLoss() throws Exception {
        Running run = start("perf --local --encrypt --op write --size 256K --planes 2 --paths 4 --loss 0.01 --warmup 0.2 --seconds 0.5 --json");
        assertEquals(ExitCode.OK, run.awaitExit(60), run::toString);
        Json json = Json.parse(run.out.getFirst());
        assertEquals(true, json.at("verified"));
        assertEquals(true, json.at("encrypted"));
    }

    @Test
    void aServerWithAKeyRefusesClientsWithoutAndWithAnother() throws Exception {
        int port = freePort();
        Path key = PskFile.temporary();
        Path other = PskFile.temporary();
        try {
            Running server = start("perf server --udp-port " + port + " --psk-file " + key);
            await("server ready", server, () -> server.hasOut("ready "));
            for (String option : List.of("", " --psk-file " + other)) {
                Running client = start("perf client 127.0.0.1:" + port + " --size 64K --seconds 1" + option);
                assertEquals(ExitCode.PEER, client.awaitExit(10), client::toString);
                assertTrue(client.hasErr("error: peer 127.0.0.1:" + port + " refused the connection: SECURITY"), client::toString);
            }
            Running client = start("perf client 127.0.0.1:" + port + " --size 64K --warmup 0.1 --seconds 0.3 --json --psk-file " + key);
            assertEquals(ExitCode.OK, client.awaitExit(30), client::toString);
            assertEquals(true, Json.parse(client.out.getFirst()).at("verified"));
        } finally {
            Files.delete(key);
            Files.delete(other);
        }
    }

    @Test
    void aKilledServerIsNamedAndARestartedOneServes() throws Exception {
        int port = freePort();
        Running server = server(port);
        Running client = longClient(port);
        server.kill();
        assertEquals(ExitCode.PEER, client.awaitExit(NOTICE_SECONDS), client::toString);
        assertTrue(client.hasErr("error: peer 127.0.0.1:" + port + " did not answer"), client::toString);
        server(port);
        Running again = start("perf client 127.0.0.1:" + port + " --op send --size 1000 --warmup 0 --iterations 100 --json");
        assertEquals(ExitCode.OK, again.awaitExit(40), again::toString);
        assertEquals(true, Json.parse(again.out.getFirst()).at("verified"));
    }

    @Test
    void aKilledClientIsForgottenAndTheNextOneServed() throws Exception {
        int port = freePort();
        Running server = server(port);
        Running client = longClient(port);
        client.kill();
        await("notice of the death", server, () -> server.hasOut("did not answer"));
        Running next = start("perf client 127.0.0.1:" + port + " --op read --size 1000 --warmup 0 --iterations 100 --json");
        assertEquals(ExitCode.OK, next.awaitExit(40), next::toString);
    }

    @Test
    void aPolitelyEndedClientShowsWhatItHas() throws Exception {
        int port = freePort();
        Running server = server(port);
        Running client = longClient(port);
        client.process.toHandle().destroy();
        assertEquals(ExitCode.INTERRUPTED, client.awaitExit(20), client::toString);
        assertTrue(client.hasOut("interrupted"), client::toString);
        assertTrue(client.hasOut("yes, all"), client::toString);
        await("the end of the session", server, () -> server.hasOut("done"));
    }

    @Test
    void aPolitelyEndedServerTellsItsClient() throws Exception {
        int port = freePort();
        Running server = server(port);
        Running client = longClient(port);
        server.process.toHandle().destroy();
        assertEquals(ExitCode.OK, server.awaitExit(10), server::toString);
        assertEquals(ExitCode.PEER, client.awaitExit(NOTICE_SECONDS), client::toString);
        assertTrue(client.hasErr("127.0.0.1:" + port), client::toString);
    }

    @Test
    void theServerProcessOfALocalRunNeverOutlivesIt() throws Exception {
        Running run = start("perf --local --op write --size 64K --warmup 0.1 --seconds 100");
        await("measuring", run, () -> run.hasErr("Gb/s"));
        ProcessHandle child = run.process.children().findFirst().orElseThrow();
        run.kill();
        await("end of the server process", run, () -> !child.isAlive());
    }

    @Test
    void aPortInUseIsOneLine() throws Exception {
        int port = freePort();
        server(port);
        Running second = start("perf server --udp-port " + port);
        assertEquals(ExitCode.ENVIRONMENT, second.awaitExit(20), second::toString);
        assertEquals(1, second.err.size(), second::toString);
        assertTrue(second.hasErr("UDP port " + port + " is in use"), second::toString);
    }

    @Test
    void aForeignAddressIsOneLine() throws Exception {
        Running server = start("perf server --bind 192.0.2.1");
        assertEquals(ExitCode.ENVIRONMENT, server.awaitExit(20), server::toString);
        assertEquals(1, server.err.size(), server::toString);
        assertTrue(server.hasErr("192.0.2.1"), server::toString);
    }

    @Test
    void anUnreachableServerIsOneLineInTime() throws Exception {
        int port = freePort();
        Running client = start("perf client 127.0.0.1:" + port + " --connect-timeout 0.5 --json");
        assertEquals(ExitCode.PEER, client.awaitExit(10), client::toString);
        assertEquals(1, client.err.size(), client::toString);
        assertTrue(client.hasErr("error: peer 127.0.0.1:" + port + " is unreachable"), client::toString);
        assertEquals(List.of(), client.out);
    }
}
