// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import io.metaroce.transport.Endpoint;

/** An application that lives on a loop's thread: it posts work requests and polls completions. */
@FunctionalInterface
public interface Task {
    /**
     * Called once in each turn of the loop, after the received packets were handled and before packets are sent, so that what
     * is posted here leaves in the same turn. Must not block.
     *
     * @param nowNs the turn's one reading of the clock, nanoseconds; compare by subtraction
     * @param endpoint the loop's endpoint, for use on this thread only
     * @return true if anything was done; false lets the loop idle
     */
    boolean poll(long nowNs, Endpoint endpoint);
}
