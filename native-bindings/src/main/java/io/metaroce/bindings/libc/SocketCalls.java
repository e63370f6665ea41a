// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.libc;

import io.metaroce.bindings.libc.generated.Libc;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The libc socket calls as hot handles: pointers are plain addresses.
 *
 * <p>Each call returns what libc returns, or {@code -errno} where libc returns -1. {@code state} is where errno is captured: one
 * {@link #newCallState} for each thread that calls. A call that captures makes a segment of it, which the compiler may or may not spare;
 * those that a poll loop makes all the time capture nothing as long as they succeed, and allocate nothing for certain. Initialising this
 * class throws a {@link LinkageError} where libc lacks a call or native access is refused.
 */
public final class SocketCalls {
    private static final Linker LINKER = Linker.nativeLinker();

    private static final Linker.Option CAPTURING = Linker.Option.captureCallState("errno");

    private static final MethodHandle SOCKET = hot(Libc.socket$address(), Libc.socket$descriptor(), CAPTURING);
    private static final MethodHandle BIND = hot(Libc.bind$address(), Libc.bind$descriptor(), CAPTURING);
    private static final MethodHandle CLOSE = hot(Libc.close$address(), Libc.close$descriptor(), CAPTURING);
    private static final MethodHandle SETSOCKOPT = hot(Libc.setsockopt$address(), Libc.setsockopt$descriptor(), CAPTURING);
    private static final MethodHandle GETSOCKOPT = hot(Libc.getsockopt$address(), Libc.getsockopt$descriptor(), CAPTURING);
    private static final MethodHandle GETSOCKNAME = hot(Libc.getsockname$address(), Libc.getsockname$descriptor(), CAPTURING);
    private static final MethodHandle SENDMMSG = hot(Libc.sendmmsg$address(), Libc.sendmmsg$descriptor());
    private static final MethodHandle WHY_SENDMMSG = hot(Libc.sendmmsg$address(), Libc.sendmmsg$descriptor(), CAPTURING);
    private static final MethodHandle RECVMMSG = hot(Libc.recvmmsg$address(), Libc.recvmmsg$descriptor());
    private static final MethodHandle WHY_RECVMMSG = hot(Libc.recvmmsg$address(), Libc.recvmmsg$descriptor(), CAPTURING);
    private static final MethodHandle EPOLL_CREATE1 = hot(Libc.epoll_create1$address(), Libc.epoll_create1$descriptor(), CAPTURING);
    private static final MethodHandle EPOLL_CTL = hot(Libc.epoll_ctl$address(), Libc.epoll_ctl$descriptor(), CAPTURING);
    private static final MethodHandle EPOLL_WAIT = hot(Libc.epoll_wait$address(), Libc.epoll_wait$descriptor());

    private SocketCalls() {
    }

    /** Room for a captured errno. A call holds a shared arena open while it lasts, by two atomic changes of a counter; the global one costs nothing. */
    public static MemorySegment newCallState(Arena arena) {
        return arena.allocate(Linker.Option.captureStateLayout());
    }

    public static int socket(MemorySegment state, int domain, int type, int protocol) {
        try {
            return result(state, (int) SOCKET.invokeExact(state, domain, type, protocol));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    public static int bind(MemorySegment state, int fd, long address, int length) {
        try {
            return result(state, (int) BIND.invokeExact(state, fd, address, length));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    public static int close(MemorySegment state, int fd) {
        try {
            return result(state, (int) CLOSE.invokeExact(state, fd));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    public static int setsockopt(MemorySegment state, int fd, int level, int option, long value, int length) {
        try {
            return result(state, (int) SETSOCKOPT.invokeExact(state, fd, level, option, value, length));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    public static int getsockopt(MemorySegment state, int fd, int level, int option, long value, long length) {
        try {
            return result(state, (int) GETSOCKOPT.invokeExact(state, fd, level, option, value, length));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    public static int getsockname(MemorySegment state, int fd, long address, long length) {
        try {
            return result(state, (int) GETSOCKNAME.invokeExact(state, fd, address, length));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /**
     * {@code messages} is an array of {@code count} mmsghdr. Returns how many were sent, at least 1, or the first one's error: what was refused is
     * tried once more, to learn why.
     */
    public static int sendmmsg(MemorySegment state, int fd, long messages, int count, int flags) {
        try {
            int sent = (int) SENDMMSG.invokeExact(fd, messages, count, flags);
            return sent >= 0 ? sent : result(state, (int) WHY_SENDMMSG.invokeExact(state, fd, messages, count, flags));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /**
     * {@code messages} is an array of {@code count} mmsghdr; {@code timeout} the address of a timespec or 0. Returns how many were received, or
     * -1 for whatever reason: mostly that there are none.
     */
    public static int recvmmsg(int fd, long messages, int count, int flags, long timeout) {
        try {
            return (int) RECVMMSG.invokeExact(fd, messages, count, flags, timeout);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** The same with the reason. */
    public static int recvmmsg(MemorySegment state, int fd, long messages, int count, int flags, long timeout) {
        try {
            return result(state, (int) WHY_RECVMMSG.invokeExact(state, fd, messages, count, flags, timeout));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    public static int epollCreate1(MemorySegment state, int flags) {
        try {
            return result(state, (int) EPOLL_CREATE1.invokeExact(state, flags));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    public static int epollCtl(MemorySegment state, int epoll, int operation, int fd, long event) {
        try {
            return result(state, (int) EPOLL_CTL.invokeExact(state, epoll, operation, fd, event));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Returns how many events there are, or -1 when it was interrupted; nothing else can be wrong with a descriptor that is one of epoll's. */
    public static int epollWait(int epoll, long events, int capacity, int timeoutMs) {
        try {
            return (int) EPOLL_WAIT.invokeExact(epoll, events, capacity, timeoutMs);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** The system's text for an errno, as in "Address already in use". Set-up and errors only. */
    public static String errorText(int errno) {
        return Libc.strerror(errno).getString(0);
    }

    /** A handle with every pointer as a {@code long}, which the ABI passes alike, so that no segment is made for one. */
    private static MethodHandle hot(MemorySegment symbol, FunctionDescriptor generated, Linker.Option... options) {
        MemoryLayout[] arguments = generated.argumentLayouts().stream()
            .map(layout -> layout instanceof AddressLayout ? ValueLayout.JAVA_LONG : layout)
            .toArray(MemoryLayout[]::new);
        FunctionDescriptor plain = FunctionDescriptor.of(generated.returnLayout().orElseThrow(), arguments);
        return LINKER.downcallHandle(symbol, plain, options);
    }

    /** errno is the only captured value, hence at offset 0. */
    private static int result(MemorySegment state, int returned) {
        return returned >= 0 ? returned : -state.get(ValueLayout.JAVA_INT, 0);
    }

    private static RuntimeException unexpected(Throwable t) {
        if (t instanceof Error e) {
            throw e;
        }
        return new IllegalStateException("a foreign call failed", t);
    }
}
