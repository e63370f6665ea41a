// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** {@code --intervals}: what is completed goes to the interval it is seen in, and a run's intervals add up to the run. */
class SeriesTest {
    @Test
    void theIntervalsOfARunAddUp() {
        RunOptions options = InProcess.options(Op.WRITE, 16_384);
        options.seconds = 0.5;
        options.json = true;
        options.intervals = 10_000_000L;
        try (InProcess run = new InProcess(options, 2, "")) {
            run.run();
            Json json = Json.parse(Report.json(run.result()));
            int n = json.size("intervals.bytes");
            assertEquals(50, n);
            assertEquals(2, json.size("intervals.plane_packets"));
            assertEquals(10.0, (double) json.at("intervals.length_ms"));
            double bytes = 0;
            double packets = 0;
            for (int i = 0; i < n; i++) {
                bytes += (double) json.at("intervals.bytes." + i);
                packets += (double) json.at("intervals.plane_packets.0." + i) + (double) json.at("intervals.plane_packets.1." + i);
            }
            // What the last turn of the loop completed lies behind the last interval.
            double all = (double) json.at("bytes");
            assertTrue(bytes <= all && bytes > all / 2, bytes + " of " + all);
            assertTrue(packets >= bytes / 2 / 4096 && packets < 2 * bytes / 4096 + 2_000, packets + " packets for " + bytes + " bytes");
        }
    }
}
