// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * The message memory of one side of a run: first the contents ("sources", random, with known checksums), then the slots of
 * each stream. Filled at set-up by any thread, then used by the loop's thread alone.
 */
final class RunMemory implements AutoCloseable {
    final Plan plan;
    final MemorySegment segment;
    private final Arena arena = Arena.ofShared();
    private final int[] checksums;

    /** @param seed decides the contents, so that two sides with different seeds have different ones */
    RunMemory(Plan plan, long seed) {
        this.plan = plan;
        // Page alignment: the copy at the target runs fastest on whole pages.
        segment = arena.allocate(plan.memoryBytes(), 4096);
        checksums = new int[plan.sources()];
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < checksums.length; i++) {
            MemorySegment source = segment.asSlice(sourceOffset(i), plan.size());
            long at = 0;
            for (; at + 8 <= plan.size(); at += 8) {
                source.set(ValueLayout.JAVA_LONG, at, random.nextLong());
            }
            for (; at < plan.size(); at++) {
                source.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
            }
            checksums[i] = checksum(source);
        }
    }

    long sourceOffset(int source) {
        return (long) source * plan.stride();
    }

    /** @param stream 1 to {@code plan.streams()} */
    long slotOffset(int stream, int slot) {
        return (long) plan.stride() * (plan.sources() + (long) (stream - 1) * plan.slots() + slot);
    }

    /** CRC32C of each source. */
    int[] checksums() {
        return checksums.clone();
    }

    int checksum(int source) {
        return checksums[source];
    }

    /** The source of the n-th message of a stream: streams start apart. */
    static int sourceOf(long message, int stream, int sources) {
        return (int) ((message + stream) % sources);
    }

    static int checksum(MemorySegment bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.asByteBuffer());
        return (int) crc.getValue();
    }

    /** Call when nothing refers to the memory any more: no region, no packet in a port. */
    @Override
    public void close() {
        arena.close();
    }
}
