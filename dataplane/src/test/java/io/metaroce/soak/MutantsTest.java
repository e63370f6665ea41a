// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The simulation finds every deliberate fault; a model that let one pass would prove nothing. */
class MutantsTest {
    @Test
    void eachIsFound() throws InterruptedException {
        assertEquals(List.of(), Mutants.huntAll(Mutants.ALL, Mutants.BUDGET));
    }
}
