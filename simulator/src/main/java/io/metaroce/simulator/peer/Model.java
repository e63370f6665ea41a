// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** A transport: makes the two ends of its channels. */
interface Model {
    /** Channels between two hosts; a message is split evenly over them. */
    default int channels() {
        return 1;
    }

    /** What grants credit at a receiving host, one for all its channels; null: nothing does. */
    default Puller puller(PeerHost host) {
        return null;
    }

    PeerSender sender(PeerHost host, int peer, int channel);

    PeerReceiver receiver(PeerHost host, int peer, int channel);
}
