// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/** Why a message was refused and its stream failed: byte 1 of a NAK block. Spec: section "Stream errors". */
public final class Cause {
    /** The remote key names no memory region. */
    public static final int BAD_KEY = 1;
    /** The range leaves the memory region. */
    public static final int OUT_OF_BOUNDS = 2;
    /** The memory region does not allow this access. */
    public static final int ACCESS_DENIED = 3;
    /** The message is longer than the receive it meets. */
    public static final int BAD_LENGTH = 4;
    /** The stream ID is not below the number of streams accepted. */
    public static final int UNKNOWN_STREAM = 5;
    /** The packets of one message contradict one another, or a response was not asked for. */
    public static final int BAD_OPERATION = 6;
    /** The message needs a receive beyond the credit granted. */
    public static final int NO_RECEIVE = 7;
    /** More Reads in flight than the responder accepted. */
    public static final int TOO_MANY_READS = 8;
    /** The memory region belongs to another protection domain than the connection. */
    public static final int PROTECTION_DOMAIN = 9;
    /** Packet and message numbers of the stream contradict one another. */
    public static final int STREAM_SEQUENCE = 10;
    /** The address of an atomic is not a multiple of 8. */
    public static final int ALIGNMENT = 11;
    /** The memory that a request or receive names at its own side is not registered any more, or not for this use. */
    public static final int LOCAL_ERROR = 12;
    /** The peer had no receive for the message, however often it was asked. */
    public static final int RECEIVER_NOT_READY = 13;

    private Cause() {
    }

    public static String name(int cause) {
        return switch (cause) {
            case BAD_KEY -> "BAD_KEY";
            case OUT_OF_BOUNDS -> "OUT_OF_BOUNDS";
            case ACCESS_DENIED -> "ACCESS_DENIED";
            case BAD_LENGTH -> "BAD_LENGTH";
            case UNKNOWN_STREAM -> "UNKNOWN_STREAM";
            case BAD_OPERATION -> "BAD_OPERATION";
            case NO_RECEIVE -> "NO_RECEIVE";
            case TOO_MANY_READS -> "TOO_MANY_READS";
            case PROTECTION_DOMAIN -> "PROTECTION_DOMAIN";
            case STREAM_SEQUENCE -> "STREAM_SEQUENCE";
            case ALIGNMENT -> "ALIGNMENT";
            case LOCAL_ERROR -> "LOCAL_ERROR";
            case RECEIVER_NOT_READY -> "RECEIVER_NOT_READY";
            default -> "cause " + cause;
        };
    }
}
