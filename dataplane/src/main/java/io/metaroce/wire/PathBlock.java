// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * What one path received: a block of an acknowledgement. Spec: section "Path block". A short one ends with the hold; the fields behind
 * it may be asked for only of a long one, see {@link AckHeader#isLong}.
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class PathBlock {
    /** Index of the path in the plane of the acknowledgement. */
    public static final int INDEX = 0;
    /** First PSN not received, its low {@link #PSN_BITS} bits. */
    public static final int CUMULATIVE = 1;
    /** Epoch of the path that the block describes. */
    public static final int EPOCH = 4;
    /** CE-marked packets received in this epoch, modulo 256. */
    public static final int CE_COUNT = 5;
    /** How long the echoed packet waited for this acknowledgement, units of {@link #HOLD_UNIT_NS}; {@link #NO_HOLD}: no RTT sample. */
    public static final int HOLD = 6;
    /** PSNs from cumulative on that are known to have been sent, 0 to {@link #MAX_SPAN}. */
    public static final int SPAN = 8;
    /** Bitmap words that follow, 0 to {@link #MAX_WORDS}. */
    public static final int WORDS = 10;
    /** Timestamp of the newest packet of the path. */
    public static final int ECHO = 12;
    /** Length of a long block without bitmap words. */
    public static final int LENGTH = 16;
    public static final int SHORT_LENGTH = 8;

    public static final int PSN_BITS = 24;
    public static final int MAX_WORDS = 4;
    public static final int WORD_LENGTH = 8;
    public static final int MAX_LENGTH = LENGTH + MAX_WORDS * WORD_LENGTH;
    /** Most PSNs one block speaks of. */
    public static final int MAX_SPAN = 256;
    public static final int HOLD_UNIT_NS = 64;
    /** Value of hold that says: take no RTT sample from this block. */
    public static final int NO_HOLD = 0xffff;

    private static final int PSN_MASK = (1 << PSN_BITS) - 1;

    static {
        Layout.check("PathBlock", LENGTH, INDEX, 1, CUMULATIVE, 3, EPOCH, 1, CE_COUNT, 1, HOLD, 2, SPAN, 2, WORDS, 1, 11, 1, ECHO, 4);
    }

    private PathBlock() {
    }

    public static int index(long at) {
        return Bytes.getU8(at + INDEX);
    }

    public static void index(long at, int value) {
        Bytes.putByte(at + INDEX, value);
    }

    /** 0 to 2^24 - 1. */
    public static int cumulative(long at) {
        return Bytes.getInt(at + INDEX) & PSN_MASK;
    }

    /** Index and cumulative in one: apart they would be a word read back from half of it. Takes the low bits of {@code psn}. */
    public static void path(long at, int index, int psn) {
        Bytes.putInt(at + INDEX, index << PSN_BITS | psn & PSN_MASK);
    }

    /** Takes the low bits of {@code psn}. */
    public static void cumulative(long at, int psn) {
        Bytes.putInt(at + INDEX, Bytes.getInt(at + INDEX) & ~PSN_MASK | psn & PSN_MASK);
    }

    /** The PSN nearest to {@code next} that has the low bits of cumulative (spec: MR-PKT-016). */
    public static int cumulativeNear(long at, int next) {
        int shift = Integer.SIZE - PSN_BITS;
        return next + (cumulative(at) - next << shift >> shift);
    }

    public static int epoch(long at) {
        return Bytes.getU8(at + EPOCH);
    }

    public static void epoch(long at, int value) {
        Bytes.putByte(at + EPOCH, value);
    }

    public static int ceCount(long at) {
        return Bytes.getU8(at + CE_COUNT);
    }

    /** Takes the low eight bits. */
    public static void ceCount(long at, int value) {
        Bytes.putByte(at + CE_COUNT, value);
    }

    public static int hold(long at) {
        return Bytes.getU16(at + HOLD);
    }

    public static void hold(long at, int value) {
        Bytes.putShort(at + HOLD, value);
    }

    public static int span(long at) {
        return Bytes.getU16(at + SPAN);
    }

    public static void span(long at, int value) {
        Bytes.putShort(at + SPAN, value);
    }

    public static int words(long at) {
        return Bytes.getU8(at + WORDS);
    }

    public static void words(long at, int value) {
        Bytes.putByte(at + WORDS, value);
    }

    public static int echo(long at) {
        return Bytes.getInt(at + ECHO);
    }

    public static void echo(long at, int value) {
        Bytes.putInt(at + ECHO, value);
    }

    /** Bitmap word {@code i}: its bit j (from the lowest) tells whether PSN cumulative + 64 i + j was received. */
    public static long word(long at, int i) {
        return Bytes.getLong(at + LENGTH + (long) i * WORD_LENGTH);
    }

    public static void word(long at, int i, long value) {
        Bytes.putLong(at + LENGTH + (long) i * WORD_LENGTH, value);
    }

    /** Length in bytes of a long block with this number of bitmap words. */
    public static int length(int words) {
        return LENGTH + words * WORD_LENGTH;
    }

    /** Length in bytes of the block here. */
    public static int length(long at, boolean isLong) {
        return isLong ? length(words(at)) : SHORT_LENGTH;
    }
}
