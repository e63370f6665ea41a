// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

/** Numbers that wrap around, against the same numbers in 64 bits, which do not. */
class SerialPropertyTest {
    private static final long LONGEST = 1_000_000_000_000L;

    @Property(seed = "1", tries = 2_000)
    @Requirement("MR-GEN-010")
    void whatIsLessThanHalfTheSpaceAwayComparesAsIfNumbersNeverWrapped(@ForAll @LongRange(min = 0, max = LONGEST) long a,
            @ForAll @IntRange(min = -Integer.MAX_VALUE, max = Integer.MAX_VALUE) int ahead) {
        long b = a + ahead;
        assertEquals(ahead, Serial.diff((int) b, (int) a));
        assertEquals(-ahead, Serial.diff((int) a, (int) b));
        assertEquals(b < a, Serial.less((int) b, (int) a));
        assertEquals(a < b, Serial.less((int) a, (int) b));
        assertEquals((int) Math.max(a, b), Serial.max((int) a, (int) b));
        assertEquals((int) Math.max(a, b), Serial.max((int) b, (int) a));
    }

    @Property(seed = "2", tries = 500)
    @Requirement("MR-GEN-010")
    void numbersWithinHalfTheSpaceHaveOneOrder(@ForAll @LongRange(min = 0, max = LONGEST) long base,
            @ForAll @Size(max = 20) List<@IntRange(min = 0, max = Integer.MAX_VALUE) Integer> ahead) {
        List<Integer> serials = new ArrayList<>();
        ahead.forEach(d -> serials.add((int) (base + d)));
        serials.sort((a, b) -> Serial.diff(a, b));
        List<Integer> distances = new ArrayList<>(ahead);
        Collections.sort(distances);
        for (int i = 0; i < serials.size(); i++) {
            assertEquals((int) (base + distances.get(i)), serials.get(i));
        }
    }

    @Property(seed = "3", tries = 2_000)
    @Requirement("MR-GEN-011")
    void epochsCompareByTheirLowEightBits(@ForAll int epoch, @ForAll @IntRange(min = 1, max = 127) int ahead, @ForAll int above) {
        int later = epoch + ahead + (above << 8);
        assertTrue(Serial.newerEpoch(later, epoch));
        assertFalse(Serial.newerEpoch(epoch, later));
        assertFalse(Serial.newerEpoch(epoch, epoch + (above << 8)), "the same");
        assertFalse(Serial.newerEpoch(epoch + 128, epoch), "128 away is older");
        assertFalse(Serial.newerEpoch(epoch, epoch + 128), "seen from either");
    }

    /** What MR-PATH-008 and MR-PATH-010 rely on: a sender is never more than one ahead, so a receiver is always right about what is newer. */
    @Property(seed = "4", tries = 300)
    @Requirement("MR-GEN-011")
    void aReceiverThatIsAtMostOneEpochBehindFollowsForEver(@ForAll @Size(max = 1_000) List<@IntRange(min = -60, max = 1) Integer> late) {
        long sent = 1_000;
        int known = (int) sent;
        for (int lag : late) {
            sent += Math.max(0, lag);
            long arrives = sent + Math.min(0, lag);
            if (Serial.newerEpoch((int) arrives & 0xff, known & 0xff)) {
                known = (int) arrives & 0xff;
            }
            if (lag >= 0) {
                assertEquals((int) sent & 0xff, known & 0xff);
            }
        }
    }
}
