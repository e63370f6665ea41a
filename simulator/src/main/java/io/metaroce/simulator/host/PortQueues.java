// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.host;

import io.metaroce.simulator.fabric.Fabric;

/** The queues at a host's own ports: which of them take no more now, and how long that lasts. One thread. */
public final class PortQueues {
    private final Fabric fabric;
    private final int host;
    private final int planes;
    private final long portPs;
    private int busy;
    private long freePs;

    /** @param portPs time, ps, for which what waits at a port may take to leave before the port counts as busy */
    public PortQueues(Fabric fabric, int host, int planes, long portPs) {
        this.fabric = fabric;
        this.host = host;
        this.planes = planes;
        this.portPs = portPs;
    }

    /** Looks at them now; what the others say is of then. */
    public void look() {
        busy = 0;
        freePs = Long.MAX_VALUE;
        for (int p = 0; p < planes; p++) {
            long waiting = fabric.hostBacklogPs(p, host);
            if (waiting > portPs) {
                busy |= 1 << p;
                freePs = Math.min(freePs, waiting - portPs);
            }
        }
    }

    /** Bit a plane whose port takes no more. */
    public int busy() {
        return busy;
    }

    /** Whether the plane's port takes another packet. */
    public boolean takes(int plane) {
        return (busy >>> plane & 1) == 0;
    }

    public boolean allBusy() {
        return busy == (1 << planes) - 1;
    }

    /** Time until the first busy port takes more, ps; {@code Long.MAX_VALUE} if none is busy. */
    public long freePs() {
        return freePs;
    }
}
