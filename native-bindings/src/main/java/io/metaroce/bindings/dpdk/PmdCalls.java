// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.dpdk;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * The shim's fast path, one method a function. Pointers travel as addresses.
 *
 * <p>Calls that are bounded work in user space are critical downcalls, which skip the change of thread state. {@link #sendBlocking}
 * is for devices that make system calls in a burst ({@code MRPMD_TRAIT_BLOCKING}). {@link #receive} is never critical: the compiler
 * takes a call for a place where a thread can be stopped and may leave the poll out of a loop around it, but a critical call has none.
 * A poll loop of critical calls alone was seen to hold up the collector and the end of the process for ever (JDK 25.0.3). So a loop
 * must make one ordinary call each turn, and receiving, which every loop does, is it; it costs a few nanoseconds a burst.
 *
 * <p>Each queue, burst structure and thread rule is that of {@code pmd_shim.h}. Call {@link PmdLibrary#load()} first.
 */
public final class PmdCalls {
    /** By C name, with {@code JAVA_LONG} for each pointer; a test compares them with the generated descriptors. */
    static final FunctionDescriptor RECEIVE = FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    static final FunctionDescriptor SEND = FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    static final FunctionDescriptor FORWARD = FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    static final FunctionDescriptor RELEASE = FunctionDescriptor.ofVoid(JAVA_LONG);
    static final FunctionDescriptor ALLOC = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    static final FunctionDescriptor FREE = FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT);
    static final FunctionDescriptor SUM16 = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT);

    private static final Linker.Option CRITICAL = Linker.Option.critical(false);

    private static final MethodHandle receive = handle("mrpmd_receive", RECEIVE);
    private static final MethodHandle send = handle("mrpmd_send", SEND, CRITICAL);
    private static final MethodHandle sendBlocking = handle("mrpmd_send", SEND);
    private static final MethodHandle forward = handle("mrpmd_forward", FORWARD, CRITICAL);
    private static final MethodHandle release = handle("mrpmd_release", RELEASE, CRITICAL);
    private static final MethodHandle alloc = handle("mrpmd_alloc", ALLOC, CRITICAL);
    private static final MethodHandle free = handle("mrpmd_free", FREE, CRITICAL);
    private static final MethodHandle sum16 = handle("mrpmd_sum16", SUM16, CRITICAL);

    private PmdCalls() {
    }

    private static MethodHandle handle(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        PmdLibrary.load();
        return Linker.nativeLinker().downcallHandle(SymbolLookup.loaderLookup().findOrThrow(name), descriptor, options);
    }

    /** Frees what {@code burst} (a {@code mrpmd_rx}) holds, then receives at most {@code most} frames into it. Returns their number. */
    public static int receive(int port, int queue, long burst, int most) {
        try {
            return (int) receive.invokeExact(port, queue, burst, most);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Sends the first {@code count} frames of {@code burst} (a {@code mrpmd_tx}); returns how many the device took. */
    public static int send(int port, int queue, long burst, int count) {
        try {
            return (int) send.invokeExact(port, queue, burst, count);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** {@link #send} for a device whose burst makes system calls. */
    public static int sendBlocking(int port, int queue, long burst, int count) {
        try {
            return (int) sendBlocking.invokeExact(port, queue, burst, count);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Sends the first {@code count} frames that {@code burst} (a {@code mrpmd_rx}) holds as they stand; returns how many the device took. The
     * others stay the burst's. Not for a device whose burst makes system calls.
     */
    public static int forward(int port, int queue, long burst, int count) {
        try {
            return (int) forward.invokeExact(port, queue, burst, count);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Frees what {@code burst} (a {@code mrpmd_rx}) holds. */
    public static void release(long burst) {
        try {
            release.invokeExact(burst);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes the addresses of up to {@code count} fresh mbufs to {@code mbufs}; returns how many. */
    public static int alloc(long pool, long mbufs, int count) {
        try {
            return (int) alloc.invokeExact(pool, mbufs, count);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Frees {@code count} mbufs whose addresses stand at {@code mbufs}. */
    public static void free(long mbufs, int count) {
        try {
            free.invokeExact(mbufs, count);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Ones' complement sum of big-endian 16-bit words, 0 to 65535, not inverted. An odd last byte counts as its word's high byte. */
    public static int sum16(long address, int length) {
        try {
            return (int) sum16.invokeExact(address, length);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static AssertionError unexpected(Throwable e) {
        return new AssertionError("a foreign call threw", e);
    }
}
