// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.bindings.libc.SocketCalls;
import io.metaroce.bindings.libc.generated.Libc;
import io.metaroce.wire.AcceptHeader;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.ChallengeHeader;
import io.metaroce.wire.CloseHeader;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.ParityHeader;
import io.metaroce.wire.ParkHeader;
import io.metaroce.wire.PlaneHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.ProbeHeader;
import io.metaroce.wire.RefuseHeader;
import io.metaroce.wire.ResetHeader;
import io.metaroce.wire.SealedHeader;
import io.metaroce.wire.Type;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A program for the kernel (classic BPF) that drops what is plainly no datagram of ours before it takes room in a socket's buffer and a
 * core's time to fetch it: of another version, of no type, shorter than its type is, or for none of the endpoint's connections. What it
 * drops the socket counts among what found no room (SO_RXQ_OVFL). INIT of another version passes, as it gets an answer (MR-GEN-002). The
 * endpoint checks all of it again.
 */
final class SocketFilter {
    /** Of asm-generic/socket.h; MIPS, SPARC and others, where it differs, have no JDK 25. */
    private static final int SO_ATTACH_FILTER = 26;
    private static final int INSTRUCTION = 8;
    private static final int ROOM = 128;
    private static final int UDP_HEADER = 8;
    /** Bits of the type beside the version. */
    private static final int TYPE = 15;
    private static final int DROP = 0;
    /** Bytes to keep: all. */
    private static final int TAKE = -1;
    // Instructions, of linux/bpf_common.h.
    private static final int LOAD_LENGTH = 0x80;
    private static final int LOAD_BYTE = 0x30;
    private static final int LOAD_INT = 0x20;
    private static final int SHIFT_RIGHT = 0x74;
    private static final int AND = 0x54;
    private static final int JUMP_EQUAL = 0x15;
    private static final int JUMP_AT_LEAST = 0x35;
    private static final int RETURN = 0x06;

    private final long program;
    private int count;

    private SocketFilter(long program) {
        this.program = program;
    }

    /**
     * Gives the socket the filter, in place of one that it has; false if this kernel does not take it.
     *
     * @param cidBits what of a destination CID must be {@code commonCid}, but for INIT, PROBE and RESET; none: 0
     */
    static boolean attach(MemorySegment state, int fd, int cidBits, int commonCid) {
        try (Arena arena = Arena.ofConfined()) {
            SocketFilter f = new SocketFilter(arena.allocate((long) ROOM * INSTRUCTION, 8).address());
            int first = UDP_HEADER + Prefix.VERSION_TYPE;
            f.add(LOAD_LENGTH, 0, 0, 0);
            f.pass(JUMP_AT_LEAST, UDP_HEADER + Prefix.LENGTH);
            f.add(LOAD_BYTE, 0, 0, first);
            f.add(SHIFT_RIGHT, 0, 0, 4);
            f.add(JUMP_EQUAL, 8, 0, Prefix.VERSION);
            // Another version: INIT alone.
            f.add(LOAD_BYTE, 0, 0, first);
            f.add(AND, 0, 0, TYPE);
            f.pass(JUMP_EQUAL, Type.INIT);
            f.add(LOAD_LENGTH, 0, 0, 0);
            f.accept(JUMP_AT_LEAST, UDP_HEADER + InitHeader.MIN_DATAGRAM);
            // This version. What needs a connection names one of the endpoint's.
            f.add(LOAD_BYTE, 0, 0, first);
            f.add(AND, 0, 0, TYPE);
            f.add(JUMP_EQUAL, 6, 0, Type.INIT);
            f.add(JUMP_EQUAL, 5, 0, Type.PROBE);
            f.add(JUMP_EQUAL, 4, 0, Type.RESET);
            f.add(LOAD_INT, 0, 0, UDP_HEADER + Prefix.DESTINATION_CID);
            f.add(AND, 0, 0, cidBits);
            f.pass(JUMP_EQUAL, commonCid);
            // By type, as long as that is at least. Not longer cannot be asked: runs of datagrams come here as one.
            f.add(LOAD_BYTE, 0, 0, first);
            f.add(AND, 0, 0, TYPE);
            f.type(Type.DATA, DataHeader.LENGTH);
            f.type(Type.ACK, AckHeader.LENGTH);
            f.type(Type.SEALED, SealedHeader.MIN_DATAGRAM);
            f.type(Type.PROBE, ProbeHeader.LENGTH);
            f.type(Type.PARITY, ParityHeader.LENGTH);
            f.type(Type.CLOSE, CloseHeader.LENGTH);
            f.type(Type.CLOSE_ACK, CloseHeader.LENGTH);
            f.type(Type.PARK, ParkHeader.LENGTH);
            f.type(Type.PARK_ACK, ParkHeader.LENGTH);
            f.type(Type.PLANE, PlaneHeader.LENGTH);
            f.type(Type.RESET, ResetHeader.LENGTH);
            f.type(Type.INIT, InitHeader.MIN_DATAGRAM);
            f.type(Type.CHALLENGE, ChallengeHeader.LENGTH);
            f.type(Type.ACCEPT, AcceptHeader.LENGTH);
            f.type(Type.REFUSE, RefuseHeader.LENGTH);
            f.add(RETURN, 0, 0, DROP);
            MemorySegment filter = arena.allocate(16, 8);
            RawMemory.putShort(filter.address(), (short) f.count);
            RawMemory.putLong(filter.address() + 8, f.program);
            return SocketCalls.setsockopt(state, fd, Libc.SOL_SOCKET(), SO_ATTACH_FILTER, filter.address(), 16) >= 0;
        }
    }

    /** Drops unless the condition holds. */
    private void pass(int condition, int value) {
        add(condition, 1, 0, value);
        add(RETURN, 0, 0, DROP);
    }

    /** Takes if the condition holds, and drops if not. */
    private void accept(int condition, int value) {
        pass(condition, value);
        add(RETURN, 0, 0, TAKE);
    }

    /** Decides what is of this type, whose length it loads in place of the type. */
    private void type(int type, int length) {
        add(JUMP_EQUAL, 0, 4, type);
        add(LOAD_LENGTH, 0, 0, 0);
        accept(JUMP_AT_LEAST, UDP_HEADER + length);
    }

    /** @param yes instructions to leave out where a jump's condition holds, {@code no} where it does not */
    private void add(int code, int yes, int no, int value) {
        long at = program + (long) INSTRUCTION * count++;
        RawMemory.putShort(at, (short) code);
        RawMemory.putByte(at + 2, (byte) yes);
        RawMemory.putByte(at + 3, (byte) no);
        RawMemory.putInt(at + 4, value);
    }
}
