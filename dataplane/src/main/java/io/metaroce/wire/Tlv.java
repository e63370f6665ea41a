// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import java.nio.charset.StandardCharsets;

/**
 * Type, length and value: the parameters behind INIT and ACCEPT. Spec: section "Parameters".
 *
 * <p>Layout: u8 type, u8 zero, u16 length of the value, value, zeros up to a multiple of four bytes.
 */
public final class Tlv {
    public static final int PAD = 0;
    /** u32: largest payload of a packet that the sender of the TLV accepts, bytes. */
    public static final int PAYLOAD_MTU = 1;
    /** 1 to 8 entries of {@link #PLANE_LENGTH}: where the sender of the TLV receives, plane by plane. */
    public static final int PLANES = 2;
    /** u32: paths per plane. */
    public static final int PATHS_PER_PLANE = 3;
    /** u32: number of streams. */
    public static final int MAX_STREAMS = 4;
    /** u32: packets of a stream accepted out of order; a power of two. */
    public static final int STREAM_WINDOW = 5;
    /** u32: {@link #INTEGRITY_HEADER} or {@link #INTEGRITY_FULL}; the stronger of both rules. */
    public static final int INTEGRITY = 6;
    /** u32: packets after which the peer shall acknowledge the sender of the TLV. */
    public static final int ACK_EVERY = 7;
    /** u64: line rate of each plane, kbit/s. */
    public static final int RECEIVE_RATE = 8;
    /** u32: packets of a plane that the sender of the TLV can hold unread. */
    public static final int RECEIVE_BUFFER = 9;
    /** UTF-8 text, for people. */
    public static final int IMPLEMENTATION = 10;
    /** u32: Reads in flight accepted per stream. */
    public static final int MAX_READS = 11;
    /** u32: the share of each plane to start with, kbit/s. */
    public static final int START_SHARE = 12;
    /** u32: which application of the responder is meant. */
    public static final int SERVICE = 13;
    /** u16 suite, then what the suite says: for {@link #SUITE_PSK_X25519_AES256GCM} u16 zero, key share and proof. */
    public static final int SECURITY = 14;
    /** u32 name, u32 tag, u64 nonce: the parked connection that is to go on, and the proof of knowing it. */
    public static final int RESUME = 15;
    /** The highest type this version defines. */
    public static final int LAST_DEFINED = RESUME;

    /** Pre-shared key, X25519, HKDF-SHA256, AES-256-GCM. */
    public static final int SUITE_PSK_X25519_AES256GCM = 1;
    /** Offsets in the value of SECURITY, suite 1. */
    public static final int KEY_SHARE = 4;
    public static final int PROOF = 36;
    public static final int SECURITY_LENGTH = 68;

    public static final int INTEGRITY_HEADER = 0;
    public static final int INTEGRITY_FULL = 1;

    /** Bytes before the value. */
    public static final int HEADER_LENGTH = 4;
    /** Bytes of one entry of PLANES: 16 address, 2 UDP port, 2 rate. */
    public static final int PLANE_LENGTH = 20;
    public static final int MAX_PLANES = 8;
    /** Bytes of the value of RESUME. */
    public static final int RESUME_LENGTH = 16;
    /** Longest text of IMPLEMENTATION, bytes. */
    public static final int MAX_TEXT = 64;

    private Tlv() {
    }

    /** Bytes that a TLV with a value of this length takes. */
    public static int sizeOf(int valueLength) {
        return HEADER_LENGTH + (valueLength + 3 & ~3);
    }

    /** Appends TLVs within a bound. What does not fit is left out whole and {@link #overflowed} tells. Not thread-safe. */
    public static final class Writer {
        private long start;
        private long end;
        private long limit;
        private boolean overflowed;

        /** Starts anew at {@code at} with room for {@code bound} bytes. */
        public void open(long at, int bound) {
            start = at;
            end = at;
            limit = at + bound;
            overflowed = false;
        }

        public void u32(int type, long value) {
            long v = begin(type, Integer.BYTES);
            if (v != 0) {
                Bytes.putInt(v, (int) value);
            }
        }

        public void u64(int type, long value) {
            long v = begin(type, Long.BYTES);
            if (v != 0) {
                Bytes.putLong(v, value);
            }
        }

        /** Appends UTF-8 text, cut at {@link #MAX_TEXT} bytes between characters. Allocates; for set-up only. */
        public void text(int type, String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            int n = Math.min(utf8.length, MAX_TEXT);
            while (n < utf8.length && n > 0 && (utf8[n] & 0xc0) == 0x80) {
                n--;
            }
            long v = begin(type, n);
            if (v != 0) {
                for (int i = 0; i < n; i++) {
                    Bytes.putByte(v + i, utf8[i]);
                }
            }
        }

