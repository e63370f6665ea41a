// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.BitSet;

/**
 * Binds the calling thread to one core, so that two loops on one machine do not take turns on the same one. Linux only;
 * elsewhere, or where the kernel refuses, nothing happens. Set-up only.
 */
public final class Affinity {
    private static final int SET_BYTES = 128;

    private Affinity() {
    }

    /** The cores this process may use, ascending; empty if unknown. */
    public static int[] allowed() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment set = arena.allocate(SET_BYTES, 8);
            if (call("sched_getaffinity", set) < 0) {
                return new int[0];
            }
            return BitSet.valueOf(set.toArray(ValueLayout.JAVA_LONG)).stream().toArray();
        }
    }

    /**
     * Pins the calling thread.
     *
     * @param cpu number of the core, as in {@link #allowed}
     * @return false if it could not be done
     */
    public static boolean pin(int cpu) {
        if (cpu < 0 || cpu >= SET_BYTES * 8) {
            return false;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment set = arena.allocate(SET_BYTES, 8);
            set.set(ValueLayout.JAVA_BYTE, cpu >> 3, (byte) (1 << (cpu & 7)));
            return call("sched_setaffinity", set) >= 0;
        }
    }

    private static int call(String function, MemorySegment set) {
        MemorySegment symbol = Linker.nativeLinker().defaultLookup().find(function).orElse(MemorySegment.NULL);
        if (symbol.equals(MemorySegment.NULL)) {
            return -1;
        }
        MethodHandle handle = Linker.nativeLinker().downcallHandle(symbol, FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        try {
            return (int) handle.invokeExact(0, (long) SET_BYTES, set);
        } catch (Throwable refused) {
            return -1;
        }
    }
}
