// SPDX-License-Identifier: Apache-2.0
package io.metaroce.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.bindings.dpdk.PmdLibrary;
import io.metaroce.bindings.dpdk.PmdUnavailableException;
import io.metaroce.cli.perf.Json;
import java.io.BufferedReader;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The same network for DPDK ports, on the interfaces of the hosts (net_af_packet). */
@Tag("lab")
@Timeout(120)
class DpdkLab {
    private static final int PLANES = 4;

    @BeforeAll
    static void environment() {
        try {
            PmdLibrary.load();
        } catch (PmdUnavailableException e) {
            System.out.println("lab: NOT RUN: DPDK ports: " + e.getMessage());
            Assumptions.abort(e.getMessage());
        }
    }

    @Test
    @Tag(Lab.LONG)
    @Requirement({"MR-LOSS-001", "MR-LOSS-002"})
    void everythingArrivesWhateverIsLost() throws Exception {
        try (Lab lab = new Lab(PLANES, "--bare")) {
            lab.everyPlane("loss 1%");
            try (Transfer transfer = new Transfer(lab, "--rate 1G", "--size 64K --warmup 1 --seconds " + (Lab.SHORT ? "1" : "4"))) {
                Json json = transfer.finish();
                PlanesLab.report("DPDK, loss 1%", "%.2f Gb/s, %d repeated", json.at("goodput_gbps"), Transfer.number(json, "retransmissions"));
                assertTrue(Transfer.number(json, "retransmissions") > 0);
            }
        }
    }

    static List<Arguments> outages() {
        List<Arguments> all = List.of(Arguments.of("down", "up"), Arguments.of("silent", "heard"));
        return Lab.SHORT ? all.subList(0, 1) : all;
    }

    @ParameterizedTest
    @MethodSource("outages")
    @Requirement({"MR-LOSS-031", "MR-LOSS-032", "MR-LOSS-035"})
    void aPlaneGoesAndReturns(String go, String comeBack) throws Exception {
        try (Lab lab = new Lab(PLANES, "--bare")) {
            lab.everyPlane("rate 100M limit 4M mark 100K");
            new Outages(lab, go, comeBack, Lab.SHORT ? 5 : 9).check("--rate 100M", "");
        }
    }

    /** DPDK raises the MTU of an interface that takes less than the port needs, and leaves others alone; afterwards all are as before. */
    @ParameterizedTest
    @CsvSource({"1200, 1300", "9000, 1000"})
    void interfacesHaveTheirMtuBack(int mtu, int payload) throws Exception {
        try (Lab lab = new Lab(1, "--bare", "--mtu", Integer.toString(mtu))) {
            Process server = lab.start("b", Transfer.words("perf server --mtu " + payload + " " + lab.port("b")));
            try (BufferedReader out = server.inputReader()) {
                assertTrue(out.lines().anyMatch(line -> line.startsWith("ready ")));
                assertTrue(mtu(lab) >= Math.max(mtu, payload), "MTU " + mtu(lab));
            } finally {
                server.toHandle().destroy();
                assertTrue(server.waitFor(10, TimeUnit.SECONDS));
            }
            assertEquals(mtu, mtu(lab));
        }
    }

    private static int mtu(Lab lab) {
        Matcher found = Pattern.compile(" mtu (\\d+) ").matcher(lab.lab("on", "b", "ip", "link", "show", "dev", "p0"));
        assertTrue(found.find());
        return Integer.parseInt(found.group(1));
    }
}
