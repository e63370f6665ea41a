// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A host's memory, with what must be in it. Regions lie between gaps that are not registered; a message gets ranges of its own,
 * with guard bytes around them. All that is not a range in use must always be what the shadow says.
 */
final class HostMemory {
    static final int GAP = 4096;
    static final int MAIN = 192 << 10;
    static final int SPECIAL = 8 << 10;
    /** For receives alone: without it, what waits for receives could hold all memory that they need. */
    static final int RESERVE = 64 << 10;
    /** Words that atomics change, and bytes of a region that a Send with invalidate ends. */
    static final int WORDS = 16;
    static final int SERVES_ONCE = 512;
    static final int FOREIGN_DOMAIN = 7;
    private static final int CELL = 64;
    private static final int SIZE = 2 * MAIN + 5 * SPECIAL + RESERVE + 9 * GAP;
    static final int ALL = Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ;
    /** End of the first region: what requests that leave it may write. */
    static final int TAIL = GAP;
    private static final byte[] BASE = new byte[SIZE];

    static {
        SplittableRandom r = new SplittableRandom(4711);
        r.nextBytes(BASE);
    }

    /** Bytes that belong to one use; until then and afterwards they are guard bytes like all others. */
    record Range(HostMemory memory, MemoryRegion region, int offset, int length, int firstCell, int cells) {
        long address() {
            return memory.segment.address() + offset;
        }

        /** Of the main regions and used by nobody else; else a part of a region with a life of its own. */
        boolean isOwn() {
            return cells > 0;
        }

        boolean isFleeting() {
            return offset >= specialAt(FLEETING) && offset < specialAt(FLEETING) + SPECIAL;
        }

        Range part(MemoryRegion of, int from, int bytes) {
            return new Range(memory, of, offset + from, bytes, 0, 0);
        }
    }

    /** A range whose contents nobody may rely on: each byte is the old or the new one. */
    private record Doubtful(Range range, byte[] maybe) { }

    private static final int FLEETING = 3;
    private static final int ATOMIC = 4;
    private final MemorySegment segment = Arena.global().allocate(SIZE, 64);
    private final byte[] shadow = new byte[SIZE];
    private final BitSet used = new BitSet();
    private final List<Doubtful> doubtful = new ArrayList<>();
    /** Bytes that nothing may write any more, whoever wrote them before. */
    private final BitSet frozen = new BitSet();
    private SplittableRandom random = new SplittableRandom(0);
    private boolean fleetingGone;
    private byte[] fleetingAtEnd;
    MemoryRegion[] main = new MemoryRegion[2];
    MemoryRegion readOnly;
    MemoryRegion writeOnly;
    MemoryRegion foreign;
    MemoryRegion fleeting;
    MemoryRegion atomic;
    private MemoryRegion reserve;
    final List<Word> words = new ArrayList<>();
    private int fleetingCursor;

    /** As new, for another scenario. */
    void reset(long seed) {
        random = new SplittableRandom(seed);
        System.arraycopy(BASE, 0, shadow, 0, SIZE);
        MemorySegment.copy(BASE, 0, segment, ValueLayout.JAVA_BYTE, 0, SIZE);
        used.clear();
        doubtful.clear();
        frozen.clear();
        fleetingGone = false;
        fleetingAtEnd = null;
        fleetingCursor = 0;
        words.clear();
        for (int i = 0; i < WORDS; i++) {
            words.add(new Word(i, segment.get(ValueLayout.JAVA_LONG, wordAt(i))));
        }
    }

    private static int wordAt(int i) {
        return specialAt(ATOMIC) + i * CELL;
    }

    long wordAddress(Word w) {
        return segment.address() + wordAt(w.index);
    }

    long word(Word w) {
        return segment.get(ValueLayout.JAVA_LONG, wordAt(w.index));
    }

    private static int mainAt(int i) {
        return GAP + i * (MAIN + GAP);
    }

    private static int specialAt(int i) {
        return GAP + 2 * (MAIN + GAP) + i * (SPECIAL + GAP);
    }

    private static int reserveAt() {
        return specialAt(5);
    }

