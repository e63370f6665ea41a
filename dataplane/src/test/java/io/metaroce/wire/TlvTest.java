// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TlvTest {
    private final Tlv.Writer writer = new Tlv.Writer();
    private final Tlv.Reader reader = new Tlv.Reader();

    @Test
    @Requirement({"MR-PKT-020", "MR-PAR-002"})
    void whatIsWrittenIsRead() throws Exception {
        NetAddress[] planes = {NetAddress.of(InetAddress.getByName("10.1.2.3"), 14791), NetAddress.of(InetAddress.getByName("2001:db8::1"), 65535)};
        Datagram d = Datagram.ofLength(512);
        writer.open(d.at(), d.length);
        writer.u32(Tlv.STREAM_WINDOW, 4096);
        writer.planes(planes, planes.length, null);
        writer.u64(Tlv.RECEIVE_RATE, 400_000_000);
        writer.text(Tlv.IMPLEMENTATION, "abcde");
        writer.u32(Tlv.SERVICE, 0xffff_fffeL);
        writer.padTo(400);
        assertEquals(400, writer.length());
        assertFalse(writer.overflowed());

        reader.open(d.at(), writer.length());
        next(Tlv.STREAM_WINDOW, 4);
        assertEquals(4096, reader.u32());
        assertEquals(-1, reader.u64());
        next(Tlv.PLANES, 40);
        assertEquals(2, reader.planes());
        for (int i = 0; i < 2; i++) {
            assertEquals(planes[i], new NetAddress(reader.planeHigh(i), reader.planeLow(i), reader.planePort(i)));
        }
        next(Tlv.RECEIVE_RATE, 8);
        assertEquals(400_000_000, reader.u64());
        assertEquals(-1, reader.u32());
        next(Tlv.IMPLEMENTATION, 5);
        assertEquals("abcde", reader.text());
        next(Tlv.SERVICE, 4);
        assertEquals(0xffff_fffeL, reader.u32());
        assertFalse(reader.next(), "PAD is passed over");
        assertFalse(reader.malformed());
    }

    private void next(int type, int length) {
        assertTrue(reader.next());
        assertEquals(type, reader.type());
        assertEquals(length, reader.length());
    }

    @Test
    void whatDoesNotFitIsLeftOutWhole() {
        Datagram d = Datagram.ofLength(20);
        writer.open(d.at(), d.length);
        writer.u32(Tlv.ACK_EVERY, 1);
        writer.u64(Tlv.RECEIVE_RATE, 2);
        assertEquals(20, writer.length());
        assertFalse(writer.overflowed());
        writer.u32(Tlv.MAX_READS, 3);
        writer.padTo(24);
        assertTrue(writer.overflowed());
        assertEquals(20, writer.length());
        assertTrue(d.guardIs((byte) 0));
    }

    @Test
    void padReachesEveryMultipleOfFour() {
        Datagram d = new Datagram(filled(600, (byte) 0x55));
        for (int total = 0; total <= 600; total += 4) {
            writer.open(d.at(), d.length);
            writer.u32(Tlv.ACK_EVERY, 1);
            writer.padTo(total);
            assertEquals(Math.max(8, total), writer.length());
            reader.open(d.at(), writer.length());
            next(Tlv.ACK_EVERY, 4);
            assertFalse(reader.next());
            assertFalse(reader.malformed());
        }
    }

    @Test
    void textIsCutBetweenCharacters() {
        Datagram d = Datagram.ofLength(200);
        String letters = "x" + "\u20ac".repeat(40);
        writer.open(d.at(), d.length);
        writer.text(Tlv.IMPLEMENTATION, letters);
        reader.open(d.at(), writer.length());
        next(Tlv.IMPLEMENTATION, 64);
        assertEquals(letters.substring(0, 22), reader.text());
        writer.open(d.at(), d.length);
        writer.text(Tlv.IMPLEMENTATION, "\u20ac".repeat(40));
        reader.open(d.at(), writer.length());
        next(Tlv.IMPLEMENTATION, 63);
    }

    /** The reader stops at the first length that does not fit, and stays within its bytes on any input. */
    @Test
    @Requirement({"MR-PKT-020", "MR-PKT-031"})
    void readerIsSafeOnRandomBytes() {
        Random random = new Random(99);
        int malformed = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            for (int i = 2; i < bytes.length; i += 4) {
                bytes[i] = 0;
                if (i + 1 < bytes.length) {
                    bytes[i + 1] &= 15;
                }
            }
            Datagram d = new Datagram(bytes, (byte) 0x01);
            reader.open(d.at(), d.length);
            long end = d.at();
            while (reader.next()) {
                assertTrue(reader.value() >= end + Tlv.HEADER_LENGTH);
                end = reader.value() + reader.length();
                assertTrue(end <= d.at() + d.length);
            }
            malformed += reader.malformed() ? 1 : 0;
            assertFalse(reader.next(), "stays at the end");
        }
        assertTrue(malformed > 1_000 && malformed < 19_000, "malformed: " + malformed);
    }

    @Test
    void readerOfNothing() {
        reader.open(0, 0);
        assertFalse(reader.next());
        assertFalse(reader.malformed());
        reader.open(0, -4);
        assertFalse(reader.next());
    }

    private static byte[] filled(int length, byte value) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, value);
        return bytes;
    }
}
