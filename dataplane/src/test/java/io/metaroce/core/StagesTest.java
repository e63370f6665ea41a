// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Test;

class StagesTest {
    private static void turn(Stages s, int received, int sent, long... ends) {
        s.begin(1_000);
        for (int i = 0; i < ends.length; i++) {
            s.end(i, 1_000 + ends[i]);
        }
        s.turnOver(received, sent);
    }

    @Test
    void timeGoesToTheDatagramsThatAStageIsAbout() {
        Stages s = new Stages();
        turn(s, 10, 30, 100, 300, 380, 980, 1_280);
        turn(s, 0, 0, 500, 500, 520, 600, 640);
        assertArrayEquals(new double[] {10, 20, 2, 20, 10}, s.nsADatagram());
        assertEquals(640.0 / (640 + 1_280), s.idle());
        turn(s, 10, 0, 100, 100, 100, 100, 100);
        assertArrayEquals(new double[] {10, 10, 1.6, 20, 10}, s.nsADatagram());
        s.reset();
        assertArrayEquals(new double[5], s.nsADatagram());
        assertEquals(0, s.idle());
    }

    @Test
    void isNotCompiledInUnlessAskedFor() {
        assertFalse(Stages.ON);
    }
}
