// SPDX-License-Identifier: Apache-2.0
package io.metaroce.memory;

import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;

/**
 * The memory regions of one process or endpoint, found by key (spec: "Memory regions and keys").
 *
 * <p>A key is the slot in its low {@value #SLOT_BITS} bits and unpredictable bits above, so that it cannot be guessed and a key of a
 * deregistered region is not valid again before its slot was used a million times ({@link KeySequence}). Registration and look-up belong to one thread.
 */
public final class RegionTable {
    static final int SLOT_BITS = 12;
    /** Most regions at a time; registering one more throws. */
    public static final int MAX_REGIONS = 1 << SLOT_BITS;

    /** Results of {@link #check}. */
    public static final int OK = 0;
    public static final int BAD_KEY = 1;
    public static final int OUT_OF_BOUNDS = 2;
    public static final int ACCESS_DENIED = 3;
    public static final int WRONG_DOMAIN = 4;

    private final MemoryRegion[] regions = new MemoryRegion[MAX_REGIONS];
    private final KeySequence keys = new KeySequence(new SecureRandom());
    private int next;
    private int count;
    private int changes;

    /**
     * @param segment native memory, at least one byte
     * @param access bits of {@link Access}
     * @throws IllegalArgumentException for heap memory, an empty segment or unknown access bits
     * @throws IllegalStateException when {@link #MAX_REGIONS} are registered
     */
    public MemoryRegion register(int protectionDomain, MemorySegment segment, int access) {
        checkNew(segment, access);
        if (count == MAX_REGIONS) {
            throw new IllegalStateException("all " + MAX_REGIONS + " memory regions are in use");
        }
        while (regions[next] != null) {
            next = (next + 1) & (MAX_REGIONS - 1);
        }
        int slot = next;
        next = (next + 1) & (MAX_REGIONS - 1);
        count++;
        return regions[slot] = new MemoryRegion(segment, protectionDomain, access, keys.next(slot));
    }

    /**
     * Registers anew in one step (spec: "Memory regions"): {@code region} is void, the result takes its place. Where memory and domain
     * stay and only rights change, the key stays; else there is a new one, and the old is refused from here on.
     *
     * @throws IllegalArgumentException as in {@link #register}, or if {@code region} is not registered any more; nothing changes
     */
    public MemoryRegion reregister(MemoryRegion region, int protectionDomain, MemorySegment segment, int access) {
        int slot = region.key() & (MAX_REGIONS - 1);
        if (regions[slot] != region) {
            throw new IllegalArgumentException("the memory region of key 0x" + Integer.toHexString(region.key()) + " is not registered");
        }
        checkNew(segment, access);
        boolean same = segment.address() == region.address() && segment.byteSize() == region.length()
                && protectionDomain == region.protectionDomain();
        int key = same ? region.key() : keys.next(slot);
        changes++;
        return regions[slot] = new MemoryRegion(segment, protectionDomain, access, key);
    }

    /** Changes whenever a registration ends or is changed: what was found registered before must be looked up again. */
    public int changes() {
        return changes;
    }

    private static void checkNew(MemorySegment segment, int access) {
        if (!segment.isNative() || segment.byteSize() == 0) {
            throw new IllegalArgumentException("a memory region needs native memory of at least one byte");
        }
        if ((access & ~Access.ALL) != 0) {
            throw new IllegalArgumentException("unknown access bits 0x" + Integer.toHexString(access));
        }
    }

    /** From here on the region's key is refused. */
    public void deregister(MemoryRegion region) {
        int slot = region.key() & (MAX_REGIONS - 1);
        if (regions[slot] == region) {
            regions[slot] = null;
            count--;
            changes++;
        }
    }

    /** Deregisters by key on behalf of a peer in this domain; false, and no change, if the key names no region of the domain. */
    public boolean invalidate(int key, int protectionDomain) {
        MemoryRegion region = find(key);
        if (region == null || region.protectionDomain() != protectionDomain) {
            return false;
        }
        deregister(region);
        return true;
    }

    /** The region of this key, or null. */
    public MemoryRegion find(int key) {
        MemoryRegion region = regions[key & (MAX_REGIONS - 1)];
        return region != null && region.key() == key ? region : null;
    }

    /** Whether {@code length} bytes at {@code address} may be used so: {@link #OK} or the reason why not. */
    public int check(int key, int protectionDomain, long address, long length, int access) {
        MemoryRegion region = regions[key & (MAX_REGIONS - 1)];
        if (region == null || region.key() != key) {
            return BAD_KEY;
        }
        if (region.protectionDomain() != protectionDomain) {
            return WRONG_DOMAIN;
        }
        if ((region.access() & access) != access) {
            return ACCESS_DENIED;
        }
        long offset = address - region.address();
        // Unsigned and overflow-safe: the offset must lie inside, and so must the length from there.
        if (offset < 0 || offset > region.length() || length < 0 || length > region.length() - offset) {
            return OUT_OF_BOUNDS;
        }
        return OK;
    }

    /** Whether these bytes lie in some region. Looks at all of them: for rare occasions. */
    public boolean covers(long address, long length) {
        for (MemoryRegion region : regions) {
            if (region != null && address >= region.address() && length <= region.length() - (address - region.address())) {
                return true;
            }
        }
        return false;
    }

    public int count() {
        return count;
    }
}
