// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.libc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class PagesTest {
    /** Small ones come from the arena, large ones from the kernel: zeroed, all of it there, on a page. */
    @Test
    void memoryIsZeroedAndWhole() {
        for (long bytes : new long[] {1, 4_096, (2L << 20) - 1, 2L << 20, (5L << 20) + 77}) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment memory = Pages.allocate(arena, bytes);
                assertEquals(bytes, memory.byteSize());
                assertEquals(0, memory.address() % 4_096);
                assertEquals(-1, memory.mismatch(MemorySegment.ofArray(new byte[(int) bytes])));
                memory.fill((byte) 1);
            }
        }
    }
}
