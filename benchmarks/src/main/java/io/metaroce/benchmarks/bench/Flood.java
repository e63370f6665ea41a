// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import io.metaroce.benchmarks.FloodTrial;
import io.metaroce.benchmarks.capture.Floods;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What is left of its core to a running transfer while 64-byte frames that must be dropped come in as fast as their source can send.
 *
 * @param port dpdk (memif) or udp
 * @param kind one of {@link Floods#KINDS}
 */
record Flood(String port, String kind, int payload) implements Measured {
    private static final int SECONDS = 60;

    static List<Measured> all() {
        List<Measured> all = new ArrayList<>();
        for (int payload : new int[] {4096, 256}) {
            Floods.KINDS.forEach(kind -> all.add(new Flood("dpdk", kind, payload)));
        }
        // What is for other ports or hosts the kernel drops itself.
        all.add(new Flood("udp", Floods.MALFORMED, 4096));
        all.add(new Flood("udp", Floods.UNKNOWN, 4096));
        return all;
    }

    @Override
    public String group() {
        return "flood";
    }

    @Override
    public String name() {
        return (port.equals("dpdk") ? "memif" : "UDP, same socket") + ", " + kind + ", transfer with " + payload + " B a packet";
    }

    @Override
    public String missing() {
        if (port.equals("udp")) {
            return null;
        }
        String dpdk = Child.missingDpdk();
        return dpdk != null ? dpdk : Child.has("dpdk-testpmd") ? null : "dpdk-testpmd, the flood's source, is not installed (Debian: dpdk-dev)";
    }

    @Override
    public List<Value> round(boolean quick) throws IOException, InterruptedException {
        return values(Child.output(SECONDS, Child.java(FloodTrial.class, port, kind, "payload=" + payload, "stretches=" + (quick ? 3 : 6))));
    }

    /** What {@link FloodTrial} printed. */
    static List<Value> values(String output) {
        return List.of(new Value("share kept", "%", figure(output, "kept")), new Value("packet, no flood", "ns", figure(output, "without_ns")),
                new Value("packet, flood", "ns", figure(output, "with_ns")), new Value("strangers taken", "a packet", figure(output, "a_packet")),
                new Value("stranger", "ns", figure(output, "drop_ns")));
    }

    private static double figure(String output, String name) {
        return Child.number(output, "\\b" + name + "=(-?[0-9.]+)");
    }
}
