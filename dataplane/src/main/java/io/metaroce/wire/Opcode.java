// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/** What a Data packet does: byte 6 of its header. Spec: section "Operations". */
public final class Opcode {
    public static final int WRITE = 1;
    public static final int WRITE_IMM = 2;
    public static final int SEND = 3;
    public static final int SEND_IMM = 4;
    public static final int READ_REQUEST = 5;
    public static final int READ_RESPONSE = 6;
    public static final int SEND_INVALIDATE = 7;
    public static final int COMPARE_SWAP = 8;
    public static final int FETCH_ADD = 9;
    public static final int ATOMIC_RESPONSE = 10;

    private Opcode() {
    }

    /** Tells whether this version of the protocol defines the opcode. */
    public static boolean isDefined(int opcode) {
        return opcode >= WRITE && opcode <= ATOMIC_RESPONSE;
    }

    /** Tells whether a message with this opcode uses up one posted receive of its stream. */
    public static boolean consumesReceive(int opcode) {
        return opcode >= WRITE_IMM && opcode <= SEND_IMM || opcode == SEND_INVALIDATE;
    }

    /** Whether the receive completion carries an immediate. */
    public static boolean hasImmediate(int opcode) {
        return opcode == WRITE_IMM || opcode == SEND_IMM;
    }

    public static boolean isAtomic(int opcode) {
        return opcode == COMPARE_SWAP || opcode == FETCH_ADD;
    }

    /** Tells whether the peer answers a message with this opcode by one of its own: a Read or atomic. */
    public static boolean isRequest(int opcode) {
        return opcode == READ_REQUEST || isAtomic(opcode);
    }

    public static boolean isResponse(int opcode) {
        return opcode == READ_RESPONSE || opcode == ATOMIC_RESPONSE;
    }

    /** The most that {@link #fixedPayload} returns. */
    public static final int MAX_FIXED_PAYLOAD = 24;

    /** Payload bytes, where they are not a piece of the application's memory but fixed by the opcode; else 0. */
    public static int fixedPayload(int opcode) {
        return switch (opcode) {
            case READ_REQUEST, ATOMIC_RESPONSE -> 8;
            case FETCH_ADD -> 16;
            case COMPARE_SWAP -> MAX_FIXED_PAYLOAD;
            default -> 0;
        };
    }

    public static String name(int opcode) {
        return switch (opcode) {
            case WRITE -> "WRITE";
            case WRITE_IMM -> "WRITE_IMM";
            case SEND -> "SEND";
            case SEND_IMM -> "SEND_IMM";
            case READ_REQUEST -> "READ_REQUEST";
            case READ_RESPONSE -> "READ_RESPONSE";
            case SEND_INVALIDATE -> "SEND_INVALIDATE";
            case COMPARE_SWAP -> "COMPARE_SWAP";
            case FETCH_ADD -> "FETCH_ADD";
            case ATOMIC_RESPONSE -> "ATOMIC_RESPONSE";
            default -> "opcode " + opcode;
        };
    }
}
