// SPDX-License-Identifier: Apache-2.0
package io.metaroce.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * 64-bit words of registered memory, by absolute address and in the host's byte order (spec: "Atomics").
 *
 * <p>The read-modify-write operations are atomic with those of every other thread and process on the same word, however they are
 * made, and have volatile memory semantics. Nothing is checked but their alignment: callers have found the address in a region.
 * Stateless, any thread.
 */
public final class Words {
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle().withInvokeExactBehavior();

    private Words() {
    }

    /** Writes {@code value} if the word is {@code expected}; returns what it was before. The address is a multiple of 8. */
    public static long compareAndSwap(long address, long expected, long value) {
        return (long) WORD.compareAndExchange(ALL, address, expected, value);
    }

    /** Adds, wrapping around; returns what the word was before. The address is a multiple of 8. */
    public static long fetchAndAdd(long address, long addend) {
        return (long) WORD.getAndAdd(ALL, address, addend);
    }

    /** Writes plainly, at any alignment. */
    public static void put(long address, long value) {
        ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
    }
}
