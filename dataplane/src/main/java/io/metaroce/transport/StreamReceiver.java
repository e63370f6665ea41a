// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.StreamRecord.CONNECTION;
import static io.metaroce.transport.StreamRecord.EXPECTED_SSN;
import static io.metaroce.transport.StreamRecord.FAULT_CAUSE;
import static io.metaroce.transport.StreamRecord.FAULT_MSN;
import static io.metaroce.transport.StreamRecord.FAULT_SSN;
import static io.metaroce.transport.StreamRecord.RX_WINDOW;
import static io.metaroce.transport.StreamRecord.STATE;

import io.metaroce.memory.Access;
import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.memory.Words;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.Cause;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Reason;

/**
 * The receiving half of streams (spec: "Streams, receiver"): payload goes to its final memory at once and in any order;
 * exactly-once effects, completions, Reads and errors take their turn by stream sequence number.
 */
final class StreamReceiver {
    static final int TAKEN = 0;
    /** Seen before: has no effect, but arrived. */
    static final int DUPLICATE = 1;
    /** Cannot be taken now: must look as if it never arrived. */
    static final int REFUSED = 2;

    /* What happens when a packet's turn comes. */
    private static final int NOTHING = 0;
    private static final int RECEIVE = 1;
    private static final int READ = 2;
    private static final int FAULT = 3;

    private final EndpointState state;
    private final Slab slab;
    private final StreamSender sender;
    private final StreamTable streams;
    private final ReadResponder reads;
    private final LocalMemory memory;

    StreamReceiver(EndpointState state, StreamSender sender, StreamTable streams, ReadResponder reads, LocalMemory memory) {
        this.memory = memory;
        this.state = state;
        this.sender = sender;
        this.streams = streams;
        this.reads = reads;
        slab = state.slab;
    }

    /** Takes a Data packet at {@code at} whose form, checksum and path are right. */
    int onData(long connection, long at) {
        long stream = streams.get(connection, DataHeader.stream(at));
        if (stream == 0) {
            refuse(connection, DataHeader.stream(at), DataHeader.msn(at));
            return REFUSED;
        }
        if (slab.getInt(stream + STATE) != StreamRecord.OPEN) {
            if (isUnknownToPeer(stream)) {
                // Swallowing its packets would complete them.
                refuse(connection, DataHeader.stream(at), 0);
                return REFUSED;
            }
            return TAKEN;
        }
        int ssn = DataHeader.ssn(at);
        int ahead = ssn - slab.getInt(stream + EXPECTED_SSN);
        if (ahead < 0) {
            return DUPLICATE;
        }
        if (ahead > state.windowMask) {
            state.violation(connection);
            return REFUSED;
        }
        long window = slab.getLong(stream + RX_WINDOW);
        if (window == 0 && ahead > 0) {
            window = state.rxWindows.take();
            slab.putLong(stream + RX_WINDOW, window);
            if (window == 0) {
                state.statsOf(connection).noResource++;
                return REFUSED;
            }
        }
        if (window != 0 && SsnWindow.get(slab, window, state.windowMask, ssn)) {
            return DUPLICATE;
        }
        int turn = act(connection, stream, at, ssn);
        if (slab.getInt(stream + STATE) != StreamRecord.OPEN) {
            // A response that could not be placed has ended the stream, and its window is given back.
            return TAKEN;
        }
        if (ahead > 0) {
            remember(stream, window, ssn, turn);
        } else {
            advance(connection, stream, turn);
        }
        return TAKEN;
    }

    /**
     * The peer had no room for the stream and kept no memory of refusing it. It may have room by now and use it, but here it is dead:
     * the peer has to be told from its first message on.
     */
    private boolean isUnknownToPeer(long stream) {
        return slab.getInt(stream + StreamRecord.NAK_CAUSE) == Cause.UNKNOWN_STREAM;
    }

    /** The peer waits for receives on a stream that may never have any: then it is refused instead, and nothing of it ever came. */
    void onCreditRequest(long connection, int id, int wanted) {
        long stream = streams.get(connection, id);
        if (stream == 0 || isUnknownToPeer(stream)) {
            refuse(connection, id, 0);
        } else {
            state.shared.want(stream, wanted);
            streams.addNews(stream, StreamTable.NEWS_CREDIT);
        }
    }

