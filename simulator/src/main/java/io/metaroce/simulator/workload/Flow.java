// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.workload;

/** One message from a host to another: what is asked for, and when it was done. Times in ps from the beginning of the workload. */
public final class Flow {
    /** No trigger. */
    public static final int NONE = -1;
    public static final long NEVER = -1;

    public final int source;
    public final int destination;
    public final int bytes;
    /** When it starts; counts if {@link #startedBy} is {@link #NONE}. */
    public final long startPs;
    /** The trigger that starts it. */
    public int startedBy = NONE;
    /** The trigger that fires when the sender knows it complete, and the one when the receiver does. */
    public int whenSent = NONE;
    public int whenReceived = NONE;

    /** Results. */
    public long startedPs = NEVER;
    public long sentPs = NEVER;
    public long receivedPs = NEVER;

    public Flow(int source, int destination, int bytes, long startPs) {
        if (source == destination) {
            throw new IllegalArgumentException("host " + source + " would send to itself");
        }
        if (bytes < 1) {
            throw new IllegalArgumentException("a flow of " + bytes + " bytes");
        }
        this.source = source;
        this.destination = destination;
        this.bytes = bytes;
        this.startPs = startPs;
    }

    /** From start to the sender's completion, ps. */
    public long completionPs() {
        return sentPs - startedPs;
    }
}
