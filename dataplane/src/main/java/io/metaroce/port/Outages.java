// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import io.metaroce.port.ImpairmentConfig.Outage;

/** Which planes and source ports are blocked now: by switch, or by plan. */
final class Outages {
    private final Outage[] planned;
    private final boolean timed;
    private final boolean[] planeSwitch;
    private final boolean[][] pathSwitch;
    private final long[] offered;
    private int switchesOn;

    /** Throws IllegalArgumentException if an outage names a plane or path that does not exist. */
    Outages(PacketPort port, ImpairmentConfig config) {
        planned = config.outages().toArray(Outage[]::new);
        boolean anyTimed = false;
        planeSwitch = new boolean[port.planes()];
        pathSwitch = new boolean[port.planes()][];
        offered = new long[port.planes()];
        for (int plane = 0; plane < port.planes(); plane++) {
            pathSwitch[plane] = new boolean[port.sourcePorts(plane).length];
        }
        for (Outage outage : planned) {
            if (outage.plane() >= port.planes()) {
                throw new IllegalArgumentException("impairment: plane " + outage.plane() + " to block is outside 0.." + (port.planes() - 1));
            }
            if (outage.index() >= pathSwitch[outage.plane()].length) {
                throw new IllegalArgumentException("impairment: path " + outage.plane() + "/" + outage.index() + " to block is outside 0.."
                    + (pathSwitch[outage.plane()].length - 1));
            }
            anyTimed |= outage.isTimed();
        }
        timed = anyTimed;
    }

    /** Whether any answer can be true. */
    boolean any() {
        return planned.length + switchesOn > 0;
    }

    /** Whether answers depend on the time. */
    boolean isTimed() {
        return timed;
    }

    void blockPlane(int plane, boolean blocked) {
        switchesOn += planeSwitch[plane] == blocked ? 0 : blocked ? 1 : -1;
        planeSwitch[plane] = blocked;
    }

    void blockPath(int plane, int index, boolean blocked) {
        switchesOn += pathSwitch[plane][index] == blocked ? 0 : blocked ? 1 : -1;
        pathSwitch[plane][index] = blocked;
    }

    /** Counts one more datagram offered on the plane, and says whether it is blocked. */
    boolean blocksNext(int plane, int index, long elapsedNs) {
        boolean blocked = planeSwitch[plane] || pathSwitch[plane][index];
        for (Outage outage : planned) {
            blocked |= outage.plane() == plane && (outage.index() == index || outage.index() == ImpairmentConfig.WHOLE_PLANE)
                && outage.isActive(elapsedNs, offered[plane]);
        }
        offered[plane]++;
        return blocked;
    }

    /** Whether the whole plane is blocked: nothing comes in then either. */
    boolean blocksPlane(int plane, long elapsedNs) {
        boolean blocked = planeSwitch[plane];
        for (Outage outage : planned) {
            blocked |= outage.plane() == plane && outage.index() == ImpairmentConfig.WHOLE_PLANE
                && outage.isActive(elapsedNs, offered[plane]);
        }
        return blocked;
    }
}
