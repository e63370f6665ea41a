// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * What one path received: a block of an acknowledgement. Spec: section "Path block".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class PathBlock {
    /** Plane in the high byte, index within the plane in the low byte. */
    public static final int PATH = 0;
    /** Epoch of the path that the block describes. */
    public static final int EPOCH = 2;
    /** Bitmap words that follow, 0 to {@link #MAX_WORDS}. */
    public static final int WORDS = 3;
    /** First PSN not received. */
    public static final int CUMULATIVE = 4;
    /** PSNs from cumulative on that are known to have been sent, 0 to {@link #MAX_SPAN}. */
    public static final int SPAN = 8;
    /** How long the echoed packet waited for this acknowledgement, units of {@link #HOLD_UNIT_NS}; {@link #NO_HOLD}: no RTT sample. */
    public static final int HOLD = 10;
    /** Timestamp of the newest packet of the path. */
    public static final int ECHO = 12;
    /** CE-marked packets received in this epoch; cumulative modulo 2^32. */
    public static final int CE_COUNT = 16;
    /** Payload bytes received in this epoch; cumulative modulo 2^32. */
    public static final int BYTE_COUNT = 20;
    /** Length without bitmap words. */
    public static final int LENGTH = 24;

    public static final int MAX_WORDS = 4;
    public static final int WORD_LENGTH = 8;
    public static final int MAX_LENGTH = LENGTH + MAX_WORDS * WORD_LENGTH;
    /** Most PSNs one block speaks of. */
    public static final int MAX_SPAN = 256;
    public static final int HOLD_UNIT_NS = 64;
    /** Value of hold that says: take no RTT sample from this block. */
    public static final int NO_HOLD = 0xffff;

    static {
        Layout.check("PathBlock", LENGTH, PATH, 2, EPOCH, 1, WORDS, 1, CUMULATIVE, 4, SPAN, 2, HOLD, 2, ECHO, 4, CE_COUNT, 4,
                BYTE_COUNT, 4);
    }

    private PathBlock() {
    }

    public static int path(long at) {
        return Bytes.getU16(at + PATH);
    }

    public static void path(long at, int value) {
        Bytes.putShort(at + PATH, value);
    }

    public static int epoch(long at) {
        return Bytes.getU8(at + EPOCH);
    }

    public static void epoch(long at, int value) {
        Bytes.putByte(at + EPOCH, value);
    }

    public static int words(long at) {
        return Bytes.getU8(at + WORDS);
    }

    public static void words(long at, int value) {
        Bytes.putByte(at + WORDS, value);
    }

    public static int cumulative(long at) {
        return Bytes.getInt(at + CUMULATIVE);
    }

    public static void cumulative(long at, int value) {
        Bytes.putInt(at + CUMULATIVE, value);
    }

    public static int span(long at) {
        return Bytes.getU16(at + SPAN);
    }

    public static void span(long at, int value) {
        Bytes.putShort(at + SPAN, value);
    }

    public static int hold(long at) {
        return Bytes.getU16(at + HOLD);
    }

    public static void hold(long at, int value) {
        Bytes.putShort(at + HOLD, value);
    }

    public static int echo(long at) {
        return Bytes.getInt(at + ECHO);
    }

    public static void echo(long at, int value) {
        Bytes.putInt(at + ECHO, value);
    }

    public static int ceCount(long at) {
        return Bytes.getInt(at + CE_COUNT);
    }

    public static void ceCount(long at, int value) {
        Bytes.putInt(at + CE_COUNT, value);
    }

    public static int byteCount(long at) {
        return Bytes.getInt(at + BYTE_COUNT);
    }

    public static void byteCount(long at, int value) {
        Bytes.putInt(at + BYTE_COUNT, value);
    }

    /** Bitmap word {@code i}: its bit j (from the lowest) tells whether PSN cumulative + 64 i + j was received. */
    public static long word(long at, int i) {
        return Bytes.getLong(at + LENGTH + (long) i * WORD_LENGTH);
    }

    public static void word(long at, int i, long value) {
        Bytes.putLong(at + LENGTH + (long) i * WORD_LENGTH, value);
    }

    /** Length in bytes of a block with this number of bitmap words. */
    public static int length(int words) {
        return LENGTH + words * WORD_LENGTH;
    }
}
