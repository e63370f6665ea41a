// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NeighboursTest {
    private static final long HIGH = 0x2001_0db8_0000_0000L;

    private final List<Long> asked = new ArrayList<>();
    private final List<Long> confirmed = new ArrayList<>();
    private final List<Long> givenUp = new ArrayList<>();
    private final Neighbours.Requests requests = new Neighbours.Requests() {
        @Override
        public void ask(long high, long low, long mac) {
            (mac < 0 ? asked : confirmed).add(low);
        }

        @Override
        public void givenUp(long high, long low) {
            givenUp.add(low);
        }
    };

    @Test
    void asksAtGrowingIntervalsThenGivesUp() {
        Neighbours n = new Neighbours(16);
        assertEquals(Neighbours.UNRESOLVED, n.lookup(HIGH, 1, 0, requests));
        assertEquals(1, asked.size(), "at once");
        assertEquals(Neighbours.UNRESOLVED, n.lookup(HIGH, 1, 1, requests));
        assertEquals(1, asked.size(), "not for each packet");
        long now = 0;
        while (givenUp.isEmpty()) {
            now += 1_000_000;
            n.tick(now, requests);
        }
        assertEquals(Neighbours.ASK_TRIES, asked.size());
        assertEquals(20 * ((1 << Neighbours.ASK_TRIES) - 1), now / 1_000_000, "milliseconds");
        assertEquals(0, n.count());
    }

    @Test
    void anAnswerResolvesAndStrangersAreNotAdded() {
        Neighbours n = new Neighbours(16);
        n.lookup(HIGH, 1, 0, requests);
        assertTrue(n.learn(HIGH, 1, 0xabc, false, 5));
        assertEquals(0xabc, n.lookup(HIGH, 1, 6, requests));
        assertFalse(n.learn(HIGH, 2, 0xdef, false, 5));
        assertTrue(n.learn(HIGH, 3, 0xdef, true, 5));
        assertEquals(2, n.count());
        assertTrue(n.learn(HIGH, 1, 0x111, false, 7));
        assertEquals(0x111, n.lookup(HIGH, 1, 8, requests), "a changed address counts at once");
    }

    @Test
    void usedEntriesAreConfirmedAndUnusedOnesForgotten() {
        Neighbours n = new Neighbours(16);
        n.learn(HIGH, 1, 0xabc, true, 0);
        n.learn(HIGH, 2, 0xdef, true, 0);
        n.lookup(HIGH, 1, 1, requests);
        n.tick(Neighbours.REACHABLE_NS, requests);
        assertEquals(List.of(1L), confirmed);
        assertEquals(1, n.count());
        assertEquals(0xabc, n.lookup(HIGH, 1, Neighbours.REACHABLE_NS, requests), "still used meanwhile");
        n.learn(HIGH, 1, 0xabc, false, Neighbours.REACHABLE_NS + 1);
        long now = 2 * Neighbours.REACHABLE_NS + 1;
        for (int i = 0; i <= Neighbours.CONFIRM_TRIES; i++) {
            n.tick(now, requests);
            now += Neighbours.CONFIRM_NS;
        }
        assertEquals(1 + Neighbours.CONFIRM_TRIES, confirmed.size());
        assertEquals(0, n.count(), "no answer");
    }

    @Test
    void aFullTableSaysSo() {
        Neighbours n = new Neighbours(8);
        int fits = 0;
        while (n.lookup(HIGH, fits, 0, requests) == Neighbours.UNRESOLVED) {
            fits++;
        }
        assertTrue(fits >= 8, "" + fits);
        assertEquals(Neighbours.FULL, n.lookup(HIGH, fits, 0, requests));
        assertFalse(n.learn(HIGH, fits, 1, true, 0));
        n.clear(requests);
        assertEquals(fits, givenUp.size());
        assertEquals(0, n.count());
    }

    /** Against a map: what is found, through additions and removals in colliding runs. */
    @Test
    void behavesAsAMap() {
        for (long seed = 0; seed < 50; seed++) {
            Random random = new Random(seed);
            Neighbours n = new Neighbours(24);
            Map<Long, Long> expected = new HashMap<>();
            Map<Long, Long> diesAt = new HashMap<>();
            long now = 0;
            for (int step = 0; step < 500; step++) {
                long key = random.nextInt(40);
                if (random.nextInt(3) > 0 && (expected.size() < 24 || expected.containsKey(key))) {
                    long mac = random.nextInt(1 << 20);
                    assertTrue(n.learn(HIGH, key, mac, true, now), "seed " + seed);
                    expected.put(key, mac);
                    diesAt.put(key, now + Neighbours.REACHABLE_NS);
                }
                now += Neighbours.REACHABLE_NS / 20;
                // Never looked up before it is due, so an entry is unused and goes. A wrap-around may put it off to the next tick.
                n.tick(now, requests);
                n.tick(now, requests);
                long t = now;
                expected.keySet().removeIf(k -> diesAt.get(k) - t <= 0);
                assertEquals(expected.size(), n.count(), "seed " + seed + ", step " + step);
            }
            for (Map.Entry<Long, Long> e : expected.entrySet()) {
                assertEquals(e.getValue(), n.lookup(HIGH, e.getKey(), now, requests), "seed " + seed);
            }
        }
    }
}
