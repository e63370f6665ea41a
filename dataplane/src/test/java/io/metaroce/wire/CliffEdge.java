// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Memory with nothing behind it: a file is mapped and then made shorter, so that touching one byte beyond its end is an
 * {@link InternalError} instead of a read of whatever lies there. Datagrams are placed right before the end.
 */
final class CliffEdge implements AutoCloseable {
    private static final int EDGE = 1 << 16;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory;
    private final Path file;

    CliffEdge() throws IOException {
        file = Files.createTempFile("metaroce-edge", null);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, 2 * EDGE, arena);
            channel.truncate(EDGE);
        }
    }

    /** Copies the content so that its last byte is the last byte there is; returns its address. */
    long place(byte[] content, int length) {
        MemorySegment.copy(content, 0, memory, ValueLayout.JAVA_BYTE, EDGE - length, length);
        return memory.address() + EDGE - length;
    }

    @Override
    public void close() throws IOException {
        arena.close();
        Files.delete(file);
    }
}
