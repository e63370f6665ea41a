// SPDX-License-Identifier: Apache-2.0
package io.metaroce.memory;

import java.lang.foreign.MemorySegment;

/**
 * Registered memory that work requests may name and peers may reach with its key (spec: "Memory regions and keys").
 *
 * <p>The segment must stay alive until {@link RegionTable#deregister}. Immutable.
 */
public final class MemoryRegion {
    private final MemorySegment segment;
    private final int protectionDomain;
    private final int access;
    private final int key;

    MemoryRegion(MemorySegment segment, int protectionDomain, int access, int key) {
        this.segment = segment;
        this.protectionDomain = protectionDomain;
        this.access = access;
        this.key = key;
    }

    public MemorySegment segment() {
        return segment;
    }

    public long address() {
        return segment.address();
    }

    /** Bytes. */
    public long length() {
        return segment.byteSize();
    }

    /** The key that names this region, locally and remotely. */
    public int key() {
        return key;
    }

    public int access() {
        return access;
    }

    public int protectionDomain() {
        return protectionDomain;
    }
}
