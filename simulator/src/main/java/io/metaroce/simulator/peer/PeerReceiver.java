// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** The receiving end of a channel. */
interface PeerReceiver {
    /** A data packet or a probe; the slot stays the caller's. */
    void onData(int packet, long header);
}
