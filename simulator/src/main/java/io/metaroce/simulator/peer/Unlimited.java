// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** No congestion control: a fixed window, or none. */
record Unlimited(double windowBytes) implements Control {
}
