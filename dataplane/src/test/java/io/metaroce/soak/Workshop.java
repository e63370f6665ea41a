// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.transport.TxBurst;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** What the scenarios of one thread use one after the other, since it is large: hosts' memories, frames, room for headers. */
final class Workshop {
    static final int BURST = 64;
    private static final int CHUNK = 256;
    private static final ThreadLocal<Workshop> OWN = ThreadLocal.withInitial(Workshop::new);

    final long headers = Arena.global().allocate((long) BURST * TxBurst.HEADER_ROOM, 64).address();
    private final List<HostMemory> memories = new ArrayList<>();
    private final ArrayDeque<Frame> frames = new ArrayDeque<>();

    static Workshop own() {
        return OWN.get();
    }

    /** The memory of host {@code i}, to be reset before use. */
    HostMemory memory(int i) {
        while (memories.size() <= i) {
            memories.add(new HostMemory());
        }
        return memories.get(i);
    }

    Frame take() {
        if (frames.isEmpty()) {
            long chunk = Arena.global().allocate((long) CHUNK * Frame.ROOM, 64).address();
            for (int i = 0; i < CHUNK; i++) {
                frames.push(new Frame(chunk + (long) i * Frame.ROOM));
            }
        }
        return frames.pop();
    }

    void give(Frame f) {
        f.from = null;
        frames.push(f);
    }
}
