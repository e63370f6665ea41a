// SPDX-License-Identifier: Apache-2.0
package io.metaroce.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * A lock-free ring of fixed-size records from one thread to one other, in memory that both see: of one process or shared by two.
 *
 * <p>Layout, native byte order: the consumer's position at byte 64, the producer's at 128, records from 192 on; each position alone on
 * its cache line. Positions count records since the beginning, in 64 bits, and never wrap. The ring is empty when they are equal and full
 * when they are {@code capacity} apart.
 *
 * <p>Each end keeps a copy of the other's position and looks at the real one only when the copy says full or empty, and moves its own
 * by whole batches. What was written to a record before {@link Producer#publish} is visible after {@link Consumer#available}; what was
 * read before {@link Consumer#release} has been read before the producer writes there again. Full and empty are return values: nobody
 * waits in here.
 */
public final class SpscRing {
    static final int CONSUMED = 64;
    static final int PRODUCED = 128;
    static final int RECORDS = 192;
    /** Largest ring, bytes of records. */
    public static final long MAX_BYTES = 1L << 30;

    private static final VarHandle POSITION = ValueLayout.JAVA_LONG.varHandle().withInvokeExactBehavior();

    private final MemorySegment memory;
    private final long records;
    private final int recordBytes;
    private final int capacity;

    /**
     * A view of the ring in {@code memory}; zeroed memory is an empty ring. Makes neither end: call {@link #producer} on one side and
     * {@link #consumer} on the other, once each.
     *
     * @param memory at least {@link #bytes} long, aligned to 64 bytes; stays reachable and alive as long as an end is used
     * @param recordBytes bytes of a record, a multiple of 8
     * @param capacity records, a power of two
     * @throws IllegalArgumentException if a value is out of its range or the memory too small or not aligned
     */
    public SpscRing(MemorySegment memory, int recordBytes, int capacity) {
        long needed = bytes(recordBytes, capacity);
        if (memory.byteSize() < needed || !memory.isNative() || memory.address() % 64 != 0) {
            throw new IllegalArgumentException("a ring of " + capacity + " records of " + recordBytes + " B needs " + needed
                    + " B of native memory aligned to 64 B, got " + memory.byteSize() + " B at " + Long.toHexString(memory.address()));
        }
        this.memory = memory;
        this.recordBytes = recordBytes;
        this.capacity = capacity;
        records = memory.address() + RECORDS;
    }

    /** Memory that a ring needs. */
    public static long bytes(int recordBytes, int capacity) {
        if (recordBytes <= 0 || recordBytes % Long.BYTES != 0 || Integer.bitCount(capacity) != 1 || capacity < 1
                || (long) recordBytes * capacity > MAX_BYTES) {
            throw new IllegalArgumentException("records of " + recordBytes + " B (a multiple of 8), " + capacity
                    + " of them (a power of two), at most " + MAX_BYTES + " B in all");
        }
        return RECORDS + (long) recordBytes * capacity;
    }

    public int capacity() {
        return capacity;
    }

    public int recordBytes() {
        return recordBytes;
    }

    public Producer producer() {
        return new Producer(this);
    }

    public Consumer consumer() {
        return new Consumer(this);
    }

    private long record(long position) {
        return records + (position & capacity - 1) * recordBytes;
    }

    private long read(int field) {
        return (long) POSITION.getAcquire(memory, (long) field);
    }

    private void write(int field, long position) {
        POSITION.setRelease(memory, (long) field, position);
    }

    /** How far the positions are apart; whoever shares the memory may have written nonsense. */
    private int distance(long produced, long consumed) {
        long distance = produced - consumed;
        if (distance < 0 || distance > capacity) {
            throw new IllegalStateException("ring corrupt: produced " + produced + ", consumed " + consumed + ", capacity " + capacity);
        }
        return (int) distance;
    }

    /** The writing end. One thread at a time, which takes over from another only by a happens-before of its own. */
    public static final class Producer {
        private final SpscRing ring;
        private long position;
        private long consumed;

        private Producer(SpscRing ring) {
            this.ring = ring;
            position = ring.read(PRODUCED);
            consumed = ring.read(CONSUMED);
            ring.distance(position, consumed);
        }

        /**
         * Records that may be written now, at most {@code most}; 0: the ring is full.
         *
         * @throws IllegalStateException if the other end's position makes no sense
         */
        public int claim(int most) {
            int free = ring.capacity - (int) (position - consumed);
            if (free < most) {
                consumed = ring.read(CONSUMED);
                free = ring.capacity - ring.distance(position, consumed);
            }
            return Math.min(free, most);
        }

        /** Address of the {@code i}-th claimed record, 0 first. */
        public long record(int i) {
            return ring.record(position + i);
        }

        /** Hands the first {@code n} claimed records over. */
        public void publish(int n) {
            position += n;
            ring.write(PRODUCED, position);
        }
    }

    /** The reading end. One thread at a time, which takes over from another only by a happens-before of its own. */
    public static final class Consumer {
        private final SpscRing ring;
        private long position;
        private long produced;

        private Consumer(SpscRing ring) {
            this.ring = ring;
            position = ring.read(CONSUMED);
            produced = ring.read(PRODUCED);
            ring.distance(produced, position);
        }

        /**
         * Records that may be read now, at most {@code most}; 0: the ring is empty.
         *
         * @throws IllegalStateException if the other end's position makes no sense
         */
        public int available(int most) {
            int ready = (int) (produced - position);
            if (ready < most) {
                produced = ring.read(PRODUCED);
                ready = ring.distance(produced, position);
            }
            return Math.min(ready, most);
        }

        /** Address of the {@code i}-th available record, 0 the oldest. */
        public long record(int i) {
            return ring.record(position + i);
        }

        /** Gives the oldest {@code n} records back to the producer. */
        public void release(int n) {
            position += n;
            ring.write(CONSUMED, position);
        }
    }
}
