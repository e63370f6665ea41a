// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Which pieces of a run under a flood count, and what they come to. */
class FloodPiecesTest {
    @Test
    void mediansOfWhatWasUndisturbedAndFullyFlooded() {
        FloodPieces pieces = new FloodPieces();
        for (int i = 0; i < 9; i++) {
            pieces.add(false, 100, 0, 10_000, 40_000, 0);
            pieces.add(true, 100, 50, 12_500, 50_000, 0);
            pieces.add(true, 100, 10, 10_100, 40_000, 0);   // its source had half a core
            pieces.add(false, 100, 0, 90_000, 90_000, 50_000);   // we had half a core
            pieces.add(false, 100, 3, 90_000, 90_000, 0);   // not calm
            pieces.add(true, 0, 50, 12_500, 50_000, 0);   // nothing moved
        }
        String summary = pieces.summary();
        assertTrue(summary.startsWith("kept=80.00 without_ns=100.0 with_ns=125.0 taken_mpps=1.0000 a_packet=0.500 drop_ns=50.0 pieces=9 of 18, 9 calm"), summary);
    }

    @Test
    void enoughAreEnoughOfEitherKindInFullFlood() {
        FloodPieces pieces = new FloodPieces();
        for (int i = 0; i < FloodPieces.ENOUGH; i++) {
            assertFalse(pieces.areEnough());
            pieces.add(false, 100, 0, 10_000, 40_000, 0);
            pieces.add(true, 100, i % 2 == 0 ? 50 : 10, 12_500, 50_000, 0);
        }
        assertFalse(pieces.areEnough(), "half of the flooded ones were not in full flood");
        for (int i = 0; i < FloodPieces.ENOUGH / 2; i++) {
            pieces.add(true, 100, 50, 12_500, 50_000, 0);
        }
        assertTrue(pieces.areEnough());
    }

    @Test
    void withoutPiecesThereIsNoFigure() {
        FloodPieces pieces = new FloodPieces();
        pieces.add(false, 100, 0, 10_000, 40_000, 0);
        assertThrows(IllegalStateException.class, pieces::summary);
    }
}
