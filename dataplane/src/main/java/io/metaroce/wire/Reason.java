// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/** Why a connection ended or was refused: byte 6 of CLOSE, CLOSE_ACK and REFUSE. Spec: section "Reasons". */
public final class Reason {
    public static final int GRACEFUL = 0;
    public static final int APPLICATION_ABORT = 1;
    /** The version is not spoken here. */
    public static final int VERSION = 2;
    /** The pool of connections is exhausted; REFUSE says when to try again. */
    public static final int NO_CONTEXT = 3;
    /** Parameters that cannot be agreed on. */
    public static final int PARAMETERS = 4;
    public static final int TIMEOUT = 5;
    public static final int PROTOCOL_VIOLATION = 6;
    public static final int TOO_MANY_STREAM_ERRORS = 7;
    public static final int SHUTDOWN = 8;
    public static final int REFUSED_BY_APPLICATION = 9;
    /** The peer answered with RESET: it knows the connection no more. Never on the wire. */
    public static final int PEER_RESTARTED = 10;
    /** Encryption is required and cannot be agreed on, or its limits are reached. */
    public static final int SECURITY = 11;

    /** The connection to be resumed is not known here. */
    public static final int UNKNOWN_CONNECTION = 12;

    /** Messages under way have packets longer than any route carries now. */
    public static final int PATH_MTU = 13;

    private Reason() {
    }

    public static String name(int reason) {
        return switch (reason) {
            case GRACEFUL -> "GRACEFUL";
            case APPLICATION_ABORT -> "APPLICATION_ABORT";
            case VERSION -> "VERSION";
            case NO_CONTEXT -> "NO_CONTEXT";
            case PARAMETERS -> "PARAMETERS";
            case TIMEOUT -> "TIMEOUT";
            case PROTOCOL_VIOLATION -> "PROTOCOL_VIOLATION";
            case TOO_MANY_STREAM_ERRORS -> "TOO_MANY_STREAM_ERRORS";
            case SHUTDOWN -> "SHUTDOWN";
            case REFUSED_BY_APPLICATION -> "REFUSED_BY_APPLICATION";
            case PEER_RESTARTED -> "PEER_RESTARTED";
            case SECURITY -> "SECURITY";
            case UNKNOWN_CONNECTION -> "UNKNOWN_CONNECTION";
            case PATH_MTU -> "PATH_MTU";
            default -> "reason " + reason;
        };
    }
}
