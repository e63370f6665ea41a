// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import io.metaroce.benchmarks.MemifCost;
import io.metaroce.benchmarks.PollCost;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A poll loop over one DPDK device, in a process of its own: from Java, through our port, or DPDK's C program.
 *
 * @param device net_null, net_ring or net_memif
 * @param kind raw, port (memif only), io or macswap (testpmd; the latter not with memif)
 */
record PollLoop(String device, String kind) implements Measured {
    private static final int SECONDS = 40;

    @Override
    public String group() {
        return "poll";
    }

    @Override
    public String name() {
        return device + ", " + switch (kind) {
            case "raw" -> "Java, bursts of the shim";
            case "port" -> "Java, DpdkPort";
            default -> "C, dpdk-testpmd " + kind;
        };
    }

    @Override
    public String missing() {
        String dpdk = Child.missingDpdk();
        if (dpdk != null) {
            return dpdk;
        }
        return isTestpmd() && !Child.has("dpdk-testpmd") ? "dpdk-testpmd is not installed (Debian: dpdk-dev)" : null;
    }

    private boolean isTestpmd() {
        return kind.equals("io") || kind.equals("macswap");
    }

    @Override
    public List<Value> round(boolean quick) throws IOException, InterruptedException {
        boolean memif = device.equals("net_memif");
        List<String> arguments = new ArrayList<>(List.of(isTestpmd() ? "testpmd" : kind, "seconds=1", "mode=" + kind));
        if (device.equals("net_null")) {
            arguments.add("device=net_null0,size=64");
        } else if (!memif) {
            arguments.add("device=" + device + "0");
        }
        String output = Child.output(SECONDS, Child.java(memif ? MemifCost.class : PollCost.class, arguments.toArray(String[]::new)));
        return List.of(new Value("processor time", memif ? "ns/4 KiB frame" : "ns/64 B frame", Child.number(output, "(?m)^([0-9.]+(?:E-?[0-9]+)?)$")));
    }
}
