// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.fabric;

/** What a fabric does to packets, apart from its shape. Sizes in bytes, probabilities in 0..1. */
public final class FabricConfig {
    /** What may wait at an output, where the topology does not say. */
    public long queueBytes = 5 * 416_000;
    /** RED marking: none up to the low threshold, all from the high one on, in between in proportion. */
    public long markFromBytes = 416_000 / 5;
    public long markAllBytes = 416_000 * 4 / 5;
    /** Bytes that a packet takes on the wire beyond its UDP payload: headers below, preamble and gap. */
    public int frameOverhead = 66;
    /** Probability that a packet is lost on its way between two hosts: half on the first link, half on the last. */
    public double loss;
    /** Mean number of packets in a row that a link loses; 1: each by itself. */
    public double lossBurst = 1;
    /**
     * Priority flow control: bytes in a switch from one input at which its sender is paused; 0: none, queues drop. With it queues are not
     * bounded by {@link #queueBytes} but by this and the headroom for what is on its way.
     */
    public long pauseBytes;
    /** Whether a packet that does not fit loses its payload instead, and overtakes with its headers; so do packets that are sent as urgent. */
    public boolean trim;
    /** Buffer that all outputs of a switch share, 0: each has its own. An output may then fill {@link #sharedAlpha} times what is free. */
    public long sharedBytes;
    public double sharedAlpha = 1;
    public long seed = 1;
}
