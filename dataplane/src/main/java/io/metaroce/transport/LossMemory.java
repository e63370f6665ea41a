// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/** Whether packets of this endpoint have been lost lately, on whatever connection: then probes go before there is a reason to (spec: "Tail loss"). */
final class LossMemory {
    /** Packets after which half of what was seen is forgotten. */
    private static final int SPAN = 1 << 16;

    private int sent;
    private int lost;

    void sent() {
        if (++sent == SPAN) {
            sent /= 2;
            lost /= 2;
        }
    }

    void lost(int packets) {
        lost += packets;
    }

    /** One packet of {@link Limits#EARLY_PROBES_LOSS} or more. */
    boolean isLossy() {
        return (long) lost * Limits.EARLY_PROBES_LOSS > sent;
    }
}
