// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.simulator.plot.Plots;
import io.metaroce.simulator.run.Result;
import io.metaroce.simulator.run.Scenario;
import io.metaroce.simulator.run.Trace;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlotsTest {
    @TempDir
    private Path dir;

    private static Result traced(String transport) {
        Scenario s = PeersTest.small(transport, "incast", 256 << 10);
        s.senders = 4;
        s.traceUs = 1;
        return s.run(1);
    }

    /** What flows over time brought is what they carry; the bytes over the spines are those of other leaves' flows, with headers. */
    @Test
    void tracesAddUp() {
        Result r = traced("metaroce");
        double bits = 0;
        for (Trace.Series s : r.trace.goodputByFlow()) {
            double us = s.us()[1] - s.us()[0];
            bits += Arrays.stream(s.values()).sum() * us * 1e3;
        }
        assertEquals(4.0 * (256 << 10) * 8, bits, .06 * 4 * (256 << 10) * 8, "up to the last interval");
        assertTrue(r.trace.shares().stream().allMatch(s -> s.values()[s.values().length / 2] < 60), "four share a link");
        assertTrue(r.trace.windows().stream().allMatch(s -> Arrays.stream(s.values()).max().orElseThrow() > 0));
        assertTrue(r.trace.queues().getFirst().name().endsWith("to host 0"), "the last link is where it queues");
        double deepest = Arrays.stream(r.trace.queues().getFirst().values()).max().orElseThrow();
        assertTrue(deepest > 0 && deepest <= r.deepestQueueBdp + 1e-9, deepest + " of " + r.deepestQueueBdp);
    }

    @Test
    void tracingChangesNothing() {
        Scenario s = PeersTest.small("metaroce", "permutation", 1 << 20);
        double plain = s.run(2).lastUs;
        s.traceUs = .5;
        assertEquals(plain, s.run(2).lastUs);
    }

    /** Needs a font on the machine, as scripts/test sees to. */
    @Test
    void picturesAreDrawn() throws IOException {
        Plots plots = new Plots(dir);
        List<Result> results = List.of(traced("metaroce"), traced("rocev2+dcqcn"));
        plots.completions(results);
        plots.overTime(results.get(1));
        try (Stream<Path> files = Files.list(dir)) {
            for (Path f : files.toList()) {
                if (f.toString().endsWith(".png")) {
                    BufferedImage image = ImageIO.read(f.toFile());
                    assertEquals(1_000, image.getWidth());
                    long colours = Arrays.stream(image.getRGB(0, 0, 1_000, 600, null, 0, 1_000)).distinct().count();
                    assertTrue(colours > 10, f + " is empty");
                } else {
                    assertTrue(Files.readString(f).contains("<svg"), f + " is no picture");
                }
            }
        }
        try (Stream<Path> files = Files.list(dir)) {
            List<String> names = files.map(f -> f.getFileName().toString()).sorted().toList();
            assertEquals(2 * (1 + 5), names.size(), names.toString());
            assertTrue(names.contains("rocev2-dcqcn-seed1-shares.svg"), names.toString());
        }
    }
}
