// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.host;

/**
 * A host's transport in virtual time: takes messages from an application, exchanges packets over the fabric. The production transport
 * is one ({@link Host}), the transports it is compared with are others ({@code io.metaroce.simulator.peer}). One thread.
 */
public interface HostTransport {
    /** Bits of a host's timer in the number of a wake event; the host's number stands above. */
    int TIMER_BITS = 18;

    /** What the application on top hears; flows by the number given to {@link #write}. */
    interface Application {
        /** The sender knows that all of the flow has arrived. */
        void sent(int host, int flow);

        /** The receiver has all of the flow; told only where the flow asked for it. */
        void received(int host, int flow);
    }

    /** Makes a connection with the peer; transports without handshakes do nothing. */
    default void connect(int peer) {
    }

    /** The peer will send so many messages that this host is to be told of. */
    default void expect(int peer, int messages) {
    }

    /** Sends so many bytes to the peer. */
    void write(int peer, int bytes, int flow, boolean tellPeer);

    /** A packet reached this host; it gives the slot back. */
    void receive(int packet);

    /** A timer that this host had set. */
    void wake(int timer);

    /** Adds what this host counted. */
    void count(Counters into);

    /** Payload bytes that have come from the peer, duplicates excluded. */
    long bytesFrom(int peer);

    /** Acknowledgements that have come from the peer; 0: this transport does not say. */
    default long acksFrom(int peer) {
        return 0;
    }

    /** Bytes of state that this host's transport has reserved for all that it may ever have to do; 0: it does not say. */
    default long stateBytes() {
        return 0;
    }

    /** Bytes that may be out towards the peer now. */
    double windowBytes(int peer);

    /** Part of line rate that may be sent to the peer, as the receiver's share or a rate control has it; NaN: neither rules. */
    default double share(int peer) {
        return Double.NaN;
    }

    /** For people: how matters with the peer stand. */
    String describe(int peer);

    /** What hosts count, summed over hosts. */
    final class Counters {
        /** Data packets, repeats included; repeats; data packets that had arrived before. */
        public long packets;
        public long resent;
        public long spurious;
        public long timeouts;
        public long deadPaths;
        public long planeFailures;
        /** Parity packets sent, and packets that were lost and made from them. */
        public long parities;
        public long rebuilt;
        public long probes;
        public long acks;
        public long violations;
        /** Most bytes that one receiver held because earlier ones were missing; 0 where data is placed as it comes. */
        public long reorderBytes;
    }
}
