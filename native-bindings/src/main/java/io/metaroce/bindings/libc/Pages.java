// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.libc;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Zeroed memory straight from the kernel: what is never touched takes no memory, and where the kernel has transparent huge pages
 * it is asked for them. Records that are touched at random in small pages cost a walk of the page tables each time, which may take
 * longer than the access itself.
 *
 * <p>On another system than Linux, or where native access is refused, memory of the arena's own. Set-up only; any thread.
 */
public final class Pages {
    /** Huge pages of x86-64, and of arm64 with base pages of 4 KiB. */
    private static final long HUGE = 2L << 20;
    /* Of Linux on all its architectures that Java runs on. */
    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_PRIVATE_ANONYMOUS_NORESERVE = 0x02 | 0x20 | 0x4000;
    private static final int MADV_HUGEPAGE = 14;

    private static final MethodHandle MMAP = find("mmap", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
    private static final MethodHandle MUNMAP = find("munmap", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    private static final MethodHandle MADVISE = find("madvise", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT));

    private Pages() {
    }

    private static MethodHandle find(String name, FunctionDescriptor descriptor) {
        try {
            boolean isLinux = System.getProperty("os.name").equals("Linux");
            return isLinux ? Linker.nativeLinker().downcallHandle(Linker.nativeLinker().defaultLookup().find(name).orElseThrow(), descriptor) : null;
        } catch (RuntimeException | LinkageError e) {
            return null;
        }
    }

    /** {@code bytes} of zeroed memory that starts on a page, until the arena lets go of it; at least 1. */
    public static MemorySegment allocate(Arena arena, long bytes) {
        if (MMAP == null || MUNMAP == null || MADVISE == null || bytes < HUGE) {
            return arena.allocate(bytes, 4096);
        }
        try {
            // One huge page more, so that as many as fit into what is used begin where a huge page may.
            long mapped = bytes + HUGE;
            long at = (long) MMAP.invokeExact(0L, mapped, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0L);
            if (at == -1) {
                throw new OutOfMemoryError("the kernel refuses " + bytes + " B");
            }
            long start = (at + HUGE - 1) & -HUGE;
            // A kernel without huge pages refuses: then it is small ones.
            int ignored = (int) MADVISE.invokeExact(start, bytes & -HUGE, MADV_HUGEPAGE);
            return MemorySegment.ofAddress(start).reinterpret(bytes, arena, segment -> unmap(at, mapped));
        } catch (Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    private static void unmap(long at, long bytes) {
        try {
            int ignored = (int) MUNMAP.invokeExact(at, bytes);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }
}
