// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

/** One figure of one round of a measurement, such as "send", "ns/packet", 41.2. */
record Value(String metric, String unit, double number) {
}
