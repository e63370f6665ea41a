// SPDX-License-Identifier: Apache-2.0
package io.metaroce.lab;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.cli.perf.Json;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A wire that delays, reorders and duplicates what it carries. */
@Tag("lab")
@Timeout(120)
class WireLab {
    private static final String RUN = "--size 64K --warmup 1 --seconds " + (Lab.SHORT ? "1" : "4");

    private static Json over(String wire) throws Exception {
        try (Lab lab = new Lab(2, "--wire", wire); Transfer transfer = new Transfer(lab, "--rate 400M", RUN)) {
            lab.everyPlane("rate 400M limit 4M mark 200K");
            Json json = transfer.finish();
            PlanesLab.report("wire " + wire, "%.2f Gb/s, %d repeated, %d of them needlessly; %d dead paths, %d plane failures", json.at("goodput_gbps"),
                    Transfer.number(json, "retransmissions"), Transfer.number(json, "spurious_retransmissions"),
                    Transfer.number(json, "dead_paths"), Transfer.number(json, "plane_failures"));
            return json;
        }
    }

    /** Paths of very unequal delay: out of order between paths is the normal case, and no sign of loss. */
    @Test
    @Requirement("MR-LOSS-001")
    void pathsOvertakeEachOther() throws Exception {
        Json json = over("--delay 300 --skew 1000");
        long sent = Transfer.number(json, "bytes") / 4096;
        assertTrue(Transfer.number(json, "spurious_retransmissions") < sent / 100, json.at("spurious_retransmissions") + " of " + sent);
    }

    /** Packets of one path overtake each other, and some come twice: repeats cost, and everything is right all the same. */
    @Test
    @Requirement({"MR-PATH-024", "MR-PATH-025", "MR-STR-013"})
    void packetsOfAPathOvertakeEachOtherAndComeTwice() throws Exception {
        Json json = over("--delay 200 --jitter 300 --dup 10000");
        assertTrue(Transfer.number(json, "spurious_retransmissions") > 0);
    }
}