    /** No room for the stream: told at once, kept nowhere, and not marked as arrived, so that it cannot complete. */
    private void refuse(long connection, int id, int msn) {
        state.statsOf(connection).noResource++;
        int count = slab.getInt(connection + ConnectionRecord.REFUSED_COUNT);
        for (int i = 0; i < count; i++) {
            if (slab.getInt(connection + ConnectionRecord.REFUSED + 8L * i) == id) {
                return;
            }
        }
        if (count < Limits.REFUSED_STREAMS) {
            slab.putInt(connection + ConnectionRecord.REFUSED + 8L * count, id);
            slab.putInt(connection + ConnectionRecord.REFUSED + 8L * count + 4, msn);
            slab.putInt(connection + ConnectionRecord.REFUSED_COUNT, count + 1);
            state.tellNow(connection);
        }
    }

    /** Whether all is there now that comes before a packet with ACK_REQUEST on its stream: the one at {@code asking}, or if this is 0 an earlier one. */
    boolean isComplete(long connection, long asking) {
        long stream = asking != 0 ? streams.get(connection, DataHeader.stream(asking)) : slab.getLong(connection + ConnectionRecord.ASKED_STREAM);
        if (stream == 0) {
            return false;
        }
        boolean complete = slab.getLong(stream + RX_WINDOW) == 0;
        slab.putLong(connection + ConnectionRecord.ASKED_STREAM, complete ? 0 : stream);
        return complete;
    }

    /** Whether the packet was taken, or one like it. */
    boolean hasArrived(long stream, int ssn) {
        int ahead = ssn - slab.getInt(stream + EXPECTED_SSN);
        long window = slab.getLong(stream + RX_WINDOW);
        return ahead < 0 || window != 0 && ahead <= state.windowMask && SsnWindow.get(slab, window, state.windowMask, ssn);
    }

    private void remember(long stream, long window, int ssn, int turn) {
        SsnWindow.set(slab, window, state.windowMask, ssn);
        slab.addInt(stream + StreamRecord.WINDOW_COUNT, 1);
        if ((turn & 1) != 0) {
            SsnWindow.set(slab, window + state.windowBytes, state.windowMask, ssn);
        }
        if ((turn & 2) != 0) {
            SsnWindow.set(slab, window + 2 * state.windowBytes, state.windowMask, ssn);
        }
    }

    /** The expected packet came: its turn, then that of all that waited right behind it. */
    private void advance(long connection, long stream, int turn) {
        int ssn = slab.getInt(stream + EXPECTED_SSN);
        long window = slab.getLong(stream + RX_WINDOW);
        for (;;) {
            slab.putInt(stream + EXPECTED_SSN, ++ssn);
            takeTurn(connection, stream, turn);
            if (window == 0 || slab.getInt(stream + STATE) != StreamRecord.OPEN
                    || !SsnWindow.clear(slab, window, state.windowMask, ssn)) {
                break;
            }
            slab.addInt(stream + StreamRecord.WINDOW_COUNT, -1);
            turn = (SsnWindow.clear(slab, window + state.windowBytes, state.windowMask, ssn) ? 1 : 0)
                    | (SsnWindow.clear(slab, window + 2 * state.windowBytes, state.windowMask, ssn) ? 2 : 0);
        }
        if (window != 0 && slab.getLong(stream + RX_WINDOW) == window && slab.getInt(stream + StreamRecord.WINDOW_COUNT) == 0) {
            state.rxWindows.give(window);
            slab.putLong(stream + RX_WINDOW, 0);
        }
    }

    private void takeTurn(long connection, long stream, int turn) {
        switch (turn) {
            case RECEIVE -> receive(connection, stream);
            case READ -> {
                int msn = reads.nextMsn(stream);
                int cause = reads.due(connection, stream);
                if (cause != 0) {
                    fail(connection, stream, cause, msn);
                }
            }
            case FAULT -> fail(connection, stream, slab.getInt(stream + FAULT_CAUSE), slab.getInt(stream + FAULT_MSN));
            default -> { }
        }
    }

