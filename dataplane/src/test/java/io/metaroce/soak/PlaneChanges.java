// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.transport.EndpointConfig;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Planes of hosts that are added, moved to another address and removed while everything runs. Plane 0 is there for ever, and only one host
 * moves it, so that two ends never lose each other by leaving their last common plane at once.
 */
final class PlaneChanges {
    private static final int MOST_MOVES = 200;

    private final Simulation simulation;
    private final List<Host> hosts;
    private final Model model;

    PlaneChanges(Simulation simulation, List<Host> hosts, Model model) {
        this.simulation = simulation;
        this.hosts = hosts;
        this.model = model;
    }

    /** Room for planes that are not there yet, and some that are not there any more. */
    static void configure(EndpointConfig c, SplittableRandom r) {
        int planes = Math.max(c.planes(), 2 + r.nextInt(Network.PLANES - 1));
        c.localAddresses = Arrays.copyOf(c.localAddresses, planes);
        c.sourcePorts = Arrays.copyOf(c.sourcePorts, planes);
        for (int p = 1; p < planes; p++) {
            if (r.nextInt(4) == 0) {
                c.localAddresses[p] = null;
                c.sourcePorts[p] = null;
            }
        }
    }

    void change(SplittableRandom r) {
        Host h = hosts.get(r.nextInt(hosts.size()));
        // Who is parked hears of no move, and has to find its peer on another plane.
        int p = r.nextInt(h.number == 0 && !simulation.has(Fault.PARK) ? 0 : 1, h.config.planes());
        if (h.pausedUntilNs > model.nowNs || h.generations[p] == MOST_MOVES) {
            return;
        }
        simulation.network.faults++;
        long now = h.clock(model.nowNs);
        if (p > 0 && h.addresses[p] != null && r.nextBoolean()) {
            h.addresses[p] = null;
            h.endpoint.removePlane(now, p);
            model.count(Check.PLANE_REMOVED);
        } else {
            model.count(h.addresses[p] == null ? Check.PLANE_ADDED : Check.PLANE_MOVED);
            h.addresses[p] = Host.address(h.number, p, ++h.generations[p]);
            h.endpoint.setPlane(now, p, h.addresses[p], h.config.sourcePorts[0]);
        }
    }
}
