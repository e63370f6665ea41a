// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.wire.Checksum;

/**
 * Checks messages in the slots of a {@link RunMemory} against their checksums, in the order of arrival and a bounded number of
 * bytes at a time, so that checking a large message does not hold up the loop and its acknowledgements.
 *
 * <p>A slot belongs to the verifier from {@link #add} until {@link #step} has reported it. Allocation-free. Loop's thread.
 */
final class Verifier {
    /** Bytes checked in one step: more than a burst brings in, so that the queue does not grow. */
    static final int BYTES_A_STEP = 512 * 1024;

    /** What happens to a checked message. */
    interface Sink {
        void checked(int stream, int slot, boolean right);
    }

    private final RunMemory memory;
    private final Sink sink;
    private final Checksum crc = new Checksum();
    private final int[] streams;
    private final int[] slots;
    private final int[] expected;
    private int head;
    private int waiting;
    private int progress;
    private long right;
    private long wrong;
    private int firstWrongStream;
    private long firstWrongMessage = -1;

    Verifier(RunMemory memory, Sink sink) {
        this.memory = memory;
        this.sink = sink;
        int capacity = memory.plan.slots() * memory.plan.streams();
        streams = new int[capacity];
        slots = new int[capacity];
        expected = new int[capacity];
    }

    /** Queues a message for checking; there is room for as many as there are slots. */
    void add(int stream, int slot, int checksum) {
        if (waiting == streams.length) {
            throw new IllegalStateException("more messages to check than slots");
        }
        int at = head + waiting;
        at = at >= streams.length ? at - streams.length : at;
        streams[at] = stream;
        slots[at] = slot;
        expected[at] = checksum;
        waiting++;
    }

    /** Checks up to {@link #BYTES_A_STEP} bytes. Returns true if there was anything to do. */
    boolean step() {
        if (waiting == 0) {
            return false;
        }
        int size = memory.plan.size();
        int budget = BYTES_A_STEP;
        while (waiting > 0 && budget > 0) {
            int n = Math.min(budget, size - progress);
            crc.update(memory.segment.address() + memory.slotOffset(streams[head], slots[head]) + progress, n);
            progress += n;
            budget -= n;
            if (progress == size) {
                finish();
            }
        }
        return true;
    }

    private void finish() {
        boolean good = crc.value() == expected[head];
        int stream = streams[head];
        int slot = slots[head];
        crc.reset();
        progress = 0;
        head = head + 1 == streams.length ? 0 : head + 1;
        waiting--;
        if (good) {
            right++;
        } else {
            if (wrong == 0) {
                firstWrongStream = stream;
                firstWrongMessage = right + wrong;
            }
            wrong++;
        }
        sink.checked(stream, slot, good);
    }

    /** Messages still to be checked. */
    int waiting() {
        return waiting;
    }

    long right() {
        return right;
    }

    long wrong() {
        return wrong;
    }

    /** "" while all was right. */
    String firstFault() {
        return wrong == 0 ? "" : "message " + firstWrongMessage + " on stream " + firstWrongStream + " is not what was sent";
    }
}
