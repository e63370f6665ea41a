// SPDX-License-Identifier: Apache-2.0
package io.metaroce.lab;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.cli.perf.Json;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Two hosts with four planes of real packets: loss, marks, unequal rates, planes that fail and return. */
@Tag("lab")
@Timeout(120)
class PlanesLab {
    private static final int PLANES = 4;
    private static final String SECONDS = Lab.SHORT ? "1" : "4";

    static List<String> losses() {
        return Lab.SHORT ? List.of("1%") : List.of("0", "1%", "10%");
    }

    @ParameterizedTest
    @MethodSource("losses")
    @Requirement({"MR-LOSS-001", "MR-LOSS-002"})
    void everythingArrivesWhateverIsLost(String loss) throws Exception {
        try (Lab lab = new Lab(PLANES)) {
            lab.everyPlane("loss " + loss);
            try (Transfer transfer = new Transfer(lab, "", "--seconds " + SECONDS + " --warmup 0.5 --bidirectional")) {
                Json json = transfer.finish();
                long lost = 0;
                for (int plane = 0; plane < PLANES; plane++) {
                    lost += lab.counter(plane, "ab", "lost") + lab.counter(plane, "ba", "lost");
                }
                assertTrue(loss.equals("0") == (lost == 0), lost + " packets lost");
                assertTrue(loss.equals("0") || Transfer.number(json, "retransmissions") > 0);
                report("loss " + loss, "%.2f Gb/s, %d lost", json.at("goodput_gbps"), lost);
            }
        }
    }

    @Test
    @Tag(Lab.LONG)
    @Requirement({"MR-CC-003", "MR-CC-012", "MR-ACK-006"})
    void aMarkedPlaneIsGivenLess() throws Exception {
        try (Lab lab = new Lab(PLANES)) {
            lab.plane(1, "mark 60% ab");
            try (Transfer transfer = new Transfer(lab, "", "--seconds " + SECONDS + " --warmup 4 --size 64K")) {
                Json json = transfer.finish();
                long marked = 0;
                for (int plane = 0; plane < PLANES; plane++) {
                    marked += lab.counter(plane, "ab", "marked");
                }
                long heard = Transfer.number(json, "ecn_marks");
                // The sender counts those of the measured time, the switch all.
                assertTrue(heard > 0 && heard <= marked, heard + " marks heard of " + marked);
                double[] shares = shares(json);
                double others = (1 - shares[1]) / (PLANES - 1);
                report("plane 1 marked", "%.2f Gb/s, shares %s", json.at("goodput_gbps"), Outages.text(shares));
                assertTrue(shares[1] < 0.85 * others, "the marked plane carried " + shares[1] + ", others " + others);
            }
        }
    }

    @Test
    @Tag(Lab.LONG)
    @Requirement({"MR-SPRAY-004", "MR-LOSS-004"})
    void aSlowPlaneCarriesItsPart() throws Exception {
        try (Lab lab = new Lab(PLANES)) {
            lab.everyPlane("rate 90M limit 1M mark 100K");
            lab.plane(2, "rate 30M limit 1M mark 100K");
            try (Transfer transfer = new Transfer(lab, "--rate 90M", "--seconds " + (Lab.SHORT ? "2" : "4") + " --warmup 1 --size 64K")) {
                Json json = transfer.finish();
                double[] shares = shares(json);
                double goodput = (double) json.at("goodput_gbps");
                report("plane 2 at a third", "%.2f of 0.30 Gb/s, shares %s, %d repeated", goodput, Outages.text(shares),
                        Transfer.number(json, "retransmissions"));
                assertTrue(shares[2] > 0.05 && shares[2] < 0.2, "the slow plane carried " + shares[2] + " instead of 0.1");
                assertTrue(goodput > 0.2 && goodput < 0.3, goodput + " Gb/s");
            }
        }
    }

    /** Shares of the planes in all packets. */
    private static double[] shares(Json json) {
        double[] shares = new double[PLANES];
        for (int i = 0; i < json.size("paths"); i++) {
            shares[(int) Transfer.number(json, "paths." + i + ".plane")] += (double) json.at("paths." + i + ".share");
        }
        return shares;
    }

    static List<Arguments> outages() {
        List<Arguments> all = List.of(Arguments.of("silent", "heard"), Arguments.of("down", "up"), Arguments.of("unplug", "plug"),
                Arguments.of("down b", "up b"));
        return Lab.SHORT ? all.subList(0, 3) : all;
    }

    @ParameterizedTest
    @MethodSource("outages")
    @Requirement({"MR-LOSS-030", "MR-LOSS-031", "MR-LOSS-032", "MR-LOSS-034"})
    void aPlaneGoesAndReturns(String go, String comeBack) throws Exception {
        try (Lab lab = new Lab(PLANES)) {
            lab.everyPlane("rate 100M limit 4M mark 100K");
            new Outages(lab, go, comeBack, Lab.SHORT ? 5 : 9).check("--rate 100M", "");
        }
    }

    static void report(String what, String format, Object... values) {
        System.out.println("lab: " + what + ": " + String.format(Locale.ROOT, format, values));
    }
}
