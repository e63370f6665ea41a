// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.transport.StateRecords;
import org.junit.jupiter.api.Test;

/** Many connections and streams on one endpoint, each used: the small form of what {@code metaroce state} shows. */
class StateTrialTest {
    private static StateRecords.Kind kind(StateTrial trial, String name) {
        return trial.kinds().stream().filter(k -> k.name().equals(name)).findFirst().orElseThrow();
    }

    @Test
    void everyStreamOfEveryConnectionIsUsed() {
        int connections = 100;
        int streams = 200;
        try (StateTrial trial = new StateTrial(connections, streams, 2, 4)) {
            assertEquals(connections * streams, trial.run());
            assertEquals(connections, kind(trial, "connection").used());
            assertEquals(connections * streams, kind(trial, "stream").used());
            assertEquals(connections * streams, kind(trial, "place in the table of streams").used());
            for (String idle : new String[] {"receiver's window", "sender's window", "packet out", "work request", "response", "queue of receives"}) {
                assertEquals(0, kind(trial, idle).used(), idle);
            }
            assertTrue(trial.kinds().stream().allMatch(StateRecords.Kind::isWithin), trial.kinds().toString());
        }
    }

    @Test
    void oneConnectionHoldsManyStreams() {
        try (StateTrial trial = new StateTrial(1, 20_000, 1, 1)) {
            assertEquals(20_000, trial.run());
            assertEquals(20_000, kind(trial, "stream").used());
        }
    }
}
