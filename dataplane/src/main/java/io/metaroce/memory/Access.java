// SPDX-License-Identifier: Apache-2.0
package io.metaroce.memory;

/** Access rights of a {@link MemoryRegion}, a bit set. Local reading is always allowed (spec: "Memory regions and keys"). */
public final class Access {
    public static final int LOCAL_WRITE = 1;
    public static final int REMOTE_WRITE = 2;
    public static final int REMOTE_READ = 4;
    public static final int REMOTE_ATOMIC = 8;
    static final int ALL = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;

    private Access() {
    }
}