        /**
         * Appends PLANES with the first {@code count} addresses; null, a plane that is absent, as zeros. {@code ratesKbps} are their line
         * rates where they differ, or null.
         */
        public void planes(NetAddress[] addresses, int count, long[] ratesKbps) {
            long v = begin(PLANES, count * PLANE_LENGTH);
            for (int i = 0; v != 0 && i < count; i++, v += PLANE_LENGTH) {
                if (addresses[i] == null) {
                    continue;
                }
                Bytes.putLong(v, addresses[i].high());
                Bytes.putLong(v + 8, addresses[i].low());
                Bytes.putShort(v + 16, addresses[i].port());
                Bytes.putShort(v + 18, ratesKbps == null ? 0 : Rate16.encode(ratesKbps[i]));
            }
        }

        /** Appends RESUME. */
        public void resume(int name, int tag, long nonce) {
            long v = begin(RESUME, RESUME_LENGTH);
            if (v != 0) {
                Bytes.putInt(v, name);
                Bytes.putInt(v + 4, tag);
                Bytes.putLong(v + 8, nonce);
            }
        }

        /** Appends a PAD such that {@link #length} becomes at least {@code total}, a multiple of four. */
        public void padTo(int total) {
            int missing = total - length();
            if (missing > 0) {
                begin(PAD, missing - HEADER_LENGTH);
            }
        }

        /** Appends SECURITY, suite 1, with zeros for key share and proof; returns the value's address, or 0 where it does not fit. */
        public long security() {
            long v = begin(SECURITY, SECURITY_LENGTH);
            if (v != 0) {
                Bytes.putShort(v, SUITE_PSK_X25519_AES256GCM);
            }
            return v;
        }

        /** Writes the TLV's head and zeros; returns the value's address, or 0 where it does not fit. */
        private long begin(int type, int valueLength) {
            int size = sizeOf(valueLength);
            if (size > limit - end) {
                overflowed = true;
                return 0;
            }
            Bytes.zero(end, size);
            Bytes.putByte(end, type);
            Bytes.putShort(end + 2, valueLength);
            long v = end + HEADER_LENGTH;
            end += size;
            return v;
        }

        /** Bytes written, a multiple of four. */
        public int length() {
            return (int) (end - start);
        }

        public boolean overflowed() {
            return overflowed;
        }
    }

    /**
     * Walks over TLVs. Never reads outside the bytes given to {@link #open}, whatever they hold. Not thread-safe.
     *
     * <pre>{@code
     * reader.open(at, bytes);
     * while (reader.next()) { switch (reader.type()) { ... } }
     * }</pre>
     */
    public static final class Reader {
        private long next;
        private long end;
        private long value;
        private int type;
        private int length;
        private boolean malformed;

        public void open(long at, int bytes) {
            next = at;
            end = at + Math.max(bytes, 0);
            malformed = false;
        }

        /** Steps to the next TLV that is not PAD; false at the end, or where the rest is malformed. */
        public boolean next() {
            while (next != end) {
                if (end - next < HEADER_LENGTH) {
                    return stop();
                }
                type = Bytes.getU8(next);
                length = Bytes.getU16(next + 2);
                value = next + HEADER_LENGTH;
                int size = sizeOf(length);
                if (size > end - next) {
                    return stop();
                }
                next += size;
                if (type != PAD) {
                    return true;
                }
            }
            return false;
        }

        private boolean stop() {
            malformed = true;
            next = end;
            return false;
        }

        /** Tells, after {@link #next} returned false, whether it stopped at a length that does not fit. */
        public boolean malformed() {
            return malformed;
        }

        public int type() {
            return type;
        }

        /** Length of the value in bytes. */
        public int length() {
            return length;
        }

        /** Address of the value. */
        public long value() {
            return value;
        }

        /** The value as u32; -1 when it is not four bytes long. */
        public long u32() {
            return length == Integer.BYTES ? Bytes.getU32(value) : -1;
        }

        /** The value as u64; -1 when it is not eight bytes long. */
        public long u64() {
            return length == Long.BYTES ? Bytes.getLong(value) : -1;
        }

        public int resumeName() {
            return Bytes.getInt(value);
        }

        public int resumeTag() {
            return Bytes.getInt(value + 4);
        }

        public long resumeNonce() {
            return Bytes.getLong(value + 8);
        }

        /** Number of entries of PLANES. */
        public int planes() {
            return length / PLANE_LENGTH;
        }

        public long planeHigh(int i) {
            return Bytes.getLong(value + (long) i * PLANE_LENGTH);
        }

        public long planeLow(int i) {
            return Bytes.getLong(value + (long) i * PLANE_LENGTH + 8);
        }

        public int planePort(int i) {
            return Bytes.getU16(value + (long) i * PLANE_LENGTH + 16);
        }

        /** {@link Rate16} of the plane's line; 0: that of RECEIVE_RATE. */
        public int planeRate(int i) {
            return Bytes.getU16(value + (long) i * PLANE_LENGTH + 18);
        }

        /** The value as text, malformed UTF-8 replaced. Allocates; for set-up only. */
        public String text() {
            byte[] utf8 = new byte[length];
            for (int i = 0; i < length; i++) {
                utf8[i] = (byte) Bytes.getU8(value + i);
            }
            return new String(utf8, StandardCharsets.UTF_8);
        }
    }
}
