// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/**
 * Credit, a refusal or its confirmation: a block of an acknowledgement. Spec: section "Control block".
 *
 * <p>Static accessors over a base address; nothing is checked here, see {@link Validate}. Stateless, any thread.
 */
public final class ControlBlock {
    /** {@link #CREDIT} and its neighbours; unknown kinds are ignored. */
    public static final int KIND = 0;
    /** NAK, STREAM_RESET: see {@link Cause}; else 0. */
    public static final int CAUSE = 1;
    public static final int STREAM = 4;
    /** CREDIT: receives posted so far, CREDIT_REQUEST: receives wanted so far; cumulative modulo 2^32. NAK, STREAM_ERROR_CONFIRM: message number. STREAM_RESET, REBUILT: SSN. DUPLICATES: so many. */
    public static final int VALUE = 8;
    /** NAK: informative, for example the offending SSN. CREDIT: {@link #ON_REQUEST} or 0. REBUILT: number of the path that it was sent on first. Else 0. */
    public static final int DETAIL = 12;
    public static final int LENGTH = 16;

    /** Detail of CREDIT: receives are bound to the stream when a CREDIT_REQUEST asks for them. */
    public static final int ON_REQUEST = 1;

    /** Kind: how many receives the sender of the block has posted on the stream. */
    public static final int CREDIT = 1;
    /** Kind: the message was refused and the stream has failed. */
    public static final int NAK = 2;
    /** Kind: please tell the credit of this stream again. */
    public static final int CREDIT_REQUEST = 3;
    /** Kind: the NAK has been taken in; stop repeating it. */
    public static final int STREAM_ERROR_CONFIRM = 4;

    /** Kind: the sender of the block ended the stream; what the other side sent from this SSN on has had no effect. */
    public static final int STREAM_RESET = 5;

    /** Kind: the packet of this SSN was lost and made from a Parity packet; it need not be repeated. */
    public static final int REBUILT = 6;

    /** Kind: Data packets received twice on this connection, cumulative modulo 2^32. */
    public static final int DUPLICATES = 7;

    static {
        Layout.check("ControlBlock", LENGTH, KIND, 1, CAUSE, 1, 2, 2, STREAM, 4, VALUE, 4, DETAIL, 4);
    }

    private ControlBlock() {
    }

    public static int kind(long at) {
        return Bytes.getU8(at + KIND);
    }

    public static void kind(long at, int value) {
        Bytes.putByte(at + KIND, value);
    }

    public static int cause(long at) {
        return Bytes.getU8(at + CAUSE);
    }

    public static void cause(long at, int value) {
        Bytes.putByte(at + CAUSE, value);
    }

    public static int stream(long at) {
        return Bytes.getInt(at + STREAM);
    }

    public static void stream(long at, int value) {
        Bytes.putInt(at + STREAM, value);
    }

    public static int value(long at) {
        return Bytes.getInt(at + VALUE);
    }

    public static void value(long at, int value) {
        Bytes.putInt(at + VALUE, value);
    }

    public static int detail(long at) {
        return Bytes.getInt(at + DETAIL);
    }

    public static void detail(long at, int value) {
        Bytes.putInt(at + DETAIL, value);
    }
}