    void register(RegionTable table) {
        for (int i = 0; i < 2; i++) {
            main[i] = table.register(0, segment.asSlice(mainAt(i), MAIN), ALL);
        }
        readOnly = table.register(0, segment.asSlice(specialAt(0), SPECIAL), Access.REMOTE_READ);
        writeOnly = table.register(0, segment.asSlice(specialAt(1), SPECIAL), Access.REMOTE_WRITE);
        foreign = table.register(FOREIGN_DOMAIN, segment.asSlice(specialAt(2), SPECIAL), ALL);
        atomic = table.register(0, segment.asSlice(specialAt(ATOMIC), SPECIAL), Access.REMOTE_ATOMIC);
        if (!fleetingGone) {
            fleeting = table.register(0, segment.asSlice(specialAt(FLEETING), SPECIAL), ALL);
        }
        reserve = table.register(0, segment.asSlice(reserveAt(), RESERVE), ALL);
    }

    /** A region of its own, for as long as its key serves. */
    MemoryRegion registerOnce(RegionTable table, Range place, int domain) {
        return table.register(domain, at(place), ALL);
    }

    MemorySegment at(Range place) {
        return segment.asSlice(place.offset, place.length);
    }

    /** From now on nothing may change in the region. */
    void deregisterFleeting(RegionTable table) {
        if (!fleetingGone) {
            table.deregister(fleeting);
            fleetingGone = true;
            fleetingAtEnd = segment.asSlice(specialAt(FLEETING), SPECIAL).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    boolean isFleetingGone() {
        return fleetingGone;
    }

    /** A range in one of the main regions, or null when memory is short. */
    Range take(int length) {
        int misaligned = random.nextInt(CELL);
        int cells = (misaligned + length) / CELL + 2;
        int r = random.nextInt(2);
        for (int t = 0; t < 2; t++, r ^= 1) {
            int low = mainAt(r) / CELL;
            int high = (mainAt(r) + MAIN - (r == 0 ? TAIL : 0)) / CELL;
            int from = low + random.nextInt(high - low);
            Range found = find(main[r], from, high, cells, misaligned, length);
            if (found == null) {
                found = find(main[r], low, high, cells, misaligned, length);
            }
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** A range for a receive, or null when not even the reserve has any. */
    Range takeForReceive(int length) {
        Range range = take(length);
        return range != null ? range : find(reserve, reserveAt() / CELL, (reserveAt() + RESERVE) / CELL, length / CELL + 2, 0, length);
    }

    private Range find(MemoryRegion region, int from, int high, int cells, int misaligned, int length) {
        for (int at = used.nextClearBit(from); at + cells <= high; at = used.nextClearBit(at)) {
            int end = used.nextSetBit(at);
            if (end < 0 || end - at >= cells) {
                used.set(at, at + cells);
                return new Range(this, region, at * CELL + CELL / 2 + misaligned / 2, length, at, cells);
            }
            at = end;
        }
        return null;
    }

    /** A range of the fleeting region, used once. */
    Range takeFleeting(int length) {
        if (fleetingGone || fleetingCursor + length + 1 > SPECIAL) {
            return null;
        }
        Range range = new Range(this, fleeting, specialAt(FLEETING) + fleetingCursor, length, 0, 0);
        fleetingCursor += length + 1;
        return range;
    }

    /** Writes new random contents and returns them: they are what must be there now. */
    byte[] fill(Range range) {
        byte[] data = new byte[range.length];
        random.nextBytes(data);
        System.arraycopy(data, 0, shadow, range.offset, data.length);
        MemorySegment.copy(data, 0, segment, ValueLayout.JAVA_BYTE, range.offset, data.length);
        return data;
    }

    byte[] contents(Range range) {
        return segment.asSlice(range.offset, range.length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** The index of the first wrong byte, or -1. */
    int mismatch(Range range, byte[] expected) {
        return (int) MemorySegment.ofArray(expected).mismatch(segment.asSlice(range.offset, range.length));
    }

    /** The new contents were found where they belong: from now on they must stay. */
    void accept(Range range, byte[] data) {
        System.arraycopy(data, 0, shadow, range.offset, data.length);
    }

    long longAt(Range range) {
        return segment.get(ValueLayout.JAVA_LONG_UNALIGNED, range.offset);
    }

    boolean isUntouched(Range range) {
        return MemorySegment.mismatch(MemorySegment.ofArray(shadow), range.offset, range.offset + range.length, segment, range.offset,
                range.offset + range.length) < 0;
    }

    /** Whether each byte is the old one, or that of {@code maybe}, which may be null. */
    boolean isMixOf(Range range, byte[] maybe) {
        for (int i = 0; i < range.length; i++) {
            byte is = segment.get(ValueLayout.JAVA_BYTE, range.offset + i);
            if (is != shadow[range.offset + i] && (maybe == null || is != maybe[i])) {
                return false;
            }
        }
        return true;
    }

    /** The use is over: other contents take the place of the old, so that whatever still writes there is found. */
    void release(Range range) {
        if (range.isFleeting() && fleetingGone) {
            doubt(range, null);
            return;
        }
        if (frozen.get(range.offset)) {
            return;
        }
        fill(range);
        if (range.isOwn()) {
            used.clear(range.firstCell, range.firstCell + range.cells);
        }
    }

    /** Its contents are the old or {@code maybe}, byte by byte, and the range is not used again. */
    void doubt(Range range, byte[] maybe) {
        doubtful.add(new Doubtful(range, maybe));
    }

    /** No registration covers it any more: from now on it must stay what it is. It is not used again. */
    void freeze(Range range) {
        MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, range.offset, shadow, range.offset, range.length);
        frozen.set(range.offset, range.offset + range.length);
    }

    /** Compares everything; returns what is wrong, or null. No range is in use any more but the doubtful ones. */
    String audit() {
        if (fleetingAtEnd != null) {
            for (int i = 0; i < SPECIAL; i++) {
                byte is = segment.get(ValueLayout.JAVA_BYTE, specialAt(FLEETING) + i);
                if (is != fleetingAtEnd[i]) {
                    return "byte " + i + " of a deregistered region was written";
                }
            }
            System.arraycopy(fleetingAtEnd, 0, shadow, specialAt(FLEETING), SPECIAL);
        }
        for (Doubtful d : doubtful) {
            for (int i = 0; i < d.range.length; i++) {
                int at = d.range.offset + i;
                byte is = segment.get(ValueLayout.JAVA_BYTE, at);
                if (is != shadow[at] && (d.maybe == null || is != d.maybe[i]) && !(fleetingAtEnd != null && d.range.isFleeting())) {
                    return "byte " + i + " of an unfinished message at offset " + d.range.offset + " is neither old nor new";
                }
                shadow[at] = is;
            }
        }
        for (Word w : words) {
            String wrong = w.audit(word(w));
            if (wrong != null) {
                return wrong;
            }
            MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, wordAt(w.index), shadow, wordAt(w.index), Long.BYTES);
        }
        int tail = mainAt(0) + MAIN - TAIL;
        MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, tail, shadow, tail, TAIL);
        long wrong = MemorySegment.ofArray(shadow).mismatch(segment);
        return wrong < 0 ? null : "byte at offset " + wrong + " (" + where((int) wrong) + ") was written by nobody who may";
    }

    /** Compares only what no peer may write: gaps, the region without the right, and that of the other domain. */
    String auditGaps() {
        for (int i = 0; i < 2; i++) {
            MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, mainAt(i), shadow, mainAt(i), MAIN);
        }
        MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, reserveAt(), shadow, reserveAt(), RESERVE);
        MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, specialAt(1), shadow, specialAt(1), SPECIAL);
        MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, specialAt(FLEETING), shadow, specialAt(FLEETING), SPECIAL);
        MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, specialAt(ATOMIC), shadow, specialAt(ATOMIC), SPECIAL);
        long wrong = MemorySegment.ofArray(shadow).mismatch(segment);
        return wrong < 0 ? null : "byte at offset " + wrong + " (" + where((int) wrong) + ") was written by nobody who may";
    }

    private static String where(int offset) {
        for (int i = 0; i < 2; i++) {
            if (offset >= mainAt(i) && offset < mainAt(i) + MAIN) {
                return "main region " + i;
            }
        }
        String[] names = {"read-only region", "write-only region", "foreign region", "fleeting region", "atomic region"};
        for (int i = 0; i < 5; i++) {
            if (offset >= specialAt(i) && offset < specialAt(i) + SPECIAL) {
                return names[i];
            }
        }
        return offset >= reserveAt() && offset < reserveAt() + RESERVE ? "reserve" : "not registered";
    }
}