    /** The oldest receive has its message; a key that this is to end must be one of the connection's domain. */
    private void receive(long connection, long stream) {
        if (slab.getInt(stream + StreamRecord.RECEIVES_DONE) == slab.getInt(stream + StreamRecord.RECEIVES_POSTED)) {
            // Two messages for one receive: only a peer that breaks the rules does that, and nothing is left to complete.
            state.violation(connection);
            return;
        }
        long entry = ReceiveQueue.entry(state, stream, slab.getInt(stream + StreamRecord.RECEIVES_DONE));
        if (slab.getInt(entry + ReceiveQueue.OPCODE) == Opcode.SEND_INVALIDATE && !state.regions.invalidate(
                slab.getInt(entry + ReceiveQueue.IMMEDIATE), slab.getInt(connection + ConnectionRecord.PROTECTION_DOMAIN))) {
            fail(connection, stream, Cause.BAD_KEY, slab.getInt(entry + ReceiveQueue.MSN));
            return;
        }
        ReceiveQueue.complete(state, stream, Completion.OK);
        streams.tellCredit(stream);
    }

    /** Places the payload or notes the request; returns what is to happen in order. */
    private int act(long connection, long stream, long at, int ssn) {
        int opcode = DataHeader.opcode(at);
        if ((Prefix.flags(at) & DataHeader.ANSWERED) != 0) {
            sender.onAnswered(stream, DataHeader.msn(at));
        }
        int cause = switch (opcode) {
            case Opcode.WRITE -> write(connection, at);
            case Opcode.WRITE_IMM -> writeImmediate(connection, stream, at);
            case Opcode.SEND, Opcode.SEND_IMM, Opcode.SEND_INVALIDATE -> send(stream, at, opcode);
            case Opcode.READ_REQUEST, Opcode.COMPARE_SWAP, Opcode.FETCH_ADD -> reads.onRequest(connection, stream, at, opcode);
            case Opcode.READ_RESPONSE -> readResponse(connection, stream, at);
            case Opcode.ATOMIC_RESPONSE -> atomicResponse(connection, stream, at);
            default -> Cause.BAD_OPERATION;
        };
        if (cause != 0) {
            note(stream, ssn, DataHeader.msn(at), cause);
            return FAULT;
        }
        if (Opcode.isRequest(opcode)) {
            return READ;
        }
        return Opcode.consumesReceive(opcode) && (Prefix.flags(at) & DataHeader.LAST) != 0 ? RECEIVE : NOTHING;
    }

    private int write(long connection, long at) {
        int length = DataHeader.payloadLength(at);
        long address = DataHeader.remoteAddress(at);
        if (DataHeader.messageLength(at) == 0) {
            // Nothing is written, so neither key nor address counts (MR-OP-002).
            return 0;
        }
        int verdict = state.regions.check(DataHeader.remoteKey(at), slab.getInt(connection + ConnectionRecord.PROTECTION_DOMAIN),
                address, length, Access.REMOTE_WRITE);
        if (verdict != RegionTable.OK) {
            return causeOf(verdict);
        }
        place(connection, at, address, length);
        return 0;
    }

    private int writeImmediate(long connection, long stream, long at) {
        int index = DataHeader.immReceiveIndex(at);
        if (!isPosted(stream, index)) {
            return Cause.NO_RECEIVE;
        }
        long entry = ReceiveQueue.entry(state, stream, index);
        slab.putInt(entry + ReceiveQueue.BYTES, DataHeader.messageLength(at));
        slab.putInt(entry + ReceiveQueue.IMMEDIATE, DataHeader.immediate(at));
        slab.putInt(entry + ReceiveQueue.OPCODE, Opcode.WRITE_IMM);
        slab.putInt(entry + ReceiveQueue.FLAGS, Prefix.flags(at));
        return write(connection, at);
    }

