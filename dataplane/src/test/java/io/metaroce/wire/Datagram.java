// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;

/** A datagram in native memory for tests, with guard bytes behind it whose value the test chooses. */
final class Datagram {
    static final int GUARD = 2048;
    private final MemorySegment memory;
    final int length;

    Datagram(byte[] content) {
        this(content, (byte) 0);
    }

    Datagram(byte[] content, byte guard) {
        length = content.length;
        memory = Arena.ofAuto().allocate((long) length + GUARD);
        memory.asSlice(length).fill(guard);
        MemorySegment.copy(content, 0, memory, ValueLayout.JAVA_BYTE, 0, length);
    }

    /** All zero. */
    static Datagram ofLength(int length) {
        return new Datagram(new byte[length]);
    }

    static Datagram ofHex(String hex) {
        return new Datagram(HexFormat.of().parseHex(hex));
    }

    long at() {
        return memory.address();
    }

    byte[] bytes() {
        return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
    }

    String hex() {
        return HexFormat.of().formatHex(bytes());
    }

    int check() {
        return Validate.check(at(), length);
    }

    boolean guardIs(byte value) {
        byte[] guard = memory.asSlice(length).toArray(ValueLayout.JAVA_BYTE);
        byte[] expected = new byte[guard.length];
        Arrays.fill(expected, value);
        return Arrays.equals(guard, expected);
    }
}
