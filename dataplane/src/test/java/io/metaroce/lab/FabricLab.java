// SPDX-License-Identifier: Apache-2.0
package io.metaroce.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.cli.perf.Json;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two leaf switches that choose among the links between them by a hash: a path's source port is its route. */
@Tag("lab")
@Timeout(120)
class FabricLab {
    private static final int LINKS = 4;
    /** As many as leave a link of four without any once in 10,000 runs. */
    private static final int PATHS = 32;
    /** From the end of the warm-up until a link turns bad. */
    private static final int GO_MS = 500;
    /** From when a link turns bad until its packets are counted. */
    private static final int LEAVE_MS = Lab.SHORT ? 1500 : 3000;
    private static final int COUNT_MS = 1000;

    private static long[] packets(List<Map<String, String>> stats) {
        long[] packets = new long[LINKS];
        for (int link = 0; link < LINKS; link++) {
            packets[link] = Lab.counter(stats, link, "ab", "packets");
        }
        return packets;
    }

    /** Runs a transfer in which link 1 turns bad; returns each link's part of the packets late in the run. */
    private static double[] partsAfter(String action) throws Exception {
        try (Lab lab = new Lab(LINKS, "--fabric")) {
            int leftMs = GO_MS + LEAVE_MS;
            double seconds = (leftMs + COUNT_MS) / 1000.0 + 1;
            try (Transfer transfer = new Transfer(lab, "--rate 1G --paths " + PATHS, "--size 64K --warmup 1 --seconds " + seconds,
                    GO_MS + " stats", GO_MS + " plane 1 " + action, leftMs + " stats", leftMs + COUNT_MS + " stats")) {
                Json json = transfer.finish();
                double[] before = parts(new long[LINKS], packets(transfer.answer(0)));
                assertTrue(before[1] > 0.02, "by bad luck no path of " + PATHS + " uses link 1: " + Arrays.toString(before));
                double[] after = parts(packets(transfer.answer(2)), packets(transfer.answer(3)));
                assertEquals(0, Transfer.number(json, "plane_failures"));
                PlanesLab.report("fabric, link 1 " + action, "%.2f Gb/s, parts of the links %s before, %s after; %d dead paths",
                        json.at("goodput_gbps"), Arrays.toString(before), Arrays.toString(after), Transfer.number(json, "dead_paths"));
                return after;
            }
        }
    }

    private static double[] parts(long[] from, long[] to) {
        double[] parts = new double[LINKS];
        double all = Arrays.stream(to).sum() - Arrays.stream(from).sum();
        assertTrue(all > 1000, "only " + all + " packets: the transfer is not under way");
        for (int link = 0; link < LINKS; link++) {
            parts[link] = Math.round(1000 * (to[link] - from[link]) / all) / 1000.0;
        }
        return parts;
    }

    @Test
    @Tag(Lab.LONG)
    @Requirement({"MR-SPRAY-001", "MR-ENC-008"})
    void pathsAreSpreadOverTheLinks() throws Exception {
        double[] parts = partsAfter("heard");
        assertTrue(Arrays.stream(parts).filter(part -> part > 0.02).count() >= LINKS - 1, Arrays.toString(parts));
        assertTrue(Arrays.stream(parts).max().orElse(1) < 0.75, Arrays.toString(parts));
    }

    @Test
    @Requirement({"MR-LOSS-020", "MR-LOSS-022", "MR-LOSS-023"})
    void aLinkThatDiesSilentlyIsLeft() throws Exception {
        double[] parts = partsAfter("silent ab");
        assertTrue(parts[1] < 0.01, "still used: " + Arrays.toString(parts));
    }

    @Test
    @Tag(Lab.LONG)
    @Requirement("MR-LOSS-040")
    void aLinkThatLosesMuchIsLeft() throws Exception {
        double[] parts = partsAfter("loss 30% ab");
        assertTrue(parts[1] < 0.05, "still used: " + Arrays.toString(parts));
    }
}
