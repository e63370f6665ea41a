// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import io.metaroce.simulator.fabric.Fabric;
import io.metaroce.simulator.fabric.Topology;

/**
 * Something that happens to links at a time.
 *
 * @param atPs from the beginning of the workload; negative: before it, and before anything is connected
 * @param value of {@link Kind#SPEED}: the part of its rate that is left; of {@link Kind#LOSS}: the share of packets lost
 */
public record Fault(long atPs, Kind kind, Where where, int plane, int number, double value) {
    public enum Kind {
        SPEED,
        LOSS,
        /** Loses everything, and nobody is told. */
        SILENT,
        /** Loses everything, and routes avoid it at once. */
        ANNOUNCED,
        REPAIRED
    }

    public enum Where {
        /** All links of a switch of the highest tier. */
        SPINE,
        /** All links of a leaf. */
        LEAF,
        /** All links of a plane. */
        PLANE,
        /** Both links of a host in a plane. */
        HOST
    }

    void apply(Fabric fabric) {
        int[] links = links(fabric);
        for (int link : links) {
            switch (kind) {
                case SPEED -> fabric.setSpeed(link, value);
                case LOSS -> fabric.setLoss(link, value);
                case SILENT, ANNOUNCED -> fabric.setDead(link, true);
                case REPAIRED -> {
                    fabric.setDead(link, false);
                    fabric.setSpeed(link, 1);
                }
            }
        }
        if (kind == Kind.ANNOUNCED || kind == Kind.REPAIRED) {
            fabric.announce(links, kind == Kind.REPAIRED);
        }
    }

    private int[] links(Fabric fabric) {
        Topology t = fabric.topology();
        if (plane < 0 || plane >= t.planes()) {
            throw new IllegalArgumentException("a fault names plane " + plane + " of " + t.planes());
        }
        return switch (where) {
            case SPINE -> fabric.linksOf(switchNumber(t, t.topTier()));
            case LEAF -> fabric.linksOf(switchNumber(t, 0));
            case HOST -> new int[] {t.up(plane, number), t.down(plane, number)};
            case PLANE -> java.util.stream.IntStream.range(0, t.links().size()).filter(l -> t.links().get(l).plane() == plane).toArray();
        };
    }

    private int switchNumber(Topology t, int tier) {
        int[] all = t.switches(plane, tier);
        if (number < 0 || number >= all.length) {
            throw new IllegalArgumentException("a fault names switch " + number + " of " + all.length);
        }
        return all[number];
    }
}
