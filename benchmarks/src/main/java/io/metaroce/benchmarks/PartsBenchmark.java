// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import io.metaroce.memory.LongMap;
import io.metaroce.memory.RecordPool;
import io.metaroce.memory.Slab;
import io.metaroce.ring.SpscRing;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.Checksum;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Type;
import io.metaroce.wire.Validate;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Single parts that every packet passes: headers, ring, slab. Memory is off-heap and warm, 64 headers in turn. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-XX:+UseSerialGC"})
public class PartsBenchmark {
    private static final int HEADERS = 64;
    private static final int STRIDE = 512;
    private static final int RECORDS = 1024;
    private static final int RECORD_BYTES = 256;
    private static final int BATCH = 32;
    private static final int TAG = 0x5eed;

    private final MemorySegment memory = Arena.ofAuto().allocate((long) HEADERS * STRIDE, 64);
    private final MemorySegment acks = Arena.ofAuto().allocate((long) HEADERS * STRIDE, 64);
    private final MemorySegment ringMemory = Arena.ofAuto().allocate(SpscRing.bytes(64, RECORDS), 64);
    private final Checksum checksum = new Checksum();
    private SpscRing.Producer producer;
    private SpscRing.Consumer consumer;
    private Slab slab;
    private RecordPool pool;
    private LongMap map;
    private int turn;

    @Setup
    public void build() {
        SpscRing ring = new SpscRing(ringMemory, 64, RECORDS);
        producer = ring.producer();
        consumer = ring.consumer();
        slab = new Slab(RecordPool.bytes(RECORD_BYTES, RECORDS) + LongMap.bytes(RECORDS));
        pool = new RecordPool(slab, RECORD_BYTES, RECORDS);
        map = new LongMap(slab, RECORDS);
        for (int i = 0; i < RECORDS; i++) {
            map.put(1 + i * 0x1_0000_0001L, pool.at(i));
        }
        for (int i = 0; i < HEADERS; i++) {
            dataHeader(memory.address() + (long) i * STRIDE, i);
            acknowledgement(acks.address() + (long) i * STRIDE, i);
        }
    }

    private long next(MemorySegment of) {
        return of.address() + (long) (turn++ & HEADERS - 1) * STRIDE;
    }

    /** The 64 bytes of a Data packet with their checksum; payload not covered. */
    @Benchmark
    public int dataHeaderBuild() {
        long at = next(memory);
        dataHeader(at, turn);
        return Bytes.getInt(at);
    }

    private void dataHeader(long at, int n) {
        Prefix.write(at, Type.DATA, 77);
        DataHeader.opcode(at, Opcode.WRITE);
        DataHeader.floorDistance(at, n & 63);
        DataHeader.path(at, n & 15);
        DataHeader.epoch(at, 1);
        DataHeader.psn(at, n);
        DataHeader.timestamp(at, n);
        DataHeader.stream(at, 1);
        DataHeader.ssn(at, n);
        DataHeader.msn(at, n >>> 4);
        DataHeader.demand(at, 9);
        DataHeader.payloadLength(at, 0);
        DataHeader.remoteAddress(at, 0x1234_5678L + n);
        DataHeader.remoteKey(at, 5);
        DataHeader.offset(at, 0);
        DataHeader.messageLength(at, 0);
        DataHeader.immediate(at, 0);
        Prefix.flags(at, DataHeader.LAST);
        Prefix.checksum(at, checksum.field(at, DataHeader.LENGTH, TAG));
    }

    /** Checks of the same, checksum included, and a look at the fields that a receiver needs. */
    @Benchmark
    public long dataHeaderParse() {
        long at = next(memory);
        if (Validate.check(at, DataHeader.LENGTH) != 0 || Prefix.checksum(at) != checksum.field(at, DataHeader.LENGTH, TAG)) {
            throw new IllegalStateException("a good header is rejected");
        }
        return DataHeader.psn(at) + DataHeader.path(at) + DataHeader.epoch(at) + DataHeader.stream(at) + DataHeader.ssn(at) + DataHeader.remoteAddress(at)
                + DataHeader.remoteKey(at);
    }

    /** An acknowledgement of one path with one word of bitmap, as bytes: what to put in is known. */
    @Benchmark
    public int ackBuild() {
        long at = next(acks);
        acknowledgement(at, turn);
        return Bytes.getInt(at);
    }

    private void acknowledgement(long at, int n) {
        Bytes.zero(at, AckHeader.LENGTH);
        Prefix.write(at, Type.ACK, 77);
        AckHeader.pathBlocks(at, 1);
        AckHeader.longBlocks(at, 1);
        long block = at + AckHeader.LENGTH;
        PathBlock.index(block, n & 15);
        PathBlock.cumulative(block, n);
        PathBlock.epoch(block, 1);
        PathBlock.ceCount(block, 0);
        PathBlock.hold(block, 12);
        PathBlock.span(block, 64);
        PathBlock.words(block, 1);
        PathBlock.echo(block, n);
        PathBlock.word(block, 0, 0xff0L);
        Prefix.checksum(at, checksum.field(at, AckHeader.LENGTH + PathBlock.length(1), TAG));
    }

    /** Checks of the same, and its fields. */
    @Benchmark
    public long ackParse() {
        long at = next(acks);
        int length = AckHeader.LENGTH + PathBlock.length(1);
        if (Validate.check(at, length) != 0 || Prefix.checksum(at) != checksum.field(at, length, TAG)) {
            throw new IllegalStateException("a good acknowledgement is rejected");
        }
        long block = at + AckHeader.LENGTH;
        return PathBlock.index(block) + PathBlock.cumulative(block) + PathBlock.span(block) + PathBlock.echo(block) + PathBlock.word(block, 0);
    }

    /** A record through the ring, in batches of 32: claimed, written, published, read and released by one thread. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long ring() {
        int room = producer.claim(BATCH);
        for (int i = 0; i < room; i++) {
            Bytes.putLong(producer.record(i), i);
        }
        producer.publish(room);
        int ready = consumer.available(BATCH);
        long sum = 0;
        for (int i = 0; i < ready; i++) {
            sum += Bytes.getLong(consumer.record(i));
        }
        consumer.release(ready);
        return sum;
    }

    /** A field of one of 1,024 records read, changed and written. */
    @Benchmark
    public int slabField() {
        return slab.addInt(pool.at(turn++ * 0x9e37 & RECORDS - 1) + 16, 1);
    }

    /** A record is looked up by a key. */
    @Benchmark
    public long slabMap() {
        return map.get(1 + (turn++ * 0x9e37 & RECORDS - 1) * 0x1_0000_0001L);
    }
}
