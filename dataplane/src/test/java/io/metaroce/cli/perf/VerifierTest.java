// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Verification finds what a transport can do wrong: a packet not placed, placed elsewhere, or changed. */
class VerifierTest {
    private static final int PACKET = 4096;
    private final Plan plan = new Plan(Op.WRITE, 1 << 20, 1, 2, 4, true, false, false, false);
    private final RunMemory source = new RunMemory(plan, 1);
    private final RunMemory target = new RunMemory(plan, 2);
    private final List<Boolean> verdicts = new ArrayList<>();
    private final Verifier verifier = new Verifier(target, (stream, slot, right) -> verdicts.add(right));

    @AfterEach
    void free() {
        source.close();
        target.close();
    }

    /** What a faultless transport does with the n-th message. */
    private MemorySegment deliver(long message) {
        MemorySegment from = source.segment.asSlice(source.sourceOffset(sourceOf(message)), plan.size());
        MemorySegment to = slot(message);
        to.copyFrom(from);
        return to;
    }

    private MemorySegment slot(long message) {
        return target.segment.asSlice(target.slotOffset(1, (int) (message % plan.slots())), plan.size());
    }

    private int sourceOf(long message) {
        return RunMemory.sourceOf(message, 1, plan.sources());
    }

    private void check(long message) {
        verifier.add(1, (int) (message % plan.slots()), source.checksum(sourceOf(message)));
        while (verifier.step()) {
            // Until all is checked.
        }
    }

    /** A view of memory made for each message is free only where the compiler sees through it: beside a DPDK port it did not. */
    @Test
    void checkingAllocatesNothingNotEvenInterpreted() {
        Verifier quiet = new Verifier(target, (stream, slot, right) -> { });
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = 0;
        for (int message = 0; message < 300; message++) {
            // The first makes the view of where the memory lies.
            before = message == 1 ? threads.getCurrentThreadAllocatedBytes() : before;
            quiet.add(1, message % plan.slots(), 0);
            while (quiet.step()) {
                // Until all is checked.
            }
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(allocated < 2_000, allocated + " B for 299 messages");
    }

    @Test
    void whatArrivedWholeIsRight() {
        for (long message = 0; message < 20; message++) {
            deliver(message);
            check(message);
        }
        assertEquals(20, verifier.right());
        assertEquals(0, verifier.wrong());
        assertEquals("", verifier.firstFault());
    }

    @Test
    void oneFlippedBitIsFound() {
        MemorySegment slot = deliver(0);
        slot.set(ValueLayout.JAVA_BYTE, 777_777, (byte) (slot.get(ValueLayout.JAVA_BYTE, 777_777) ^ 1));
        check(0);
        assertEquals(List.of(false), verdicts);
        assertEquals("message 0 on stream 1 is not what was sent", verifier.firstFault());
    }

    @Test
    void aPacketThatWasNeverPlacedIsFoundBecauseTheSlotHeldOtherContents() {
        for (long message = 0; message < plan.slots(); message++) {
            deliver(message);
            check(message);
        }
        // The next message into slot 0 arrives but for its packet 17, whose place keeps what message 0 left there.
        MemorySegment old = slot(0).asSlice(17L * PACKET, PACKET);
        byte[] left = old.toArray(ValueLayout.JAVA_BYTE);
        deliver(plan.slots());
        old.copyFrom(MemorySegment.ofArray(left));
        check(plan.slots());
        assertEquals(1, verifier.wrong());
        assertEquals("message 4 on stream 1 is not what was sent", verifier.firstFault());
    }

    @Test
    void aPacketPlacedElsewhereIsFound() {
        MemorySegment slot = deliver(0);
        MemorySegment.copy(slot, 0, slot, PACKET, PACKET);
        check(0);
        assertEquals(1, verifier.wrong());
    }

    @Test
    void aMessageInTheWrongOrderIsFound() {
        deliver(0);
        verifier.add(1, 0, source.checksum(sourceOf(1)));
        while (verifier.step()) {
            // Until all is checked.
        }
        assertEquals(1, verifier.wrong());
    }

    @Test
    void theContentsOfTheTwoSidesDiffer() {
        assertNotEquals(source.checksum(0), target.checksum(0));
        assertNotEquals(source.checksum(0), source.checksum(1));
    }

    @Test
    void oneStepChecksABoundedNumberOfBytes() {
        deliver(0);
        verifier.add(1, 0, source.checksum(sourceOf(0)));
        assertTrue(verifier.step());
        assertTrue(verdicts.isEmpty(), "1 MiB takes more than one step");
        assertTrue(verifier.step());
        assertEquals(List.of(true), verdicts);
        assertFalse(verifier.step());
    }

    @Test
    void moreThanAllSlotsCannotWait() {
        for (int i = 0; i < plan.slots(); i++) {
            verifier.add(1, i, 0);
        }
        assertEquals(plan.slots(), verifier.waiting());
        assertThrows(IllegalStateException.class, () -> verifier.add(1, 0, 0));
    }
}
