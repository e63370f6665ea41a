// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.fabric;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the topology files of htsim: "Nodes", "Tiers", "Podsize", then a section for each tier with the speed and latency of its
 * links down, radices, queues and switch latency. Two and three tiers, no bundles.
 */
public final class TopoFile {
    private static final long GIGABIT = 1_000_000_000L;
    private static final long PS_PER_NS = 1_000;

    private final Path file;
    private final Map<String, Long> head = new HashMap<>();
    private final Map<Integer, Map<String, Long>> tiers = new HashMap<>();

    private TopoFile(Path file) {
        this.file = file;
    }

    /** @throws IllegalArgumentException naming file, line and what is wrong with it */
    public static Topology read(Path file, int planes) throws IOException {
        TopoFile f = new TopoFile(file);
        f.parse(Files.readAllLines(file));
        return f.build(planes);
    }

    private void parse(List<String> lines) {
        Map<String, Long> section = head;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).replaceFirst("#.*", "").strip();
            if (line.isEmpty()) {
                continue;
            }
            String[] words = line.split("\\s+");
            long value;
            try {
                value = Long.parseLong(words[words.length - 1]);
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(file + ":" + (i + 1) + ": no whole number at the end of '" + line + "'");
            }
            if (words.length != 2) {
                throw new IllegalArgumentException(file + ":" + (i + 1) + ": expected a name and a number, not '" + line + "'");
            }
            if (words[0].equalsIgnoreCase("Tier")) {
                section = tiers.computeIfAbsent((int) value, k -> new HashMap<>());
            } else {
                section.put(words[0].toLowerCase(java.util.Locale.ROOT), value);
            }
        }
    }

    private Topology build(int planes) {
        int hosts = (int) get(head, "nodes", "head");
        int count = (int) get(head, "tiers", "head");
        if (count != 2 && count != 3) {
            throw new IllegalArgumentException(file + ": " + count + " tiers; two and three are supported");
        }
        for (Map<String, Long> tier : tiers.values()) {
            if (tier.getOrDefault("bundle", 1L) != 1) {
                throw new IllegalArgumentException(file + ": bundles of links are not supported");
            }
        }
        Map<String, Long> low = tier(0);
        int perLeaf = (int) get(low, "radix_down", "tier 0");
        int leaves = hosts / perLeaf;
        if (leaves * perLeaf != hosts) {
            throw new IllegalArgumentException(file + ": " + hosts + " nodes do not fill leaves of " + perLeaf);
        }
        Topology t = new Topology(file.getFileName() + (planes == 1 ? "" : ", " + planes + " planes"), hosts, planes);
        for (int plane = 0; plane < planes; plane++) {
            int[] leaf = new int[leaves];
            for (int l = 0; l < leaves; l++) {
                leaf[l] = t.addSwitch(plane, 0);
                for (int h = 0; h < perLeaf; h++) {
                    t.attach(plane, l * perLeaf + h, leaf[l], rate(low), delay(low), low.getOrDefault("queue_down", 0L));
                }
            }
            int fanOut = (int) get(low, "radix_up", "tier 0");
            if (count == 2) {
                connect(t, plane, leaf, fanOut, 1, low, tier(1));
            } else {
                threeTiers(t, plane, leaf, fanOut);
            }
        }
        return t;
    }

    private void threeTiers(Topology t, int plane, int[] leaf, int aggregations) {
        Map<String, Long> middle = tier(1);
        int perPod = (int) get(middle, "radix_down", "tier 1");
        int cores = (int) get(middle, "radix_up", "tier 1");
        int pods = leaf.length / perPod;
        if (pods * perPod != leaf.length) {
            throw new IllegalArgumentException(file + ": " + leaf.length + " leaves do not fill pods of " + perPod);
        }
        int[][] group = new int[aggregations][pods];
        for (int pod = 0; pod < pods; pod++) {
            int[] own = java.util.Arrays.copyOfRange(leaf, pod * perPod, (pod + 1) * perPod);
            int[] made = connect(t, plane, own, aggregations, 1, tier(0), middle);
            for (int a = 0; a < aggregations; a++) {
                group[a][pod] = made[a];
            }
        }
        for (int a = 0; a < aggregations; a++) {
            connect(t, plane, group[a], cores, 2, middle, tier(2));
        }
    }

    /** Joins all of {@code lower} with new switches of the tier. */
    private int[] connect(Topology t, int plane, int[] lower, int upper, int tier, Map<String, Long> below, Map<String, Long> own) {
        int[] made = new int[upper];
        for (int u = 0; u < upper; u++) {
            made[u] = t.addSwitch(plane, tier);
            for (int node : lower) {
                t.join(plane, node, made[u], rate(own), delay(own), below.getOrDefault("queue_up", 0L), own.getOrDefault("queue_down", 0L));
            }
        }
        return made;
    }

    private Map<String, Long> tier(int number) {
        Map<String, Long> tier = tiers.get(number);
        if (tier == null) {
            throw new IllegalArgumentException(file + ": no section for tier " + number);
        }
        return tier;
    }

    private long rate(Map<String, Long> tier) {
        return get(tier, "downlink_speed_gbps", "a tier") * GIGABIT;
    }

    private long delay(Map<String, Long> tier) {
        return (get(tier, "downlink_latency_ns", "a tier") + tier.getOrDefault("switch_latency_ns", 0L)) * PS_PER_NS;
    }

    private long get(Map<String, Long> section, String name, String where) {
        Long value = section.get(name);
        if (value == null) {
            throw new IllegalArgumentException(file + ": " + name + " is missing in " + where);
        }
        return value;
    }
}
