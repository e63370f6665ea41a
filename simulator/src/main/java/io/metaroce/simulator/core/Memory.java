// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.core;

import io.metaroce.bindings.libc.Pages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * Zeroed memory for the parts of a run, one behind the other in large pieces, so that the records of thousands of hosts share huge
 * pages. What is not touched takes no memory. It goes when nothing of the run is left. One thread.
 */
public final class Memory implements SegmentAllocator {
    private static final long PIECE = 64L << 20;

    private final Arena arena = Arena.ofAuto();
    private SegmentAllocator piece = SegmentAllocator.slicingAllocator(MemorySegment.NULL);
    private long left;

    @Override
    public MemorySegment allocate(long bytes, long alignment) {
        if (bytes + alignment > left) {
            left = Math.max(PIECE, bytes + alignment);
            piece = SegmentAllocator.slicingAllocator(Pages.allocate(arena, left));
        }
        left -= bytes + alignment;
        return piece.allocate(bytes, alignment);
    }
}