    private int send(long stream, long at, int opcode) {
        int index = DataHeader.receiveIndex(at);
        if (!isPosted(stream, index)) {
            return Cause.NO_RECEIVE;
        }
        long entry = ReceiveQueue.entry(state, stream, index);
        int message = DataHeader.messageLength(at);
        if (message > slab.getInt(entry + ReceiveQueue.LENGTH)) {
            return Cause.BAD_LENGTH;
        }
        long connection = slab.getLong(stream + CONNECTION);
        if (message > 0 && !memory.isReceiveRegistered(connection, entry)) {
            return Cause.LOCAL_ERROR;
        }
        slab.putInt(entry + ReceiveQueue.BYTES, message);
        slab.putInt(entry + ReceiveQueue.IMMEDIATE,
                opcode == Opcode.SEND_INVALIDATE ? DataHeader.remoteKey(at) : DataHeader.immediate(at));
        slab.putInt(entry + ReceiveQueue.MSN, DataHeader.msn(at));
        slab.putInt(entry + ReceiveQueue.OPCODE, opcode);
        slab.putInt(entry + ReceiveQueue.FLAGS, Prefix.flags(at));
        int offset = DataHeader.offset(at);
        long list = slab.getLong(entry + ReceiveQueue.SEGMENTS);
        if (list == 0) {
            place(connection, at, slab.getLong(entry + ReceiveQueue.ADDRESS) + offset, DataHeader.payloadLength(at));
        } else {
            scatter(connection, at, list, offset, DataHeader.payloadLength(at));
        }
        return 0;
    }

    /** The request of ours that a response is for, or 0: a stale response has no effect. */
    private long requestOf(long stream, long at) {
        long id = DataHeader.requestId(at);
        int index = (int) id;
        if (index < 0 || index >= state.work.capacity()) {
            return 0;
        }
        long work = state.work.at(index);
        return slab.getLong(work + WorkRecord.REQUEST_ID) == id && slab.getLong(work + WorkRecord.STREAM) == stream
                && slab.getInt(work + WorkRecord.LENGTH) == DataHeader.messageLength(at) ? work : 0;
    }

    private int atomicResponse(long connection, long stream, long at) {
        long work = requestOf(stream, at);
        if (work != 0 && Opcode.isAtomic(slab.getInt(work + WorkRecord.OPCODE)) && slab.getInt(work + WorkRecord.READ_DONE) == 0) {
            if (!memory.isStillRegistered(connection, work)) {
                sender.fail(stream, work, Cause.LOCAL_ERROR);
                return 0;
            }
            Words.put(slab.getLong(work + WorkRecord.LOCAL_ADDRESS), DataHeader.original(at));
            slab.putInt(work + WorkRecord.READ_DONE, 1);
            sender.settle(stream);
        }
        return 0;
    }

    /** Response bytes go where the request says. */
    private int readResponse(long connection, long stream, long at) {
        long work = requestOf(stream, at);
        if (work == 0 || slab.getInt(work + WorkRecord.OPCODE) != Opcode.READ_REQUEST) {
            return 0;
        }
        int length = DataHeader.payloadLength(at);
        if (!memory.isStillRegistered(connection, work)) {
            sender.fail(stream, work, Cause.LOCAL_ERROR);
            return 0;
        }
        if ((slab.getInt(work + WorkRecord.FLAGS) & WorkRecord.SEGMENTED) == 0) {
            place(connection, at, slab.getLong(work + WorkRecord.LOCAL_ADDRESS) + DataHeader.offset(at), length);
        } else {
            scatter(connection, at, slab.getLong(work + WorkRecord.SEGMENTS), DataHeader.offset(at), length);
        }
        if (slab.addInt(work + WorkRecord.READ_BYTES, length) == slab.getInt(work + WorkRecord.LENGTH)) {
            slab.putInt(work + WorkRecord.READ_DONE, 1);
            sender.settle(stream);
        }
        return 0;
    }

    private void place(long connection, long at, long address, int length) {
        if (length > 0) {
            if (state.config.placesPayload) {
                Bytes.copy(at + DataHeader.LENGTH, address, length);
            }
            state.statsOf(connection).bytesReceived += length;
        }
    }

