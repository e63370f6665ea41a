// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

/** Packet types: the low four bits of byte 4. Spec: section "Packet types". */
public final class Type {
    public static final int INIT = 1;
    public static final int CHALLENGE = 2;
    public static final int ACCEPT = 3;
    public static final int REFUSE = 4;
    public static final int DATA = 5;
    public static final int ACK = 6;
    public static final int PROBE = 7;
    public static final int CLOSE = 8;
    public static final int CLOSE_ACK = 9;
    public static final int RESET = 10;
    /** Any packet of a connection, encrypted. */
    public static final int SEALED = 11;
    public static final int PARK = 12;
    public static final int PARK_ACK = 13;
    public static final int PLANE = 14;

    /** What a lost packet of several can be made from. */
    public static final int PARITY = 15;

    private Type() {
    }

    public static String name(int type) {
        return switch (type) {
            case INIT -> "INIT";
            case CHALLENGE -> "CHALLENGE";
            case ACCEPT -> "ACCEPT";
            case REFUSE -> "REFUSE";
            case DATA -> "DATA";
            case ACK -> "ACK";
            case PROBE -> "PROBE";
            case CLOSE -> "CLOSE";
            case CLOSE_ACK -> "CLOSE_ACK";
            case RESET -> "RESET";
            case SEALED -> "SEALED";
            case PARK -> "PARK";
            case PARK_ACK -> "PARK_ACK";
            case PLANE -> "PLANE";
            case PARITY -> "PARITY";
            default -> "type " + type;
        };
    }
}
