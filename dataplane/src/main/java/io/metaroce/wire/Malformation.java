// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/** What is wrong with a datagram by itself, without any state. Spec: section "Malformed datagrams". */
public final class Malformation {
    public static final int NONE = 0;
    /** Shorter than the prefix or than the header of its type. */
    public static final int TOO_SHORT = 1;
    public static final int BAD_VERSION = 2;
    public static final int BAD_TYPE = 3;
    /** Not as long as its own fields say, or longer than its type may be. */
    public static final int LENGTH_MISMATCH = 4;
    /** A connection ID is 0 where it must not be, or the reverse. */
    public static final int BAD_CID = 5;
    /** A plane above 7. */
    public static final int BAD_PATH = 6;
    public static final int BAD_OPCODE = 7;
    /** Payload longer than {@link DataHeader#MAX_PAYLOAD}, or of a length its opcode forbids. */
    public static final int BAD_PAYLOAD_LENGTH = 8;
    /** Message longer than {@link DataHeader#MAX_MESSAGE}, or payload outside its message. */
    public static final int BAD_MESSAGE_LENGTH = 9;
    /** The flag LAST contradicts offset and lengths. */
    public static final int BAD_LAST = 10;
    /** More path or control blocks than allowed. */
    public static final int TOO_MANY_BLOCKS = 11;
    /** Span above 256. */
    public static final int BAD_SPAN = 12;
    /** Bitmap longer than the span, or bits that contradict cumulative and span. */
    public static final int BAD_BITMAP = 13;
    /** A NAK without a cause. */
    public static final int BAD_CAUSE = 14;
    /** Probe whose floor, floor distance and next PSN contradict one another. */
    public static final int BAD_FLOOR = 15;
    /** TLV bytes that are no whole TLVs. */
    public static final int BAD_TLV = 16;
    /** A known TLV twice, or with a value outside its range. */
    public static final int BAD_PARAMETER = 17;
    /** A TLV that must be there is not. */
    public static final int MISSING_PARAMETER = 18;
    /** REFUSE with more text than allowed. */
    public static final int BAD_TEXT = 19;
    /** RESET that echoes something no RESET answers. */
    public static final int BAD_ECHO = 20;

    /** One more than the highest code. */
    public static final int COUNT = 21;

    private Malformation() {
    }

    public static String name(int malformation) {
        return switch (malformation) {
            case NONE -> "NONE";
            case TOO_SHORT -> "TOO_SHORT";
            case BAD_VERSION -> "BAD_VERSION";
            case BAD_TYPE -> "BAD_TYPE";
            case LENGTH_MISMATCH -> "LENGTH_MISMATCH";
            case BAD_CID -> "BAD_CID";
            case BAD_PATH -> "BAD_PATH";
            case BAD_OPCODE -> "BAD_OPCODE";
            case BAD_PAYLOAD_LENGTH -> "BAD_PAYLOAD_LENGTH";
            case BAD_MESSAGE_LENGTH -> "BAD_MESSAGE_LENGTH";
            case BAD_LAST -> "BAD_LAST";
            case TOO_MANY_BLOCKS -> "TOO_MANY_BLOCKS";
            case BAD_SPAN -> "BAD_SPAN";
            case BAD_BITMAP -> "BAD_BITMAP";
            case BAD_CAUSE -> "BAD_CAUSE";
            case BAD_FLOOR -> "BAD_FLOOR";
            case BAD_TLV -> "BAD_TLV";
            case BAD_PARAMETER -> "BAD_PARAMETER";
            case MISSING_PARAMETER -> "MISSING_PARAMETER";
            case BAD_TEXT -> "BAD_TEXT";
            case BAD_ECHO -> "BAD_ECHO";
            default -> "malformation " + malformation;
        };
    }
}
