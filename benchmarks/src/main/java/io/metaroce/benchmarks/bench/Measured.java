// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.util.List;

/** Something that can be measured again and again; the rounds of several alternate, as a machine's speed drifts. One thread. */
interface Measured {
    /** What it belongs to: a word that the command takes as a selection. */
    String group();

    /** What is measured, unique in its group. */
    String name();

    /** Why it cannot be measured on this machine, or null. */
    default String missing() {
        return null;
    }

    /** Rounds of a full, or of a quick run. */
    default int rounds(boolean quick) {
        return quick ? 2 : 5;
    }

    /**
     * One round.
     *
     * @return at least one figure; every round has the same metrics in the same order
     * @throws Exception if the round did not come to an end as it should: the run then fails
     */
    List<Value> round(boolean quick) throws Exception;
}
