// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** Grants credit to senders. */
interface Puller {
    /** The sender would like to have sent so many bytes in all. */
    void wanted(int peer, int channel, long bytes);
}
