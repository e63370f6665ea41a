// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import static io.metaroce.bindings.libc.RawMemory.getInt;
import static io.metaroce.bindings.libc.RawMemory.getLong;
import static io.metaroce.bindings.libc.RawMemory.putInt;
import static io.metaroce.bindings.libc.RawMemory.putLong;

import io.metaroce.bindings.libc.generated.cmsghdr;
import io.metaroce.bindings.libc.generated.iovec;
import io.metaroce.bindings.libc.generated.mmsghdr;
import io.metaroce.bindings.libc.generated.msghdr;
import java.lang.foreign.Arena;

/**
 * An off-heap array of {@code struct mmsghdr}, each with its own socket address and control buffer, and a common array of
 * {@code struct iovec}. Allocated once; the pointers in it are set once, except where iovecs are assigned.
 */
final class MessageArray {
    static final int MESSAGE = (int) mmsghdr.sizeof();
    static final int VECTOR = (int) iovec.sizeof();
    /** Bytes of a control message's header, before its value. */
    static final int CONTROL_HEADER = (int) cmsghdr.sizeof();
    /** Bytes of a control message whose value has at most 8 bytes, padding included. */
    static final int CONTROL_ROOM = CONTROL_HEADER + Long.BYTES;

    private static final long HEADER = mmsghdr.msg_hdr$offset();
    private static final long NAME = HEADER + msghdr.msg_name$offset();
    private static final long NAME_LENGTH = HEADER + msghdr.msg_namelen$offset();
    private static final long VECTORS = HEADER + msghdr.msg_iov$offset();
    private static final long VECTOR_COUNT = HEADER + msghdr.msg_iovlen$offset();
    private static final long CONTROL = HEADER + msghdr.msg_control$offset();
    private static final long CONTROL_LENGTH = HEADER + msghdr.msg_controllen$offset();
    private static final long FLAGS = HEADER + msghdr.msg_flags$offset();
    private static final long LENGTH = mmsghdr.msg_len$offset();
    private static final long VECTOR_BASE = iovec.iov_base$offset();
    private static final long VECTOR_LENGTH = iovec.iov_len$offset();
    private static final int CACHE_LINE = 64;

    final int capacity;
    private final long messages;
    private final long names;
    private final long vectors;
    private final long controls;
    private final int controlRoom;

    /** {@code controlRoom} is a multiple of 8. */
    MessageArray(Arena arena, int capacity, int vectorCapacity, int controlRoom) {
        this.capacity = capacity;
        this.controlRoom = controlRoom;
        messages = arena.allocate((long) capacity * MESSAGE, CACHE_LINE).address();
        names = arena.allocate((long) capacity * SocketAddress.ROOM, CACHE_LINE).address();
        vectors = arena.allocate((long) vectorCapacity * VECTOR, CACHE_LINE).address();
        controls = arena.allocate((long) capacity * controlRoom, CACHE_LINE).address();
        for (int i = 0; i < capacity; i++) {
            putLong(message(i) + NAME, name(i));
            putLong(message(i) + CONTROL, control(i));
        }
    }

    long message(int i) {
        return messages + (long) i * MESSAGE;
    }

    long name(int i) {
        return names + (long) i * SocketAddress.ROOM;
    }

    long control(int i) {
        return controls + (long) i * controlRoom;
    }

    void vector(int vector, long base, long length) {
        long at = vectors + (long) vector * VECTOR;
        putLong(at + VECTOR_BASE, base);
        putLong(at + VECTOR_LENGTH, length);
    }

    void assignVectors(int i, int first, int count) {
        putLong(message(i) + VECTORS, vectors + (long) first * VECTOR);
        putLong(message(i) + VECTOR_COUNT, count);
    }

    /** Sets the bytes of address and of control buffer that the kernel may read or fill, and clears the flags. */
    void bounds(int i, int nameLength, int controlLength) {
        putInt(message(i) + NAME_LENGTH, nameLength);
        putLong(message(i) + CONTROL_LENGTH, controlLength);
        putInt(message(i) + FLAGS, 0);
    }

    int controlLength(int i) {
        return (int) getLong(message(i) + CONTROL_LENGTH);
    }

    int flags(int i) {
        return getInt(message(i) + FLAGS);
    }

    /** Bytes received or sent, as the kernel wrote it. */
    int length(int i) {
        return getInt(message(i) + LENGTH);
    }
}
