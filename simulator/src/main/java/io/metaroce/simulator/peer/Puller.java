// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** Grants credit to senders. */
interface Puller {
    /**
     * The sender would like to have been granted so many bytes in all.
     *
     * @param asks whether it asks because it has none left: a grant may have been lost
     */
    void wanted(int peer, int channel, long bytes, boolean asks);

    /** A packet came without its payload: so many bytes will be sent again, and need credit again. */
    void trimmed(int peer, int channel, int bytes);
}
