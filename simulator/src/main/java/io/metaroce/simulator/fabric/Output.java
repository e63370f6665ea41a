// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.fabric;

/** The output at the beginning of a link: what a packet that leaves by it touches lies together. One thread. */
final class Output {
    final int from;
    final int to;
    /** Whether it is a host's: what waits there is the host's affair. */
    boolean ofHost;
    /** Whether the link loses everything. */
    boolean dead;
    /** Whether routes may lead over the link. */
    boolean announced = true;
    final double fullPsPerByte;
    double psPerByte;
    final long delayPs;
    /** What may wait. */
    long queueBytes;
    /** When all that was taken has left. */
    long busyPs;
    /** Until when urgent packets occupy the link, where they overtake. */
    long headersPs;
    /** That the next packet is lost, or the first of some; packets that are still to be lost. */
    double lossChance;
    int lossLeft;

    /* Statistics. */
    long bytes;
    long deepestBytes;
    /** The same from the time on that is watched. */
    long deepestWatched;
    long drops;
    long losses;
    long marks;

    Output(Topology.Link link, long queueBytes) {
        from = link.from();
        to = link.to();
        psPerByte = fullPsPerByte = 8e12 / link.bitsPerSecond();
        delayPs = link.delayPs();
        this.queueBytes = queueBytes;
    }

    /** What waits, ps, at this time. */
    long waitPs(long nowPs) {
        return Math.max(0, busyPs - nowPs);
    }
}
