// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Timers against a queue of the library that is told the same. */
class TimerHeapPropertyTest {
    private static final int CONNECTIONS = 24;
    private static final int LONGEST = 2_000;

    private enum Kind { AT_MOST, REMOVE, PASS }

    /** One call; {@code ns} is a deadline after the present, or how much time passes. */
    private record Step(Kind kind, int connection, int ns) { }

    private static final class Both {
        private final TimerHeap heap = new TimerHeap(CONNECTIONS);
        private final Map<Integer, Long> deadlines = new HashMap<>();
        private long nowNs;

        Both(long startNs) {
            nowNs = startNs;
        }

        private PriorityQueue<Long> inOrder() {
            // Times are compared by their difference: a clock may start anywhere, and run over.
            PriorityQueue<Long> queue = new PriorityQueue<>((a, b) -> Long.compare(a - nowNs, b - nowNs));
            queue.addAll(deadlines.values());
            return queue;
        }

        void make(Step s) {
            int c = s.connection;
            switch (s.kind) {
                case AT_MOST -> {
                    heap.atMost(c, nowNs + s.ns);
                    deadlines.merge(c, nowNs + s.ns, (a, b) -> a - b < 0 ? a : b);
                }
                case REMOVE -> {
                    heap.remove(c);
                    deadlines.remove(c);
                }
                case PASS -> {
                    nowNs += s.ns;
                    fire();
                }
            }
            PriorityQueue<Long> queue = inOrder();
            assertEquals(queue.isEmpty() ? TimerHeap.NEVER : queue.peek(), heap.earliest());
        }

        /** All that is due, earliest first, each once, and nothing else. */
        private void fire() {
            PriorityQueue<Long> queue = inOrder();
            for (int c; (c = heap.popDue(nowNs)) != TimerHeap.NONE; ) {
                Long deadline = deadlines.remove(c);
                assertTrue(deadline != null, "one without a deadline");
                assertEquals(queue.remove(), deadline, "out of order");
                assertTrue(deadline - nowNs <= 0, "too early");
            }
            assertTrue(queue.isEmpty() || queue.peek() - nowNs > 0, "too late");
        }
    }

    @Provide
    static Arbitrary<List<Step>> steps() {
        Arbitrary<Kind> kind = Arbitraries.of(Kind.AT_MOST, Kind.AT_MOST, Kind.AT_MOST, Kind.AT_MOST, Kind.REMOVE, Kind.PASS);
        return Combinators.combine(kind, Arbitraries.integers().between(0, CONNECTIONS - 1), Arbitraries.integers().between(0, LONGEST))
                .as(Step::new).list().ofMaxSize(200);
    }

    @Property(seed = "1", tries = 400, edgeCases = EdgeCasesMode.NONE)
    void firesWhatAQueueWouldFire(@ForAll("steps") List<Step> steps, @ForAll long startNs) {
        // The one deadline that means "never" is no deadline.
        long never = startNs - TimerHeap.NEVER;
        Both both = new Both(never > -1_000_000 && never <= 0 ? startNs - 1_000_000 : startNs);
        steps.forEach(both::make);
        both.make(new Step(Kind.PASS, 0, 2 * LONGEST));
        assertEquals(Map.of(), both.deadlines, "all have fired");
    }
}