    private void scatter(long connection, long at, long list, int offset, int length) {
        if (length > 0) {
            if (state.config.placesPayload) {
                state.segments.scatter(at + DataHeader.LENGTH, list, offset, length);
            }
            state.statsOf(connection).bytesReceived += length;
        }
    }

    private boolean isPosted(long stream, int index) {
        int done = slab.getInt(stream + StreamRecord.RECEIVES_DONE);
        int ahead = index - done;
        return ahead >= 0 && ahead < slab.getInt(stream + StreamRecord.RECEIVES_POSTED) - done;
    }

    /** Remembers the earliest fault of the stream; its turn decides. */
    private void note(long stream, int ssn, int msn, int cause) {
        if (slab.getInt(stream + FAULT_CAUSE) != 0 && ssn - slab.getInt(stream + FAULT_SSN) > 0) {
            return;
        }
        slab.putInt(stream + FAULT_SSN, ssn);
        slab.putInt(stream + FAULT_MSN, msn);
        slab.putInt(stream + FAULT_CAUSE, cause);
    }

    /** Ends the stream because of what the peer asked for, and owes the peer a NAK. */
    void fail(long connection, long stream, int cause, int msn) {
        if (slab.getInt(stream + STATE) != StreamRecord.OPEN) {
            return;
        }
        fail(connection, stream, cause, msn, StreamRecord.NAK);
    }

    /** Ends the stream for a reason of our own, and owes the peer a STREAM_RESET; false if as many as may be are not confirmed yet. */
    boolean reset(long connection, long stream, int cause) {
        if (slab.getInt(connection + ConnectionRecord.NAK_COUNT) >= Limits.MAX_PENDING_RESETS) {
            slab.putInt(connection + ConnectionRecord.RESET_WAIT, 1);
            return false;
        }
        fail(connection, stream, cause, slab.getInt(stream + EXPECTED_SSN), StreamRecord.RESET);
        return true;
    }

    private void fail(long connection, long stream, int cause, int number, int how) {
        slab.putInt(stream + FAULT_CAUSE, cause);
        slab.putInt(stream + FAULT_MSN, number);
        slab.putInt(stream + StreamRecord.NAK_PENDING, how);
        slab.putLong(stream + StreamRecord.NAK_NEXT, slab.getLong(connection + ConnectionRecord.NAK_HEAD));
        slab.putLong(connection + ConnectionRecord.NAK_HEAD, stream);
        if (slab.addInt(connection + ConnectionRecord.NAK_COUNT, 1) > Limits.MAX_PENDING_NAKS) {
            // Before the next acknowledgement, which has room for no more.
            state.abortSoon(connection, Reason.TOO_MANY_STREAM_ERRORS);
        }
        state.tellNow(connection);
        long delay = Math.min(Math.max(Limits.NAK_REPEAT_MIN_NS, 2 * state.config.timerFloorNs), Limits.NAK_REPEAT_MAX_NS);
        slab.putInt(connection + ConnectionRecord.NAK_DELAY_NS, (int) delay);
        slab.putLong(connection + ConnectionRecord.NAK_REPEAT_NS, state.nowNs + delay);
        state.wakeBy(connection, state.nowNs + delay);
        shut(connection, stream, cause);
    }

    /** Puts the stream in error: receives flush now, sends as soon as their packets are settled. */
    void shut(long connection, long stream, int cause) {
        slab.putInt(stream + STATE, StreamRecord.ERROR);
        slab.putLong(stream + StreamRecord.CREDIT_ASK_NS, 0);
        release(stream);
        ReceiveQueue.flush(state, stream, Completion.FLUSHED);
        Event event = state.events.push(true);
        if (event == null) {
            state.counters.eventOverflow++;
        } else {
            event.kind = Event.STREAM_FAILED;
            event.connection = slab.getInt(connection + ConnectionRecord.HANDLE);
            event.stream = slab.getInt(stream + StreamRecord.ID);
            event.reason = cause;
            describe(event, connection);
        }
        sender.settle(stream);
    }

