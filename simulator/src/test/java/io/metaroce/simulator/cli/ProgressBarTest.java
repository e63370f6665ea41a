// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ProgressBarTest {
    /** Ten were there before; thirty took 60 s; sixty are left: 120 s. */
    @Test
    void timeLeftFollowsFromWhatWasDoneSinceItBegan() {
        String line = ProgressBar.line(40, 100, 10, 60);
        assertTrue(line.contains("40/100 2 min 0 s left"), line);
        assertEquals(12, line.chars().filter(c -> c == '#').count());
    }

    @Test
    void beginningAndEnd() {
        assertEquals("[------------------------------] 0/5", ProgressBar.line(0, 5, 0, 3).strip());
        assertEquals("[##############################] 5/5 done in 7 s", ProgressBar.line(5, 5, 0, 7).strip());
        assertEquals("[##############################] 0/0 done in 0 s", ProgressBar.line(0, 0, 0, 0).strip());
    }
}
