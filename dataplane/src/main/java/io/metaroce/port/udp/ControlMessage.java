// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import static io.metaroce.bindings.libc.RawMemory.getInt;
import static io.metaroce.bindings.libc.RawMemory.getLong;
import static io.metaroce.bindings.libc.RawMemory.putInt;
import static io.metaroce.bindings.libc.RawMemory.putLong;

import io.metaroce.bindings.libc.generated.cmsghdr;

/** {@code struct cmsghdr} by address. */
final class ControlMessage {
    private static final long LENGTH = cmsghdr.cmsg_len$offset();
    private static final long LEVEL = cmsghdr.cmsg_level$offset();
    private static final long TYPE = cmsghdr.cmsg_type$offset();
    private static final int ALIGNMENT = Long.BYTES;

    private ControlMessage() {
    }

    static void write(long at, int level, int type, int valueBytes) {
        putLong(at + LENGTH, MessageArray.CONTROL_HEADER + valueBytes);
        putInt(at + LEVEL, level);
        putInt(at + TYPE, type);
    }

    static long value(long at) {
        return at + MessageArray.CONTROL_HEADER;
    }

    static int level(long at) {
        return getInt(at + LEVEL);
    }

    static int type(long at) {
        return getInt(at + TYPE);
    }

    /** Address of the next control message, given the length the kernel wrote, never 0. */
    static long next(long at) {
        return at + (Math.max(getLong(at + LENGTH), MessageArray.CONTROL_HEADER) + ALIGNMENT - 1 & -ALIGNMENT);
    }
}
