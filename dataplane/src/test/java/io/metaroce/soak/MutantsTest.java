// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The simulation finds every deliberate fault; a model that let one pass would prove nothing. */
class MutantsTest {
    static Stream<Mutant> mutants() {
        return Mutants.ALL.stream();
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void isFound(Mutant mutant) {
        Mutants.Verdict v = Mutants.hunt(mutant, Mutants.BUDGET);
        System.out.println(v);
        assertTrue(v.seed() >= 0, v.toString());
    }
}
