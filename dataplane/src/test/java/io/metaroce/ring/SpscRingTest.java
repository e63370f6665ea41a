// SPDX-License-Identifier: Apache-2.0
package io.metaroce.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.bindings.libc.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpscRingTest {
    private static MemorySegment memory(int recordBytes, int capacity) {
        return Arena.ofAuto().allocate(SpscRing.bytes(recordBytes, capacity), 64);
    }

    /** Random batches on both ends, beside a queue. */
    @ParameterizedTest
    @CsvSource({"8, 1", "8, 2", "24, 4", "64, 64", "128, 1024"})
    void behavesAsABoundedQueue(int recordBytes, int capacity) {
        SpscRing ring = new SpscRing(memory(recordBytes, capacity), recordBytes, capacity);
        SpscRing.Producer producer = ring.producer();
        SpscRing.Consumer consumer = ring.consumer();
        SplittableRandom random = new SplittableRandom(recordBytes * 31L + capacity);
        Queue<Long> model = new ArrayDeque<>();
        long next = 1;
        for (int turn = 0; turn < 20_000; turn++) {
            int most = random.nextInt(capacity + 3);
            if (random.nextBoolean()) {
                int claimed = producer.claim(most);
                assertEquals(Math.min(most, capacity - model.size()), claimed);
                int published = claimed == 0 ? 0 : random.nextInt(claimed + 1);
                for (int i = 0; i < published; i++, next++) {
                    for (int at = 0; at < recordBytes; at += 8) {
                        RawMemory.putLong(producer.record(i) + at, next);
                    }
                    model.add(next);
                }
                producer.publish(published);
            } else {
                int available = consumer.available(most);
                assertEquals(Math.min(most, model.size()), available);
                int released = available == 0 ? 0 : random.nextInt(available + 1);
                for (int i = 0; i < released; i++) {
                    long expected = model.remove();
                    for (int at = 0; at < recordBytes; at += 8) {
                        assertEquals(expected, RawMemory.getLong(consumer.record(i) + at));
                    }
                }
                consumer.release(released);
            }
        }
    }

    /** An end that is made anew goes on where the last one stopped: a client that restarts finds its ring. */
    @Test
    void anEndCanBeMadeAnew() {
        MemorySegment memory = memory(8, 8);
        SpscRing.Producer producer = new SpscRing(memory, 8, 8).producer();
        assertEquals(5, producer.claim(5));
        for (int i = 0; i < 5; i++) {
            RawMemory.putLong(producer.record(i), 100 + i);
        }
        producer.publish(5);
        SpscRing.Consumer first = new SpscRing(memory, 8, 8).consumer();
        assertEquals(2, first.available(2));
        first.release(2);
        SpscRing.Consumer second = new SpscRing(memory, 8, 8).consumer();
        assertEquals(3, second.available(8));
        assertEquals(102, RawMemory.getLong(second.record(0)));
        assertEquals(5, new SpscRing(memory, 8, 8).producer().claim(8));
    }

    @Test
    void nonsenseOfTheOtherEndIsToldNotFollowed() {
        MemorySegment memory = memory(8, 8);
        SpscRing ring = new SpscRing(memory, 8, 8);
        SpscRing.Producer producer = ring.producer();
        SpscRing.Consumer consumer = ring.consumer();
        memory.set(ValueLayout.JAVA_LONG, SpscRing.CONSUMED, 1);
        assertThrows(IllegalStateException.class, () -> producer.claim(9));
        memory.set(ValueLayout.JAVA_LONG, SpscRing.PRODUCED, 9);
        assertThrows(IllegalStateException.class, () -> consumer.available(1));
        memory.set(ValueLayout.JAVA_LONG, SpscRing.CONSUMED, 0);
        assertThrows(IllegalStateException.class, ring::producer);
    }

    @Test
    void wrongSizesAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> SpscRing.bytes(7, 8));
        assertThrows(IllegalArgumentException.class, () -> SpscRing.bytes(8, 3));
        assertThrows(IllegalArgumentException.class, () -> SpscRing.bytes(8, 0));
        assertThrows(IllegalArgumentException.class, () -> SpscRing.bytes(1 << 20, 1 << 20));
        MemorySegment small = memory(8, 8).asSlice(0, SpscRing.bytes(8, 8) - 1);
        assertThrows(IllegalArgumentException.class, () -> new SpscRing(small, 8, 8));
        MemorySegment crooked = Arena.ofAuto().allocate(1024, 64).asSlice(8);
        assertThrows(IllegalArgumentException.class, () -> new SpscRing(crooked, 8, 8));
    }

    /** Two threads, a small ring, batches of all sizes: nothing lost, doubled, torn or out of order. */
    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    void carriesRecordsBetweenThreads() throws InterruptedException {
        int recordBytes = 64;
        SpscRing ring = new SpscRing(memory(recordBytes, 16), recordBytes, 16);
        long total = 300_000;
        Thread sender = new Thread(() -> {
            SpscRing.Producer producer = ring.producer();
            SplittableRandom random = new SplittableRandom(1);
            for (long next = 0; next < total; ) {
                int n = (int) Math.min(producer.claim(1 + random.nextInt(20)), total - next);
                for (int i = 0; i < n; i++, next++) {
                    for (int at = 0; at < recordBytes; at += 8) {
                        RawMemory.putLong(producer.record(i) + at, next);
                    }
                }
                producer.publish(n);
                if (n == 0) {
                    Thread.yield();
                }
            }
        });
        sender.start();
        SpscRing.Consumer consumer = ring.consumer();
        SplittableRandom random = new SplittableRandom(2);
        long expected = 0;
        boolean whole = true;
        while (expected < total && whole) {
            int n = consumer.available(1 + random.nextInt(20));
            for (int i = 0; i < n; i++, expected++) {
                for (int at = 0; at < recordBytes; at += 8) {
                    whole &= RawMemory.getLong(consumer.record(i) + at) == expected;
                }
            }
            consumer.release(n);
            if (n == 0) {
                Thread.yield();
            }
        }
        assertTrue(whole, "record before " + expected);
        sender.join();
        assertEquals(0, consumer.available(1));
    }
}
