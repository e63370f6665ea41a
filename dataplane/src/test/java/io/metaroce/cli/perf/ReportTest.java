// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
    private static Result result(Plan plan) {
        Result r = new Result();
        r.plan = plan;
        r.port = "udp";
        r.peer = "127.0.0.1:14791";
        r.planes = 2;
        r.paths = 4;
        r.mtu = 4096;
        r.loss = 0.01;
        r.seconds = 2;
        r.messages = 1000;
        r.sentInAll = r.checkedInAll = 1500;
        r.startWallMillis = 1_700_000_000_000L;
        r.latency = new Histogram(1, 60_000_000_000L, 3);
        for (int i = 1; i <= 1000; i++) {
            r.latency.recordValue(i * 1000L);
        }
        r.client.retransmissions = 5;
        r.server.retransmissions = 2;
        r.client.paths = List.of(new Traffic.Path(0, 0, 50_000, 300, 12.5, "good"), new Traffic.Path(1, 0, 50_001, 100, 13, "down"));
        r.server.paths = List.of(new Traffic.Path(0, 0, 60_000, 1, 9, "good"));
        return r;
    }

    @Test
    void theJsonLineIsOneObjectWithThePromisedFields() {
        String line = Report.json(result(new Plan(Op.WRITE, 1 << 20, 1, 8, 16, true, false, false, false)));
        assertEquals(1, line.lines().count());
        Json json = Json.parse(line);
        assertEquals("udp", json.at("port"));
        assertEquals("write", json.at("op"));
        assertEquals(1000.0 * (1 << 20), json.at("bytes"));
        assertEquals(2.0, json.at("seconds"));
        assertEquals(4.194, (double) json.at("goodput_gbps"), 0.001);
        assertEquals(500.0, json.at("messages_per_second"));
        assertEquals(true, json.at("verified"));
        assertEquals(7.0, json.at("retransmissions"));
        for (String field : List.of("spurious_retransmissions", "timeouts", "ecn_marks", "loss", "seed", "planes", "size", "peer")) {
            assertTrue(json.has(field), field);
        }
        assertEquals(500, (double) json.at("latency_us.p50"), 1);
        assertEquals(990, (double) json.at("latency_us.p99"), 1);
        assertEquals(999, (double) json.at("latency_us.p999"), 1);
        assertEquals(1000, (double) json.at("latency_us.max"), 1);
        assertEquals(2, json.size("paths"), "a Write is sent by the client: its paths");
        assertEquals(1.0, json.at("paths.1.plane"));
        assertEquals(50_001.0, json.at("paths.1.source_port"));
        assertEquals(100.0, json.at("paths.1.packets"));
        assertEquals(0.25, json.at("paths.1.share"));
        assertEquals(13.0, json.at("paths.1.rtt_us"));
        assertEquals("down", json.at("paths.1.state"));
    }

    @Test
    void aReadShowsThePathsOfTheServerThatSendsTheData() {
        Json json = Json.parse(Report.json(result(new Plan(Op.READ, 4096, 1, 8, 16, true, false, false, false))));
        assertEquals(1, json.size("paths"));
        assertEquals("server", json.at("paths.0.sender"));
    }

    @Test
    void pingPongLatencyIsHalfTheRoundTrip() {
        Json json = Json.parse(Report.json(result(new Plan(Op.SEND, 64, 1, 1, 4, true, false, true, false))));
        assertEquals(250, (double) json.at("latency_us.p50"), 1);
        assertEquals(500, (double) json.at("round_trip_us.p50"), 1);
    }

    @Test
    void verifiedMeansEveryMessage() {
        Result r = result(new Plan(Op.WRITE, 4096, 1, 8, 16, true, false, false, false));
        assertTrue(r.verified());
        r.checkedInAll--;
        assertFalse(r.verified(), "one was not checked");
        assertTrue(r.verificationFailed());
        assertEquals("NO: 1499 of 1500 messages were found right", Report.verdict(r));
        r.checkedInAll = r.sentInAll = 0;
        assertFalse(r.verified(), "nothing was sent, so nothing is verified");
        Result unasked = result(new Plan(Op.WRITE, 4096, 1, 8, 16, false, false, false, false));
        assertFalse(unasked.verified());
        assertFalse(unasked.verificationFailed());
    }

    @Test
    void odditiesStillMakeJson() {
        Result r = result(new Plan(Op.WRITE, 4096, 1, 8, 16, true, false, false, false));
        r.seconds = 0;
        r.peer = "a \"quoted\\ peer\"\n";
        assertEquals(0.0, Json.parse(Report.json(r)).at("goodput_gbps"));
        assertEquals(r.peer, Json.parse(Report.json(r)).at("peer"));
    }

    @Test
    void theTableHoldsWhatThePeopleLookFor() {
        StringWriter text = new StringWriter();
        Report.table(result(new Plan(Op.WRITE, 1 << 20, 1, 8, 16, true, false, false, false)), new PrintWriter(text));
        for (String part : List.of("write 1 MiB over udp", "1 % injected loss", "goodput", "4.194 Gb/s", "500 a second", "p99.9", "7, of these 0 spurious",
                "timeouts", "ECN marks", "yes, all 1500", "50001", "25.0%", "down")) {
            assertTrue(text.toString().contains(part), part + " in " + text);
        }
    }

    @Test
    void theLatencyLogCanBeReadBack(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("latency.hlog");
        Report.writeHdr(result(new Plan(Op.WRITE, 4096, 1, 8, 16, true, false, false, false)), file);
        try (HistogramLogReader reader = new HistogramLogReader(file.toFile())) {
            Histogram h = (Histogram) reader.nextIntervalHistogram();
            assertEquals(1000, h.getTotalCount());
            assertEquals(500_000, h.getValueAtPercentile(50), 1000);
        }
    }

    @Test
    void trafficTravelsAsText() {
        Traffic traffic = result(new Plan(Op.WRITE, 4096, 1, 8, 16, true, false, false, false)).client;
        Message message = new Message(Message.RESULT);
        traffic.putInto(message);
        Traffic back = Traffic.from(Message.decode(message.encode()));
        assertEquals(traffic.paths, back.paths);
        assertEquals(5, back.retransmissions);
    }
}
