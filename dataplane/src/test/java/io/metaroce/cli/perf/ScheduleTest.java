// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages at a steady rate: when they are due, and that those which wait for others have waited. */
@Timeout(60)
class ScheduleTest {
    @Test
    void aMessageIsDueAtItsPlaceHoweverLateTheOthersWere() {
        Schedule schedule = new Schedule(3_000);
        schedule.start(-500);
        for (long i = 0; i < 9_000; i++) {
            assertTrue(Math.abs(schedule.nextNs() - (-500 + i * 1_000_000 / 3)) <= 1, i + " is due at " + schedule.nextNs());
            schedule.take();
        }
        assertTrue(Math.abs(schedule.nextNs() - (-500 + 3_000_000_000L)) <= 1);
        assertFalse(schedule.isDue(2_999_990_000L));
        assertTrue(schedule.isDue(3_000_000_000L));
        schedule.start(7);
        assertEquals(7, schedule.nextNs());
    }

    /** A plane is cut for half a second of two, which begins late enough for a busy machine: a quarter of the messages was due meanwhile, although no more than two could be posted. */
    @Test
    void waitingForLateMessagesCounts() {
        RunOptions run = InProcess.options(Op.WRITE, 64);
        run.messageRate = 2_000.0;
        run.depth = 2;
        run.seconds = 2.0;
        try (InProcess both = new InProcess(run, 1, "blockplane=0@700ms..1200ms")) {
            both.run();
            Result result = both.result();
            assertTrue(result.verified(), Report.verdict(result));
            assertTrue(result.messages > 0 && result.messages <= 4_001, result.messages + " messages");
            assertTrue(result.latencyUs(85) > 1_000, "p85 " + result.latencyUs(85) + " us");
        }
    }
}
