// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.simulator.core.EventQueue;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EventQueueTest {
    private record Expected(long at, long order, long event) { }

    /** Against a plain priority queue, with gaps from picoseconds to seconds. */
    @Test
    void takesByTimeThenOrder() {
        EventQueue queue = new EventQueue();
        PriorityQueue<Expected> model = new PriorityQueue<>(Comparator.comparingLong(Expected::at).thenComparingLong(Expected::order));
        SplittableRandom random = new SplittableRandom(7);
        long order = 0;
        for (int i = 0; i < 300_000; i++) {
            if (model.isEmpty() || random.nextInt(100) < 51) {
                long gap = random.nextInt(4) == 0 ? 0 : random.nextLong(1L << random.nextInt(41));
                queue.at(queue.nowPs() + gap, i);
                model.add(new Expected(queue.nowPs() + gap, order++, i));
            } else {
                Expected next = model.poll();
                assertEquals(next.event, queue.take());
                assertEquals(next.at, queue.nowPs());
            }
        }
        while (!model.isEmpty()) {
            assertEquals(model.poll().event, queue.take());
        }
        assertTrue(queue.isEmpty());
    }

    /** Thousands in a few nanoseconds, many at the same picosecond, and more while they are taken. */
    @Test
    void takesCrowdsByTimeThenOrder() {
        EventQueue queue = new EventQueue();
        PriorityQueue<Expected> model = new PriorityQueue<>(Comparator.comparingLong(Expected::at).thenComparingLong(Expected::order));
        SplittableRandom random = new SplittableRandom(8);
        long order = 0;
        for (int i = 0; i < 30_000; i++) {
            long at = 50_000 + random.nextLong(20_000);
            queue.at(at, i);
            model.add(new Expected(at, order++, i));
        }
        long[] foreseen = new long[1];
        queue.foresight((words, count) -> foreseen[0] += count);
        for (int i = 0; !model.isEmpty(); i++) {
            Expected next = model.poll();
            assertEquals(next.event, queue.take());
            assertEquals(next.at, queue.nowPs());
            if (i < 1_000) {
                long gap = random.nextLong(9_000);
                queue.at(queue.nowPs() + gap, 100_000 + i);
                model.add(new Expected(queue.nowPs() + gap, order++, 100_000 + i));
            }
        }
        assertTrue(queue.isEmpty());
        assertTrue(foreseen[0] >= 30_000, "all but those scheduled for the present");
    }

    @Test
    void numbersThatDoNotFitAreRefused() {
        EventQueue queue = new EventQueue();
        assertThrows(IllegalArgumentException.class, () -> queue.at(1, 1L << 52));
        assertThrows(IllegalArgumentException.class, () -> queue.at(1, -1));
    }

    @Test
    void thePastIsRefused() {
        EventQueue queue = new EventQueue();
        queue.at(10, 1);
        queue.take();
        assertThrows(IllegalArgumentException.class, () -> queue.at(9, 2));
    }
}
