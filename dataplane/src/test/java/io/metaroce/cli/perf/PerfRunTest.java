// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.cli.ExitCode;
import io.metaroce.crypto.PskFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whole runs, client and server, over memory. */
@Timeout(60)
class PerfRunTest {
    @ParameterizedTest
    @CsvSource({
        "WRITE, 1, 1", "WRITE, 64, 3", "WRITE, 100001, 2", "WRITE, 1048576, 1",
        "SEND, 1, 1", "SEND, 64, 3", "SEND, 100001, 2", "SEND, 1048576, 1",
        "READ, 1, 1", "READ, 64, 3", "READ, 100001, 2", "READ, 1048576, 1"})
    void everyMessageIsVerified(Op op, long size, int streams) {
        RunOptions run = InProcess.options(op, size);
        run.streams = streams;
        check(run, "");
    }

    @ParameterizedTest
    @CsvSource({"WRITE", "SEND", "READ"})
    void bothDirectionsAtOnce(Op op) {
        RunOptions run = InProcess.options(op, 20_000);
        run.streams = 2;
        run.bidirectional = true;
        check(run, "");
    }

    @ParameterizedTest
    @CsvSource({"WRITE", "SEND", "READ"})
    void underLossDuplicationAndDelay(Op op) {
        RunOptions run = InProcess.options(op, 50_000);
        run.seconds = 0.5;
        Result result = check(run, "loss=0.03,dup=0.01,delay=20us,jitter=20us");
        assertTrue(result.retransmissions() > 0);
    }

    @ParameterizedTest
    @CsvSource({"WRITE", "SEND", "READ"})
    void oneAtATimeForLatency(Op op) {
        RunOptions run = InProcess.options(op, 64);
        run.latency = true;
        Result result = check(run, "");
        assertEquals(op == Op.SEND, result.plan.pingPong());
        assertTrue(result.latencyUs(50) > 0);
    }

    @ParameterizedTest
    @CsvSource({"WRITE", "SEND", "READ"})
    void encrypted(Op op) throws IOException {
        Path key = PskFile.temporary();
        RunOptions run = InProcess.options(op, 100_001);
        run.streams = 2;
        run.bidirectional = true;
        try (InProcess pair = new InProcess(run, 2, "loss=0.01,dup=0.01", PerfClient.SERVICE, key)) {
            pair.run();
            Result result = pair.result();
            assertTrue(result.verified(), () -> Report.verdict(result) + " " + pair.serverLog);
            assertTrue(pair.serverLog.stream().anyMatch(l -> l.endsWith("verified, encrypted")), () -> pair.serverLog.toString());
        } finally {
            Files.delete(key);
        }
    }

    @Test
    void iterationsAreExact() {
        RunOptions run = InProcess.options(Op.WRITE, 5000);
        run.seconds = null;
        run.iterations = 777L;
        Result result = check(run, "");
        assertEquals(777, result.messages);
        assertEquals(777, result.latency.getTotalCount());
    }

    @Test
    void aPlaneCutHalfWayCostsNoMessage() {
        RunOptions run = InProcess.options(Op.WRITE, 200_000);
        run.seconds = 1.0;
        run.blockPlane = new PlaneBlock(1, 500_000_000);
        try (InProcess pair = new InProcess(run, 2, "")) {
            pair.run();
            Result result = pair.result();
            assertTrue(result.verified(), () -> Report.verdict(result));
            assertTrue(result.client.planeFailures + result.client.deadPaths > 0);
            assertTrue(pair.clientPort.dropped() > 0);
        }
    }

    @Test
    void withoutVerificationNothingIsClaimed() {
        RunOptions run = InProcess.options(Op.WRITE, 5000);
        run.verify = false;
        try (InProcess pair = new InProcess(run, 1, "")) {
            pair.run();
            assertFalse(pair.result().verified());
            assertFalse(pair.result().verificationFailed());
            assertTrue(pair.result().messages > 0);
        }
    }

