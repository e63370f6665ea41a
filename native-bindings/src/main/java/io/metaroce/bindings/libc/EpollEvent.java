// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.libc;

/** Layout of {@code struct epoll_event}, written by hand because the kernel packs it on x86-64 and nowhere else. */
public final class EpollEvent {
    private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");

    /** Offset of the u32 event mask. */
    public static final int EVENTS = 0;
    /** Offset of the 64-bit user data. */
    public static final int DATA = PACKED ? 4 : 8;
    /** Size in bytes. */
    public static final int LENGTH = DATA + 8;

    private EpollEvent() {
    }
}
