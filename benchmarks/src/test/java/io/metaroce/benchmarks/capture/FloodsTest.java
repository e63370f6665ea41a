// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.capture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.metaroce.wire.Malformation;
import io.metaroce.wire.Validate;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Frames of floods are what they are called, and a file of them is as libpcap reads it. */
class FloodsTest {
    private static final Frames US = new Frames(0x0200_0000_00aaL, 0x0200_0000_00bbL, 0x0a650001, 0x0a650007, 14791);

    private static boolean isForUs(byte[] frame) {
        ByteBuffer f = ByteBuffer.wrap(frame);
        return f.getLong(0) >>> 16 == US.toMac() && f.getShort(12) == 0x0800 && f.get(23) == 17 && (f.getShort(20) & 0x3fff) == 0 && f.getInt(30) == US.to()
                && (f.getShort(36) & 0xffff) == US.toPort();
    }

    private static int check(byte[] frame) {
        int length = (ByteBuffer.wrap(frame).getShort(38) & 0xffff) - 8;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment datagram = arena.allocate(64);
            MemorySegment.copy(frame, 42, datagram, ValueLayout.JAVA_BYTE, 0, length);
            return Validate.check(datagram.address(), length);
        }
    }

    @Test
    void eachKindIsWhatItsNameSays() {
        Set<Integer> malformations = new HashSet<>();
        for (String kind : Floods.KINDS) {
            List<byte[]> frames = Floods.frames(kind, US);
            for (byte[] frame : frames) {
                assertEquals(64, frame.length);
                assertEquals(!kind.equals(Floods.FOREIGN), isForUs(frame), kind);
                if (kind.equals(Floods.MALFORMED)) {
                    assertNotEquals(0, check(frame));
                    malformations.add(check(frame));
                } else if (kind.equals(Floods.UNKNOWN)) {
                    assertEquals(0, check(frame));
                }
            }
            assertArrayEquals(frames.toArray(), Floods.frames(kind, US).toArray(), "the same each time");
        }
        assertEquals(Set.of(Malformation.TOO_SHORT, Malformation.BAD_VERSION, Malformation.BAD_TYPE, Malformation.LENGTH_MISMATCH), malformations);
    }

    @Test
    void aFileIsAsLibpcapReadsIt(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("x.pcap");
        byte[] frame = US.udp(50_000, new byte[100]);
        try (Pcap pcap = new Pcap(file)) {
            pcap.add(frame);
            pcap.add(frame);
            assertEquals(2, pcap.frames());
            assertThrows(IllegalArgumentException.class, () -> pcap.add(new byte[13]));
        }
        ByteBuffer f = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(24 + 2 * (16 + 142), f.capacity());
        assertEquals(0xa1b2c3d4, f.getInt(0));
        assertEquals(2, f.getShort(4));
        assertEquals(4, f.getShort(6));
        assertEquals(1, f.getInt(20));
        assertEquals(1, f.getInt(24 + 16 + 142 + 4), "microseconds of the second frame");
        assertEquals(142, f.getInt(24 + 8));
        assertEquals(142, f.getInt(24 + 12));
        byte[] read = new byte[142];
        f.get(24 + 16, read);
        assertArrayEquals(frame, read);
    }
}