    void describe(Event event, long connection) {
        long plane = state.plane(connection, state.callablePlane(connection, 0));
        event.peerHigh = slab.getLong(plane + PlaneRecord.REMOTE_HIGH);
        event.peerLow = slab.getLong(plane + PlaneRecord.REMOTE_LOW);
        event.peerPort = slab.getInt(plane + PlaneRecord.REMOTE_PORT);
    }

    /** The peer refused message {@code msn} of ours. Idempotent. */
    void onNak(long connection, int id, int msn, int cause) {
        long stream = streams.find(connection, id);
        if (stream == 0) {
            return;
        }
        // Of a stream that the peer has no room for, it may refuse the message that waits for credit: it knows of it by our request.
        int known = sender.firstUnsentMsn(stream) + (cause == Cause.UNKNOWN_STREAM ? 1 : 0);
        if (msn - known >= 0) {
            state.abortSoon(connection, Reason.PROTOCOL_VIOLATION);
            return;
        }
        failed(connection, stream, msn, cause);
    }

    /** The peer ended the stream when our SSN {@code ssn} was due. Idempotent. */
    void onReset(long connection, int id, int ssn, int cause) {
        long stream = streams.get(connection, id);
        if (stream == 0) {
            // No room to note that it failed. The peer repeats it.
            return;
        }
        if (ssn - slab.getInt(stream + StreamRecord.NEXT_SSN) > 0) {
            state.abortSoon(connection, Reason.PROTOCOL_VIOLATION);
            return;
        }
        failed(connection, stream, sender.msnAt(stream, ssn), cause);
    }

    private void failed(long connection, long stream, int msn, int cause) {
        streams.addNews(stream, StreamTable.NEWS_CONFIRM);
        if (slab.getInt(stream + StreamRecord.NAK_CAUSE) == 0) {
            slab.putInt(stream + StreamRecord.NAK_MSN, msn);
            slab.putInt(stream + StreamRecord.NAK_CAUSE, cause);
            if (slab.getInt(stream + STATE) == StreamRecord.OPEN) {
                shut(connection, stream, cause);
            } else {
                sender.settle(stream);
            }
        }
    }

    /** The peer knows that we refused its message: no need to repeat the NAK. */
    void onConfirm(long connection, int id) {
        long stream = streams.find(connection, id);
        if (stream == 0 || slab.getInt(stream + StreamRecord.NAK_PENDING) == 0) {
            return;
        }
        slab.putInt(stream + StreamRecord.NAK_PENDING, 0);
        slab.addInt(connection + ConnectionRecord.NAK_COUNT, -1);
        long previous = 0;
        for (long s = slab.getLong(connection + ConnectionRecord.NAK_HEAD); s != stream; s = slab.getLong(s + StreamRecord.NAK_NEXT)) {
            previous = s;
        }
        long next = slab.getLong(stream + StreamRecord.NAK_NEXT);
        slab.putLong(previous == 0 ? connection + ConnectionRecord.NAK_HEAD : previous + StreamRecord.NAK_NEXT, next);
        if (slab.getInt(connection + ConnectionRecord.RESET_WAIT) != 0) {
            slab.putInt(connection + ConnectionRecord.RESET_WAIT, 0);
            sender.settleFaulty(connection);
        }
    }

    /** Gives back the out-of-order window. */
    void release(long stream) {
        long window = slab.getLong(stream + RX_WINDOW);
        if (window != 0) {
            SsnWindow.wipe(slab, window, 3 * state.windowBytes);
            slab.putInt(stream + StreamRecord.WINDOW_COUNT, 0);
            state.rxWindows.give(window);
            slab.putLong(stream + RX_WINDOW, 0);
        }
    }

    static int causeOf(int verdict) {
        return switch (verdict) {
            case RegionTable.BAD_KEY -> Cause.BAD_KEY;
            case RegionTable.OUT_OF_BOUNDS -> Cause.OUT_OF_BOUNDS;
            case RegionTable.ACCESS_DENIED -> Cause.ACCESS_DENIED;
            default -> Cause.PROTECTION_DOMAIN;
        };
    }
}
