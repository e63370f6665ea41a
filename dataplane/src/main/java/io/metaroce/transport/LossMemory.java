// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

/**
 * Whether packets to or from this endpoint have been lost lately, on whatever connection: then probes go before there is a reason to, and
 * acknowledgements repeat those before (spec: "Tail loss", "Acknowledgement").
 */
final class LossMemory {
    /** Packets after which half of what was seen is forgotten. */
    private static final int SPAN = 1 << 16;

    private int packets;
    private int lost;

    /** A Data packet was sent or came in. */
    void moved() {
        if (++packets == SPAN) {
            packets /= 2;
            lost /= 2;
        }
    }

    void lost(int more) {
        lost += more;
    }

    /** One packet of {@link Limits#EARLY_PROBES_LOSS} or more. */
    boolean isLossy() {
        return (long) lost * Limits.EARLY_PROBES_LOSS > packets;
    }
}
