// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.host;

import io.metaroce.simulator.core.EventQueue;
import io.metaroce.simulator.fabric.Fabric;

/**
 * What hosts are made from.
 *
 * @param wakeKind added to {@code host << HostTransport.TIMER_BITS | timer} in events that come back as {@link HostTransport#wake}
 * @param connections number of other hosts that each host has to do with
 * @param flows messages that each host sends
 * @param told most messages of one peer that a host is told of
 * @param longest bytes of the longest message
 */
public record HostPlan(EventQueue events, Fabric fabric, long wakeKind, HostConfig config, HostTransport.Application application,
        int[] connections, int[] flows, int[] told, int longest, long seed) {
    /** Makes all hosts of a run. */
    public interface Factory {
        HostTransport[] make(HostPlan plan);
    }
}