    @ParameterizedTest
    @CsvSource({"WRITE", "SEND"})
    void oneWayTimesLieBelowThoseOfCompletions(Op op) {
        RunOptions run = InProcess.options(op, 5000);
        run.verify = false;
        run.oneWay = true;
        run.messageRate = 2_000.0;
        try (InProcess pair = new InProcess(run, 1, "delay=1ms")) {
            pair.run();
            long[] ns = pair.result().serverTimes.oneWayNs;
            assertEquals(4, ns.length);
            assertTrue(ns[0] >= 900_000 && ns[0] <= ns[1] && ns[1] <= ns[2] && ns[2] <= ns[3], java.util.Arrays.toString(ns));
            // There and back.
            assertTrue(ns[0] < 0.8 * pair.result().latency.getValueAtPercentile(50), ns[0] + " one way, " + pair.result().latency.getValueAtPercentile(50) + " to completion");
        }
    }

    @Test
    void ctrlCGivesWhatWasMeasuredSoFar() {
        RunOptions run = InProcess.options(Op.WRITE, 5000);
        run.seconds = 1000.0;
        try (InProcess pair = new InProcess(run, 1, "")) {
            pair.turnUntil(() -> pair.client.progress.phase.equals("measuring") && pair.client.progress.messages > 0, 10, pair.server);
            pair.client.requestStop();
            pair.run();
            assertTrue(pair.result().interrupted);
            assertTrue(pair.result().verified());
        }
    }

    @Test
    void aSilentServerIsNamedWithinTwoSeconds() {
        RunOptions run = InProcess.options(Op.WRITE, 5000);
        run.seconds = 1000.0;
        try (InProcess pair = new InProcess(run, 1, "")) {
            pair.turnUntil(() -> pair.client.progress.phase.equals("measuring"), 10, pair.server);
            pair.clientPort.shut(0, true);
            long start = io.metaroce.core.Clock.nowNs();
            pair.run();
            double seconds = (io.metaroce.core.Clock.nowNs() - start) / 1e9;
            assertNotNull(pair.client.failure());
            assertEquals(ExitCode.PEER, pair.client.failure().exitCode());
            assertTrue(pair.client.failure().getMessage().contains("10.0.0.2:14791"), pair.client.failure().getMessage());
            assertTrue(seconds < 2, seconds + " s");
            // And the server frees what it held for the client.
            pair.turnUntil(() -> pair.server.liveSessions() == 0, 5, pair.server);
            assertEquals(0, pair.serverLoop.endpoint().liveConnections());
            assertEquals(0, pair.serverLoop.endpoint().liveStreams());
            assertEquals(0, pair.serverLoop.endpoint().liveWorkRequests());
        }
    }

    @Test
    void aStoppingServerTellsItsClient() {
        RunOptions run = InProcess.options(Op.WRITE, 5000);
        run.seconds = 1000.0;
        try (InProcess pair = new InProcess(run, 1, "")) {
            pair.turnUntil(() -> pair.client.progress.phase.equals("measuring"), 10, pair.server);
            pair.server.requestStop();
            pair.run();
            assertTrue(pair.client.failure().getMessage().contains("SHUTDOWN"), pair.client.failure().getMessage());
        }
    }

    @Test
    void whenNobodyAnswersThePeerIsUnreachable() {
        RunOptions run = InProcess.options(Op.WRITE, 5000);
        run.connectTimeout = 0.3;
        try (InProcess pair = new InProcess(run, 1, "")) {
            pair.clientPort.shut(0, true);
            pair.run();
            assertEquals(ExitCode.PEER, pair.client.failure().exitCode());
            assertTrue(pair.client.failure().getMessage().startsWith("peer 10.0.0.2:14791 is unreachable"), pair.client.failure().getMessage());
        }
    }

    @Test
    void anotherApplicationRefuses() {
        try (InProcess pair = new InProcess(InProcess.options(Op.WRITE, 5000), 1, "", 4711)) {
            pair.run();
            assertEquals(ExitCode.PEER, pair.client.failure().exitCode());
            assertTrue(pair.client.failure().getMessage().contains("10.0.0.2:14791 refused"), pair.client.failure().getMessage());
        }
    }

    private static Result check(RunOptions run, String impairment) {
        try (InProcess pair = new InProcess(run, 2, impairment)) {
            pair.run();
            Result result = pair.result();
            assertTrue(result.verified(), () -> Report.verdict(result) + " " + pair.serverLog);
            assertTrue(result.messages > 0);
            pair.turnUntil(() -> pair.server.liveSessions() == 0, 5, pair.server);
            assertEquals(0, pair.serverLoop.endpoint().liveWorkRequests());
            return result;
        }
    }
}
